"""Cutting code of any language by lines, at blank lines and at low indentation, without overlap."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ragstone.chunk.keyword_definitions import defined_names
from ragstone.chunk.packing import check_sizes, pack_units
from ragstone.chunk.sizes import CODE_LINES, CODE_SIZE, format_recipe
from ragstone.chunk.spans import TextSlice, build_chunks, join_closings
from ragstone.text.sentences import WORD, line_units
from ragstone.text.tokens import estimate_up_to
from ragstone.text.units import Unit
from ragstone.types import Chunk, Document

UNPARSED_KIND: Final = "code_text"
"""The kind of chunks of code that no parser could read."""

# A border is stronger if its line is less indented, and stronger than all others after a blank line.
_AFTER_BLANK: Final = 200
_AFTER_LINE: Final = 100
_CONTINUATION: Final = 1
"""Before a line that closes or continues the line above it."""
_MAX_INDENTATION: Final = 60
_TAB_WIDTH: Final = 4
_BLANK_LINES: Final = re.compile(r"\n(?:[^\S\n]*+\n)++")
_CONTINUES: Final = re.compile(
    r"[)\]}]|(?:else|elif|except|finally|catch|end|fi|done|esac|then|do)\b"
)


class LineChunker:
    """Cuts whole lines, up to a size in tokens and a number of lines."""

    def __init__(self, *, size: int = CODE_SIZE, lines: int = CODE_LINES) -> None:
        """Keep the sizes, in estimated tokens and in lines."""
        check_sizes(size)
        check_sizes(lines)
        self.size = size
        self.lines = lines
        self.recipe = format_recipe("lines", size, lines)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        return chunk_by_lines(document, size=self.size, lines=self.lines)


def chunk_by_lines(
    document: Document,
    *,
    size: int,
    lines: int = CODE_LINES,
    kind: str = "",
) -> list[Chunk]:
    """Return the chunks of a document that is cut by lines."""
    text = document.text
    ranges = cut_lines(text, 0, len(text), size=size, lines=lines)
    slices = []
    for start, end in ranges:
        names = defined_names(text[start:end], document.language)
        slices.append(TextSlice(start, end, symbol=" ".join(names), kind=kind))
    return build_chunks(document, join_closings(text, slices))


def cut_lines(
    text: str,
    start: int,
    end: int,
    *,
    size: int = CODE_SIZE,
    lines: int = CODE_LINES,
) -> list[tuple[int, int]]:
    """Return (start, end) of the pieces of a slice, cut between its lines."""
    units = list(_split_blocks(text, start, end, size=size, lines=lines))
    return pack_units(units, end, size=size)


def _split_blocks(text: str, start: int, end: int, *, size: int, lines: int) -> Iterator[Unit]:
    """Yield the blocks between blank lines; a block above half the size is split into its lines."""
    half = size // 2
    gaps = [match.span() for match in _BLANK_LINES.finditer(text, start, end)]
    for stop, following in [*gaps, (end, end)]:
        line_count = text.count("\n", start, stop) + 1
        weight = line_count * size // lines
        if weight <= half:
            tokens = estimate_up_to(text[start:stop], half)
            weight = max(weight, tokens)
        if weight > half:
            yield from _split_lines(text, start, stop, size=size, lines=lines)
        elif stop > start:
            yield Unit(
                start,
                weight,
                _measure_border(text, start, stop, _AFTER_BLANK),
            )
        start = following


def _split_lines(text: str, start: int, end: int, *, size: int, lines: int) -> Iterator[Unit]:
    base = _AFTER_BLANK
    min_weight = max(1, size // lines)
    for unit in line_units(text, start, end, size=size):
        border = unit.border
        if border != WORD:
            border = _measure_border(text, unit.start, end, base)
        weight = max(unit.weight, min_weight)
        yield Unit(unit.start, weight, border)
        base = _AFTER_LINE


def _measure_border(text: str, start: int, end: int, base: int) -> int:
    """Return the strength of the border before the line at `start`."""
    line_end = min(start + _MAX_INDENTATION + 8, end)
    line = text[start:line_end]
    body = line.lstrip(" \t")
    if _CONTINUES.match(body):
        return _CONTINUATION
    indentation = line.removesuffix(body).expandtabs(_TAB_WIDTH)
    return base - min(len(indentation), _MAX_INDENTATION)
