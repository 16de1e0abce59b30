"""The write path of the turbo index: how a tail becomes slots, once, whoever else is writing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ragstone.vectors.cache import Encoded, SegmentCache
from ragstone.vectors.exact import ExactIndex
from ragstone.vectors.view import Ids, View

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

BATCH = 8192
RECENTRE_AT = 4  # times the rows the centre was taken from, before it is looked at again
DRIFT = 0.1  # how far the centre of unit vectors may move before signs are taken again
DEAD_SHARE = 0.5  # of the slots, before the living are laid out anew

Fetch = Callable[[Ids], "tuple[Ids, Matrix]"]
"""Returns the ids the store still has, ascending, and their unit vectors."""


@dataclass(frozen=True, slots=True)
class State:
    """What a search takes hold of once: the segments, and the tail behind them."""

    view: View
    tail: ExactIndex


@dataclass(frozen=True, slots=True)
class Changes:
    """What has to be true of the files afterwards: ids without their old vectors, ids (ascending) with new ones."""

    buried: Ids
    high_water: int
    ids: Ids
    unit: Matrix
    ahead: Encoded | None = None  # what the vectors were encoded to already


def settle(cache: SegmentCache, view: View, changes: Changes, fetch: Fetch) -> tuple[View, Matrix] | None:
    """Return the view with the changes in it, and the vectors laid in behind; None where another process is writing."""
    with cache.writing() as held:
        if not held:
            return None
        view = cache.latest(view)
        view = view.without(view.slots_of(changes.buried))
        ids, unit, ahead = changes.ids, changes.unit, changes.ahead
        # Another process may have laid in some of the same rows since we looked.
        theirs = view.slots_of(ids)
        if len(theirs):
            ours = ~np.isin(ids, view.ids_at(theirs))
            ids, unit, ahead = ids[ours], unit[ours], None
        if len(ids):
            view = cache.append(view, ids, unit, ahead=ahead)
        view = replace(view, high_water=max(view.high_water, changes.high_water))
        return cache.commit(_renewed(cache, view, fetch)), unit


def _renewed(cache: SegmentCache, view: View, fetch: Fetch) -> View:
    """Return the view, laid out anew where its centre has moved away or half of it is dead."""
    if view.centre is None:
        return view
    mostly_dead = len(view.dead) > DEAD_SHARE * view.count and view.count > BATCH
    if not mostly_dead and view.count < RECENTRE_AT * view.centred_on:
        return view
    fresh = cache.recentred(view)
    moved = view.centre if fresh.centre is None else view.centre - fresh.centre
    if not mostly_dead and float(np.linalg.norm(moved)) < DRIFT * float(np.sqrt(len(moved))):
        return replace(view, centred_on=view.count)
    ids = np.sort(view.ids_at(view.live_slots()))
    for first in range(0, len(ids), BATCH):
        found, unit = fetch(ids[first : first + BATCH])
        if len(found):
            fresh = cache.append(fresh, found, unit)
    return fresh
