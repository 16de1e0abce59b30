"""Passages in an answer: as text and as data, both with citations and inside the same token limit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.retrieval.context.fence import (
    WARNING,
    closing_line,
    new_mark,
    opening_line,
    reveal_hidden,
)
from ragstone.retrieval.context.formatters import FORMATTERS
from ragstone.retrieval.context.passages import cite_hit, shorten_piece, shorten_to_start
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.hits import summary_json
from ragstone.surfaces.tools.tool import MAX_TEXT_TOKENS
from ragstone.text import query_terms
from ragstone.text.tokens import at_most
from ragstone.types import Cited, Hit, Span

_FRAME_TOKENS: Final = 130
"""Tokens that are kept free for the fence in the data and the line about left-out results."""
_SHARE_TOKENS: Final = 220
"""Tokens of a passage with its citation and its data that still say something."""
_MIN_CHARACTERS: Final = 20


@dataclass(frozen=True, slots=True)
class FittedPassages:
    """The passages that fit into a token limit, and how many do not."""

    text: str
    passages: tuple[Cited, ...]
    left_out: int


def passage_json(passage: Cited) -> Json:
    """Return a passage as data: its citation first, then its place and its text."""
    span = passage.span
    data: Json = {
        "citation": reveal_hidden(passage.citation),
        "path": reveal_hidden(passage.path),
        "lines": list(passage.lines),
    }
    data |= summary_json(passage)
    if span.page is not None:
        data["page"] = span.page
    if not passage.whole:
        data["cut"] = True
    if len(passage.slices) > 1 and not passage.is_summary:
        data["slices"] = [_lines(part.span) for part in passage.slices]
    return {
        **data,
        "score": round(passage.score, 4),
        "kind": passage.kind,
        "doc_id": reveal_hidden(passage.doc_id),
        "text": reveal_hidden(passage.text),
    }


def _lines(span: Span) -> list[int]:
    return [span.line_start, span.line_end]


def fence_results(results: Sequence[Json]) -> Json:
    """Return results between the marks of a fence: they are data, also for a model that reads only the data.

    The names of the fields keep the marks around the results if a client sorts them.
    """
    if not results:
        return {"results": []}
    mark = new_mark(json.dumps(result, ensure_ascii=False) for result in results)
    return {
        "fence": f"{WARNING} {opening_line(mark)}",
        "results": list(results),
        "results_end": closing_line(mark),
    }


def count_fitting(rows: Sequence[Json]) -> int:
    """Return how many rows of a listing fit into the token limit, at least one if there is any."""
    used = 0
    for count, row in enumerate(rows):
        used += at_most(json.dumps(row, ensure_ascii=False, default=str)) + 1
        if used > MAX_TEXT_TOKENS and count:
            return count
    return len(rows)


def fit_passages(
    hits: Sequence[Hit], query: str, max_tokens: int, *, first: int = 1
) -> FittedPassages:
    """Return as many hits as the token limit allows, in their order.

    Long passages are cut to the part that answers, so that a longer list of hits never has fewer results. The limit
    holds for the text and for the data. `first` is the number of the first result.
    """
    available = max(_MIN_CHARACTERS, max_tokens - _FRAME_TOKENS)
    pieces = [cite_hit(hit) for hit in hits]
    sharing = pieces[: max(1, available // _SHARE_TOKENS)]
    costs = [_cost(piece, number) for number, piece in enumerate(sharing, start=first)]
    limit = _fair_limit(costs, available)
    passages: list[Cited] = []
    texts: list[str] = []
    used = 0
    for number, passage in enumerate(pieces, start=first):
        cost = _cost(passage, number)
        if len(passages) < len(sharing) and cost > limit:
            passage = _shorten(passage, query, number, limit)
            cost = _cost(passage, number)
        if passages and used + cost > available:
            break
        used += cost
        passages.append(passage)
        texts.append(FORMATTERS["tool"].format_piece(passage, number))
    text = "".join(texts).rstrip("\n")
    return FittedPassages(text, tuple(passages), len(hits) - len(passages))


def _fair_limit(costs: Sequence[int], available: int) -> int:
    """Return the largest limit for each passage with which all of them fit; short ones leave room for long ones."""
    remaining = available
    for position, cost in enumerate(sorted(costs)):
        share = remaining // (len(costs) - position)
        if cost > share:
            return share
        remaining -= cost
    return available


def _cost(passage: Cited, number: int) -> int:
    """Return the tokens of a passage: the larger number of its text and its data."""
    text = FORMATTERS["tool"].format_piece(passage, number)
    data = json.dumps(passage_json(passage), ensure_ascii=False)
    return max(at_most(text), at_most(data)) + 1


def _shorten(passage: Cited, query: str, number: int, max_tokens: int) -> Cited:
    """Return the part of a passage that answers best and fits; a short beginning if no part fits."""
    terms = query_terms(query)
    characters = len(passage.text)
    part = passage
    while characters > _MIN_CHARACTERS:
        characters = characters * 3 // 4
        part = shorten_piece(passage, terms, characters) or shorten_to_start(
            passage, characters
        )
        if _cost(part, number) <= max_tokens:
            break
    return part
