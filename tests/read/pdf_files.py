"""PDFs written by hand, byte by byte: pages of placed lines, labels, forms, and whatever a test wants broken."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

Placed = tuple[float, float, str]
"""Where a line begins, and its words."""

WIDTHS = " ".join(["500"] * 224)
FONT = f"<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding/FirstChar 32/LastChar 255/Widths[{WIDTHS}]>>"


@dataclass
class Pdf:
    """Objects of a PDF, numbered from 1 as they are added."""

    objects: list[bytes] = field(default_factory=list)

    def add(self, body: str | bytes) -> int:
        self.objects.append(body.encode("latin-1") if isinstance(body, str) else body)
        return len(self.objects)

    def stream(self, data: bytes, about: str = "", *, pack: bool = True) -> int:
        if pack:
            data, about = zlib.compress(data), f"{about}/Filter/FlateDecode"
        return self.add(
            f"<<{about}/Length {len(data)}>>stream\n".encode("latin-1") + data + b"\nendstream"
        )

    def bytes(self, root: int, *, trailer: str = "") -> bytes:
        out, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
        for number, body in enumerate(self.objects, 1):
            places.append(len(out))
            out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
        start = len(out)
        rows = "".join(f"{place:010} 00000 n \n" for place in places)
        out += f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n{rows}".encode()
        out += f"trailer\n<</Size {len(places) + 1}/Root {root} 0 R{trailer}>>\nstartxref\n{start}\n%%EOF\n".encode()
        return bytes(out)


def lines(*texts: str, left: float = 72, top: float = 720, step: float = 14) -> list[Placed]:
    """Return lines one below the other."""
    return [(left, top - number * step, text) for number, text in enumerate(texts)]


def content(placed: Sequence[Placed], *, size: float = 10) -> bytes:
    """Return the drawing of lines."""
    shown = (
        f"BT /F1 {size} Tf 1 0 0 1 {x} {y} Tm ({_escaped(text)}) Tj ET".encode(
            "cp1252", "replace"
        )
        for x, y, text in placed
    )
    return b"\n".join(shown)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def pdf(
    pages: Sequence[Sequence[Placed] | bytes],
    *,
    labels: str = "",
    info: str = "",
    font: str = FONT,
    page: str = "",
    more: Sequence[str] = (),
) -> bytes:
    """Return a PDF of pages, each a list of placed lines or a drawing; the rest is in PDF's own words."""
    made = Pdf()
    root, tree = made.add(b""), made.add(b"")
    typeface = made.add(font)
    kids = []
    for each in pages:
        drawing = made.stream(each if isinstance(each, bytes) else content(each))
        about = f"/Parent {tree} 0 R/MediaBox[0 0 612 792]/Contents {drawing} 0 R{page}"
        kids.append(made.add(f"<</Type/Page{about}/Resources<</Font<</F1 {typeface} 0 R>>>>>>"))
    for body in more:
        made.add(body)
    named = f"/PageLabels<</Nums[{labels}]>>" if labels else ""
    made.objects[root - 1] = f"<</Type/Catalog/Pages {tree} 0 R{named}>>".encode()
    made.objects[tree - 1] = (
        f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(f'{kid} 0 R' for kid in kids)}]>>".encode()
    )
    trailer = f"/Info {made.add(f'<<{info}>>')} 0 R" if info else ""
    return made.bytes(root, trailer=trailer)
