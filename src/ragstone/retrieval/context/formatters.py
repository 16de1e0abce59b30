"""The formats of a context. Prompts depend on these strings, so a change of one breaks its users."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final, Protocol

from ragstone.retrieval.context.fence import (
    WARNING,
    closing_line,
    opening_line,
    reveal_hidden,
    short_mark,
)
from ragstone.types import Cited, ContextFormat

NOTHING_FOUND: Final = "No relevant documentation found for your query."
EMPTY_BASE: Final = "The knowledge base is empty: nothing has been indexed yet."
_SHOWN_BEFORE: Final = "Already shown in this session: "
_MAX_TASK: Final = 200
"""Characters of the task in a heading, so that a long task leaves room for the pieces."""
_INDENT: Final = "   "
_QUOTE: Final = "> "
_BLOCK_HEADING: Final = re.compile(
    r"^(?=[^\S\n]*(?:File: .*\(chunk \d+\)|\[RETRIEVED CONTEXT\]))", re.M
)
_MARKDOWN_HEADING: Final = re.compile(
    r"^(?=[^\S\n]*#+ (?:.*(?::\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*"
    r"| (?:p\.|page |slide |sheet |chapter )\S+(?: \(page \d+\))?)(?: \([^()\n]*\))?(?: +#\S{1,16})? *$"
    r"|Relevant Context \(RAG\)))",
    re.M,
)
_RESULT_LINE: Final = re.compile(
    r"^(?=--- Result |\[[^\[\]\n]+(?::\d+(?:-\d+)?| (?:p\.|page |slide |sheet |chapter )[^\]\n]+)\]$)",
    re.M,
)


class ContextFormatter(Protocol):
    """Writes contexts in one format."""

    def frame(self, mark: str, task: str) -> tuple[str, str]:
        """Return the text before the first piece and the text after the last."""

    def format_piece(self, cited: Cited, number: int, mark: str = "") -> str:
        """Return a piece with its citation; the citations of fenced formats carry a part of the mark."""

    def format_shown(self, places: Sequence[str]) -> str:
        """Return the line that names the places that the session was shown before."""


class BlockFormatter:
    """`block`: a bracketed heading, then `File: path (chunk N)` and the text of each piece.

    The real citations carry a part of the fence's mark. A line in a passage that looks like one is quoted.
    """

    heading = "[RETRIEVED CONTEXT]"

    def frame(self, mark: str, task: str) -> tuple[str, str]:
        """Return the heading, the warning and the fence."""
        head = f"{self.heading}\n{WARNING}\n{opening_line(mark)}\n"
        return head, closing_line(mark)

    def format_piece(self, cited: Cited, number: int, mark: str = "") -> str:
        """Return the file, the chunk's number, the citation and the mark, then the text."""
        heading = f"File: {one_line(cited.path)} ({_part_name(cited)})"
        heading += f" [{one_line(cited.citation)}] #{short_mark(mark)}"
        passage = _BLOCK_HEADING.sub(_QUOTE, reveal_hidden(cited.text))
        return f"{heading}\n{passage}\n\n"

    def format_shown(self, places: Sequence[str]) -> str:
        """Return the line that names the places."""
        return f"{_SHOWN_BEFORE}{_join_places(places)}\n"


class MarkdownFormatter(BlockFormatter):
    """`markdown`: a second-level heading, and a third-level heading for each piece."""

    heading = "## Relevant Context (RAG)"

    def format_piece(self, cited: Cited, number: int, mark: str = "") -> str:
        """Return the place as a heading, then the text."""
        heading = f"### {one_line(cited.citation)} #{short_mark(mark)}"
        passage = _MARKDOWN_HEADING.sub(_QUOTE, reveal_hidden(cited.text))
        return f"{heading}\n\n{passage}\n\n"


class ToolFormatter:
    """`tool`: the answer of the tool `rag_search`. It has no fence: the tool protocol separates results.

    A line in a passage that looks like the heading or the citation of a result is indented, so no passage can pose as
    a result.
    """

    def frame(self, mark: str, task: str) -> tuple[str, str]:
        """Return empty texts: each result has a heading."""
        return "", ""

    def format_piece(self, cited: Cited, number: int, mark: str = "") -> str:
        """Return a numbered result, with its citation as the last line."""
        source = one_line(cited.uri)
        heading = f"--- Result {number} (score: {cited.score:.3f}, source: {source}) ---"
        passage = _RESULT_LINE.sub(_INDENT, reveal_hidden(cited.text))
        return f"{heading}\n{passage}\n[{one_line(cited.citation)}]\n\n"

    def format_shown(self, places: Sequence[str]) -> str:
        """Return the line that names the places."""
        return f"{_SHOWN_BEFORE}{_join_places(places)}\n\n"


class DocumentsFormatter(ToolFormatter):
    """`documents`: the answer of the tool `search_documents`; passages are indented, headings are not."""

    def frame(self, mark: str, task: str) -> tuple[str, str]:
        """Return the heading with the question."""
        question = shorten_text(one_line(task), _MAX_TASK)
        return f'[Knowledge base results for "{question}"]\n', ""

    def format_piece(self, cited: Cited, number: int, mark: str = "") -> str:
        """Return a numbered source and the indented passage."""
        heading = f"{number}. {one_line(cited.path)} ({_page_name(cited)}{_part_name(cited)})"
        lines = [heading]
        for line in reveal_hidden(cited.text).split("\n"):
            lines.append(f"{_INDENT}{line}" if line else "")
        return "\n".join(lines) + "\n\n"


class JsonFormatter:
    """`json`: an object with a list of pieces, for programs."""

    def frame(self, mark: str, task: str) -> tuple[str, str]:
        """Return the object's start and end; it includes the mark, so that a program can fence the pieces."""
        short_task = shorten_text(reveal_hidden(task), _MAX_TASK)
        head = f'{{"mark": "{mark}", "task": {json.dumps(short_task)}, "pieces": [\n'
        return head, "]}"

    def format_piece(self, cited: Cited, number: int, mark: str = "") -> str:
        """Return a piece as an object, with a comma before it unless it is the first."""
        fields = {
            "place": reveal_hidden(cited.citation),
            "doc_id": reveal_hidden(cited.doc_id),
            "score": round(cited.score, 4),
            "text": reveal_hidden(cited.text),
        }
        separator = "," if number > 1 else ""
        return f"{separator}{json.dumps(fields, ensure_ascii=False)}\n"

    def format_shown(self, places: Sequence[str]) -> str:
        """Return an empty text: programs read `Context.sent_before`."""
        return ""


FORMATTERS: Final[dict[ContextFormat, ContextFormatter]] = {
    "block": BlockFormatter(),
    "markdown": MarkdownFormatter(),
    "tool": ToolFormatter(),
    "documents": DocumentsFormatter(),
    "json": JsonFormatter(),
}


def one_line(text: str) -> str:
    """Return a text as a single line without hidden characters."""
    return " ".join(reveal_hidden(text).split())


def shorten_text(text: str, max_characters: int) -> str:
    """Return a text, cut with an ellipsis if it is too long."""
    if len(text) <= max_characters:
        return text
    return f"{text[:max_characters]}…"


def _join_places(places: Sequence[str]) -> str:
    return ", ".join(one_line(place) for place in places)


def _part_name(cited: Cited) -> str:
    """Return `chunk N`; the text of a summary is no chunk of the file that it is about."""
    if cited.is_summary:
        return "summary"
    return f"chunk {cited.chunk_index}"


def _page_name(cited: Cited) -> str:
    """Return the page or slide of a piece and a comma; empty if its document has no pages."""
    span = cited.span
    if span.page is None:
        return ""
    label = span.page_label or span.page
    if span.unit:
        return f"{span.unit} {label}, "
    if str(label) != str(span.page):
        return f"p.{label}, page {span.page}, "
    return f"p.{label}, "
