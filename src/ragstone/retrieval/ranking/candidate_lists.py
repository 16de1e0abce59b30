"""The ranked lists of one query, before they are fused."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragstone.retrieval.ranking.background import Calibration
from ragstone.types import ChunkOutline, Scored, SpaceInfo


@dataclass(slots=True)
class CandidateLists:
    """The ranked lists of a query by name, with the coverage and the space of each vector list."""

    rows: dict[str, list[Scored]] = field(default_factory=dict)
    coverage: dict[str, float] = field(default_factory=dict)
    spaces: dict[str, SpaceInfo] = field(default_factory=dict)
    calibrations: dict[str, Calibration] = field(default_factory=dict)
    """The scale of the cosines of each vector list."""
    notes: list[str] = field(default_factory=list)
    outlines: dict[int, ChunkOutline] = field(default_factory=dict)
    """Outlines that were read early, of chunks that are likely to be shown."""
    terms: list[str] = field(default_factory=list)
    """The terms of the query."""
    has_failed: bool = False
    """Whether a service failed: the answer is worth less than the next one, and is not cached."""
    has_known_word: bool = False
    """Whether a word of the query is in the index; set if there is no list of words."""

    def add_space(self, info: SpaceInfo, near: list[Scored], calibration: Calibration) -> None:
        """Add the list of a space; spaces of the same model that are stored differently share one list."""
        name = self._list_name(info)
        merged = [*self.rows.get(name, ()), *near]
        unique = {row.id: row for row in merged}
        self.rows[name] = sorted(unique.values(), key=_by_score)
        coverage = self.coverage.get(name, 0.0) + info.coverage
        self.coverage[name] = min(1.0, coverage)
        self.spaces[name] = info
        self.calibrations[name] = calibration

    def _list_name(self, info: SpaceInfo) -> str:
        space = info.space
        for name, other in self.spaces.items():
            if other.space.fingerprint == space.fingerprint:
                return name
        if space.embedder in self.rows:
            return f"{space.embedder}:{space.model}"
        return space.embedder


def _by_score(row: Scored) -> tuple[float, int]:
    return -row.score, row.id
