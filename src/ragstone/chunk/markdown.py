"""Cutting Markdown by its sections, each with the path of headings above it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from ragstone.chunk.packing import check_sizes, pack_units
from ragstone.chunk.prose import split_at_marks
from ragstone.chunk.sizes import PROSE_SIZE, format_recipe
from ragstone.chunk.spans import TextSlice, build_chunks, common_start
from ragstone.text.sentences import (
    LINE,
    PARAGRAPH,
    WORD,
    line_units,
    prose_units,
    with_border,
)
from ragstone.text.tokens import weigh
from ragstone.text.units import Unit
from ragstone.types import Chunk, Document

_FRONT_MATTER: Final = re.compile(
    r"\ufeff?(?:---|\+\+\+)[ \t]*\r?\n(?:.*\n)*?(?:---|\+\+\+|\.\.\.)[ \t]*(?:\r?\n|$)"
)
_MAX_FRONT_MATTER: Final = 20_000
_SYNTAX: Final = re.compile(
    r"^ {0,3}(?:(?P<marks>\#{1,6})(?:[ \t]++(?P<title>[^\r\n]*+)|[ \t]*+(?=\r?$))"  # a heading
    r"|(?P<fence>`{3,}+|~{3,}+)(?P<info>[^\r\n]*+)"  # code starts or ends
    r"|(?P<underline>=++|-++)[ \t]*+(?=\r?$))",  # the line above is a heading
    re.MULTILINE,
)
_TITLE_END: Final = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_LINK: Final = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_TABLE: Final = re.compile(r"(?:^[ \t]*\|[^\n]*(?:\n|\Z))+", re.MULTILINE)
_EMPTY_LINE: Final = re.compile(r"[^\S\n]*+\n")
_MAX_HEADING: Final = 120
_BLOCK_MARKS: Final = "#>|-*+=`~"


class _Heading(NamedTuple):
    """A heading; level 0 is a block of fenced code."""

    level: int
    start: int
    end: int
    title: str = ""


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading and its text up to the next heading; `path` ends with its own title."""

    start: int
    body: int
    end: int
    path: tuple[str, ...]
    fences: tuple[tuple[int, int], ...] = ()
    is_bare: bool = False
    """Whether there is no text under the heading."""


class MarkdownChunker:
    """Cuts sections: small neighbours share a chunk, long ones are parted between paragraphs."""

    def __init__(self, *, size: int = PROSE_SIZE, overlap: int = 100) -> None:
        """Keep the sizes, in estimated tokens."""
        check_sizes(size, overlap)
        self.size = size
        self.overlap = overlap
        self.recipe = format_recipe("markdown", size, overlap)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        return build_chunks(document, self.cut(document.text))

    def cut(self, text: str) -> Iterator[TextSlice]:
        """Yield the slices of a text in order."""
        for group, weight in self._group_sections(text):
            paths = [section.path for section in group if not section.is_bare]
            if not paths:
                paths = [group[-1].path]
            header = " > ".join(common_start(paths))
            start = group[0].start
            end = group[-1].end
            if weight <= self.size:
                yield TextSlice(start, end, header=header)
                continue
            units: list[Unit] = []
            for section in group:
                units.extend(self._split_section(text, section))
            for range_ in pack_units(units, end, size=self.size, overlap=self.overlap):
                yield TextSlice(*range_, header=header)

    def _group_sections(self, text: str) -> Iterator[tuple[list[_Section], int]]:
        """Yield sections that share a chunk, and their weight. A bare heading goes with the section after it."""
        group: list[_Section] = []
        waiting: list[_Section] = []
        group_weight = waiting_weight = 0
        for section in _split_sections(text):
            waiting.append(section)
            waiting_weight += weigh(text, section.start, section.end, self.size)
            if section.is_bare:
                continue
            fits = group_weight + waiting_weight <= self.size
            joins = fits and bool(group) and _is_related(group[0], waiting[0])
            if group and not joins:
                yield group, group_weight
                group, group_weight = [], 0
            group += waiting
            group_weight += waiting_weight
            waiting, waiting_weight = [], 0
        if group or waiting:
            yield group + waiting, group_weight + waiting_weight

    def _split_section(self, text: str, section: _Section) -> Iterator[Unit]:
        """Yield the units of a long section; code and tables that fit stay whole."""
        border = PARAGRAPH + 1
        for start, end, is_whole in _split_blocks(text, section):
            if is_whole:
                units = self._split_whole(text, start, end)
            else:
                units = prose_units(text, start, end, size=self.size, fine=self.overlap > 0)
            yield from with_border(border, units)
            border = PARAGRAPH

    def _split_whole(self, text: str, start: int, end: int) -> Iterator[Unit]:
        """Yield code or a table as one unit, or line by line if it is above the size."""
        weight = weigh(text, start, end, self.size)
        if weight <= self.size:
            yield Unit(start, weight)
        else:
            yield from _split_rows(text, start, end, size=self.size)


class SlideChunker:
    """Cuts every slide or chapter by itself like Markdown, so that a citation names the right one."""

    def __init__(self, *, size: int = PROSE_SIZE, overlap: int = 0) -> None:
        """Keep the sizes, in estimated tokens."""
        self._markdown = MarkdownChunker(size=size, overlap=overlap)
        self.recipe = format_recipe("marked", size, overlap)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        slices: list[TextSlice] = []
        for start, end in split_at_marks(document):
            slide = document.text[start:end]
            for piece in self._markdown.cut(slide):
                moved = piece._replace(
                    start=piece.start + start,
                    end=piece.end + start,
                )
                slices.append(moved)
        return build_chunks(document, slices)


def _is_related(first: _Section, section: _Section) -> bool:
    """Return whether a section is a sibling or a child of the first section of a group."""
    parent = first.path[:-1]
    return section.path[: len(parent)] == parent


# ── parts of a section ────────────────────────────────────────────────────────────────────────────


def _split_blocks(text: str, section: _Section) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, is_whole) of a section's blocks: fenced code and tables are whole, prose is not."""
    matches = _TABLE.finditer(text, section.body, section.end)
    tables = [match.span() for match in matches]
    position = section.start
    for start, end in sorted([*section.fences, *tables]):
        if start < position:
            continue  # a table inside code
        if start > position:
            yield position, start, False
        yield start, end, True
        position = end
    if position < section.end:
        yield position, section.end, False


def _split_rows(text: str, start: int, end: int, *, size: int) -> Iterator[Unit]:
    """Yield the lines of code or of a table; blank lines are the stronger borders."""
    is_after_blank = False
    for unit in line_units(text, start, end, size=size):
        if unit.border != WORD:
            unit = unit._replace(border=PARAGRAPH if is_after_blank else LINE)
        yield unit
        is_after_blank = _EMPTY_LINE.match(text, unit.start, end) is not None


# ── sections ──────────────────────────────────────────────────────────────────────────────────────


def _split_sections(text: str) -> Iterator[_Section]:
    """Yield the sections of a text in order; together they are all of it."""
    front_matter = _FRONT_MATTER.match(text[:_MAX_FRONT_MATTER])
    start = body = 0
    path: list[_Heading] = []
    fences: list[tuple[int, int]] = []

    def build(end: int) -> _Section:
        titles = tuple(above.title for above in path)
        return _Section(
            start,
            body,
            end,
            titles,
            tuple(fences),
            is_bare=not text[body:end].strip(),
        )

    for heading in _find_headings(text, front_matter.end() if front_matter else 0):
        if heading.level == 0:
            fences.append((heading.start, heading.end))
            continue
        if text[start : heading.start].strip():
            yield build(heading.start)
            start = heading.start
        fences.clear()
        path = [
            *(above for above in path if above.level < heading.level),
            heading,
        ]
        body = heading.end
    if start < len(text):
        yield build(len(text))


def _find_headings(text: str, start: int) -> Iterator[_Heading]:
    """Yield headings and blocks of fenced code in order."""
    fence: tuple[str, int] | None = None
    for match in _SYNTAX.finditer(text, start):
        if fence is not None:
            opening, fence_start = fence
            if _closes_fence(match, opening):
                fence_end = _line_end(text, match.end())
                yield _Heading(0, fence_start, fence_end)
                fence = None
        elif match["fence"]:
            # A backtick after the fence means inline code.
            if "`" not in match["info"]:
                fence = (match["fence"], match.start())
        elif match["marks"]:
            level = len(match["marks"])
            title = _clean_title(match["title"] or "")
            yield _Heading(level, match.start(), match.end(), title)
        else:
            heading = _underlined_heading(text, match, start)
            if heading is not None:
                yield heading
    if fence is not None:
        yield _Heading(0, fence[1], len(text))


def _closes_fence(match: re.Match[str], opening: str) -> bool:
    if not match["fence"] or match["info"].strip():
        return False
    return match["fence"].startswith(opening)


def _underlined_heading(text: str, underline: re.Match[str], least: int) -> _Heading | None:
    """Return the heading above an underline, if there is a paragraph of one line that can be one."""
    end = underline.start()
    start = _line_start(text, end - 1, least)
    line = text[start:end].strip()
    if not line or len(line) > _MAX_HEADING or line[0] in _BLOCK_MARKS:
        return None
    before = _line_start(text, start - 1, least)
    if text[before:start].strip():
        return None
    level = 1 if underline["underline"].startswith("=") else 2
    title = _clean_title(text[start:end])
    return _Heading(level, start, underline.end(), title)


def _line_start(text: str, position: int, least: int) -> int:
    """Return the start of the line at a position, but not less than `least`."""
    line_end = text.rfind("\n", least, max(position, least))
    return max(line_end + 1, least)


def _line_end(text: str, position: int) -> int:
    line_break = text.find("\n", position)
    return len(text) if line_break < 0 else line_break + 1


def _clean_title(raw: str) -> str:
    """Return a heading without its marks, links and emphasis."""
    title = raw.strip()[: 2 * _MAX_HEADING]
    title = _TITLE_END.sub("", title)
    title = _LINK.sub(r"\1", title)
    title = title.replace("`", "").replace("**", "")
    words = title.strip("* \t")[:_MAX_HEADING].split()
    return " ".join(words)
