"""The scores: characters covered, discounted gain, recall. Plain functions over plain values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

Place = tuple[str, int, int]
"""A document's uri with the first character and the one behind the last."""


class Coverage(NamedTuple):
    """How well retrieved characters meet the wanted ones."""

    recall: float
    precision: float
    iou: float


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in order with overlapping and touching ones joined, empty ones left out."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(span for span in spans if span[1] > span[0]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def overlap(left: Iterable[tuple[int, int]], right: Iterable[tuple[int, int]]) -> int:
    """Return how many positions both sets of spans hold."""
    ours, theirs = merged(left), merged(right)
    total = i = j = 0
    while i < len(ours) and j < len(theirs):
        total += max(0, min(ours[i][1], theirs[j][1]) - max(ours[i][0], theirs[j][0]))
        if ours[i][1] < theirs[j][1]:
            i += 1
        else:
            j += 1
    return total


def coverage(retrieved: Sequence[Place], wanted: Sequence[Place]) -> Coverage:
    """Return recall, precision and IoU by characters; what is retrieved twice costs twice and counts once."""
    covered = total = 0
    for uri in {place[0] for place in wanted}:
        excerpt = merged((start, end) for name, start, end in wanted if name == uri)
        total += sum(end - start for start, end in excerpt)
        covered += overlap(
            ((start, end) for name, start, end in retrieved if name == uri), excerpt
        )
    taken = sum(max(0, end - start) for _, start, end in retrieved)
    union = taken + total - covered
    return Coverage(
        recall=covered / total if total else 0.0,
        precision=covered / taken if taken else 0.0,
        iou=covered / union if union else 0.0,
    )


def within_budget(retrieved: Sequence[Place], characters: int) -> list[Place]:
    """Return the first places that fit into a number of characters, the last one cut to fit."""
    kept: list[Place] = []
    left = characters
    for uri, start, end in retrieved:
        if left <= 0:
            break
        stop = min(end, start + left)
        kept.append((uri, start, stop))
        left -= stop - start
    return kept


def same_path(one: str, other: str) -> bool:
    """Return whether one path is the other, or its end from a slash on."""
    one, other = one.replace("\\", "/").strip("/"), other.replace("\\", "/").strip("/")
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def binary_ndcg(ranks: Iterable[int | None], targets: int, k: int = 10) -> float:
    """Return NDCG@k for targets found at these ranks from 1; a rank shared by two targets counts once."""
    found = {rank for rank in ranks if rank is not None and 1 <= rank <= k}
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, targets) + 1))
    return sum(1 / math.log2(rank + 1) for rank in found) / ideal if ideal else 0.0


def graded_ndcg(ranked: Sequence[str], grades: dict[str, float], k: int = 10) -> float:
    """Return NDCG@k of a ranking of names, each name counted at its first place, gains as graded."""
    unique = list(dict.fromkeys(ranked))[:k]
    gained = sum(
        grades.get(name, 0.0) / math.log2(rank + 1) for rank, name in enumerate(unique, 1)
    )
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:k]
    ideal = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(best, 1))
    return gained / ideal if ideal else 0.0


def recall_at(ranked: Sequence[str], wanted: set[str], k: int) -> float:
    """Return the share of the wanted names among the first k distinct ones."""
    if not wanted:
        return 0.0
    return len(wanted & set(list(dict.fromkeys(ranked))[:k])) / len(wanted)
