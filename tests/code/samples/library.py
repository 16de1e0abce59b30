"""Keeps tracks."""

from __future__ import annotations

import json as codec
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

MAX_TRACKS = 500


class Output:
    """Where sound goes."""

    def send(self, track: Track) -> None:
        """Send one."""


class Playable(Protocol):
    """Makes a sound."""

    def play(self, loudness: int) -> bool:
        """Play."""


# One track.
@dataclass(frozen=True)
class Track:
    """A track,

    with its title.
    """

    title: str
    tags: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        """Return what is shown."""
        return f"“{self.title}”"


class Library(Playable):
    """All tracks."""

    limit = MAX_TRACKS

    def __init__(self, output: Output, name: str = "") -> None:
        self.output = output
        self.spare = Output()
        self.tracks: dict[str, Track] = {}

    async def add(
        self,
        track: Track,
        *,
        position: int = 0,
    ) -> bool:
        """Add one."""
        speaker = Output()
        speaker.send(track)
        self.output.send(track)

        def later(text: str) -> str:
            return codec.dumps(text)

        return bool(later(track.title)) and position < self.limit


def shuffled(tracks: Iterable[Track], seed: int = 0) -> list[Track]:
    return sorted(tracks, key=lambda track: (track.title, seed))
