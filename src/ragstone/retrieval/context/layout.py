"""The formats: what stands before, between and behind the pieces. Each string is a contract with somebody's prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final, Protocol

from ragstone.retrieval.context.fence import WARNING, closer, neutral, opener
from ragstone.types import Cited, ContextFormat

NOTHING_FOUND: Final = "No relevant documentation found for your query."
EMPTY_BASE: Final = "The knowledge base is empty: nothing has been indexed yet."
SENT_BEFORE: Final = "Already shown in this session: "
_MOST_ASKED: Final = 200
"""Characters of a task that a heading repeats: a long one must not take the room of what answers it."""
_INDENT: Final = "   "
_POSING: Final = re.compile(r"^(?=--- Result )", re.M)


class Layout(Protocol):
    """How one format is written."""

    def frame(self, mark: str, task: str) -> tuple[str, str]:
        """Return what stands before the first piece and behind the last."""

    def piece(self, cited: Cited, number: int) -> str:
        """Return a piece with its citation."""

    def before(self, places: Sequence[str]) -> str:
        """Return the line that names what was sent before."""


class Block:
    """`block`: a bracketed heading, then `File: path (chunk N)` and the text of each piece."""

    heading = "[RETRIEVED CONTEXT]"

    def frame(self, mark: str, task: str) -> tuple[str, str]:
        """Return heading, warning and fence."""
        return f"{self.heading}\n{WARNING}\n{opener(mark)}\n", closer(mark)

    def piece(self, cited: Cited, number: int) -> str:
        """Return the file, the chunk's number and its place, then the text."""
        return f"File: {line(cited.uri)} (chunk {cited.chunk_index}){_where(cited)}\n{neutral(cited.text)}\n\n"

    def before(self, places: Sequence[str]) -> str:
        """Return the line that names what was sent before."""
        return f"{SENT_BEFORE}{', '.join(map(line, places))}\n"


class Markdown(Block):
    """`markdown`: a second-level heading, and a third-level one for each piece."""

    heading = "## Relevant Context (RAG)"

    def piece(self, cited: Cited, number: int) -> str:
        """Return the place as a heading, then the text."""
        return f"### {line(cited.place)}\n\n{neutral(cited.text)}\n\n"


class Tool:
    """`tool`: what the tool `rag_search` answers, to the letter; a tool's result is set apart by its protocol.

    No passage can pose as another result: a line that looks like a heading is moved in.
    """

    def frame(self, mark: str, task: str) -> tuple[str, str]:
        """Return nothing: the results have headings of their own."""
        return "", ""

    def piece(self, cited: Cited, number: int) -> str:
        """Return a numbered result."""
        return f"{result_line(cited, number)}\n{_POSING.sub(_INDENT, neutral(cited.text))}\n\n"

    def before(self, places: Sequence[str]) -> str:
        """Return the line that names what was sent before."""
        return f"{SENT_BEFORE}{', '.join(map(line, places))}\n\n"


class Documents(Tool):
    """`documents`: what the tool `search_documents` answers; passages are indented, headings are not."""

    def frame(self, mark: str, task: str) -> tuple[str, str]:
        """Return the heading with the question."""
        return f'[Knowledge base results for "{_short(line(task))}"]\n', ""

    def piece(self, cited: Cited, number: int) -> str:
        """Return a numbered source and the passage, indented."""
        indented = "\n".join(
            f"{_INDENT}{part}" if part else "" for part in neutral(cited.text).split("\n")
        )
        return f"{document_line(cited, number)}\n{indented}\n\n"


class Json:
    """`json`: one object with a list of pieces, for programs."""

    def frame(self, mark: str, task: str) -> tuple[str, str]:
        """Return the object's beginning and end; the mark goes with it, for whoever pastes it into a prompt."""
        return (
            f'{{"mark": "{mark}", "task": {json.dumps(_short(neutral(task)))}, "pieces": [\n',
            "]}",
        )

    def piece(self, cited: Cited, number: int) -> str:
        """Return a piece as an object."""
        fields = {
            "place": neutral(cited.place),
            "doc_id": neutral(cited.doc_id),
            "score": round(cited.score, 4),
            "text": neutral(cited.text),
        }
        return ("" if number == 1 else ",") + json.dumps(fields, ensure_ascii=False) + "\n"

    def before(self, places: Sequence[str]) -> str:
        """Return nothing: a program has them as `sent_before`."""
        return ""


LAYOUTS: Final[dict[ContextFormat, Layout]] = {
    "block": Block(),
    "markdown": Markdown(),
    "tool": Tool(),
    "documents": Documents(),
    "json": Json(),
}


def result_line(cited: Cited, number: int) -> str:
    """Return the heading of a `rag_search` result."""
    return f"--- Result {number} (score: {cited.score:.3f}, source: {line(cited.uri)}) ---"


def document_line(cited: Cited, number: int) -> str:
    """Return the heading of a `search_documents` result: the file, its page if it has pages, and the chunk."""
    span = cited.span
    label = span.page_label or span.page
    page = "" if span.page is None else f"{span.unit} {label}, " if span.unit else f"p.{label}, "
    return f"{number}. {line(cited.uri)} ({page}chunk {cited.chunk_index})"


def line(text: str) -> str:
    """Return a name as one line in which nothing is hidden."""
    return " ".join(neutral(text).split())


def _short(text: str) -> str:
    return text if len(text) <= _MOST_ASKED else f"{text[:_MOST_ASKED]}…"


def _where(cited: Cited) -> str:
    """Return the place behind the file's name, where there is more to say than the name."""
    place = cited.place.removeprefix(cited.uri).strip()
    return f" {line(place)}" if place else ""
