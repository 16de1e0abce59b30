"""The chunks behind an answer of the graph, each with the path that leads to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ragstone.retrieval.code.chunks import (
    GRAPH_LABEL,
    ChunkFinder,
    evidence_score,
    hit_from_chunk,
)
from ragstone.retrieval.code.evidence_paths import EvidencePaths, Path
from ragstone.types import (
    GraphAnswer,
    Hit,
    StoredChunk,
    Trace,
    Walked,
    weakest_confidence,
)

_DESCRIBED_KINDS: Final = ("route", "table", "model", "event")
"""Kinds of nodes whose description says more than their code."""
_MAX_DESCRIBED: Final = 2
_SPREAD_KIND: Final = "table"
"""The kind of nodes that several files define together: no chunk of a file has all of one."""


@dataclass(frozen=True, slots=True)
class EvidenceFinder:
    """Finds the chunks behind answers and paths in one scope."""

    chunks: ChunkFinder

    def of_answer(self, answer: GraphAnswer, starts: Sequence[str]) -> list[Hit]:
        """Return the chunks of an answer's evidence, then the descriptions of its nodes.

        `starts` are the keys of the nodes in question.
        """
        graph, scope = self.chunks.store.graph, self.chunks.scope
        nodes = [*answer.nodes, *graph.nodes(scope, keys=list(starts), limit=len(starts))]
        for walked in answer.paths:
            nodes += walked.nodes
        paths = EvidencePaths(starts, nodes)
        paths.add_walked(answer.paths)
        paths.explore(graph, scope, answer.evidence)
        rows: list[tuple[StoredChunk | None, Path]] = [
            (self.chunks.at(place), paths.to_place(place)) for place in answer.evidence
        ]
        described = [node for node in answer.nodes if node.kind in _DESCRIBED_KINDS]
        rows += [
            (self.chunks.description_of(node), paths.to_node(node.key))
            for node in described[:_MAX_DESCRIBED]
        ]
        return _evidence_hits(rows, evidence_score(answer.confidence))

    def of_walked(self, walked: Iterable[Walked]) -> list[Hit]:
        """Return the chunks of the nodes on paths, nearest first; of a table also its description."""
        hits: dict[str, Hit] = {}
        for path in walked:
            paths = EvidencePaths([path.nodes[0].key], path.nodes)
            paths.add_walked([path])
            score = evidence_score(weakest_confidence(path.links))
            rows: list[tuple[StoredChunk | None, Path]] = []
            for node in (path.nodes[0], path.nodes[-1]):
                way = paths.to_node(node.key)
                rows.append((self.chunks.at((node.uri, node.line)), way))
                if node.kind == _SPREAD_KIND:
                    rows.append((self.chunks.description_of(node), way))
            for hit in _evidence_hits(rows, score):
                hits.setdefault(hit.doc_id, hit)
        return list(hits.values())


def _evidence_hits(rows: Iterable[tuple[StoredChunk | None, Path]], score: float) -> list[Hit]:
    """Return the chunks as hits with their paths, each chunk once."""
    hits: dict[str, Hit] = {}
    for chunk, path in rows:
        if chunk is not None:
            hit = hit_from_chunk(chunk, score, GRAPH_LABEL)
            hits.setdefault(hit.doc_id, replace(hit, trace=Trace(path=path)))
    return list(hits.values())
