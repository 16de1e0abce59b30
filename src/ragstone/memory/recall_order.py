"""The order of recalled turns: by score, but a newer statement is never below the older one that it replaces.

Of two close turns with the same sentence and another value, such as "I prefer tabs" and "I prefer spaces", the newer one
is first too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Final

from ragstone.memory.merge import SUPERSEDED
from ragstone.memory.replacements import Claim, find_claims, find_value_change
from ragstone.memory.session_cache import speaker
from ragstone.text import query_terms
from ragstone.types import Recalled

_CLOSE: Final = 0.75
"""Share of the older turn's score from which a turn with another value is as good. Not set by an eval."""


def newer_before_older(recalled: Sequence[Recalled], query: str) -> list[Recalled]:
    """Return the turns of one session, best first; a turn has at least the score of a turn that it supersedes.

    A turn that may be a newer version of another is moved only if both are one short sentence. If longer turns are moved,
    that hides the turn that answers (LoCoMo, recall at 10, 73 instead of 79).
    """
    recalled = _raise_other_values(recalled, query)
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


def _raise_other_values(recalled: Sequence[Recalled], query: str) -> list[Recalled]:
    """Return the turns; the newest of close turns that differ in a value only has at least their score.

    If the question names the older value only, it asks for that turn.
    """
    names = frozenset(query_terms(query))
    entries = {entry.turn.index: entry for entry in recalled}
    lone_claims = {}
    for index in sorted(entries):
        claim = _lone_claim(entries[index])
        if claim is not None:
            lone_claims[index] = claim
    for older, newer in combinations(lone_claims, 2):
        old_entry, entry = entries[older], entries[newer]
        is_close = _CLOSE * old_entry.score <= entry.score < old_entry.score
        if not is_close or speaker(old_entry.turn) != speaker(entry.turn):
            continue
        change = find_value_change(lone_claims[newer], lone_claims[older])
        if change is None or (change.old & names and not change.new & names):
            continue
        boosts = (
            *entry.boosts,
            (f"newer than turn {older} with another value", old_entry.score / entry.score),
        )
        entries[newer] = replace(entry, score=old_entry.score, boosts=boosts)
    return list(entries.values())


def _lone_claim(entry: Recalled) -> Claim | None:
    """Return the claim of a turn that holds and is one sentence; None for any other turn."""
    claims = find_claims(entry.turn.content)
    if len(claims) != 1 or entry.superseded_by is not None:
        return None
    if claims[0].sentence != entry.turn.content.strip().rstrip(" .!;"):
        return None
    return claims[0]


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
