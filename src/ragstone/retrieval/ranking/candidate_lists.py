"""The ranked lists of one query, before they are fused."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragstone.types import ChunkOutline, Scored, SpaceInfo


@dataclass(slots=True)
class CandidateLists:
    """The ranked lists of a query by name, with the coverage and the space of each vector list."""

    rows: dict[str, list[Scored]] = field(default_factory=dict)
    coverage: dict[str, float] = field(default_factory=dict)
    spaces: dict[str, SpaceInfo] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    outlines: dict[int, ChunkOutline] = field(default_factory=dict)
    """Outlines that were read early, of chunks that are likely to be shown."""
    terms: list[str] = field(default_factory=list)
    """The terms of the query."""
    has_known_word: bool = False
    """Whether a word of the query is in the index; set if there is no list of words."""

    def add_space(self, info: SpaceInfo, near: list[Scored]) -> None:
        """Add the list of a space; spaces of the same model that are stored differently share one list."""
        name = self._list_name(info)
        rows = {row.id: row for row in (*self.rows.get(name, ()), *near)}
        self.rows[name] = sorted(rows.values(), key=lambda row: (-row.score, row.id))
        self.coverage[name] = min(1.0, self.coverage.get(name, 0.0) + info.coverage)
        self.spaces[name] = info

    def _list_name(self, info: SpaceInfo) -> str:
        for name, other in self.spaces.items():
            if other.space.fingerprint == info.space.fingerprint:
                return name
        if info.space.embedder in self.rows:
            return f"{info.space.embedder}:{info.space.model}"
        return info.space.embedder
