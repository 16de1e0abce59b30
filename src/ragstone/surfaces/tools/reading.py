"""The tool `rag_read`: lines of a document in the index. It never opens a file by the path that a caller names."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from ragstone.engine import Engine
from ragstone.errors import InputError, NotFound
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
from ragstone.surfaces.tool import Tool, ToolAnswer, ToolCall, truncate
from ragstone.surfaces.tools.passages import fence_results
from ragstone.surfaces.tools.schemas import (
    COLLECTION,
    MAX_TOKENS,
    count_schema,
    list_schema,
    text_schema,
)
from ragstone.surfaces.tools.search import SEARCH_TOKENS
from ragstone.text.tokens import at_most

_MAX_LINE: Final = 1_000_000_000
_FRAME_TOKENS: Final = 220
"""Tokens that are kept free for the citation and the fence."""
_MIN_TOKENS: Final = 20
_CITED: Final = re.compile(r"(?P<path>.+?):(?P<first>\d+)(?:-(?P<last>\d+))?")


@dataclass(frozen=True, slots=True)
class DocumentLines:
    """Some lines of a stored document."""

    path: str
    collection: str
    first: int
    last: int
    total: int
    text: str

    @property
    def citation(self) -> str:
        """Return `path:first-last`."""
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

    A citation such as `docs/a.md:3-9` names its lines itself. `NotFound` with similar paths if there is no such document.
    """
    name, text, cited = _find_text(engine, path, collection)
    if cited is not None:
        first = first or int(cited["first"])
        last = last or int(cited["last"] or cited["first"])
        path = cited["path"]
    lines = text.removesuffix("\n").split("\n")
    first = first or 1
    _check_lines(path, first, last, len(lines))
    wanted = lines[first - 1 : last]
    shown = _fit_lines(wanted, max_tokens)
    text = truncate("\n".join(shown), max_tokens)
    return DocumentLines(
        _relative(engine, path), name, first, first + len(shown) - 1, len(lines), text
    )


def _check_lines(path: str, first: int, last: int | None, total: int) -> None:
    """Raise `InputError` if a document does not have the lines that are asked for."""
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


def _find_text(
    engine: Engine, path: str, collection: str | None
) -> tuple[str, str, re.Match[str] | None]:
    """Return the collection and the text of a document, and the lines if the path is a citation."""
    cited = _CITED.fullmatch(path)
    candidates: list[tuple[str, re.Match[str] | None]] = [(_relative(engine, path), None)]
    if cited is not None:
        candidates.append((_relative(engine, cited["path"]), cited))
    names = [stored.name for stored in engine.admin.collections()]
    for uri, match in candidates:
        for name in [collection] if collection else names:
            text = engine.admin.text(uri, collection=name)
            if text is not None:
                return name, text, match
    uris = [document.uri for document in engine.sources(collection=collection)]
    similar = get_close_matches(candidates[-1][0], uris, n=3)
    hint = f"similar are {', '.join(similar)}" if similar else "rag_search finds the path"
    raise NotFound(f"the index has no document {one_line(path)!r}", hint=hint)


def _relative(engine: Engine, path: str) -> str:
    """Return a path as documents are named: relative to the folder, with slashes."""
    base = engine.settings.base.as_posix().rstrip("/")
    return path.replace("\\", "/").removeprefix(f"{base}/").removeprefix("./")


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
    data: Json = {"success": True}
    data |= fence_results(
        [
            {
                "citation": lines.citation,
                "path": lines.path,
                "lines": [lines.first, lines.last],
                "text": passage,
            }
        ]
    )
    data["total_lines"] = lines.total
    heading = f"{one_line(lines.citation)} (of {lines.total} lines)"
    if lines.last < (arguments.get("last_line") or lines.total):
        data["next_line"] = lines.last + 1
        heading += f"; go on with first_line {lines.last + 1}"
    mark = new_mark([passage])
    text = f"{heading}\n{WARNING}\n{opening_line(mark)}\n{passage}\n{closing_line(mark)}"
    return ToolAnswer(text, data)


RAG_READ: Final = Tool(
    "rag_read",
    "Read lines of a file or document in the index, for example around a passage that rag_search found.",
    {
        "path": text_schema("The path, or a citation such as docs/a.md:3-9."),
        "first_line": count_schema("The first line.", 1, _MAX_LINE),
        "last_line": count_schema("The last line.", 1, _MAX_LINE),
        "collection": COLLECTION,
        "max_tokens": {**MAX_TOKENS, "minimum": 300},
    },
    ("path",),
    _rag_read,
    list_schema("citation", "path", "lines", "text"),
)
