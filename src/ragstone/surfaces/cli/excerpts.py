"""The part of a long line that shows the words of a query, and the heading of a page."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ragstone.text import terms

if TYPE_CHECKING:
    from ragstone.types import Hit

_WORD: Final = re.compile(r"\w+")
_MAX_HEADING: Final = 80
_LINES_TO_HEADING: Final = 5
_SENTENCE_END: Final = (".", ",", ";", ":", "!", "?")


def find_matches(line: str, query_terms: frozenset[str]) -> list[re.Match[str]]:
    """Return the words of a line that match the query."""
    words = _WORD.finditer(line)
    return [word for word in words if query_terms.intersection(terms(word[0]))]


def crop_line(line: str, query_terms: frozenset[str], width: int) -> str:
    """Return the part of a long line that has most words of the query, with the text around them."""
    line = line.expandtabs(4)
    if len(line) <= width:
        return line
    matches = find_matches(line, query_terms)
    start = _window_start(matches, width)
    start = max(0, min(start, len(line) - width + 1))
    before, after = "", ""
    if start > 0:
        before = "…"
        start = _after_space(line, start, width)
    end = start + width - 2
    if end < len(line):
        after = "…"
    return f"{before}{line[start:end]}{after}"


def _window_start(matches: list[re.Match[str]], width: int) -> int:
    """Return where a window of a line begins: its matches are in its first part, before the words that explain them."""
    lead = width // 3
    if not matches or matches[-1].end() <= 2 * lead:
        return 0
    starts = [max(0, match.start() - lead) for match in matches]
    return max(starts, key=lambda start: _count_words(matches, start, start + 2 * lead))


def _count_words(matches: list[re.Match[str]], start: int, end: int) -> int:
    """Return how many different words of the query are in a part of a line."""
    inside = {match[0].lower() for match in matches if start <= match.start() < end}
    return len(inside)


def _after_space(line: str, start: int, width: int) -> int:
    """Return the start of the next word, if it is near."""
    space = line.find(" ", start, start + width // 8)
    return start if space < 0 else space + 1


def page_heading(hit: Hit) -> str:
    """Return the heading of a hit's page: its first short line that is not the document's title; empty if none."""
    title = " ".join(hit.title.split())
    if hit.header:  # the first words of the page, in one line
        return hit.header.removeprefix(title).strip() if hit.header.startswith(title) else ""
    lines = [" ".join(line.split()) for line in hit.text.split("\n")[:_LINES_TO_HEADING]]
    for line, following in pairwise((*lines, "")):
        if line and line != title:
            return "" if following or not _is_heading(line) else line
    return ""


def _is_heading(line: str) -> bool:
    return len(line) <= _MAX_HEADING and not line.endswith(_SENTENCE_END)
