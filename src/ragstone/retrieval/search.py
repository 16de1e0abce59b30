"""The read path: candidates by words and vectors → fuse → rank → hits that explain themselves."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from ragstone.embed.wordpiece import has_unusual_word
from ragstone.errors import ProviderError, StoreOffline
from ragstone.protocols.cancellation import check_cancelled
from ragstone.retrieval.candidates import CandidateSearch
from ragstone.retrieval.hits import HitBuilder
from ragstone.retrieval.ranking import order
from ragstone.retrieval.ranking.boosts import RankedChunk
from ragstone.retrieval.ranking.confidence import (
    NOTHING_FITS,
    SURE_CONFIDENCE,
    UNKNOWN_CONFIDENCE,
    VERY_SURE_CONFIDENCE,
    WEAK_CONFIDENCE,
    Traces,
    confidence,
)
from ragstone.retrieval.ranking.fusion import (
    CandidateLists,
    FusedList,
    asked_definition,
    filter_noise,
    list_weights,
    query_type,
    reciprocal_rank,
    weighted_sum,
)
from ragstone.retrieval.ranking.order import ChunkLoader
from ragstone.retrieval.ranking.parameters import MIN_SHORTLIST, SHORTLIST_FACTOR
from ragstone.retrieval.ranking.rerank import diversify, rerank_scores
from ragstone.retrieval.spelling import DID_YOU_MEAN, suggest_spelling
from ragstone.text import has_content_words
from ragstone.types import Dropped, Explanation, Request, Scored, StoredChunk
from ragstone.types.bounded_cache import BoundedCache

if TYPE_CHECKING:
    from ragstone.indexing.components import Components
    from ragstone.protocols import DocumentReader

MAX_CACHED_ANSWERS = 256
_CONFIDENCE_HITS: Final = 5
"""Confidence is computed from the best hits only."""
MIN_PLACES: Final = 10
"""Places that are filled at least, so that a hit has the same lines and score whether 1 or 10 hits are shown."""
_MAX_ROUNDS: Final = 3
"""Searches by words that leave out the documents of earlier ones."""


@dataclass(frozen=True, slots=True)
class _Selection:
    """The hits to show, and the candidates they were chosen from."""

    fused: FusedList
    ranked: list[RankedChunk]
    copies: list[RankedChunk]
    best: list[RankedChunk]
    """The first hits, also those that `top_k` does not show: the confidence is theirs."""
    chosen: list[RankedChunk]
    noise: list[Scored]


class Searcher:
    """Answers requests over the store of one home."""

    def __init__(self, components: Components) -> None:
        """Take the components; nothing is opened yet."""
        self._components = components
        self._candidates = CandidateSearch(components)
        self._answers: BoundedCache[tuple[int, Request], Explanation] = BoundedCache(
            MAX_CACHED_ANSWERS
        )

    def run(self, request: Request) -> Explanation:
        """Return the hits with an explanation. An unchanged index gives the cached answer.

        If the query asks for the definition of a name, the name is searched for.
        """
        name = asked_definition(request.query)
        search = request
        if name:
            search = replace(request, query=name)
        try:
            explanation = self._run(search)
        except StoreOffline:  # a replica failed in the middle: now the primary answers
            explanation = self._run(search)
        return replace(explanation, query=request.query)

    def _run(self, request: Request) -> Explanation:
        check_cancelled()
        started = time.perf_counter()
        with self._components.store.snapshot() as view:
            key = (view.generation(request.scope), request)
            answer = self._answers.get(key)
            if answer is None:
                lists = self._candidates.run(request, view, key[0])
                answer = self._answer(request, view, lists)
                if MAX_CACHED_ANSWERS and not lists.has_failed:
                    self._answers[key] = answer
        return replace(answer, milliseconds=(time.perf_counter() - started) * 1000)

    def _answer(
        self, request: Request, view: DocumentReader, lists: CandidateLists
    ) -> Explanation:
        kind = query_type(request.query)
        weights = list_weights(kind, lists.coverage, words="words" in lists.rows)
        chunks = ChunkLoader(partial(view.chunks, request.scope.project))
        selection = self._select_enough(request, view, lists, weights, chunks)
        chosen = selection.chosen
        described = [*selection.best, *chosen]
        traces = {entry.row.id: selection.fused.traces(entry.row.id) for entry in described}
        best = [chunks.rows[entry.row.id] for entry in selection.best]
        sure = self._confidence(request, best, traces, lists)
        suggestion = ""
        if not best or _may_be_misspelt(request.query, sure):
            suggestion = suggest_spelling(request, view, best)
        if suggestion and not view.known_terms(request.scope, lists.terms):
            sure = min(sure, UNKNOWN_CONFIDENCE)
        hits, weak = HitBuilder(request, view, chunks, traces, sure).build(chosen)
        if not hits:
            lists.notes += _describe_weak(weak)
        elif sure < WEAK_CONFIDENCE:
            lists.notes.append(NOTHING_FITS)
        if suggestion:
            lists.notes.append(DID_YOU_MEAN.format(suggestion.rstrip("? ")))
        scale = _scale_of_dropped(chosen, sure)
        hidden = order.explain_dropped(selection.ranked, selection.copies, chosen, scale)
        unrelated = order.explain_noise(selection.noise, lists.outlines, scale)
        return Explanation(
            query=request.query,
            query_type=kind,
            terms=tuple(lists.terms),
            weights=weights,
            coverage=dict(lists.coverage),
            candidates=selection.fused.count,
            hits=tuple(hits),
            dropped=(*weak, *hidden, *unrelated),
            notes=tuple(dict.fromkeys(lists.notes)),
            milliseconds=0.0,
            suggestion=suggestion,
        )

    def _confidence(
        self,
        request: Request,
        best: Sequence[StoredChunk],
        traces: Traces,
        lists: CandidateLists,
    ) -> float:
        """Return how sure the answer is. Words that an answer need not have are no evidence, if there are no others."""
        query_terms = lists.terms
        if not has_content_words(request.query):
            query_terms = []
        has_words = "words" in lists.rows
        return confidence(best, traces, query_terms, lists.calibrations, counts_words=has_words)

    def _select_enough(
        self,
        request: Request,
        view: DocumentReader,
        lists: CandidateLists,
        weights: Mapping[str, float],
        chunks: ChunkLoader,
    ) -> _Selection:
        """Select from a short list first, and from a longer one if copies and neighbours took too many places."""
        length = max(MIN_SHORTLIST, SHORTLIST_FACTOR * request.top_k)
        selection = self._select(request, view, lists, weights, chunks, length)
        while len(selection.chosen) < request.top_k and selection.fused.count > length:
            length *= SHORTLIST_FACTOR
            selection = self._select(request, view, lists, weights, chunks, length)
        rounds = 0
        while len(selection.chosen) < request.top_k and rounds < _MAX_ROUNDS:
            if not self._candidates.add_other_documents(request, view, lists):
                break
            length += request.candidates
            selection = self._select(request, view, lists, weights, chunks, length)
            rounds += 1
        return selection

    def _select(
        self,
        request: Request,
        view: DocumentReader,
        lists: CandidateLists,
        weights: Mapping[str, float],
        chunks: ChunkLoader,
        length: int,
    ) -> _Selection:
        """Fuse the lists, rank the best `length` candidates, and choose the hits to show."""
        if request.fusion == "rrf":
            fused = reciprocal_rank(lists.rows, weights, limit=length)
        else:
            fused = weighted_sum(
                lists.rows,
                weights,
                calibrations=lists.calibrations,
                words_share=lists.words_share,
                limit=length,
            )
        shortlist, noise = filter_noise(fused, self._candidates.floors(lists))
        named = [*shortlist, *noise]
        missing = [entry.id for entry in named if entry.id not in lists.outlines]
        if missing:
            lists.outlines |= view.outlines(request.scope.project, missing)
        ranked, copies = order.arrange(shortlist, lists.outlines, query=request.query)
        ranked = self._reorder(request, ranked, lists, chunks)
        # Texts that differ only in layout are compared last, among the candidates that may be shown.
        texts = chunks.compared_texts(ranked, top_k=request.top_k)
        readable = [entry for entry in ranked if entry.row.id not in chunks.missing]
        ranked, same_words = order.collapse_copies(readable, texts)
        places = max(request.top_k, MIN_PLACES)
        listed = ranked[:places]
        if request.merge:
            listed = order.merge_neighbours(ranked, places)
        listed = [entry for entry in listed if _load_members(entry, chunks)]
        return _Selection(
            fused,
            ranked,
            [*copies, *same_words],
            best=listed[:_CONFIDENCE_HITS],
            chosen=listed[: request.top_k],
            noise=noise,
        )

    def _reorder(
        self,
        request: Request,
        ranked: list[RankedChunk],
        lists: CandidateLists,
        chunks: ChunkLoader,
    ) -> list[RankedChunk]:
        """Return the ranking after the reranker and MMR, if the request asks for them."""
        if request.rerank and ranked:
            ranked = self._rerank(request, ranked, lists, chunks)
        if request.mmr and ranked:
            ranked = self._diversify(request, ranked, lists)
        return ranked

    def _rerank(
        self,
        request: Request,
        ranked: list[RankedChunk],
        lists: CandidateLists,
        chunks: ChunkLoader,
    ) -> list[RankedChunk]:
        """Return the candidates in the order of the reranker; if it fails, in the old order with a note."""
        reranker = self._components.reranker(str(request.rerank))
        chunks.load(entry.row.id for entry in ranked)
        readable = [entry for entry in ranked if entry.row.id in chunks.rows]
        if not readable:
            return []
        texts = [chunks.rows[entry.row.id].chunk.text for entry in readable]
        try:
            scores = rerank_scores(reranker.rerank(request.query, texts), len(texts))
        except ProviderError as error:
            lists.has_failed = True
            lists.notes.append(f"not reranked by {request.rerank}: {error}")
            return ranked
        scored = [
            replace(entry, score=score) for entry, score in zip(readable, scores, strict=True)
        ]
        # The order of the reranker counts to the last digit.
        return sorted(scored, key=lambda entry: -entry.score)

    def _diversify(
        self, request: Request, ranked: list[RankedChunk], lists: CandidateLists
    ) -> list[RankedChunk]:
        """Return the ranking after MMR; unchanged if there are no vectors."""
        if not lists.spaces:
            lists.notes.append(
                "mmr needs vectors, and there are none yet: the order is by score"
            )
            return ranked
        info = next(iter(lists.spaces.values()))
        index = self._components.space_index(request.scope.project, info)
        vectors = index.vectors([entry.row.text_id for entry in ranked])
        scores = [entry.score for entry in ranked]
        positions = diversify(scores, vectors, request.top_k)
        chosen = [ranked[position] for position in positions]
        taken = set(positions)
        rest = [entry for position, entry in enumerate(ranked) if position not in taken]
        return chosen + rest


def _may_be_misspelt(query: str, sure: float) -> bool:
    """Return whether an answer is so unsure that the query may be misspelt; only unusual words are, if it is fair."""
    if sure < SURE_CONFIDENCE:
        return True
    return sure < VERY_SURE_CONFIDENCE and has_unusual_word(query)


def _describe_weak(weak: Sequence[Dropped]) -> list[str]:
    """Return a note about hits that all have a score below `min_score`; none if there are no such hits."""
    if not weak:
        return []
    best = max(entry.score for entry in weak)
    return [f"left out by min_score: {len(weak)}; the best of them has {best:.2f}"]


def _scale_of_dropped(chosen: Sequence[RankedChunk], sure: float) -> float:
    """Return the factor that puts scores on the scale of the hits: the best hit has the confidence."""
    best = max((entry.score for entry in chosen), default=0.0)
    if not best:
        return 1.0
    return sure / best


def _load_members(entry: RankedChunk, chunks: ChunkLoader) -> bool:
    """Load the chunks that an entry shows, and return whether the store has all of them."""
    ids = [member.id for member in entry.members]
    chunks.load(ids)
    return all(chunk_id in chunks.rows for chunk_id in ids)
