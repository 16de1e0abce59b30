"""What only some verbs need: each name is imported when it is first asked for, by a verb or by whoever reads its hints.

Hints are looked up in what a module holds, so a name that is there for type checkers alone could not be found again.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.answer.chat import Chat as Chat
    from ragstone.config.agents import Staff as Staff
    from ragstone.context.select import Candidate as Candidate
    from ragstone.graphing import Grapher as Grapher
    from ragstone.outside.verbs import HelpLimits as HelpLimits
    from ragstone.outside.verbs import Outside as Outside
    from ragstone.remembering import Rememberer as Rememberer
    from ragstone.retrieving.wish import Wish as Wish
    from ragstone.watching import OnSync as OnSync
    from ragstone.watching import Watcher as Watcher

_HOME = {
    "Candidate": "ragstone.context.select",
    "Chat": "ragstone.answer.chat",
    "Grapher": "ragstone.graphing",
    "HelpLimits": "ragstone.outside.verbs",
    "OnSync": "ragstone.watching",
    "Outside": "ragstone.outside.verbs",
    "Rememberer": "ragstone.remembering",
    "Staff": "ragstone.config.agents",
    "Watcher": "ragstone.watching",
    "Wish": "ragstone.retrieving.wish",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> object:
    """Return a name, imported now."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    """Return the names."""
    return sorted(__all__)
