"""The tool `rag_read`: lines of a document in the index. It never opens a file by the path that a caller names."""

from __future__ import annotations

import json
from dataclasses import dataclass
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
)
from ragstone.retrieval.context.formatters import one_line
from ragstone.surfaces.present import Json
from ragstone.surfaces.tools.citations import find_cited, page_at
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
from ragstone.text.tokens import at_most
from ragstone.types import Span

_MAX_LINE: Final = 1_000_000_000
_FRAME_TOKENS: Final = 220
"""Tokens that are kept free for the citation and the fence."""
_MIN_TOKENS: Final = 20


@dataclass(frozen=True, slots=True)
class DocumentLines:
    """Some lines of a stored document."""

    path: str
    collection: str
    first: int
    last: int
    total: int
    text: str
    page: Span | None = None
    """The place of the first line, if the document has pages, slides, sheets, chapters, cells or sections."""

    @property
    def citation(self) -> str:
        """Return `path:first-last`, or the page of the first line: `path p.4`."""
        if self.page is not None:
            return self.page.citation(self.path)
        if self.last <= self.first:
            return f"{self.path}:{self.first}"
        return f"{self.path}:{self.first}-{self.last}"


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
    fitting = _fit_lines(lines[first - 1 : last], max_tokens)
    return DocumentLines(
        cited.uri,
        cited.collection,
        first,
        first + len(fitting) - 1,
        len(lines),
        truncate("\n".join(fitting), max_tokens),
        page_at(engine, cited, first),
    )


def _check_lines(path: str, first: int, last: int | None, total: int) -> None:
    """Raise `InputError` if a document does not have the requested lines."""
    if first > total:
        raise InputError(f"{one_line(path)} has no line {first}", hint=f"it has {total} lines")
    if last is not None and last < first:
        raise InputError("the last line is before the first", hint="first_line=1, last_line=80")


def _fit_lines(lines: list[str], max_tokens: int) -> list[str]:
    """Return as many lines as the token limit allows, at least one."""
    used = 0
    for count, line in enumerate(lines):
        used += at_most(json.dumps(reveal_hidden(line), ensure_ascii=False)) + 1
        if used > max_tokens and count:
            return lines[:count]
    return lines


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
    passage = reveal_hidden(lines.text)
    result: Json = {
        "citation": lines.citation,
        "path": lines.path,
        "lines": [lines.first, lines.last],
    }
    if lines.page is not None:
        result["page"] = lines.page.page
    data: Json = {"success": True}
    data |= fence_results([{**result, "text": passage}])
    data["total_lines"] = lines.total
    heading = f"{one_line(lines.citation)} (of {lines.total} lines)"
    if lines.page is not None:
        heading = (
            f"{one_line(lines.citation)} (lines {lines.first}-{lines.last} of {lines.total})"
        )
    if lines.last < (arguments.get("last_line") or lines.total):
        data["next_line"] = lines.last + 1
        heading += f"; go on with first_line {lines.last + 1}"
    mark = new_mark([passage])
    text = f"{heading}\n{WARNING}\n{opening_line(mark)}\n{passage}\n{closing_line(mark)}"
    return ToolAnswer(text, data)


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
