"""What a process holds of a session: its last turns, what was said plainly in it, and which turns no longer hold."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.memory.facts import Fact, contradicts, facts
from ragstone.memory.turns import HOT
from ragstone.types import Turn

LOOK_BACK: Final = 1000
"""Turns that a new one is compared with: what was said longer ago is not quietly taken back."""
_MOST: Final = 100
"""Turns that one turn supersedes at most."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a turn says plainly, and who said it."""

    index: int
    speaker: str
    told: list[Fact]


@dataclass(slots=True)
class Known:
    """Valid as long as the session's stamp is the same; turns that were added since are taken in behind."""

    stamp: str | None
    hot: deque[Turn] = field(default_factory=lambda: deque(maxlen=HOT))
    end: int = 0
    """The number behind the last turn that was seen."""
    said: deque[Said] | None = None
    later: dict[int, Turn] | None = None
    """For every turn that no longer holds, the last one that supersedes it."""

    def take(self, turns: Iterable[Turn]) -> None:
        """Take in turns that follow those that were seen."""
        for turn in turns:
            self.hot.append(turn)
            self.end = turn.index + 1
            if self.said is not None:
                self.hear(turn)
            self.note(turn)

    def hear(self, turn: Turn) -> None:
        """Take in what a turn says plainly."""
        told = facts(turn.content)
        if told and self.said is not None:
            self.said.append(Said(turn.index, speaker(turn), told))

    def note(self, turn: Turn) -> None:
        """Take in what a turn supersedes."""
        if self.later is not None:
            self.later.update(dict.fromkeys(turn.supersedes, turn))

    def judged(self, turn: Turn) -> Turn:
        """Return a turn with what it supersedes of the things heard so far."""
        told = facts(turn.content)
        if not told or not self.said:
            return turn
        who = speaker(turn)
        reasons = {one.index: why for one in self.said if one.speaker == who and (why := contradicts(told, one.told))}
        last = list(reasons)[-_MOST:]
        because = "; ".join(dict.fromkeys(reasons[index] for index in last[-3:]))
        return replace(turn, supersedes=tuple(last), because=because) if last else turn


def speaker(turn: Turn) -> str:
    """Return who said it: a name where there is one, else the role."""
    return turn.speaker or turn.role
