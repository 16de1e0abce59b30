"""Builds a context from hits: the cited pieces, the pieces left out, and a question if the hits are unsure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ragstone.errors import InputError
from ragstone.retrieval.context.budget import (
    NO_ROOM,
    CountTokens,
    fit_pieces,
    new_page,
    smallest_budget,
)
from ragstone.retrieval.context.formatters import (
    EMPTY_BASE,
    FORMATTERS,
    NOTHING_FOUND,
    one_line,
    shorten_text,
)
from ragstone.retrieval.context.passages import cite_hit, shorten_piece
from ragstone.retrieval.context.shown_sentences import was_answer_shown, was_shown
from ragstone.retrieval.ranking.confidence import NOTHING_INDEXED, WEAK_CONFIDENCE
from ragstone.text import query_terms
from ragstone.text.counts import plural
from ragstone.text.tokens import at_most
from ragstone.types import Cited, Context, ContextFormat, Hit, LeftOut

WINDOW_SHARE: Final = 0.4
"""The largest share of a model's window that retrieved text may take."""
_MAX_SUGGESTIONS: Final = 3
_MAX_NAME: Final = 80
"""Characters of a name in a question."""
_MAX_TASK: Final = 200
"""Characters of the task in a question."""
_SHOWN: Final = "the part that fits was shown in this session"
_OVERLAPS: Final = "its text stands in a better piece"
_VAGUE: Final = "the task names nothing to look for"
_WHICH: Final = "Which file, component or term is it about?"
_TURN: Final = "turn"
WEAK_SHARE: Final = 0.5
"""A hit with less than this share of the best score only fills the budget. Not set by an eval: on a folder of 1,000 files
the passages that answer a task reach .6 of the best one, and unrelated ones up to .5."""
_MUCH_WEAKER: Final = "it fits much less than the best passage"


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """The task of a context, its budget and its format."""

    task: str
    budget: int = 1500
    format: ContextFormat = "block"
    window: int | None = None
    count: CountTokens = at_most
    shown_hashes: Collection[str] = frozenset()
    """Hashes of the sentences that the session was shown before."""
    weak_share: float = 0.0
    """Hits with a lower share of the best score are left out."""

    @property
    def max_tokens(self) -> int:
        """Return the budget, limited to the window's share."""
        if self.window is None:
            return self.budget
        return min(self.budget, int(self.window * WINDOW_SHARE))


def build_context(
    request: ContextRequest, hits: Sequence[Hit], *, index_is_empty: bool = False
) -> Context:
    """Return the context of the hits, which are ordered best first."""
    if request.format not in FORMATTERS:
        known_formats = ", ".join(FORMATTERS)
        raise InputError(
            f"there is no context format {request.format!r}", hint=f"known are {known_formats}"
        )
    if not hits:
        return _empty_context(request, index_is_empty)
    max_tokens = request.max_tokens
    confidence = hits[0].score
    is_unsure = confidence < WEAK_CONFIDENCE
    hits, weak = _split_weak(hits, request.weak_share)
    shown_hits, new_hits = _split_shown(hits, request.shown_hashes)
    hits_by_piece, repeated = _drop_overlaps(new_hits)
    pieces = list(hits_by_piece)
    shown_places = [hit.citation for hit in shown_hits]
    page = new_page(
        FORMATTERS[request.format], request.task, pieces, shown_places, request.count
    )
    shortener = _Shortener(request)
    fitted = fit_pieces(page, pieces, max_tokens, shortener.shorten)
    left_out = shortener.correct_reasons(fitted.left_out)
    notes: tuple[str, ...] = ()
    lacks_room = any(entry.reason == NO_ROOM for entry in left_out)
    if not fitted.pieces and (lacks_room or not fitted.has_frame):
        enough = smallest_budget(page, pieces, max_tokens, shortener.shorten)
        notes = (_describe_small_budget(request, enough),)
        is_unsure = False  # the room is missing, not the answer
        if not shown_places:
            fitted.text, fitted.tokens = "", 0
    return Context(
        text=fitted.text,
        format=request.format,
        budget=max_tokens,
        tokens=fitted.tokens,
        cited=tuple(fitted.pieces),
        left_out=(*left_out, *repeated, *weak),
        sent_before=tuple(shown_places),
        confidence=confidence,
        needs_clarification=is_unsure,
        question=_build_question(request.task, hits) if is_unsure else "",
        notes=notes,
    )


def build_vague_context(request: ContextRequest, hits: Sequence[Hit]) -> Context:
    """Return the context of a task that names nothing to look for: a question, and every hit as left out."""
    empty = _empty_context(request, index_is_empty=False)
    task = one_line(request.task)[:_MAX_TASK]
    return replace(
        empty,
        left_out=tuple(LeftOut(hit.doc_id, hit.citation, _VAGUE) for hit in hits),
        question=f'"{task}" names nothing to look for. {_WHICH}',
    )


class _Shortener:
    """Shortens pieces to the part that answers, and rejects a part whose answer was shown before."""

    def __init__(self, request: ContextRequest) -> None:
        self._shown_hashes = request.shown_hashes
        self._terms = query_terms(request.task)
        self._rejected: set[tuple[str, str]] = set()

    def shorten(self, piece: Cited, max_characters: int) -> Cited | None:
        """Return the best part of a piece; None if there is none or its answer was shown."""
        part = shorten_piece(piece, self._terms, max_characters)
        if part is None:
            return None
        if was_answer_shown(part, self._terms, self._shown_hashes):
            self._rejected.add((piece.doc_id, piece.citation))
            return None
        return part

    def correct_reasons(self, left_out: Iterable[LeftOut]) -> list[LeftOut]:
        """Return the pieces left out, with the true reason for those that were rejected here."""
        corrected = []
        for entry in left_out:
            is_rejected = (entry.doc_id, entry.citation) in self._rejected
            reason = _SHOWN if is_rejected and entry.reason == NO_ROOM else entry.reason
            corrected.append(replace(entry, reason=reason))
        return corrected


def _describe_small_budget(request: ContextRequest, enough: int) -> str:
    """Return how large the budget must be, or the window if it limits the budget."""
    name, tokens = "budget", request.budget
    if request.window is not None and request.max_tokens < request.budget:
        name, tokens = "window", request.window
        enough = math.ceil(enough / WINDOW_SHARE)
    return f"a {name} of {plural(tokens, 'token')} is too small; {enough} are enough"


def _empty_context(request: ContextRequest, index_is_empty: bool) -> Context:
    """Return a context without pieces; the formats of tools say that nothing was found."""
    text = ""
    if request.format == "documents" and index_is_empty:
        text = EMPTY_BASE
    elif request.format in ("tool", "documents"):
        text = NOTHING_FOUND
    lacks_documents = index_is_empty and bool(request.task.strip())
    tokens = request.count(text) if text else 0
    if tokens > request.max_tokens:
        text, tokens = "", 0
    return Context(
        text=text,
        format=request.format,
        budget=request.max_tokens,
        tokens=tokens,
        needs_clarification=not lacks_documents,
        question="" if lacks_documents else _build_question(request.task, ()),
        notes=(NOTHING_INDEXED,) if lacks_documents else (),
    )


def _build_question(task: str, hits: Sequence[Hit]) -> str:
    """Return the question to put to the user; it suggests the names of the best hits."""
    quoted_task = one_line(task)[:_MAX_TASK]
    if not quoted_task:
        return f"The task is empty. {_WHICH}"
    if not hits:
        return f'Nothing in the index answers "{quoted_task}". {_WHICH}'
    unique_names = dict.fromkeys(_hit_name(hit) for hit in hits)
    *names, last_name = list(unique_names)[:_MAX_SUGGESTIONS]
    suggestions = last_name
    if names:
        suggestions = f"{', '.join(names)} or {last_name}"
    return (
        f'Nothing answers "{quoted_task}" for sure. '
        f"Is it about {suggestions}, or about something else?"
    )


def _hit_name(hit: Hit) -> str:
    name = one_line(hit.symbol or hit.title or hit.source_doc_id)
    return shorten_text(name, _MAX_NAME)


def _split_weak(hits: Sequence[Hit], weak_share: float) -> tuple[list[Hit], list[LeftOut]]:
    """Return the hits that are worth their tokens, and those that fit much less than the best one."""
    limit = weak_share * hits[0].score
    worth = [hit for hit in hits if hit.score >= limit]
    weak = [hit for hit in hits if hit.score < limit]
    return worth, [LeftOut(hit.doc_id, hit.citation, _MUCH_WEAKER) for hit in weak]


def _split_shown(
    hits: Sequence[Hit], shown_hashes: Collection[str]
) -> tuple[list[Hit], list[Hit]]:
    """Return the hits that the session was shown, and those that are new to it."""
    shown_hits: list[Hit] = []
    new_hits: list[Hit] = []
    for hit in hits:
        if was_shown(hit, shown_hashes):
            shown_hits.append(hit)
        else:
            new_hits.append(hit)
    return shown_hits, new_hits


def _drop_overlaps(hits: Sequence[Hit]) -> tuple[dict[Cited, Hit], list[LeftOut]]:
    """Return the hits by their pieces, and the hits that overlap a better one."""
    hits_by_piece: dict[Cited, Hit] = {}
    dropped: list[LeftOut] = []
    for hit in hits:
        if any(_overlap(hit, better) for better in hits_by_piece.values()):
            dropped.append(LeftOut(hit.doc_id, hit.citation, _OVERLAPS))
        else:
            hits_by_piece[cite_hit(hit)] = hit
    return hits_by_piece, dropped


def _overlap(first: Hit, second: Hit) -> bool:
    """Return whether two hits share text of one document; two turns of a conversation never do."""
    if first.collection != second.collection or first.source_doc_id != second.source_doc_id:
        return False
    if first.kind == _TURN and first.span.page != second.span.page:
        return False
    return first.span.start < second.span.end and second.span.start < first.span.end
