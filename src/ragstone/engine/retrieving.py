"""The verb that answers questions about code."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ragstone import registry, types
from ragstone.engine.ground import OFF
from ragstone.engine.knowing import Knowing
from ragstone.protocols import CodeQuestions
from ragstone.types import Request

if TYPE_CHECKING:
    from ragstone.retrieval.code.request import RetrievalRequest

MORE_ROUNDS: Final = 2
"""Retrievals after the first one, while files behind an answer turn out to have changed."""


def code_questions() -> CodeQuestions | None:
    """Return the installed question engine, imported now."""
    for name in registry.names("code_questions"):
        engine: CodeQuestions = registry.load("code_questions", name)()
        return engine
    return None


class Retrieving(Knowing):
    """The part of an engine that questions about code meet."""

    def retrieve(
        self,
        query: str,
        top_k: int = 12,
        *,
        source_types: Sequence[str] | None = None,
        must_include_paths: Sequence[str] | None = None,
        include_run_summaries: bool = True,
        min_score: float = 0.25,
        collection: str | Sequence[str] | None = None,
        **hints: str,
    ) -> types.Retrieval:
        """Return the chunks for a question: the evidence of the graph first, then search hits.

        `source_types` narrows it to kinds of documents or nodes, `must_include_paths` reserves places for files, and
        hints name the subject of the question: `route_name`, `controller_class`, `table_name`.
        """
        from ragstone.retrieval.code.request import RetrievalRequest, checked_request

        begun = time.perf_counter()
        questions = code_questions()
        request = RetrievalRequest(
            query,
            self._scope(None),
            top_k,
            source_types,
            must_include_paths or (),
            include_run_summaries,
            min_score,
            hints,
        )
        request = checked_request(request, questions.hints if questions else ())
        if not self.enabled:
            debug: dict[str, types.Json] = {"strategy": "off", "latency_ms": 0.0, "total_candidates": 0, "scores": {}}
            return types.Retrieval(query, (), None, {**debug, "notes": [OFF]})
        made = self._proven(replace(request, scope=self._known(collection)), collection, questions)
        return replace(made, debug={**made.debug, "latency_ms": round((time.perf_counter() - begun) * 1000, 2)})

    def _proven(
        self, request: RetrievalRequest, collection: str | Sequence[str] | None, questions: CodeQuestions | None
    ) -> types.Retrieval:
        """Return a retrieval whose every chunk was looked at in its file, those of the graph too."""
        from ragstone.retrieval.code.retriever import CodeRetriever

        search = self.settings.search
        template = Request("", request.scope, fusion=search.fusion, candidates=search.candidates)
        retriever = CodeRetriever(
            self._parts.store, questions, self._fresh.answer, template, lambda: self._known(collection)
        )
        made = retriever.run(request)
        for _ in range(MORE_ROUNDS):
            chunks, changed = self._fresh.proven(made.chunks)
            made = replace(made, chunks=chunks)
            if not changed:
                break
            self._follower.bring_in(changed, vectors=True)
            self._known(collection)
            made = retriever.run(request)
        return made
