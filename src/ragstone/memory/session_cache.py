"""The cache of a session in one process: its last turns, its plain statements, and its superseded turns."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.memory.facts import Fact, find_contradiction, find_facts
from ragstone.memory.replacements import Claim, find_changes, find_claims, find_replacement
from ragstone.memory.turns import HOT
from ragstone.types import Turn

LOOK_BACK: Final = 1000
"""A new turn is compared with this many turns before it."""
_MAX_SUPERSEDED: Final = 100
"""Turns that one turn supersedes at most."""
_MAX_REASONS: Final = 3


@dataclass(frozen=True, slots=True)
class Statement:
    """The plain facts and claims of a turn, and its speaker."""

    index: int
    speaker: str
    facts: list[Fact]
    claims: list[Claim]


@dataclass(slots=True)
class SessionCache:
    """Valid while the session's version is the same; turns that were added since are appended."""

    version: str | None
    hot: deque[Turn] = field(default_factory=lambda: deque(maxlen=HOT))
    end: int = 0
    """The number after the last turn that was seen."""
    statements: deque[Statement] | None = None
    superseded: dict[int, Turn] | None = None
    """For every turn that no longer holds, the last turn that supersedes it."""

    def add(self, turns: Iterable[Turn]) -> None:
        """Append turns that follow the ones that were seen."""
        for turn in turns:
            self.hot.append(turn)
            self.end = turn.index + 1
            self.note_statements(turn)
            self.note_superseded(turn)

    def note_statements(self, turn: Turn) -> None:
        """Add the plain facts of a turn, if statements are tracked."""
        if self.statements is None:
            return
        facts = find_facts(turn.content)
        claims = find_claims(turn.content)
        if facts or claims:
            self.statements.append(Statement(turn.index, speaker(turn), facts, claims))

    def note_superseded(self, turn: Turn) -> None:
        """Add the turns that a turn supersedes, if they are tracked."""
        if self.superseded is not None:
            self.superseded.update(dict.fromkeys(turn.supersedes, turn))

    def judge(self, turn: Turn) -> Turn:
        """Return a turn with the earlier turns that it contradicts or replaces."""
        facts = find_facts(turn.content)
        changes = find_changes(turn.content)
        if not self.statements or not (facts or changes):
            return turn
        who = speaker(turn)
        reasons: dict[int, str] = {}
        for statement in self.statements:
            if statement.speaker != who:
                continue
            reason = find_contradiction(facts, statement.facts)
            reason = reason or find_replacement(changes, statement.claims)
            if reason:
                reasons[statement.index] = reason
        if not reasons:
            return turn
        superseded = list(reasons)[-_MAX_SUPERSEDED:]
        newest = [reasons[index] for index in superseded[-_MAX_REASONS:]]
        because = "; ".join(dict.fromkeys(newest))
        return replace(turn, supersedes=tuple(superseded), because=because)


def explain_replacement(content: str, later: Turn) -> str:
    """Return why a later turn supersedes a turn with this content; all its reasons if the texts alone show none."""
    reason = find_contradiction(find_facts(later.content), find_facts(content))
    reason = reason or find_replacement(find_changes(later.content), find_claims(content))
    return reason or later.because


def speaker(turn: Turn) -> str:
    """Return the speaker's name, or the role if there is none."""
    return turn.speaker or turn.role
