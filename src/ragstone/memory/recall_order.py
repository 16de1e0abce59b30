"""The order of recalled turns: by score, but a newer statement is never below the older one that it replaces."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Final

from ragstone.memory.merge import SUPERSEDED
from ragstone.memory.replacements import find_claims, is_new_version
from ragstone.memory.session_cache import speaker
from ragstone.text import query_terms
from ragstone.types import Recalled

_MAX_COMPARED: Final = 60
"""The best turns that are compared with each other for newer versions."""


def newer_before_older(
    recalled: Sequence[Recalled], query: str, *, names_time: bool
) -> list[Recalled]:
    """Return the turns of one session, best first; a newer version has at least the score of the older one.

    If the question names a time, only turns that are superseded for sure are moved: it may ask for the older version.
    """
    entries = {entry.turn.index: entry for entry in recalled}
    pairs = _superseded_pairs(recalled)
    if not names_time:
        best = sorted(recalled, key=lambda entry: -entry.score)[:_MAX_COMPARED]
        pairs += _version_pairs(best, frozenset(query_terms(query)))
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


def _version_pairs(
    recalled: Sequence[Recalled], question_terms: Set[str]
) -> list[tuple[int, int]]:
    """Return the numbers of older and newer turns of one speaker that differ in a value only."""
    claims = {entry.turn.index: find_claims(entry.turn.content) for entry in recalled}
    pairs = []
    for older, newer in permutations(recalled, 2):
        is_later = older.turn.index < newer.turn.index
        if not is_later or speaker(older.turn) != speaker(newer.turn):
            continue
        if is_new_version(claims[newer.turn.index], claims[older.turn.index], question_terms):
            pairs.append((older.turn.index, newer.turn.index))
    return pairs
