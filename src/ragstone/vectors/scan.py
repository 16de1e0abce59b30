"""The sign scan: which slots' signs agree most with a query's, among all of them.

In two steps: half of the words (those that tell the most for this query) over all slots, then the other half over
what these let through. Both cut generously; the codes behind them are the finer sieve.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragstone.vectors.planes import Question
from ragstone.vectors.segments import Segment
from ragstone.vectors.view import Ids, View

Distances = NDArray[np.uint8] | NDArray[np.uint16]
"""In how many signs each slot differs; the largest number of the kind means barred."""

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
    found = _distances(view, question, order[:first].tolist())
    if barred is not None:
        np.maximum(found, barred.astype(found.dtype), out=found)  # of a byte, too, the largest number is left
    slots = _below(found, _threshold(found, passed), passed)
    if first == len(order) or not len(slots):
        return slots
    near = found.take(slots) + _more_distances(view, question, order[first:], slots)
    return slots.take(np.flatnonzero(near <= _exact_threshold(near, wanted)))


def _distances(view: View, question: Question, order: list[int]) -> Distances:
    """Return in how many of the signs asked each slot differs, over these words; in bytes where they fit."""
    groups = [order[start : start + WORDS_IN_A_BYTE] for start in range(0, len(order), WORDS_IN_A_BYTE)]
    room = _Room(max((segment.count for segment in view.segments), default=0))
    out = np.empty(view.count, np.uint8)
    wide = np.zeros(view.count if len(groups) > 1 else 0, np.uint16)
    first = 0
    for segment in view.segments:
        part = slice(first, first + segment.count)
        for words in groups:
            _sum_differing(segment, question, words, out[part], room)
            if len(groups) > 1:
                wide[part] += out[part]
        first += segment.count
    return wide if len(groups) > 1 else out


class _Room:
    """Where one word of a segment is worked on; made once for a search."""

    def __init__(self, count: int) -> None:
        self.differing = np.empty(count, np.uint64)
        self.counted = np.empty(count, np.uint8)


def _sum_differing(segment: Segment, question: Question, words: list[int], out: NDArray[np.uint8], room: _Room) -> None:
    """Fill in how many of the signs asked differ in a few words, so few that their sum fits a byte."""
    differing, counted = room.differing[: segment.count], room.counted[: segment.count]
    for place, word in enumerate(words):
        np.bitwise_xor(segment.planes[word, : segment.count], question.words[word], out=differing)
        np.bitwise_and(differing, question.mask[word], out=differing)
        np.bitwise_count(differing, out=counted if place else out)
        if place:
            out += counted


def _more_distances(view: View, question: Question, order: Ids, slots: Ids) -> NDArray[np.uint16]:
    """Return the same for some slots only, over other words."""
    parts = list(view.split(slots))
    near = np.zeros(len(slots), np.uint16)
    differing, counted = np.empty(len(slots), np.uint64), np.empty(len(slots), np.uint8)
    for word in order.tolist():
        first = 0
        for segment, places in parts:
            segment.planes[word].take(places, out=differing[first : first + len(places)], mode="clip")
            first += len(places)
        differing ^= question.words[word]
        differing &= question.mask[word]
        near += np.bitwise_count(differing, out=counted)
    return near


def _below(found: Distances, threshold: int, wanted: int) -> Ids:
    """Return the slots up to a distance, at least `wanted` (all that may be near, if fewer) and not many times that."""
    last = _last(found)
    slots = _places(found <= found.dtype.type(threshold))
    while len(slots) < wanted and threshold < last:
        threshold = min(last, threshold + max(2, threshold // 16))
        slots = _places(found <= found.dtype.type(threshold))
    if len(slots) > 3 * wanted:
        # Many equal distances, or a sample that misled: the exact cut costs more, but only here.
        kept = np.argpartition(found[slots], 2 * wanted)[: 2 * wanted]
        slots = np.sort(slots[kept])
    return slots


def _places(passed: NDArray[np.bool_]) -> Ids:
    """Return where it is true, by eights first.

    NumPy looks for each true one where fewer than a tenth are: of 100,000 with one in 17 that took twice as long.
    """
    whole = len(passed) - len(passed) % 8
    eights = passed[:whole].view(np.uint64)
    some = np.flatnonzero(eights != 0)
    within = np.flatnonzero(eights.take(some).view(np.bool_))
    places = some.take(within >> 3)
    places <<= 3
    places += within & 7
    rest = np.flatnonzero(passed[whole:])
    return np.concatenate([places, rest + whole]) if len(rest) else places


def _threshold(found: Distances, wanted: int) -> int:
    """Return a distance that about `wanted` do not exceed, judged from a sample, rather too large than too small."""
    if len(found) <= wanted:
        return _last(found)
    sample = found[:: max(1, len(found) // SAMPLE) | 1]
    expected = wanted * len(sample) / len(found)
    rank = min(len(sample) - 1, int(expected + expected**0.5) + 1)
    return min(int(np.bincount(sample).cumsum().searchsorted(rank, side="right")), _last(found))


def _exact_threshold(found: Distances, wanted: int) -> int:
    """Return the smallest distance that at least `wanted` do not exceed; the largest there is, if there are fewer."""
    if len(found) <= wanted:
        return _last(found)
    return int(np.bincount(found).cumsum().searchsorted(wanted))


def _last(found: Distances) -> int:
    """Return the largest distance that does not mean barred."""
    return int(np.iinfo(found.dtype).max) - 1
