"""The read path: query → words + vectors → fuse → look at the rows → hits that explain themselves."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from ragstone import registry
from ragstone.background import Aside
from ragstone.config import cores
from ragstone.errors import StoreDamaged
from ragstone.events import SEARCH_COMPLETED, SEARCH_STARTED, EventBus
from ragstone.protocols import DocumentReader, DocumentStore, Spaces
from ragstone.retrieval.ranking import order
from ragstone.retrieval.ranking.candidate_lists import CandidateLists
from ragstone.retrieval.ranking.chunk_loader import ChunkLoader
from ragstone.retrieval.ranking.compression import answering_slice
from ragstone.retrieval.ranking.confidence import Traces, confidence
from ragstone.retrieval.ranking.fusion import FusedList, list_weights, query_type, reciprocal_rank, weighted_sum
from ragstone.retrieval.ranking.noise import (
    NOISE_COSINE,
    STANDOUT_SAMPLE,
    explain_dropped,
    filter_noise,
    similarity_floor,
)
from ragstone.retrieval.ranking.order import RankedChunk
from ragstone.retrieval.ranking.parameters import MIN_SHORTLIST, SHORTLIST_FACTOR
from ragstone.text import query_terms
from ragstone.types import (
    CollectionKey,
    Dropped,
    Explanation,
    Filter,
    Hit,
    Request,
    Scope,
    Scored,
    SpaceInfo,
    Span,
    StoredChunk,
    Trace,
)

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

Maker = Callable[[], "Matrix | None"]
"""Makes a query's vector; None where its space cannot be asked."""
Cosines = Callable[["Matrix"], Mapping[int, float]]
"""Gives the cosine of a query's vector with each of some chunks."""
Read = Sequence[Cosines]
"""What was read for each space before the query's vector was there."""

Ahead = tuple[int, Sequence[Scored]]
"""How many of the nearest were wanted before words were there, and what an index found for that."""
NOTHING: Final[Ahead] = (0, ())

# The vectors' list may be the shorter one: what words found gets its cosine anyway. Of 100 candidates 30 answer as well
# as 50: chunking 86.91 with both, LoCoMo 78.83 with both, code search .849, SciFact .7480 and .7495 (± .0013). With 20
# chunking falls to 86.69. Where no list of words is completed it is half of the candidates.
VECTOR_SHARE, VECTOR_SHARE_ALONE = 0.3, 0.5
# What words found gets its cosine as far down as this. With 30 by vectors, of 50, 40 and 30: SciFact .7480, .7490 and
# .7475, chunking 86.91, 86.91 and 86.59, code search .849, .850 and .846; each costs three looks into the store.
MAX_CACHED_ANSWERS = 256
COMPLETED: Final = 40


class _Choice(NamedTuple):
    """What was chosen to be shown, and from what."""

    fused: FusedList
    ranked: list[RankedChunk]
    copies: list[RankedChunk]
    chosen: list[RankedChunk]
    unlike: list[Dropped]


class Searcher:
    """Answers queries over one store."""

    def __init__(
        self,
        store: DocumentStore,
        spaces: Spaces,
        *,
        events: EventBus,
    ) -> None:
        """Take the store, and what knows how to ask its spaces."""
        self._store = store
        self._view: DocumentReader = store
        self._ask = spaces
        self._events = events
        self._answers: OrderedDict[tuple[int, Request], Explanation] = OrderedDict()
        self._allowed: OrderedDict[tuple[int, int, Scope, Filter | None], Sequence[int]] = OrderedDict()
        self._spaces: dict[tuple[int, Scope], list[SpaceInfo]] = {}
        self._aside = Aside()

    def run(self, request: Request) -> Explanation:
        """Return the answer, told in full; an unchanged index gives an earlier answer again."""
        begun = time.perf_counter()
        self._events.emit(SEARCH_STARTED, query=request.query, mode=request.mode, top_k=request.top_k)
        with self._store.snapshot() as view:
            reading = copy(self)  # the same caches, but every read is from the snapshot
            reading._view = view
            answer = reading._known_or_new(request, begun)
        self._events.emit(
            SEARCH_COMPLETED,
            query=request.query,
            ids=[hit.doc_id for hit in answer.hits],
            scores=[hit.score for hit in answer.hits],
            chosen=[],  # for a prompt: a context says it, see `Talking.context`
            milliseconds=answer.milliseconds,
        )
        return answer

    def _known_or_new(self, request: Request, begun: float) -> Explanation:
        """Return the answer, an earlier one where the index has not changed since."""
        key = (self._view.generation(request.scope), request)
        answer = self._answers.get(key)
        if answer is not None:
            self._answers.move_to_end(key)
            return replace(answer, milliseconds=(time.perf_counter() - begun) * 1000)
        answer = self._answers[key] = self._answer(request, begun, key[0])
        if len(self._answers) > MAX_CACHED_ANSWERS:
            self._answers.popitem(last=False)
        return answer

    def _answer(self, request: Request, begun: float, generation: int) -> Explanation:
        lists = self._lists(request, generation)
        kind = query_type(request.query)
        weights = list_weights(kind, lists.coverage, words="words" in lists.rows)
        whole = ChunkLoader(partial(self._view.chunks, request.scope.project))
        wide = max(MIN_SHORTLIST, SHORTLIST_FACTOR * request.top_k)
        choice = self._choice(request, lists, weights, whole, wide)
        while len(choice.chosen) < request.top_k and choice.fused.count > wide:  # copies and neighbours took the room
            wide *= SHORTLIST_FACTOR
            choice = self._choice(request, lists, weights, whole, wide)
        traces = {entry.row.id: choice.fused.traces(entry.row.id) for entry in choice.chosen}
        sure = confidence([whole.rows[entry.row.id] for entry in choice.chosen[:5]], traces, weights, lists.terms)
        hits, weak = self._hits(request, choice.chosen, whole, sure=sure, traces=traces)
        return Explanation(
            query=request.query,
            query_type=kind,
            terms=tuple(lists.terms),
            weights=weights,
            coverage=dict(lists.coverage),
            candidates=choice.fused.count,
            hits=tuple(hits),
            dropped=(*weak, *explain_dropped(choice.ranked, choice.copies, choice.chosen), *choice.unlike),
            notes=tuple(dict.fromkeys(lists.notes)),
            milliseconds=(time.perf_counter() - begun) * 1000,
        )

    def _choice(
        self, request: Request, lists: CandidateLists, weights: Mapping[str, float], whole: ChunkLoader, wide: int
    ) -> _Choice:
        """Return what is shown of the best of all lists, looked at so far down."""
        fuse = reciprocal_rank if request.fusion == "rrf" else weighted_sum
        fused = fuse(lists.rows, weights, limit=wide)
        shortlist, unlike = filter_noise(fused, self._floors(lists))
        if unread := [one.id for one in shortlist if one.id not in lists.outlines]:
            lists.outlines |= self._view.outlines(request.scope.project, unread)
        ranked, copies = order.arrange(shortlist, lists.outlines, query=request.query)
        ranked = self._second_look(request, ranked, lists, whole)
        # Copies in another layout are looked for in the last order: among those that may be shown.
        texts = whole.compared_texts(ranked, top_k=request.top_k)
        ranked, laid_out = order.collapse_copies(
            [entry for entry in ranked if entry.row.id not in whole.missing], texts
        )
        chosen = order.merge_neighbours(ranked, request.top_k) if request.merge else ranked[: request.top_k]
        whole.load(member.id for entry in chosen for member in entry.members)
        chosen = [entry for entry in chosen if all(member.id in whole.rows for member in entry.members)]
        return _Choice(fused, ranked, [*copies, *laid_out], chosen, unlike)

    # ── the lists ─────────────────────────────────────────────────────────────────────────────────

    def _lists(self, request: Request, generation: int) -> CandidateLists:
        lists = CandidateLists()
        spaces = self._spaces_asked(request, generation)
        read: Callable[[], Read] = partial(self._read, request, spaces, lists)
        if spaces:  # else there is nothing to be done beside it
            read = self._aside(read)
        makers: list[Maker] = [partial(self._ask.query_vector, info.space, request.query) for info in spaces]
        makers[1:] = map(self._aside, makers[1:])
        vectors = [make() for make in makers]
        ahead = self._ahead(request, spaces, vectors)
        for info, vector, of in zip(spaces, vectors, read(), strict=True):
            if vector is None:
                lists.notes.append(f"the vectors of {info.space.model} cannot be asked here: its embedder is missing")
                continue
            limit = _limit(request, words=bool(lists.rows.get("words")), met=lists.has_known_word)
            (asked, found), ahead = ahead, NOTHING
            found = found if asked >= limit else self._nearest(request, info, vector, limit)
            near = self._near(request, info, vector, generation=generation, limit=limit, found=found)
            # What words found and the vectors did not list gets its cosine too: absent is not the same as far away.
            lists.add_space(info, near + [Scored(*one) for one in of(vector).items()])
            if damaged := self._ask.nearest(request.scope.project, info).damaged:
                lists.notes.append(f"{damaged} vectors are damaged and left out: `ragstone reembed` makes them again")
        lists.notes.extend(
            f"vectors cover {share:.0%} of the texts; words cover all of them"
            for share in lists.coverage.values()
            if share < 1.0
        )
        if request.mode == "vectors" and not lists.rows:
            lists.notes.append("no vectors yet: run `ragstone sync` to make them")
        return lists

    def _read(self, request: Request, spaces: Sequence[SpaceInfo], lists: CandidateLists) -> Read:
        """Search by words, and read what else does not need the query's vector; return what gives cosines by space."""
        lists.terms = query_terms(request.query)
        by_words = partial(self._view.search_words, request.scope, lists.terms, filter=request.filter)
        if request.mode == "vectors":
            lists.has_known_word = bool(spaces and by_words(limit=1))  # see `_floors`
        else:
            lists.rows["words"] = by_words(limit=request.candidates)
        best = [row.id for row in lists.rows.get("words", ())[:COMPLETED]]
        # Ranks are all that counts in reciprocal rank fusion, and what only words found has none among the vectors.
        words = best if request.fusion != "rrf" else []
        cosines = [self._ask.nearest(request.scope.project, info).cosines(words) for info in spaces]
        if spaces and best and cores() > 1:  # while the vector is made: half of these are in the shortlist
            lists.outlines = self._view.outlines(request.scope.project, best)
        return cosines

    def _floors(self, lists: CandidateLists) -> dict[str, float]:
        """Return the cosine that a hit without a word of the query must pass in each list."""
        if lists.has_known_word or lists.rows.get("words"):
            return dict.fromkeys(lists.spaces, NOISE_COSINE)
        return {
            name: similarity_floor(lists.rows[name], self._ask.related(info.space))
            for name, info in lists.spaces.items()
        }

    def _spaces_of(self, scope: Scope, generation: int) -> list[SpaceInfo]:
        """Return the spaces in scope; counting what they cover takes longer than a search, so once per generation."""
        key = (generation, scope)
        if key not in self._spaces:
            if len(self._spaces) > 64:
                self._spaces.clear()
            self._spaces[key] = self._view.vectors.spaces(scope)
        return self._spaces[key]

    def _spaces_asked(self, request: Request, generation: int) -> list[SpaceInfo]:
        """Return the spaces whose vectors are looked at."""
        if request.mode == "words" or not request.query.strip():
            return []
        known = self._spaces_of(request.scope, generation)
        return [info for info in known if info.state == "active" and info.embedded]

    def _ahead(self, request: Request, spaces: Sequence[SpaceInfo], vectors: Sequence[Matrix | None]) -> Ahead:
        """Ask the first space before it is known what words have found: mostly they have found something."""
        if not spaces or vectors[0] is None or cores() == 1:  # then nobody works meanwhile
            return NOTHING
        limit = _limit(request, words=request.mode != "vectors", met=True)
        return limit, self._nearest(request, spaces[0], vectors[0], limit)

    def _nearest(self, request: Request, info: SpaceInfo, vector: Matrix, limit: int) -> Sequence[Scored]:
        """Return the nearest of a whole project, nothing where only a part of it is asked."""
        if request.filter is not None or request.scope.collections is not None:
            return ()
        return self._ask.nearest(request.scope.project, info).search(vector, limit)

    def _near(
        self,
        request: Request,
        info: SpaceInfo,
        vector: Matrix,
        *,
        generation: int,
        limit: int,
        found: Sequence[Scored],
    ) -> list[Scored]:
        """Return the nearest in scope, by what was found in the whole project where most of that is."""
        located = self._located(request, info, found) if found else []
        if found and 2 * len(located) >= min(limit, 2 * info.embedded):
            return located
        index = self._ask.nearest(request.scope.project, info)
        found = index.search(vector, limit, allowed=self._allowed_rows(request, info, generation))
        return self._located(request, info, found)

    def _located(self, request: Request, info: SpaceInfo, found: Sequence[Scored]) -> list[Scored]:
        places = self._view.vectors.locate(request.scope, info.id, [row.id for row in found], filter=request.filter)
        return [Scored(places[row.id], row.score) for row in found if row.id in places]

    def _allowed_rows(self, request: Request, info: SpaceInfo, generation: int) -> Sequence[int]:
        key = (generation, info.id, request.scope, request.filter)
        if key not in self._allowed:
            self._allowed[key] = self._view.vectors.ids_in(request.scope, info.id, filter=request.filter)
            if len(self._allowed) > 16:
                self._allowed.popitem(last=False)
        return self._allowed[key]

    # ── the second look ───────────────────────────────────────────────────────────────────────────

    def _second_look(
        self, request: Request, ranked: list[RankedChunk], lists: CandidateLists, whole: ChunkLoader
    ) -> list[RankedChunk]:
        if request.rerank and ranked:
            reranker = registry.load("reranker", request.rerank)()
            whole.load(entry.row.id for entry in ranked)
            ranked = [entry for entry in ranked if entry.row.id in whole.rows]
            texts = [whole.rows[entry.row.id].chunk.text for entry in ranked]
            scores = reranker.rerank(request.query, texts) if texts else []
            ranked = order.sort_by_score(
                replace(entry, score=score) for entry, score in zip(ranked, scores, strict=True)
            )
        if request.mmr and ranked:
            ranked = self._diverse(request, ranked, lists)
        return ranked

    def _diverse(self, request: Request, ranked: list[RankedChunk], lists: CandidateLists) -> list[RankedChunk]:
        """Return the list re-ordered by MMR over the vectors at hand, or as it was where there are none."""
        if not lists.spaces:
            lists.notes.append("mmr needs vectors, and there are none yet: the order is by score")
            return ranked
        from ragstone.retrieval.ranking.mmr import diversify  # NumPy: a search by words does not load it

        info = next(iter(lists.spaces.values()))
        vectors = self._ask.nearest(request.scope.project, info).vectors([entry.row.text_id for entry in ranked])
        chosen = diversify([entry.score for entry in ranked], vectors, request.top_k)
        taken = set(chosen)
        return [ranked[i] for i in chosen] + [entry for i, entry in enumerate(ranked) if i not in taken]

    # ── the hits ──────────────────────────────────────────────────────────────────────────────────

    def _hits(
        self, request: Request, chosen: Sequence[RankedChunk], whole: ChunkLoader, *, sure: float, traces: Traces
    ) -> tuple[list[Hit], list[Dropped]]:
        hits, weak = [], []
        elsewhere = self._copies(request, chosen)
        top = max((entry.score for entry in chosen), default=0.0) or 1.0
        for entry in chosen:
            score = min(1.0, sure * entry.score / top)
            if request.min_score is not None and score < request.min_score:
                weak.append(Dropped(entry.doc_id, score, f"score below min_score {request.min_score}"))
                continue
            row, (span, text) = whole.rows[entry.row.id], self._span_and_text(request, entry, whole)
            merged = tuple(member.order for member in entry.members if member.id != row.id)
            hit = Hit(
                doc_id=entry.doc_id,
                text=text,
                score=score,
                metadata=row.metadata,
                source_doc_id=row.uri,
                chunk_index=row.chunk.order,
                collection=row.collection,
                span=span,
                kind=row.document_kind,
                language=row.language,
                title=row.title,
                symbol=" ".join(member.symbol for member in entry.members if member.symbol),
                header=row.chunk.header,
                also_at=elsewhere.get(row.text_id, ()),
                trace=Trace(traces[row.id], entry.boosts, merged, fused=entry.score, confidence=sure),
            )
            hits.append(hit)
        return hits, weak

    def _copies(self, request: Request, chosen: Sequence[RankedChunk]) -> Mapping[int, tuple[str, ...]]:
        """Return, for each text shown, the other places that hold the very same text; with a filter, none are told."""
        if request.filter is not None:
            return {}
        by_text = self._view.copies(request.scope, [entry.row.text_id for entry in chosen])
        shown = {entry.row.id for entry in chosen}
        others = [number for ids in by_text.values() if len(ids) > 1 for number in ids if number not in shown]
        rows = self._view.chunks(request.scope.project, others) if others else {}
        home = {entry.row.text_id: entry.row.collection for entry in chosen}
        return {
            text_id: tuple(_copy(rows[number], home[text_id]) for number in ids if number in rows)
            for text_id, ids in by_text.items()
        }

    def _span_and_text(self, request: Request, entry: RankedChunk, whole: ChunkLoader) -> tuple[Span, str]:
        row, chunk = entry.row, whole.rows[entry.row.id].chunk
        span, text = chunk.span, chunk.text
        if len(entry.members) > 1:
            first, last = (whole.rows[entry.members[place].id].chunk.span for place in (0, -1))
            with suppress(StoreDamaged):  # then the best of them is shown alone
                text = self._view.slice(
                    CollectionKey(request.scope.project, row.collection, request.scope.kind),
                    row.uri,
                    (first.start, last.end),
                )
                span = replace(first, end=last.end, byte_end=last.byte_end, line_end=last.line_end)
        if request.compress:
            by_lines = row.document_kind in ("code", "config", "data", "manifest", "openapi")
            start, end = answering_slice(text, query_terms(request.query), by_lines=by_lines)
            span, text = span.narrowed(text, start, end), text[start:end]
        return span, text


def _limit(request: Request, *, words: bool, met: bool) -> int:
    """Return how many of the nearest are asked for; `words` and `met`: whether words have a list, or are known."""
    share = VECTOR_SHARE if words and request.fusion != "rrf" else VECTOR_SHARE_ALONE
    # Neighbours become one hit and copies none, so that there have to be more than are wanted.
    least = 2 * request.top_k if words or met else max(STANDOUT_SAMPLE, 2 * request.top_k)
    return max(least, int(request.candidates * share))


def _copy(row: StoredChunk, home: str) -> str:
    place = f"{row.uri}:{row.chunk.span.line_start}"
    return place if row.collection == home else f"{row.collection}/{place}"
