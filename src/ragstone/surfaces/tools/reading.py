"""The tool `rag_read`: lines of a document in the index. It never opens a file by the path that a caller names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from ragstone.engine import Engine
from ragstone.errors import InputError
from ragstone.indexing.sync import Changes
from ragstone.retrieval.context.fence import (
    WARNING,
    closing_line,
    new_mark,
    opening_line,
    reveal_hidden,
    short_mark,
)
from ragstone.retrieval.context.formatters import one_line
from ragstone.surfaces.present import Json
from ragstone.surfaces.tools.citations import find_cited, pages_of_lines
from ragstone.surfaces.tools.passages import fence_results
from ragstone.surfaces.tools.schemas import (
    COLLECTION,
    MAX_TOKENS,
    count_schema,
    list_schema,
    text_schema,
)
from ragstone.surfaces.tools.search import SEARCH_TOKENS
from ragstone.surfaces.tools.tool import Tool, ToolAnswer, ToolCall, truncate
from ragstone.text.counts import plural
from ragstone.text.tokens import at_most
from ragstone.types import Span
from ragstone.types.documents import cite_lines

_MAX_LINE: Final = 1_000_000_000
_FRAME_TOKENS: Final = 220
"""Tokens that are kept free for the citation and the fence."""
_MIN_TOKENS: Final = 20


@dataclass(frozen=True, slots=True)
class PageLines:
    """Consecutive lines of a stored document that are on one page; all lines if it has no pages."""

    path: str
    first: int
    text: str
    page: Span | None = None
    """The page, slide, sheet, chapter, cell or section of the lines; None if the document has none."""

    @property
    def last(self) -> int:
        """Return the number of the last line."""
        return self.first + self.text.count("\n")

    @property
    def citation(self) -> str:
        """Return `path:first-last`, or the page of the lines: `path p.4`."""
        if self.page is not None:
            lines = replace(self.page, line_start=self.first, line_end=self.last)
            return lines.citation(self.path)
        return cite_lines(self.path, self.first, self.last)


@dataclass(frozen=True, slots=True)
class DocumentLines:
    """Some lines of a stored document, page by page."""

    path: str
    total: int
    pages: tuple[PageLines, ...]

    @property
    def first(self) -> int:
        """Return the number of the first line."""
        return self.pages[0].first

    @property
    def last(self) -> int:
        """Return the number of the last line."""
        return self.pages[-1].last

    @property
    def text(self) -> str:
        """Return the lines."""
        return "\n".join(page.text for page in self.pages)

    @property
    def citation(self) -> str:
        """Return the page of the lines, or `path:first-last` if they are on several pages."""
        if len(self.pages) == 1:
            return self.pages[0].citation
        return cite_lines(self.path, self.first, self.last)


def read_lines(
    engine: Engine,
    path: str,
    *,
    first: int | None = None,
    last: int | None = None,
    collection: str | None = None,
    max_tokens: int = SEARCH_TOKENS,
) -> DocumentLines:
    """Return lines of a document in the index, as many as the token limit allows.

    A citation such as `docs/a.md:3-9` or `docs/a.pdf p.4` names its lines itself. `NotFound` with similar paths if
    there is no such document.
    """
    cited = find_cited(engine, path, collection)
    first = first or cited.first or 1
    last = last or cited.last
    lines = cited.text.removesuffix("\n").split("\n")
    _check_lines(cited.uri, first, last, len(lines))
    last = min(last or len(lines), len(lines))
    pages = pages_of_lines(engine, cited, first, last)
    parts = _split_by_page(cited.uri, first, lines[first - 1 : last], pages)
    return DocumentLines(cited.uri, len(lines), _fit_pages(parts, max_tokens))


def _split_by_page(
    path: str, first: int, lines: Sequence[str], pages: Sequence[Span | None]
) -> list[PageLines]:
    """Return the lines of each page together."""
    parts: list[PageLines] = []
    position = 0
    for _, group in groupby(pages, key=_page_name):
        count = len(list(group))
        text = "\n".join(lines[position : position + count])
        parts.append(PageLines(path, first + position, text, pages[position]))
        position += count
    return parts


def _page_name(page: Span | None) -> str:
    if page is None:
        return ""
    return page.citation("")


def _check_lines(path: str, first: int, last: int | None, total: int) -> None:
    """Raise `InputError` if a document does not have the requested lines."""
    if first > total:
        raise InputError(
            f"{one_line(path)} has no line {first}", hint=f"it has {plural(total, 'line')}"
        )
    if last is not None and last < first:
        raise InputError(
            f"last_line is {last}, before first_line {first}", hint="leave one of them out"
        )


def _fit_pages(parts: Sequence[PageLines], max_tokens: int) -> tuple[PageLines, ...]:
    """Return as many lines as the token limit allows, at least one; a single long line is cut."""
    fitting: list[PageLines] = []
    used = 0
    for part in parts:
        used += _heading_cost(part)
        lines: list[str] = []
        for line in part.text.split("\n"):
            used += at_most(json.dumps(reveal_hidden(line), ensure_ascii=False)) + 1
            if used > max_tokens and (fitting or lines):
                break
            lines.append(truncate(line, max_tokens))
        if lines:
            fitting.append(replace(part, text="\n".join(lines)))
        if used > max_tokens:
            break
    return tuple(fitting)


def _heading_cost(part: PageLines) -> int:
    """Return the tokens of a page besides its text."""
    return at_most(json.dumps(_page_json(replace(part, text="")), ensure_ascii=False))


def _page_json(part: PageLines) -> Json:
    """Return the lines of a page as data: their citation first."""
    data: Json = {
        "citation": part.citation,
        "path": part.path,
        "lines": [part.first, part.last],
    }
    if part.page is not None:
        data["page"] = part.page.page
    return {**data, "text": reveal_hidden(part.text)}


def _fence_pages(lines: DocumentLines) -> str:
    """Return the lines inside a fence; lines of several pages with a heading for each page.

    The headings carry a part of the fence's mark, so that no line of the document can pose as one.
    """
    passages = [reveal_hidden(part.text) for part in lines.pages]
    mark = new_mark(passages)
    if len(passages) > 1:
        passages = [
            f"{_page_heading(part)} #{short_mark(mark)}\n{passage}"
            for part, passage in zip(lines.pages, passages, strict=True)
        ]
    return "\n".join((WARNING, opening_line(mark), *passages, closing_line(mark)))


def _page_heading(part: PageLines) -> str:
    return f"--- {one_line(part.citation)} (lines {part.first}-{part.last})"


def _rag_read(call: ToolCall) -> ToolAnswer:
    arguments = call.arguments
    if call.fresh:
        call.engine.admin.ensure_current(Changes(embed=False))
    max_tokens = arguments.get("max_tokens", SEARCH_TOKENS)
    lines = read_lines(
        call.engine,
        arguments["path"],
        first=arguments.get("first_line"),
        last=arguments.get("last_line"),
        collection=arguments.get("collection"),
        max_tokens=max(_MIN_TOKENS, max_tokens - _FRAME_TOKENS),
    )
    data: Json = {"success": True}
    data |= fence_results([_page_json(part) for part in lines.pages])
    data["total_lines"] = lines.total
    heading = f"{one_line(lines.citation)} (of {plural(lines.total, 'line')})"
    first_page = lines.pages[0].page
    if len(lines.pages) == 1 and first_page is not None:
        place = one_line(first_page.cite_place(lines.path))
        heading = f"{place} (lines {lines.first}-{lines.last} of {lines.total})"
    if lines.last < (arguments.get("last_line") or lines.total):
        data["next_line"] = lines.last + 1
        heading += f"; go on with first_line {lines.last + 1}"
    return ToolAnswer(f"{heading}\n{_fence_pages(lines)}", data)


RAG_READ: Final = Tool(
    "rag_read",
    "Read lines or a page of an indexed file, for example around a passage of rag_search.",
    {
        "path": text_schema("A path or a citation: a.md:3-9, a.pdf p.4."),
        "first_line": count_schema("The first line.", 1, _MAX_LINE),
        "last_line": count_schema("The last line.", 1, _MAX_LINE),
        "collection": COLLECTION,
        "max_tokens": {**MAX_TOKENS, "minimum": 300},
    },
    ("path",),
    _rag_read,
    list_schema("citation", "path", "lines", "text"),
)
