"""Hits as pieces of a context, and the shortest form of a piece that still answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragstone.retrieval.ranking.compression import (
    GAP,
    best_slice,
    cut_slices,
    is_cut_by_lines,
    join_slices,
    outer_span,
)
from ragstone.text import terms
from ragstone.types import Cited, Hit, Slice, cite_slices


def cite_hit(hit: Hit) -> Cited:
    """Return a hit as a piece of a context."""
    cited = Cited(
        doc_id=hit.doc_id,
        citation=hit.citation,
        text=hit.text,
        score=hit.score,
        uri=hit.source_doc_id,
        chunk_index=hit.chunk_index,
        span=hit.span,
        kind=hit.kind,
        slices=hit.slices,
    )
    if hit.is_summary:
        return replace(cited, summary_file=hit.path, summary_lines=hit.lines)
    return cited


def exact_slices(piece: Cited | Hit) -> tuple[Slice, ...]:
    """Return the exact slices of a piece; a piece that is not compressed is one slice."""
    return piece.slices or (Slice(piece.text, piece.span),)


def shorten_piece(
    piece: Cited, query_terms: Sequence[str], max_characters: int
) -> Cited | None:
    """Return the part of a piece, up to a number of characters, with the most terms of the query.

    It is a run of sentences or lines, or whole slices of a compressed piece. None if nothing fits.
    """
    slices = exact_slices(piece)
    fitting = _choose_slices(slices, frozenset(query_terms), max_characters)
    if fitting:
        return _keep_slices(piece, fitting)
    best = max(slices, key=lambda part: _count_matches(part, frozenset(query_terms)))
    by_lines = is_cut_by_lines(piece.kind)
    bounds = best_slice(best.text, query_terms, max_characters, by_lines=by_lines)
    if bounds is None:
        return None
    return _keep_slices(piece, cut_slices(best.text, best.span, [bounds]))


def shorten_to_start(piece: Cited, max_characters: int) -> Cited:
    """Return the beginning of a piece."""
    first = exact_slices(piece)[0]
    return _keep_slices(piece, cut_slices(first.text, first.span, [(0, max_characters)]))


def _choose_slices(
    slices: Sequence[Slice], query_terms: frozenset[str], max_characters: int
) -> list[Slice]:
    """Return the slices with the most terms of the query that fit together, in their order."""
    by_matches = sorted(slices, key=lambda part: -_count_matches(part, query_terms))
    chosen: list[Slice] = []
    room = max_characters
    for part in by_matches:
        cost = len(part.text) + len(GAP)
        if cost <= room:
            chosen.append(part)
            room -= cost
    return sorted(chosen, key=lambda part: part.span.start)


def _count_matches(part: Slice, query_terms: frozenset[str]) -> int:
    return len(query_terms.intersection(terms(part.text)))


def _keep_slices(piece: Cited, slices: Sequence[Slice]) -> Cited:
    """Return the piece reduced to some of its slices, or to a part of one."""
    # No line of a file has the text of a summary, so its citation does not depend on the part.
    citation = piece.citation if piece.is_summary else cite_slices(piece.uri, slices)
    return replace(
        piece,
        text=join_slices(slices),
        span=outer_span(slices),
        citation=citation,
        whole=False,
        slices=tuple(slices) if piece.slices else (),
    )
