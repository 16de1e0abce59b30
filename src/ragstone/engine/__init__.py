"""Engine: the one object a caller holds. It puts the parts together and has no algorithm of its own."""

from __future__ import annotations

from ragstone.engine.ground import DEFAULT
from ragstone.engine.retrieving import Retrieving
from ragstone.engine.staffing import Staffing

__all__ = ["DEFAULT", "Engine"]


class Engine(Retrieving, Staffing):
    """Knowledge of one folder: add, sync, remove, search. Nothing is opened before it is needed."""
