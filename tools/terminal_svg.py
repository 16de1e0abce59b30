"""Draw the output of a terminal as an SVG picture: text and the colours of its escape codes, no fonts to load."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Final, NamedTuple

COLUMN: Final = 7.8
"""Width of a character of the monospaced font at 13 pixels."""
LINE: Final = 18
MARGIN: Final = 16
BAR: Final = 30
COLOURS: Final = {
    "2": "#8b949e",
    "31": "#ff7b72",
    "32": "#7ee787",
    "33": "#e3b341",
    "35": "#d2a8ff",
    "36": "#79c0ff",
}
STYLE: Final = (
    "font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre"
)
_CODE: Final = re.compile(r"\x1b\[([0-9;]*)m")


class StyledText(NamedTuple):
    """A piece of a line and its SVG attributes."""

    text: str
    attributes: str


def make_svg(output: str, title: str, columns: int = 100) -> str:
    """Return a picture of a terminal window with this output; longer lines are cut."""
    lines = output.rstrip("\n").split("\n")
    width = round(columns * COLUMN + 2 * MARGIN)
    height = len(lines) * LINE + BAR + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
        *(
            f'<circle cx="{MARGIN + 4 + 20 * position}" cy="18" r="6" fill="{colour}"/>'
            for position, colour in enumerate(("#ff5f56", "#ffbd2e", "#27c93f"))
        ),
        f'<g style="{STYLE}" fill="#c9d1d9">',
    ]
    for number, line in enumerate(lines):
        y = BAR + MARGIN + LINE * number + 8
        spans = "".join(_span(piece) for piece in _cut(_split_styles(line), columns))
        parts.append(f'<text x="{MARGIN}" y="{y}" xml:space="preserve">{spans}</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])


def _split_styles(line: str) -> Iterator[StyledText]:
    """Yield the pieces of a line between escape codes."""
    attributes = ""
    end = 0
    for code in _CODE.finditer(line):
        yield StyledText(line[end : code.start()], attributes)
        attributes = _attributes(code[1].split(";"))
        end = code.end()
    yield StyledText(line[end:], attributes)


def _attributes(codes: list[str]) -> str:
    """Return the SVG attributes for the numbers of an escape code; none for a reset."""
    attributes = [f'fill="{COLOURS[code]}"' for code in codes if code in COLOURS]
    if "1" in codes:
        attributes.append('font-weight="bold"')
    return " ".join(attributes)


def _cut(pieces: Iterator[StyledText], columns: int) -> Iterator[StyledText]:
    """Yield the pieces until the line is full."""
    room = columns
    for text, attributes in pieces:
        if text and room:
            is_cut = len(text) > room
            yield StyledText(text[: room - 1] + "…" if is_cut else text, attributes)
            room -= min(room, len(text))


def _span(piece: StyledText) -> str:
    text = escape(piece.text, quote=False)
    return f"<tspan {piece.attributes}>{text}</tspan>" if piece.attributes else text
