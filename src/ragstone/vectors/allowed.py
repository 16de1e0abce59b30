"""Sets of ids a search may answer from, remembered so that the next search with the same set starts at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragstone.vectors.unit import id_array
from ragstone.vectors.view import BARRED, Ids, View

REMEMBERED = 8


class AllowedSet:
    """Ids in order, and where a view has them."""

    def __init__(self, given: Sequence[int] | Ids) -> None:
        """Sort once; most of the cost of a filter is in turning Python numbers into an array."""
        self.given = given
        self.ids = np.unique(id_array(given))
        self._edges = _edges(given)
        self._slots: tuple[View, Ids] | None = None
        self._barred: tuple[View, NDArray[np.uint16]] | None = None

    def made_from(self, given: Sequence[int] | Ids) -> bool:
        """Return whether this is the set of that very object, as far as a glance can tell."""
        return self.given is given and self._edges == _edges(given)

    def slots(self, view: View) -> Ids:
        """Return the live slots of the ids, ascending."""
        known = self._slots
        if known is None or known[0] is not view:
            known = self._slots = (view, view.slots_of(self.ids))
        return known[1]

    def barred(self, view: View) -> NDArray[np.uint16]:
        """Return what to raise distances to so that only these ids can be near."""
        known = self._barred
        if known is None or known[0] is not view:
            barred = np.full(view.count, BARRED, np.uint16)
            barred[self.slots(view)] = 0
            known = self._barred = (view, barred)
        return known[1]


class AllowedSets:
    """The last few sets; the caller keeps handing in the same sequence while its filter has not changed."""

    def __init__(self) -> None:
        """Start with none."""
        self._recent: deque[AllowedSet] = deque(maxlen=REMEMBERED)

    def of(self, given: Sequence[int] | Ids) -> AllowedSet:
        """Return the set of a sequence, the remembered one where it is the same object."""
        for known in tuple(self._recent):
            if known.made_from(given):
                return known
        made = AllowedSet(given)
        self._recent.append(made)
        return made


def _edges(given: Sequence[int] | Ids) -> tuple[int, ...]:
    """Return length, first and last: a list changed in place almost never keeps all three."""
    return (len(given), int(given[0]), int(given[-1])) if len(given) else (0,)
