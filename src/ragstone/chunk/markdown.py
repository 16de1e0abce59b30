"""Cutting Markdown: by its sections, each with the path of headings above it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ragstone.chunk.pack import Unit, check_sizes, pack
from ragstone.chunk.recipes import PROSE_SIZE, named
from ragstone.chunk.spans import Cut, chunks_of
from ragstone.text.sentences import LINE, PARAGRAPH, WORD, line_units, prose_units, weigh, with_border

if TYPE_CHECKING:
    from ragstone.types import Chunk, Document

_FRONT_MATTER: Final = re.compile(r"\ufeff?(?:---|\+\+\+)[ \t]*\r?\n(?:.*\n)*?(?:---|\+\+\+|\.\.\.)[ \t]*(?:\r?\n|$)")
_LONGEST_FRONT_MATTER: Final = 20_000
_NOTABLE: Final = re.compile(
    r"^ {0,3}(?:(?P<marks>\#{1,6})(?:[ \t]++(?P<title>[^\r\n]*+)|[ \t]*+(?=\r?$))"  # a heading
    r"|(?P<fence>`{3,}+|~{3,}+)(?P<info>[^\r\n]*+)"  # code begins or ends
    r"|(?P<under>=++|-++)[ \t]*+(?=\r?$))",  # what was above is a heading
    re.MULTILINE,
)
_TITLE_END: Final = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_LINK: Final = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_TABLE: Final = re.compile(r"(?:^[ \t]*\|[^\n]*(?:\n|\Z))+", re.MULTILINE)
_EMPTY_LINE: Final = re.compile(r"[^\S\n]*+\n")
_LONGEST_HEADING: Final = 120
_BLOCK_MARKS: Final = "#>|-*+=`~"


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading and what stands under it, up to the next heading; `path` ends with its own title."""

    start: int
    body: int
    end: int
    path: tuple[str, ...]
    fences: tuple[tuple[int, int], ...] = ()


class Markdown:
    """Sections, the small ones beside each other packed together, the long ones parted between paragraphs."""

    def __init__(self, *, size: int = PROSE_SIZE, overlap: int = 100, merge: bool = True) -> None:
        """Keep the sizes, in estimated tokens, and whether small neighbouring sections share a chunk."""
        check_sizes(size, overlap)
        self.size, self.overlap, self.merge = size, overlap, merge
        self.recipe = named("markdown", size, overlap) + ("" if merge else "/apart")

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        return chunks_of(document, self.cuts(document.text))

    def cuts(self, text: str) -> Iterator[Cut]:
        """Yield the cuts of a text in order."""
        for group, weight in self._groups(text):
            telling = [section.path for section in group if not _bare(text, section)]
            header = " > ".join(_common(telling or [group[-1].path]))
            start, end = group[0].start, group[-1].end
            if weight <= self.size:
                yield Cut(start, end, header=header)
                continue
            units = [unit for section in group for unit in self._units(text, section)]
            for cut in pack(units, end, size=self.size, overlap=self.overlap):
                yield Cut(*cut, header=header)

    def _groups(self, text: str) -> Iterator[tuple[list[_Section], int]]:
        """Yield sections that share a chunk, and their weight: small neighbours, bare headings with what follows."""
        group: list[_Section] = []
        above: list[_Section] = []  # bare headings, waiting for what they are above
        weight = waiting = 0
        for section in _sections(text):
            own = weigh(text, section.start, section.end, self.size)
            above.append(section)
            waiting += own
            if _bare(text, section):
                continue
            if group and not self._joins(group, weight, above[0], waiting):
                yield group, weight
                group, weight = [], 0
            group += above
            weight += waiting
            above, waiting = [], 0
        if group or above:
            yield group + above, weight + waiting

    def _joins(self, group: list[_Section], weight: int, section: _Section, own: int) -> bool:
        """Return whether a section shares a chunk with those before it: all fit, and it is their sibling or child."""
        parent = group[0].path[:-1]
        return self.merge and weight + own <= self.size and section.path[: len(parent)] == parent

    def _units(self, text: str, section: _Section) -> Iterator[Unit]:
        """Yield what a long section is parted into; code and tables that fit stay whole."""
        border = PARAGRAPH + 1
        for start, end, whole in _blocks(text, section):
            if whole:
                yield from with_border(border, self._whole(text, start, end))
            else:
                yield from with_border(border, prose_units(text, start, end, size=self.size, fine=self.overlap > 0))
            border = PARAGRAPH

    def _whole(self, text: str, start: int, end: int) -> Iterator[Unit]:
        """Yield code or a table as one, or row by row where it is above the size."""
        weight = weigh(text, start, end, self.size)
        return iter([Unit(start, weight)]) if weight <= self.size else _row_units(text, start, end, size=self.size)


def _row_units(text: str, start: int, end: int, *, size: int) -> Iterator[Unit]:
    """Yield the lines of code or of a table, blank lines being the stronger borders."""
    blank = False
    for unit in line_units(text, start, end, size=size):
        border = WORD if unit.border == WORD else (PARAGRAPH if blank else LINE)
        yield unit._replace(border=border)
        blank = _EMPTY_LINE.match(text, unit.start, end) is not None


def _blocks(text: str, section: _Section) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, whole) of a section's parts: fenced code and tables are wholes, prose is not."""
    wholes = [*section.fences, *(found.span() for found in _TABLE.finditer(text, section.body, section.end))]
    at = section.start
    for start, end in sorted(wholes):
        if start < at:
            continue  # a table drawn inside code
        if start > at:
            yield at, start, False
        yield start, end, True
        at = end
    if at < section.end:
        yield at, section.end, False


def _bare(text: str, section: _Section) -> bool:
    """Return whether a section has nothing under its heading."""
    return not text[section.body : section.end].strip()


def _common(paths: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the headings that all paths begin with."""
    shortest, *others = sorted(paths, key=len)
    count = 0
    for title in shortest:
        if any(path[count] != title for path in others):
            break
        count += 1
    return shortest[:count]


def _sections(text: str) -> Iterator[_Section]:
    """Yield the sections of a text in order; together they are all of it."""
    matter = _FRONT_MATTER.match(text[:_LONGEST_FRONT_MATTER])
    start = body = 0
    path: list[tuple[int, str]] = []
    fences: list[tuple[int, int]] = []
    for kind, begin, end, title in _marks(text, matter.end() if matter else 0):
        if kind == 0:
            fences.append((begin, end))
            continue
        if text[start:begin].strip():
            yield _Section(start, body, begin, tuple(name for _, name in path), tuple(fences))
            start = begin
        fences.clear()
        path = [above for above in path if above[0] < kind] + [(kind, title)]
        body = end
    if start < len(text):
        yield _Section(start, body, len(text), tuple(name for _, name in path), tuple(fences))


def _marks(text: str, at: int) -> Iterator[tuple[int, int, int, str]]:
    """Yield (level, start, end, title) of headings, and (0, start, end, "") of fenced code."""
    fence: tuple[str, int] | None = None
    for found in _NOTABLE.finditer(text, at):
        if found["fence"]:
            if fence is None:
                # An info string with a backtick in it is inline code, not a fence.
                fence = None if "`" in found["info"] else (found["fence"], found.start())
            elif found["fence"].startswith(fence[0]) and not found["info"].strip():
                yield 0, fence[1], _line_end(text, found.end()), ""
                fence = None
        elif fence is None and found["marks"]:
            yield len(found["marks"]), found.start(), found.end(), _title(found["title"] or "")
        elif fence is None:
            above = _line_above(text, found.start(), at)
            if above is not None:
                yield 1 if found["under"][0] == "=" else 2, above, found.end(), _title(text[above : found.start()])
    if fence is not None:
        yield 0, fence[1], len(text), ""


def _line_end(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _line_above(text: str, at: int, least: int) -> int | None:
    """Return where the one-line paragraph right above begins, if it can be a heading."""
    start = max(text.rfind("\n", least, max(at - 1, least)) + 1, least)
    line = text[start:at].strip()
    alone = start <= least or not text[max(text.rfind("\n", least, start - 1) + 1, least) : start].strip()
    plain = 0 < len(line) <= _LONGEST_HEADING and line[0] not in _BLOCK_MARKS
    return start if plain and alone else None


def _title(raw: str) -> str:
    """Return a heading's words without its marks, links and emphasis."""
    title = _TITLE_END.sub("", raw.strip()[: 2 * _LONGEST_HEADING])
    title = _LINK.sub(r"\1", title).replace("`", "").replace("**", "").strip("* \t")
    return " ".join(title[:_LONGEST_HEADING].split())
