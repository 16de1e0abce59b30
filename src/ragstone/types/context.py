"""What a model is shown, and what a conversation leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ragstone.types.documents import Span
from ragstone.types.search import SearchOptions

ContextFormat = Literal["block", "markdown", "tool", "documents", "json"]


@dataclass(frozen=True, slots=True)
class Cited:
    """A piece as a context holds it: an exact slice of a document, and where it stands."""

    doc_id: str
    place: str
    text: str
    score: float
    uri: str
    chunk_index: int
    span: Span
    whole: bool = True
    """False where only the sentences that fit were taken."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A hit that is not in a context, and why."""

    doc_id: str
    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Context:
    """Text for a prompt inside a token budget, cited, with what was left out of it."""

    text: str
    format: ContextFormat
    budget: int
    tokens: int
    cited: tuple[Cited, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    sent_before: tuple[str, ...] = ()
    """Places that this session was shown already: named in the text, not repeated."""
    confidence: float = 0.0
    needs_clarification: bool = False
    question: str = ""
    """What to ask the user where nothing answers well enough."""
    notes: tuple[str, ...] = ()


class ContextOptions(SearchOptions, total=False):
    """Options of a context, beside the task and the budget."""

    format: ContextFormat
    window: int | None
    """The model's window in tokens: at most two fifths of it are used."""
    session: str | None
    """The session that gets the context: passages that it was shown before are named, not repeated."""
    top_k: int | None
    count: Callable[[str], int] | None
    """The model's own tokenizer: returns the number of tokens in a text."""
    rag_enabled: bool
    """False skips retrieval for this run and says so."""
