"""Draws a page of a PDF as a PNG with some of its words marked. It runs in the confined process."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import closing
from ctypes import c_int
from itertools import islice
from typing import Final

from pypdfium2 import PdfDocument, PdfiumError, raw

from ragstone.errors import ReadError
from ragstone.read.pdf_lines import PdfiumObject
from ragstone.text import terms

_MAX_WIDTH: Final = 1000
"""Pixels. A page beside its text is about 450 points wide, and screens have up to two pixels a point."""
_MAX_HEIGHT: Final = 1600
_MAX_MARKS: Final = 500
_WORD: Final = re.compile(r"\w+")
_SURROGATES: Final = 0xD800
_BLUE_LEFT: Final = 0.45
"""The part of the blue light that a mark leaves: white becomes yellow, and black stays black."""

_Box = tuple[int, int, int, int]
"""Left, top, right and bottom in pixels."""


def draw_page(data: bytes, number: int, marked_terms: frozenset[str]) -> bytes:
    """Return a page, from 1 on, as a PNG; words with one of the terms are marked. Raise `ReadError` if it is damaged."""
    try:
        with closing(PdfDocument(data)) as pdf, closing(pdf[number - 1]) as page:
            width, height = max(page.get_width(), 1.0), max(page.get_height(), 1.0)
            scale = min(_MAX_WIDTH / width, _MAX_HEIGHT / height)
            bitmap = page.render(
                scale=scale, rev_byteorder=True, force_bitmap_format=raw.FPDFBitmap_BGR
            )
            pixels = bytearray(bitmap.buffer)
            if marked_terms:
                for box in _find_words(page, bitmap, marked_terms):
                    _mark(pixels, bitmap.stride, box)
            return _encode_png(pixels, bitmap.width, bitmap.height, bitmap.stride)
    except (PdfiumError, IndexError) as error:
        raise ReadError("the page cannot be drawn", reason="damaged") from error


def _find_words(
    page: PdfiumObject, bitmap: PdfiumObject, marked_terms: frozenset[str]
) -> Iterator[_Box]:
    """Yield the boxes of words with one of the terms, in pixels."""
    with closing(page.get_textpage()) as textpage:
        words = _WORD.finditer(_read_characters(textpage))
        matches = (word for word in words if not marked_terms.isdisjoint(terms(word.group())))
        for word in islice(matches, _MAX_MARKS):
            corners = []
            for index in range(*word.span()):
                x1, y1, x2, y2 = textpage.get_charbox(index)
                corners.append(_to_pixel(page, bitmap, x1, y1))
                corners.append(_to_pixel(page, bitmap, x2, y2))
            columns = [column for column, _ in corners]
            rows = [row for _, row in corners]
            yield (
                max(0, min(columns) - 1),
                max(0, min(rows) - 1),
                min(bitmap.width, max(columns) + 1),
                min(bitmap.height, max(rows) + 1),
            )


def _read_characters(textpage: PdfiumObject) -> str:
    """Return the text of a page. The index of a character is its index in PDFium: rare ones become zeros."""
    count = raw.FPDFText_CountChars(textpage.raw)
    codes = [raw.FPDFText_GetUnicode(textpage.raw, index) for index in range(count)]
    return "".join(chr(code) if code < _SURROGATES else "\0" for code in codes)


def _to_pixel(page: PdfiumObject, bitmap: PdfiumObject, x: float, y: float) -> tuple[int, int]:
    """Return the pixel of a point of the page, which may be turned."""
    column, row = c_int(), c_int()
    raw.FPDF_PageToDevice(page.raw, 0, 0, bitmap.width, bitmap.height, 0, x, y, column, row)
    return column.value, row.value


def _mark(pixels: bytearray, stride: int, box: _Box) -> None:
    """Take blue light out of a box of pixels with three bytes each."""
    x1, y1, x2, y2 = box
    shades = bytes(int(value * _BLUE_LEFT) for value in range(256))
    for row in range(y1, y2):
        blue = slice(row * stride + x1 * 3 + 2, row * stride + x2 * 3, 3)
        pixels[blue] = pixels[blue].translate(shades)


def _encode_png(pixels: bytearray, width: int, height: int, stride: int) -> bytes:
    """Return pixels of red, green and blue as a PNG."""
    starts = range(0, height * stride, stride)
    rows = b"".join(b"\0" + pixels[start : start + width * 3] for start in starts)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (
        _png_chunk(b"IHDR", header),
        _png_chunk(b"IDAT", zlib.compress(rows, 6)),
        _png_chunk(b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _png_chunk(name: bytes, content: bytes) -> bytes:
    body = name + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))
