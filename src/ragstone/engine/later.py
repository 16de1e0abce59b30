"""What only some verbs need: each name is imported when it is first asked for, by a verb or by whoever reads its hints.

Hints are looked up in what a module holds, so a name that is there for type checkers alone could not be found again.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.config.agents import AgentsFile as AgentsFile
    from ragstone.indexing.external import HelpLimits as HelpLimits
    from ragstone.indexing.external import Outside as Outside
    from ragstone.indexing.graph import Grapher as Grapher
    from ragstone.indexing.watcher import OnSync as OnSync
    from ragstone.indexing.watcher import Watcher as Watcher
    from ragstone.memory.conversations import Rememberer as Rememberer
    from ragstone.retrieval.ask.chat import Chat as Chat
    from ragstone.retrieval.context.select import Candidate as Candidate

_HOME = {
    "Candidate": "ragstone.retrieval.context.select",
    "Chat": "ragstone.retrieval.ask.chat",
    "Grapher": "ragstone.indexing.graph",
    "HelpLimits": "ragstone.indexing.external",
    "OnSync": "ragstone.indexing.watcher",
    "Outside": "ragstone.indexing.external",
    "Rememberer": "ragstone.memory.conversations",
    "AgentsFile": "ragstone.config.agents",
    "Watcher": "ragstone.indexing.watcher",
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
