"""Context for a prompt: cited text within a token budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ragstone.types.documents import Slice, Span
from ragstone.types.search import SearchOptions

ContextFormat = Literal["block", "markdown", "tool", "documents", "json"]


@dataclass(frozen=True, slots=True)
class Cited:
    """A passage in a context with its citation: an exact slice of a document, or several if compressed."""

    doc_id: str
    citation: str
    text: str
    score: float
    uri: str
    chunk_index: int
    span: Span
    whole: bool = True
    """False if only the sentences that fit are in the context."""
    kind: str = "text"
    """The kind of the document."""
    slices: tuple[Slice, ...] = ()
    """The parts of a compressed passage, in order; its text has a gap mark between them."""
    summary_file: str = ""
    """The file that the text is about, if Ragstone wrote it about a node of the code graph; else empty."""
    summary_lines: tuple[int, int] = (0, 0)
    """The first and the last line of that file that the text is about."""

    @property
    def is_summary(self) -> bool:
        """Return whether Ragstone wrote the text, about a node of the code graph."""
        return bool(self.summary_file)

    @property
    def path(self) -> str:
        """Return the path or name of the document; of a summary, the file that it is about."""
        return self.summary_file or self.uri

    @property
    def lines(self) -> tuple[int, int]:
        """Return the first and the last line of the passage; of a summary, those of the file that it is about."""
        if self.is_summary:
            return self.summary_lines
        return self.span.line_start, self.span.line_end


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A hit that is not in a context, with the reason."""

    doc_id: str
    citation: str
    reason: str


@dataclass(frozen=True, slots=True)
class Context:
    """Cited text for a prompt within a token budget, and the hits that were left out."""

    text: str
    format: ContextFormat
    budget: int
    tokens: int
    cited: tuple[Cited, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    sent_before: tuple[str, ...] = ()
    """Citations that this session got before: the text names them and does not repeat them."""
    confidence: float = 0.0
    needs_clarification: bool = False
    question: str = ""
    """A question to the user if no hit answers well enough."""
    notes: tuple[str, ...] = ()
    downgraded: tuple[str, ...] = ()
    """Options that were switched off because the project's plan does not include them."""


class ContextOptions(SearchOptions, total=False):
    """Options of a context besides the task and the budget."""

    format: ContextFormat
    window: int | None
    """The model's window in tokens: at most two fifths of it are used."""
    session: str | None
    """The session that gets the context: passages that it got before are named, not repeated."""
    top_k: int | None
    count: Callable[[str], int] | None
    """The model's own tokenizer: returns the number of tokens in a text."""
    rag_enabled: bool
    """False skips retrieval for this run and says so."""
