"""Recognises the text of a picture or of a PDF page. It runs in the confined process.

`rapidocr` has its models in its wheel: nothing is downloaded, and the confined process could not.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import cv2
import numpy as np
from PIL import Image, ImageOps
from pypdfium2 import PdfDocument, PdfiumError
from rapidocr import RapidOCR

from ragstone.config import silence_onnxruntime
from ragstone.errors import ReadError

_PIXELS_PER_POINT: Final = 200 / 72
_MAX_SIDE: Final = 2000
"""Pixels. A page of A4 has 1,654 × 2,339 at 200 dots per inch."""
_MAX_PIXELS: Final = 100_000_000
"""Of a picture before it is made smaller: a small file can have a huge picture."""
_MIN_SIDE: Final = 24
"""Smaller pictures are icons."""
_MIN_SCORE: Final = 0.5
_PARAGRAPH_GAP: Final = 1.1
"""A gap of more than this many line heights starts a paragraph."""

cv2.setNumThreads(1)
silence_onnxruntime()
Image.MAX_IMAGE_PIXELS = _MAX_PIXELS


@dataclass(frozen=True, slots=True)
class RecognisedLine:
    """A piece of a line with its box."""

    text: str
    left: float
    top: float
    bottom: float

    @property
    def height(self) -> float:
        """Return the height of the box."""
        return max(1.0, self.bottom - self.top)

    @property
    def middle(self) -> float:
        """Return the height of the middle of the box."""
        return (self.top + self.bottom) / 2


def recognise_page(data: bytes, number: int) -> str:
    """Return the text of a page of a PDF, from 1 on; empty if there is none."""
    try:
        with closing(PdfDocument(data)) as pdf, closing(pdf[number - 1]) as page:
            longest = max(page.get_width(), page.get_height(), 1.0)
            scale = min(_PIXELS_PER_POINT, _MAX_SIDE / longest)
            bitmap = page.render(scale=scale)
            pixels = np.ascontiguousarray(bitmap.to_pil().convert("RGB"))
    except (PdfiumError, IndexError) as error:
        raise ReadError("the page cannot be drawn", reason="damaged") from error
    return _recognise(pixels)


def recognise_image(data: bytes) -> str:
    """Return the text in a picture; raise `ReadError` if it is damaged or too large."""
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as picture:
            if picture.width * picture.height > _MAX_PIXELS:
                raise ReadError("the picture has too many pixels", reason="too-big")
            if min(picture.size) < _MIN_SIDE:
                return ""
            picture.draft("RGB", (_MAX_SIDE, _MAX_SIDE))
            upright = ImageOps.exif_transpose(picture)
            upright.thumbnail((_MAX_SIDE, _MAX_SIDE))
            pixels = np.ascontiguousarray(_on_white(upright))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise ReadError("the picture is damaged or too large", reason="damaged") from error
    return _recognise(pixels)


def _on_white(picture: Image.Image) -> Image.Image:
    """Return a picture without transparency; text is usually dark."""
    if "A" not in picture.getbands() and "transparency" not in picture.info:
        return picture.convert("RGB")
    layer = picture.convert("RGBA")
    white = Image.new("RGBA", layer.size, "white")
    return Image.alpha_composite(white, layer).convert("RGB")


@cache
def _engine() -> Any:  # noqa: ANN401 - an object of rapidocr
    one_thread = "EngineConfig.onnxruntime.{}_op_num_threads"
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.text_score": _MIN_SCORE,
            one_thread.format("intra"): 1,
            one_thread.format("inter"): 1,
            # Lines one by one: six at a time took 0.1 GB more and a quarter more time.
            "Rec.rec_batch_num": 1,
        }
    )


def _recognise(pixels: np.ndarray[Any, np.dtype[np.uint8]]) -> str:
    result = _engine()(pixels)
    if result.txts is None or result.boxes is None:
        return ""
    pieces = []
    for text, box in zip(result.txts, result.boxes, strict=True):
        sides, heights = np.asarray(box, float).T
        pieces.append(
            RecognisedLine(text, float(sides.min()), float(heights.min()), float(heights.max()))
        )
    return join_pieces(pieces)


def join_pieces(pieces: Sequence[RecognisedLine]) -> str:
    """Return the text from top to bottom; a large gap between two lines becomes an empty line."""
    lines: list[str] = []
    bottom = 0.0
    for row in _group_rows(pieces):
        top = min(piece.top for piece in row)
        if lines and top - bottom > _PARAGRAPH_GAP * row[0].height:
            lines.append("")
        row.sort(key=lambda piece: piece.left)
        lines.append(" ".join(piece.text.strip() for piece in row))
        bottom = max(piece.bottom for piece in row)
    return "\n".join(lines).strip()


def _group_rows(pieces: Sequence[RecognisedLine]) -> list[list[RecognisedLine]]:
    """Return the pieces of each line, from top to bottom: those at about the same height."""
    rows: list[list[RecognisedLine]] = []
    row_bottom = 0.0
    for piece in sorted(pieces, key=lambda piece: piece.middle):
        if rows and piece.middle < row_bottom - 0.3 * piece.height:
            rows[-1].append(piece)
            row_bottom = max(row_bottom, piece.bottom)
        else:
            rows.append([piece])
            row_bottom = piece.bottom
    return rows
