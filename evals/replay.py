"""Questions replayed over the lists that a search gave for them, so that the numbers of ranking can vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evals.run import home, tell
from evals.sets import Ask, Case, Corpus, EvalSet

if TYPE_CHECKING:
    from ragstone import Engine
    from ragstone.retrieval.ranking.boosts import RankedChunk
    from ragstone.retrieval.ranking.fusion import CandidateLists
    from ragstone.retrieval.ranking.parameters import RankingParameters
    from ragstone.types import ChunkOutline, Hit, StoredChunk

MOST_QUESTIONS = 600
"""Of one set, spread evenly over it: more only make the error a little smaller, and every number is tried on all."""

WIDEST = 30
"""The most hits a set asks for: the lists are as long as for so many."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A question with the lists that words and vectors gave, and all rows in them, outlined and whole."""

    case: Case
    group: str
    lists: CandidateLists
    rows: Mapping[int, StoredChunk]
    outlines: Mapping[int, ChunkOutline]


def record(chosen: EvalSet, embedder: str, *, keep: Path | None) -> list[Recording]:
    """Return the set's questions with their lists."""
    from ragstone import Engine

    every = -(-sum(len(corpus.cases) for corpus in chosen.corpora) // MOST_QUESTIONS)
    found: list[Recording] = []
    for corpus in chosen.corpora:
        with home(keep, corpus.name) as folder:
            engine = Engine.open(folder, config={"rag.embedding_provider": embedder})
            try:
                for collection, documents in corpus.documents.items():
                    engine.add(list(documents), collection=collection)
                found += asked(engine, corpus, corpus.cases[::every])
            finally:
                engine.close()
        tell(f"{chosen.name}: {len(found)} questions recorded")
    return found


def asked(engine: Engine, corpus: Corpus, cases: Sequence[Case]) -> list[Recording]:
    """Return the lists of one index's questions."""
    from ragstone.retrieval.candidates import CandidateSearch
    from ragstone.types import Request, Scope

    # The read path up to where ranking begins; nothing public stops there.
    store = engine.workspace.components.store
    candidate_search = CandidateSearch(engine.workspace.components)
    known: dict[int, StoredChunk] = {}
    found = []
    for case in cases:
        scope = Scope(engine.project, (case.collection,))
        candidates = max(engine.settings.search.candidates, WIDEST)
        request = Request(case.query, scope, top_k=WIDEST, candidates=candidates)
        with store.snapshot() as view:
            lists = candidate_search.run(request, view, store.generation(scope))
        ids = {row.id for rows in lists.rows.values() for row in rows}
        known.update(
            store.chunks(engine.project, [number for number in ids if number not in known])
        )
        rows = {number: known[number] for number in ids if number in known}
        found.append(
            Recording(case, corpus.name, lists, rows, store.outlines(engine.project, list(ids)))
        )
    return found


def scores(recording: Recording, numbers: RankingParameters) -> Mapping[str, float]:
    """Return what a question scores with these numbers."""
    return recording.case.score(asker(recording, numbers))


def asker(recording: Recording, numbers: RankingParameters) -> Ask:
    """Return the function a case's score asks with: what `ragstone.retrieval.search` does with its lists."""
    from ragstone.retrieval.ranking import order
    from ragstone.retrieval.ranking.fusion import list_weights, query_type, weighted_sum
    from ragstone.retrieval.ranking.order import ChunkLoader
    from ragstone.retrieval.ranking.parameters import MIN_SHORTLIST, SHORTLIST_FACTOR
    from ragstone.retrieval.search import MIN_PLACES

    query, lists = recording.case.query, recording.lists
    whole = ChunkLoader(lambda chunks: {chunk: recording.rows[chunk] for chunk in chunks})
    weights = list_weights(query_type(query), lists.coverage, words=True, parameters=numbers)
    fused = weighted_sum(
        lists.rows,
        weights,
        calibrations=lists.calibrations,
        words_share=lists.words_share,
        limit=max(MIN_SHORTLIST, SHORTLIST_FACTOR * WIDEST),
        parameters=numbers,
    ).best

    def ask(top_k: int, merge: bool) -> Sequence[Hit]:
        shortlist = fused[: max(MIN_SHORTLIST, SHORTLIST_FACTOR * top_k)]
        ranked, _ = order.arrange(
            shortlist, recording.outlines, query=query, parameters=numbers
        )
        ranked, _ = order.collapse_copies(ranked, whole.compared_texts(ranked, top_k=top_k))
        if merge:
            places = max(top_k, MIN_PLACES)
            ranked = order.merge_neighbours(ranked, places, parameters=numbers)
        return [hit(entry, recording.rows) for entry in ranked[:top_k]]

    return ask


def hit(entry: RankedChunk, rows: Mapping[int, StoredChunk]) -> Hit:
    """Return as much of a hit as a score looks at."""
    from ragstone.types import Hit

    first, last = (rows[entry.members[place].id].chunk.span for place in (0, -1))
    return Hit(
        doc_id=str(entry.row.id),
        text="",
        score=entry.score,
        metadata={},
        source_doc_id=entry.row.uri,
        chunk_index=entry.row.order,
        collection=entry.row.collection,
        span=replace(first, end=last.end, byte_end=last.byte_end, line_end=last.line_end),
    )
