"""Answers a question about code: the graph first, then a search, and both as one list of chunks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Final

from ragstone.protocols import CodeQuestions, DocumentStore
from ragstone.retrieval.code.chunks import GRAPH_LABEL, ChunkFinder, hit_from_chunk
from ragstone.retrieval.code.evidence import EvidenceFinder
from ragstone.retrieval.code.request import RUN_KINDS, RetrievalRequest
from ragstone.retrieval.ranking.confidence import NOTHING_FITS
from ragstone.types import (
    CodeAnswer,
    CodeGuess,
    Condition,
    Explanation,
    Filter,
    GraphAnswer,
    Hit,
    Json,
    PathStep,
    Request,
    Retrieval,
    Walked,
)
from ragstone.types.documents import kinds_of_documents, matches_kind

SearchFunction = Callable[[Request], Explanation]

PATH_LABEL: Final = "path"
_WIDER: Final = 3
"""Hits to search for, per hit to show: some have the wrong kind, others lead to nodes."""
_MIN_HITS: Final = 30
_CLEAR_LEAD: Final = 1.5
"""The first guess gets most places if its share is this many times that of the second."""
_HITS_FOR_KINDS: Final = 400
"""Hits to look through for chunks that hold nodes of a kind: no filter on documents can find those."""
_RUNS_LEFT_OUT: Final = "the answer is in recorded runs, and they are left out"
_WITHOUT_RUNS: Final = Filter((Condition("kind", "ne", tuple(sorted(RUN_KINDS))),))
_WITHOUT_DESCRIPTIONS: Final = Filter((Condition("language", "ne", "text"),))


@dataclass(slots=True)
class CodeRetriever:
    """Retrieves over one store. `search` answers a request and proves the freshness of its hits."""

    store: DocumentStore
    questions: CodeQuestions | None
    search: SearchFunction
    template: Request
    """Mode, fusion and candidates of every search; query, scope and top_k come from the retrieval request."""
    update_graph: Callable[[], object]
    """Updates the graph after a search has re-indexed changed files."""

    def run(self, request: RetrievalRequest) -> Retrieval:
        """Return the chunks for a request, the graph's answer, and how both came about."""
        started = time.perf_counter()
        code_answer = self._ask_graph(request)
        explanation = self._search_allowed_kinds(request)
        if any(hit.freshness == "refreshed" for hit in explanation.hits):
            self.update_graph()
            code_answer = self._ask_graph(request)
        finder = EvidenceFinder(ChunkFinder(self.store, request.scope))
        collected = _Collected(request, finder, explanation)
        collected.unknown += code_answer.unknown
        collected.notes += code_answer.notes
        collected.add_answer(code_answer)
        collected.add_walked(code_answer.walked)
        answer = code_answer.answer
        if answer is None and not code_answer.anchors and not collected.evidence:
            answer = self._guess(request, collected)
        collected.unknown += self._unknown_kinds(request)
        chunks = self._choose_chunks(request, collected)
        debug = _debug(collected, answer, code_answer.intent, chunks)
        debug["latency_ms"] = round((time.perf_counter() - started) * 1000, 2)
        return Retrieval(request.query, chunks, answer, debug)

    # ── the graph ─────────────────────────────────────────────────────────────────────────────────

    def _ask_graph(self, request: RetrievalRequest) -> CodeAnswer:
        if self.questions is None:
            return CodeAnswer(None)
        with self.store.snapshot() as view:
            code_answer = self.questions.answer(
                view, request.scope, request.query, request.hints
            )
        answer = code_answer.answer
        if request.limits.include_run_summaries or answer is None or not _is_about_runs(answer):
            return code_answer
        return replace(code_answer, answer=None, notes=(*code_answer.notes, _RUNS_LEFT_OUT))

    def _guess(self, request: RetrievalRequest, collected: _Collected) -> GraphAnswer | None:
        """Return the answer about the most likely node that a search finds; its evidence is collected."""
        if self.questions is None:
            return None
        kind_groups = self.questions.kinds(self.store, request.scope, request.query)
        if not kind_groups:
            return None
        descriptions = [
            self._search(request, filter=_kind_filter(kinds)).hits for kinds in kind_groups
        ]
        hit_lists = [*descriptions, collected.explanation.hits]
        with self.store.snapshot() as view:
            guesses = self.questions.guess(view, request.scope, request.query, hit_lists)
        if not guesses:
            return None
        collected.add_guesses(guesses, descriptions[0])
        return next((guess.answer for guess in guesses if guess.is_shown), None)

    # ── the search ────────────────────────────────────────────────────────────────────────────────

    def _search(self, request: RetrievalRequest, **changes: object) -> Explanation:
        top_k = max(request.top_k * _WIDER, _MIN_HITS)
        search = replace(
            self.template,
            query=request.search_query,
            scope=request.scope,
            top_k=top_k,
            merge=False,
            min_score=None,
        )
        return self.search(replace(search, **changes))  # type: ignore[arg-type]  # fields of a request, by name

    def _search_allowed_kinds(self, request: RetrievalRequest) -> Explanation:
        """Return the search results among the kinds that may be shown."""
        kinds = request.limits.source_types
        with_runs = request.limits.include_run_summaries
        if kinds is None:
            run_filter = None if with_runs else _WITHOUT_RUNS
            return self._search(request, filter=run_filter)
        if not with_runs:
            kinds = [kind for kind in kinds if kind not in RUN_KINDS]
        by_document_kind = self._search(request, filter=_kind_filter(kinds))
        if not self.store.graph.nodes(request.scope, kinds=kinds, limit=1):
            return by_document_kind
        ids = {hit.doc_id for hit in by_document_kind.hits}
        by_node_kind = [
            hit for hit in self._search_node_kinds(request) if hit.doc_id not in ids
        ]
        hits = sorted((*by_document_kind.hits, *by_node_kind), key=lambda hit: -hit.score)
        candidates = by_document_kind.candidates + len(by_node_kind)
        return replace(by_document_kind, hits=tuple(hits), candidates=candidates)

    def _search_node_kinds(self, request: RetrievalRequest) -> list[Hit]:
        """Return the hits of a wide search that hold a node of an allowed kind."""
        limit = max(_HITS_FOR_KINDS, request.top_k, self.template.candidates)
        wide = self._search(
            request, filter=_WITHOUT_DESCRIPTIONS, top_k=limit, candidates=limit
        )
        allowed = _KindCheck(self.store, request)
        return [hit for hit in wide.hits if allowed.passes(hit)]

    def _unknown_kinds(self, request: RetrievalRequest) -> list[str]:
        """Return the requested kinds that no document and no node has."""
        kinds = request.limits.source_types or ()
        return [f"kind {kind}" for kind in kinds if not self._has_kind(request, kind)]

    def _has_kind(self, request: RetrievalRequest, kind: str) -> bool:
        if self.store.documents(request.scope, filter=_kind_filter((kind,)), limit=1):
            return True
        return bool(self.store.graph.nodes(request.scope, kinds=(kind,), limit=1))

    # ── the list ──────────────────────────────────────────────────────────────────────────────────

    def _choose_chunks(
        self, request: RetrievalRequest, collected: _Collected
    ) -> tuple[Hit, ...]:
        """Return the chunks to show: required paths keep their places, evidence comes first."""
        if request.top_k == 0:
            return ()
        allowed = _KindCheck(self.store, request)
        required = self._required_hits(request, collected)
        evidence = [hit for hit in collected.evidence if allowed.passes(hit)]
        search_hits = collected.explanation.hits
        strong = [hit for hit in search_hits if hit.score >= request.limits.min_score]
        good = [hit for hit in strong if allowed.passes(hit)]
        collected.skipped += len(search_hits) - len(good)
        return _fill_places([*evidence, *good], required, request.top_k)

    def _required_hits(self, request: RetrievalRequest, collected: _Collected) -> list[Hit]:
        """Return the best chunk of each required path; its first chunk if the search finds none."""
        required: list[Hit] = []
        for path in request.limits.must_include_paths:
            best = self._best_hit_of_path(request, collected, path)
            if best is None:
                collected.unknown.append(f"path {path}")
            elif best.label:
                required.append(best)
            else:
                required.append(replace(best, label=PATH_LABEL))
        return required

    def _best_hit_of_path(
        self, request: RetrievalRequest, collected: _Collected, path: str
    ) -> Hit | None:
        collected_hits = (*collected.evidence, *collected.explanation.hits)
        hits = [hit for hit in collected_hits if _matches_path(hit.source_doc_id, path)]
        if not hits:
            hits = list(self._search(request, filter=_path_filter(path), top_k=1).hits)
        if not hits:
            first_chunks = collected.finder.chunks.of_document(path)[:1]
            hits = [hit_from_chunk(chunk, 0.0, PATH_LABEL) for chunk in first_chunks]
        return max(hits, key=lambda hit: hit.score, default=None)


@dataclass(slots=True)
class _KindCheck:
    """Decides whether a hit may be shown: by its document's kind, or by the nodes on its lines."""

    store: DocumentStore
    request: RetrievalRequest
    _node_lines: dict[str, list[int]] = field(default_factory=dict)

    def passes(self, hit: Hit) -> bool:
        """Return whether the hit has an allowed kind or holds a node of one."""
        limits = self.request.limits
        if not limits.include_run_summaries and hit.kind in RUN_KINDS:
            return False
        if limits.source_types is None or matches_kind(hit.kind, limits.source_types):
            return True
        lines = range(hit.span.line_start, hit.span.line_end + 1)
        return any(line in lines for line in self._lines(hit.source_doc_id))

    def _lines(self, uri: str) -> list[int]:
        """Return the lines on which nodes of the allowed kinds start."""
        if uri not in self._node_lines:
            kinds = self.request.limits.source_types
            scope = self.request.scope
            nodes = self.store.graph.nodes(scope, uris=[uri], kinds=kinds, limit=5000)
            self._node_lines[uri] = [node.line for node in nodes]
        return self._node_lines[uri]


@dataclass(slots=True)
class _Collected:
    """Everything that one retrieval has gathered so far."""

    request: RetrievalRequest
    finder: EvidenceFinder
    explanation: Explanation
    evidence: list[Hit] = field(default_factory=list)
    """Chunks behind the graph's answer."""
    anchors: list[str] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    strategy: str = "hybrid"
    skipped: int = 0

    def add_answer(self, code_answer: CodeAnswer) -> None:
        """Add the chunks behind the answer to the question."""
        self.anchors += code_answer.anchors
        if code_answer.answer is not None:
            self.evidence += self.finder.of_answer(code_answer.answer, _starts(code_answer))
            self.strategy = "graph"
            if self.evidence:
                self.strategy = "graph+hybrid"

    def add_walked(self, walked: Sequence[Walked]) -> None:
        """Add the chunks on the paths from the nodes that the hints name: they get at most half of the places."""
        own_ids = {hit.doc_id for hit in self.evidence}
        new = [hit for hit in self.finder.of_walked(walked) if hit.doc_id not in own_ids]
        self.evidence += new[: self.request.top_k // 2]
        if new:
            self.strategy = "graph+hybrid"

    def add_guesses(self, guesses: Sequence[CodeGuess], descriptions: Sequence[Hit]) -> None:
        """Add the evidence of all guesses; the first guess gets most places, descriptions come between.

        If no guess has a word of the question, it may be wrong, and the best hits of the search come first.
        """
        if not any(guess.is_shown for guess in guesses):
            self.evidence += self.explanation.hits[: max(1, self.request.top_k // 2)]
        self.strategy = "hybrid+graph"
        for guess in guesses:
            self.anchors.append(guess.key)
            self.shares[guess.key] = guess.share
        first, *others = [self.finder.of_answer(guess.answer, [guess.key]) for guess in guesses]
        places = self._places_of_first(guesses)
        self.evidence += first[:places]
        for hit in descriptions[:2]:
            path = (PathStep(str(hit.metadata.get("key"))),)
            trace = replace(hit.trace, path=path)
            self.evidence.append(replace(hit, label=hit.label or GRAPH_LABEL, trace=trace))
        for hits in others:
            self.evidence += hits[:3]
        self.evidence += first[places:]

    def _places_of_first(self, guesses: Sequence[CodeGuess]) -> int:
        top_k = self.request.top_k
        second_share = guesses[1].share if len(guesses) > 1 else 0.0
        if guesses[0].share >= _CLEAR_LEAD * second_share:
            return max(1, top_k * 3 // 4)
        return max(1, top_k // 2)


def _fill_places(hits: Sequence[Hit], required: Sequence[Hit], top_k: int) -> tuple[Hit, ...]:
    """Return at most top_k hits in order; places are reserved for required hits that come later."""
    required_ids = {hit.doc_id for hit in required}
    chosen: dict[str, Hit] = {}
    for hit in hits:
        reserved = len(required_ids - chosen.keys())
        is_full = len(chosen) >= top_k - reserved
        if hit.doc_id in required_ids or not is_full:
            chosen.setdefault(hit.doc_id, hit)
    for hit in required:
        chosen.setdefault(hit.doc_id, hit)
    return tuple(chosen.values())[:top_k]


def _is_about_runs(answer: GraphAnswer) -> bool:
    """Return whether an answer tells of recorded runs."""
    return any(node.kind in RUN_KINDS for node in answer.nodes)


def _starts(code_answer: CodeAnswer) -> list[str]:
    """Return the keys of the nodes in question: the anchors, then the nodes that paths were walked from."""
    walked = [path.nodes[0].key for path in code_answer.walked]
    return list(dict.fromkeys((*code_answer.anchors, *walked)))


def _kind_filter(kinds: Sequence[str]) -> Filter:
    return Filter((Condition("kind", "in", kinds_of_documents(kinds)),))


def _path_filter(path: str) -> Filter:
    return Filter((Condition("path", "glob", (path, f"{path}/**")),))


def _matches_path(uri: str, path: str) -> bool:
    return uri == path or uri.startswith(f"{path}/") or fnmatchcase(uri, path)


def _debug(
    collected: _Collected, answer: GraphAnswer | None, intent: str, chunks: Sequence[Hit]
) -> dict[str, Json]:
    anchors: list[Json] = list(dict.fromkeys(collected.anchors))
    search_notes = _notes_of_chunks(collected.explanation, chunks)
    return {
        "strategy": collected.strategy,
        "total_candidates": collected.explanation.candidates + len(collected.evidence),
        "scores": {hit.doc_id: round(hit.score, 4) for hit in chunks},
        "labels": {hit.doc_id: hit.label for hit in chunks if hit.label},
        "anchors": anchors,
        "shares": dict(collected.shares),
        "intent": answer.intent if answer else intent,
        "skipped": collected.skipped,
        "unknown": list(dict.fromkeys(collected.unknown)),
        "conditional": _conditional_links(answer),
        "notes": list(dict.fromkeys((*search_notes, *collected.notes))),
    }


def _notes_of_chunks(explanation: Explanation, chunks: Sequence[Hit]) -> list[str]:
    """Return the notes of a search, without the note about weak passages if none of its passages is shown."""
    if any(not hit.label for hit in chunks):
        return list(explanation.notes)
    return [note for note in explanation.notes if note != NOTHING_FITS]


def _conditional_links(answer: GraphAnswer | None) -> list[Json]:
    """Return the links of an answer that hold in some cases only, by place."""
    if answer is None:
        return []
    places: dict[Json, None] = {}
    for path in answer.paths:
        for link in path.links:
            if link.conditional:
                places[f"{link.kind} {link.uri}:{link.line}"] = None
    return list(places)
