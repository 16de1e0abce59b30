"""Cutting code of any language: by lines, at blank lines and at low indentation, without overlap."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ragstone.chunk.pack import Unit, check_sizes, pack
from ragstone.chunk.recipes import CODE_LINES, CODE_SIZE, named
from ragstone.chunk.spans import Cut, chunks_of
from ragstone.text.sentences import WORD, line_units
from ragstone.text.tokens import estimate_up_to

if TYPE_CHECKING:
    from ragstone.types import Chunk, Document

UNPARSED_KIND: Final = "code_text"
"""What chunks of code are that no parser could read."""

# A border is the stronger the less its line is indented; behind a blank line it is stronger than any other.
_AFTER_BLANK: Final = 200
_AFTER_LINE: Final = 100
_DEEPEST: Final = 60
_TAB: Final = 4
_INSIDE: Final = 1
"""Before a line that closes or continues the one above."""

_BLANK: Final = re.compile(r"\n(?:[^\S\n]*+\n)++")
_CONTINUES: Final = re.compile(r"[)\]}]|(?:else|elif|except|finally|catch|end|fi|done|esac|then|do)\b")
_CONTINUING: Final = frozenset(")]}ecfdt")
"""What such a line can begin with."""


class Lines:
    """Whole lines up to a size in tokens and a number of lines, whichever comes first."""

    def __init__(self, *, size: int = CODE_SIZE, lines: int = CODE_LINES) -> None:
        """Keep the sizes, in estimated tokens and in lines."""
        check_sizes(size)
        check_sizes(lines)
        self.size, self.lines = size, lines
        self.recipe = named("lines", size, lines)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        cuts = cut_lines(document.text, 0, len(document.text), size=self.size, lines=self.lines)
        return chunks_of(document, (Cut(*cut) for cut in cuts))


def cut_lines(
    text: str, start: int, end: int, *, size: int = CODE_SIZE, lines: int = CODE_LINES
) -> list[tuple[int, int]]:
    """Return (start, end) of the pieces a slice is cut into between its lines."""
    return pack(list(_units(text, start, end, size=size, lines=lines)), end, size=size)


def _units(text: str, start: int, end: int, *, size: int, lines: int) -> Iterator[Unit]:
    """Yield the blocks between blank lines; those above half the size line by line."""
    at, half = start, size // 2
    for stop, following in [*(found.span() for found in _BLANK.finditer(text, start, end)), (end, end)]:
        weight = (text.count("\n", at, stop) + 1) * size // lines  # what its lines are worth in tokens
        if weight <= half:
            weight = max(weight, estimate_up_to(text[at:stop], half))
        if weight > half:
            yield from _line_by_line(text, at, stop, size=size, lines=lines)
        elif stop > at:
            yield Unit(at, weight, _border(text, at, stop, _AFTER_BLANK))
        at = following


def _line_by_line(text: str, start: int, end: int, *, size: int, lines: int) -> Iterator[Unit]:
    base, least = _AFTER_BLANK, max(1, size // lines)
    for unit in line_units(text, start, end, size=size):
        border = WORD if unit.border == WORD else _border(text, unit.start, end, base)
        yield Unit(unit.start, max(unit.weight, least), border)
        base = _AFTER_LINE


def _border(text: str, start: int, end: int, base: int) -> int:
    """Return how strong the border before the line at `start` is."""
    line = text[start : min(start + _DEEPEST + 8, end)]
    body = line.lstrip(" \t")
    if body[:1] in _CONTINUING and _CONTINUES.match(body):
        return _INSIDE
    indentation = len(line) - len(body)
    if "\t" in line and "\t" in line[:indentation]:
        indentation = len(line[:indentation].expandtabs(_TAB))
    return base - (indentation if indentation < _DEEPEST else _DEEPEST)
