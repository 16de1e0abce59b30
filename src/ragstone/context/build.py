"""From hits to a context: what is cited, what is left out and why, and what to ask where nothing answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from ragstone.context.fit import Count, fit, page
from ragstone.context.layout import EMPTY_BASE, LAYOUTS, NOTHING_FOUND, line
from ragstone.errors import InputError
from ragstone.rank.compress import best_slice
from ragstone.tokens import at_most
from ragstone.types import Cited, Context, ContextFormat, Hit, LeftOut, Span
from ragstone.words import query_terms

WINDOW_SHARE: Final = 0.4
"""Of a model's window, at most this much is retrieved text."""
SURE_ENOUGH: Final = 0.25
"""Below this confidence of the best hit, a question to the user is worth more than a guess."""
_CANDIDATES: Final = 3
_BY_LINES: Final = frozenset({"code", "config", "data"})


@dataclass(frozen=True, slots=True)
class Wish:
    """What a caller wants of a context."""

    task: str
    budget: int = 1500
    format: ContextFormat = "block"
    window: int | None = None
    count: Count = at_most
    sent: frozenset[str] = frozenset()
    """Marks of the pieces this session was shown already."""

    @property
    def room(self) -> int:
        """Return the tokens there are: the budget, and no more than the window's share."""
        return self.budget if self.window is None else min(self.budget, int(self.window * WINDOW_SHARE))


def build(wish: Wish, hits: Sequence[Hit], *, empty: bool = False) -> Context:
    """Return the context of these hits, best first; `empty` says that nothing is indexed at all."""
    if wish.format not in LAYOUTS:
        raise InputError(f"there is no context format {wish.format!r}", hint=f"known are {', '.join(LAYOUTS)}")
    confidence = hits[0].score if hits else 0.0
    unclear = confidence < SURE_ENOUGH
    question = clarifying(wish.task, hits) if unclear else ""
    fresh, again = _parted(hits, wish.sent)
    pieces, repeated = _without_repeats(fresh)
    kinds = {hit.doc_id: hit.kind for hit in hits}
    before = [hit.place for hit in again]
    if not pieces and not before:
        return Context(_nothing(wish, empty), wish.format, wish.room, 0, confidence=confidence,
                       needs_clarification=unclear, question=question)  # fmt: skip
    blank = page(LAYOUTS[wish.format], wish.task, pieces, before, wish.count)
    terms = query_terms(wish.task)

    def shorten(piece: Cited, most: int) -> Cited | None:
        part = _shortened(piece, terms, most, by_lines=kinds[piece.doc_id] in _BY_LINES)
        return None if part is None or sent_mark(part) in wish.sent else part

    fitted = fit(blank, pieces, wish.room, shorten)
    notes = () if fitted.framed else (f"a budget of {wish.room} tokens is too small for a context",)
    return Context(
        text=fitted.text,
        format=wish.format,
        budget=wish.room,
        tokens=fitted.tokens,
        cited=tuple(fitted.taken),
        left_out=(*fitted.left_out, *repeated),
        sent_before=tuple(before),
        confidence=confidence,
        needs_clarification=unclear,
        question=question,
        notes=notes,
    )


def clarifying(task: str, hits: Sequence[Hit]) -> str:
    """Return the question to put to the user, made from what came nearest."""
    asked = line(task)[:200]
    if not hits:
        return f'Nothing in the index answers "{asked}". Which file, component or term is it about?'
    near = list(dict.fromkeys(line(hit.symbol or hit.title or hit.source_doc_id) for hit in hits))[:_CANDIDATES]
    named = ", ".join(near[:-1]) + f" or {near[-1]}" if len(near) > 1 else near[0]
    return f'Nothing answers "{asked}" for sure. Is it about {named}, or about something else?'


def sent_mark(cited: Cited | Hit) -> str:
    """Return what a piece is remembered by once a session was shown it."""
    uri = cited.uri if isinstance(cited, Cited) else cited.source_doc_id
    digest = sha256(f"{uri}\0{cited.text}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:24]


def _nothing(wish: Wish, empty: bool) -> str:
    """Return what the tools answer where there is nothing to show; other formats stay empty."""
    if wish.format == "tool":
        return NOTHING_FOUND
    return (EMPTY_BASE if empty else NOTHING_FOUND) if wish.format == "documents" else ""


def _parted(hits: Sequence[Hit], sent: frozenset[str]) -> tuple[list[Hit], list[Hit]]:
    """Return the hits that are new to the session, and those it was shown."""
    again = [hit for hit in hits if sent_mark(hit) in sent]
    shown = {hit.doc_id for hit in again}
    return [hit for hit in hits if hit.doc_id not in shown], again


def _without_repeats(hits: Sequence[Hit]) -> tuple[list[Cited], list[LeftOut]]:
    """Return the pieces, each part of a document once: of two that share text, the better one stays."""
    pieces: list[Cited] = []
    dropped: list[LeftOut] = []
    for hit in hits:
        if any(hit.source_doc_id == one.uri and _overlap(hit.span, one.span) for one in pieces):
            dropped.append(LeftOut(hit.doc_id, hit.place, "its text stands in a better piece"))
        else:
            pieces.append(_cited(hit))
    return pieces, dropped


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _cited(hit: Hit) -> Cited:
    return Cited(hit.doc_id, hit.place, hit.text, hit.score, hit.source_doc_id, hit.chunk_index, hit.span)


def _shortened(piece: Cited, terms: list[str], most: int, *, by_lines: bool) -> Cited | None:
    found = best_slice(piece.text, terms, most, by_lines=by_lines)
    if found is None:
        return None
    start, end = found
    span = piece.span.narrowed(piece.text, start, end)
    return replace(piece, text=piece.text[start:end], span=span, place=span.place(piece.uri), whole=False)
