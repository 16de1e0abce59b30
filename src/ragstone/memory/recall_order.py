"""The order of recalled turns: by score, but a newer statement is never below the older one that it replaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ragstone.memory.merge import SUPERSEDED
from ragstone.types import Recalled


def newer_before_older(recalled: Sequence[Recalled]) -> list[Recalled]:
    """Return the turns of one session, best first; a turn has at least the score of a turn that it supersedes.

    Turns that only look like a newer version are not moved: in long conversations that hides the turn that answers
    (LoCoMo, recall at 10, 73 instead of 79).
    """
    entries = {entry.turn.index: entry for entry in recalled}
    pairs = _superseded_pairs(recalled)
    for older, newer in sorted(pairs):
        entry = entries[newer]
        score = entries[older].score
        if entries[older].superseded_by is not None and entry.superseded_by is None:
            score /= (
                SUPERSEDED  # the turn that still holds answers as well as the old one would
            )
        if entry.score < score:
            reason = f"replaces turn {older}"
            factor = score / entry.score if entry.score else 1.0
            boosts = (*entry.boosts, (reason, factor))
            entries[newer] = replace(entry, score=score, boosts=boosts)
    return sorted(entries.values(), key=lambda entry: (-entry.score, -entry.turn.index))


def _superseded_pairs(recalled: Sequence[Recalled]) -> list[tuple[int, int]]:
    """Return the number of each superseded turn with the next one that the same turn supersedes, or with that turn."""
    indexes = {entry.turn.index for entry in recalled}
    older_by_newer: dict[int, list[int]] = {}
    for entry in recalled:
        if entry.superseded_by is not None and entry.superseded_by in indexes:
            older_by_newer.setdefault(entry.superseded_by, []).append(entry.turn.index)
    pairs: list[tuple[int, int]] = []
    for newer, older in older_by_newer.items():
        pairs += pairwise([*sorted(older), newer])
    return pairs
