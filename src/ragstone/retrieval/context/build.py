"""From hits to a context: what is cited, what is left out and why, and what to ask where nothing answers."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from ragstone.errors import InputError
from ragstone.retrieval.context import SURE_ENOUGH as SURE_ENOUGH
from ragstone.retrieval.context.fit import Count, fit, page
from ragstone.retrieval.context.layout import EMPTY_BASE, LAYOUTS, NOTHING_FOUND, line
from ragstone.retrieval.ranking.compression import best_slice
from ragstone.text import query_terms
from ragstone.text.tokens import at_most
from ragstone.types import Cited, Context, ContextFormat, Hit, LeftOut

WINDOW_SHARE: Final = 0.4
"""Of a model's window, at most this much is retrieved text."""
_CANDIDATES: Final = 3
_MOST_NAMED: Final = 80
"""Characters of a name in a question."""
_SHOWN: Final = "the part that fits was shown in this session"
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_TURN: Final = "turn"
_BY_LINES: Final = frozenset({"code", "config", "data"})


@dataclass(frozen=True, slots=True)
class Wish:
    """What a caller wants of a context."""

    task: str
    budget: int = 1500
    format: ContextFormat = "block"
    window: int | None = None
    count: Count = at_most
    sent: Collection[str] = frozenset()
    """Marks of what this session was shown already."""

    @property
    def room(self) -> int:
        """Return the tokens there are: the budget, and no more than the window's share."""
        return (
            self.budget
            if self.window is None
            else min(self.budget, int(self.window * WINDOW_SHARE))
        )


def build(wish: Wish, hits: Sequence[Hit], *, empty: bool = False) -> Context:
    """Return the context of these hits, best first; `empty` says that nothing is indexed at all."""
    if wish.format not in LAYOUTS:
        raise InputError(
            f"there is no context format {wish.format!r}", hint=f"known are {', '.join(LAYOUTS)}"
        )
    confidence = hits[0].score if hits else 0.0
    unclear = confidence < SURE_ENOUGH
    question = clarifying(wish.task, hits) if unclear else ""
    fresh, again = _parted(hits, wish.sent)
    by_piece, repeated = _without_repeats(fresh)
    pieces, before = list(by_piece), [hit.place for hit in again]
    if not pieces and not before:
        said = _nothing(wish, empty)
        return Context(said, wish.format, wish.room, wish.count(said) if said else 0, confidence=confidence,
                       needs_clarification=unclear, question=question)  # fmt: skip
    blank = page(LAYOUTS[wish.format], wish.task, pieces, before, wish.count)
    terms = query_terms(wish.task)

    def shorten(piece: Cited, most: int) -> Cited | None:
        part = _shortened(piece, terms, most, by_lines=by_piece[piece].kind in _BY_LINES)
        if part is not None and _says_nothing_new(part, terms, wish.sent):
            known.add((piece.doc_id, piece.place))
            return None
        return part

    known: set[tuple[str, str]] = set()
    fitted = fit(blank, pieces, wish.room, shorten)
    left_out = [
        replace(one, reason=_SHOWN) if (one.doc_id, one.place) in known else one
        for one in fitted.left_out
    ]
    notes = () if fitted.framed else (f"a budget of {wish.room} tokens is too small for a context",)
    return Context(
        text=fitted.text,
        format=wish.format,
        budget=wish.room,
        tokens=fitted.tokens,
        cited=tuple(fitted.taken),
        left_out=(*left_out, *repeated),
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
    near = list(dict.fromkeys(_name(hit) for hit in hits))[:_CANDIDATES]
    named = ", ".join(near[:-1]) + f" or {near[-1]}" if len(near) > 1 else near[0]
    return f'Nothing answers "{asked}" for sure. Is it about {named}, or about something else?'


def sent_marks(cited: Cited | Hit) -> list[str]:
    """Return what a piece is remembered by once a session was shown it: one mark for each of its sentences and lines.

    So a piece is known again by whatever cut: as a part of a longer one, or as several that were shown apart.
    """
    uri = cited.uri if isinstance(cited, Cited) else cited.source_doc_id
    parts = dict.fromkeys(part.strip() for part in _SENTENCES.split(cited.text))
    digests = (sha256(f"{uri}\0{part}".encode("utf-8", "surrogatepass")) for part in parts if part)
    return [digest.hexdigest()[:16] for digest in digests]


def was_sent(cited: Cited | Hit, sent: Collection[str]) -> bool:
    """Return whether a session that was shown these marks was shown all of a piece."""
    return (
        bool(sent) and bool(cited.text.strip()) and all(mark in sent for mark in sent_marks(cited))
    )


def _says_nothing_new(part: Cited, terms: Sequence[str], sent: Collection[str]) -> bool:
    """Return whether all of a part that answers was shown: more filling around it is no reason to repeat it.

    How much fits beside the answer differs from call to call with the length of the random fence.
    """
    if not sent:
        return False
    asked = set(terms)
    sentences = [one for one in _SENTENCES.split(part.text) if one.strip()]
    telling = [one for one in sentences if not asked.isdisjoint(query_terms(one))] or sentences
    return all(was_sent(replace(part, text=one), sent) for one in telling)


def _name(hit: Hit) -> str:
    name = line(hit.symbol or hit.title or hit.source_doc_id)
    return name if len(name) <= _MOST_NAMED else f"{name[:_MOST_NAMED]}…"


def _nothing(wish: Wish, empty: bool) -> str:
    """Return what the tools answer where there is nothing to show; other formats stay empty."""
    said = EMPTY_BASE if empty and wish.format == "documents" else NOTHING_FOUND
    return said if wish.format in ("tool", "documents") and wish.count(said) <= wish.room else ""


def _parted(hits: Sequence[Hit], sent: Collection[str]) -> tuple[list[Hit], list[Hit]]:
    """Return the hits that are new to the session, and those it was shown."""
    known = [was_sent(hit, sent) for hit in hits]
    fresh = [hit for hit, again in zip(hits, known, strict=True) if not again]
    return fresh, [hit for hit, again in zip(hits, known, strict=True) if again]


def _without_repeats(hits: Sequence[Hit]) -> tuple[dict[Cited, Hit], list[LeftOut]]:
    """Return the pieces, each part of a document once: of two that share text, the better one stays."""
    pieces: dict[Cited, Hit] = {}
    dropped: list[LeftOut] = []
    for hit in hits:
        if any(_overlap(hit, one) for one in pieces.values()):
            dropped.append(LeftOut(hit.doc_id, hit.place, "its text stands in a better piece"))
        else:
            pieces[_cited(hit)] = hit
    return pieces, dropped


def _overlap(one: Hit, other: Hit) -> bool:
    """Return whether two hits show the same part of one document; each turn of a conversation is one of its own."""
    same = (one.collection, one.source_doc_id) == (other.collection, other.source_doc_id)
    if not same or (one.kind == _TURN and one.span.page != other.span.page):
        return False
    return one.span.start < other.span.end and other.span.start < one.span.end


def _cited(hit: Hit) -> Cited:
    return Cited(
        hit.doc_id, hit.place, hit.text, hit.score, hit.source_doc_id, hit.chunk_index, hit.span
    )


def _shortened(piece: Cited, terms: list[str], most: int, *, by_lines: bool) -> Cited | None:
    found = best_slice(piece.text, terms, most, by_lines=by_lines)
    if found is None:
        return None
    start, end = found
    span = piece.span.narrowed(piece.text, start, end)
    return replace(
        piece, text=piece.text[start:end], span=span, place=span.place(piece.uri), whole=False
    )
