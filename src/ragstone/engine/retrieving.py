"""The verb that answers questions about code: the graph before the index, both told as one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypedDict, Unpack

from ragstone import types
from ragstone.engine import later
from ragstone.engine.ground import OFF
from ragstone.engine.knowing import Knowing
from ragstone.types import Request

MORE_ROUNDS: Final = 2
"""Retrievals after the first one, while files behind an answer turn out to have changed."""


class RetrieveOptions(TypedDict, total=False):
    """What a caller may say about a retrieval beside the query and top_k."""

    source_types: Sequence[str] | None
    """Only chunks of these kinds of documents, or that hold nodes of these kinds: code, route, migration, model, …"""
    must_include_paths: Sequence[str] | None
    """Files, folders or patterns whose best chunks are among the result whatever else is."""
    route_name: str | None
    """The route that is asked about, whether the query names it or not."""
    controller_class: str | None
    table_name: str | None
    include_run_summaries: bool
    """False leaves out what earlier runs recorded; on unless said otherwise."""
    min_score: float
    """Leave out what a search scores below, 0 to 1; evidence of the graph stays. 0.25 unless said otherwise."""
    collection: str | Sequence[str] | None


_DEFAULTS: Final[RetrieveOptions] = {
    "source_types": None,
    "must_include_paths": None,
    "route_name": None,
    "controller_class": None,
    "table_name": None,
    "include_run_summaries": True,
    "min_score": 0.25,
}


class Retrieving(Knowing):
    """The part of an engine that questions about code meet."""

    def retrieve(self, query: str, top_k: int = 12, **options: Unpack[RetrieveOptions]) -> types.Retrieval:
        """Return the chunks for a question, what the graph says to it first, and how that came about."""
        from ragstone.retrieval.code.request import wish  # code is understood only for whoever asks about it

        begun = time.perf_counter()
        collection = options.pop("collection", None)
        asked = wish(query, top_k, self._scope(None), {**_DEFAULTS, **options})
        if not self.enabled:
            debug: dict[str, types.Json] = {"strategy": "off", "latency_ms": 0.0, "total_candidates": 0, "scores": {}}
            return types.Retrieval(query, (), None, {**debug, "notes": [OFF]})
        made = self._proven(replace(asked, scope=self._known(collection)), collection)
        return replace(made, debug={**made.debug, "latency_ms": round((time.perf_counter() - begun) * 1000, 2)})

    def _proven(self, asked: later.Wish, collection: str | Sequence[str] | None) -> types.Retrieval:
        """Return a retrieval whose every chunk was looked at in its file, those of the graph too."""
        from ragstone.retrieval.code.retriever import Retriever

        search = self.settings.search
        request = Request("", asked.scope, fusion=search.fusion, candidates=search.candidates)
        retriever = Retriever(self._parts.store, self._fresh.answer, request, lambda: self._known(collection))
        made = retriever.run(asked)
        for _ in range(MORE_ROUNDS):
            chunks, changed = self._fresh.proven(made.chunks)
            made = replace(made, chunks=chunks)
            if not changed:
                break
            self._follower.bring_in(changed, vectors=True)
            self._known(collection)
            made = retriever.run(asked)
        return made
