"""The sign scan: which slots' signs agree most with a query's, among all of them.

In two steps: half of the words (those that tell the most for this query) over all slots, then the other half over
what these let through. Both cut generously; the codes behind them are the finer sieve.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragstone.vectors.planes import Question
from ragstone.vectors.segments import Segment
from ragstone.vectors.view import BARRED, Ids, View

SAMPLE = 4096  # distances looked at to find the threshold
WORDS_IN_A_BYTE = 3  # 3 * 64 set bits still fit a byte, 4 do not
FIRST_WORDS = 3  # at least so many over all slots; fewer words than twice that are asked in one step
# Slots let through by the first half, no fewer than a multiple of what is wanted in the end. Among 100k mixtures of
# MiniLM vectors 800 slots held .997 of the nearest 10 when all were asked in one step, .995 when one in 20 passed three
# of the six words, .996 with one in 12; one step took a seventh longer. Among a million 2,000 slots held .995 with one
# in 20, .994 with one in 30, .993 with one in 40, which took a quarter less time.
FIRST_SHARE = 20
FIRST_BASE = 5000  # from 200,000 slots on one in 40, besides these
FIRST_TIMES = 4


def nearest_slots(view: View, question: Question, wanted: int, *, barred: NDArray[np.uint16] | None) -> Ids:
    """Return at least `wanted` slots whose signs agree most with the question's (all, if fewer), ascending."""
    order = np.argsort(-question.weight, kind="stable")
    first = max(FIRST_WORDS, len(order) // 2)
    passed = max(FIRST_TIMES * wanted, min(view.count // FIRST_SHARE, FIRST_BASE + view.count // (2 * FIRST_SHARE)))
    if len(order) < 2 * FIRST_WORDS or 2 * passed > view.count:
        first, passed = len(order), wanted
    found = _distances(view, question, order[:first])
    if barred is not None:
        np.maximum(found, barred, out=found)
    slots = _below(found, _threshold(found, passed), passed)
    if first == len(order) or not len(slots):
        return slots
    near = found.take(slots) + _more_distances(view, question, order[first:], slots)
    return slots[near <= _exact_threshold(near, wanted)]


def _distances(view: View, question: Question, order: Ids) -> NDArray[np.uint16]:
    """Return in how many of the signs asked each slot differs, over these words."""
    out = np.empty(view.count, np.uint16)
    first = 0
    for segment in view.segments:
        _segment_distances(segment, question, order.tolist(), out[first : first + segment.count])
        first += segment.count
    return out


def _segment_distances(segment: Segment, question: Question, order: list[int], out: NDArray[np.uint16]) -> None:
    """Fill in one segment's distances; sums stay in bytes as long as they fit, which halves the work."""
    differing = np.empty(segment.count, np.uint64)
    counted, summed = np.empty(segment.count, np.uint8), np.empty(segment.count, np.uint8)
    for start in range(0, len(order), WORDS_IN_A_BYTE):
        for place, word in enumerate(order[start : start + WORDS_IN_A_BYTE]):
            np.bitwise_xor(segment.planes[word, : segment.count], question.words[word], out=differing)
            np.bitwise_and(differing, question.mask[word], out=differing)
            np.bitwise_count(differing, out=counted if place else summed)
            if place:
                summed += counted
        if start:
            out += summed
        else:
            out[:] = summed


def _more_distances(view: View, question: Question, order: Ids, slots: Ids) -> NDArray[np.uint16]:
    """Return the same for some slots only, over other words."""
    differing = np.empty((len(order), len(slots)), np.uint64)
    first = 0
    for segment, places in view.split(slots):
        for row, word in zip(differing, order.tolist(), strict=True):
            segment.planes[word].take(places, out=row[first : first + len(places)], mode="clip")
        first += len(places)
    differing ^= question.words[order][:, None]
    differing &= question.mask[order][:, None]
    counted: NDArray[np.uint16] = np.bitwise_count(differing).sum(axis=0, dtype=np.uint16)
    return counted


def _below(found: NDArray[np.uint16], threshold: int, wanted: int) -> Ids:
    """Return the slots up to a distance, at least `wanted` (all that may be near, if fewer) and not many times that."""
    slots = np.flatnonzero(found <= threshold)
    while len(slots) < wanted and threshold < BARRED - 1:
        threshold = min(int(BARRED) - 1, threshold + max(2, threshold // 16))
        slots = np.flatnonzero(found <= threshold)
    if len(slots) > 3 * wanted:
        # Many equal distances, or a sample that misled: the exact cut costs more, but only here.
        kept = np.argpartition(found[slots], 2 * wanted)[: 2 * wanted]
        slots = np.sort(slots[kept])
    return slots.astype(np.int64, copy=False)


def _threshold(found: NDArray[np.uint16], wanted: int) -> int:
    """Return a distance that about `wanted` do not exceed, judged from a sample, rather too large than too small."""
    if len(found) <= wanted:
        return int(BARRED) - 1
    sample = found[:: max(1, len(found) // SAMPLE) | 1]
    expected = wanted * len(sample) / len(found)
    rank = min(len(sample) - 1, int(expected + np.sqrt(expected)) + 1)
    return min(int(np.partition(sample, rank)[rank]), int(BARRED) - 1)


def _exact_threshold(found: NDArray[np.uint16], wanted: int) -> int:
    """Return the smallest distance that at least `wanted` do not exceed; the largest there is, if there are fewer."""
    if len(found) <= wanted:
        return int(BARRED) - 1
    return int(np.searchsorted(np.cumsum(np.bincount(found)), wanted))
