"""The facets of an engine by name. Each is imported on first use, so that a search does not load them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.engine.admin import Admin as Admin
    from ragstone.engine.agents import Agents as Agents
    from ragstone.engine.external import External as External
    from ragstone.engine.graph import CodeGraph as CodeGraph
    from ragstone.engine.memory import Memory as Memory
    from ragstone.engine.prompts import Prompts as Prompts

_MODULES = {
    "Admin": "ragstone.engine.admin",
    "Agents": "ragstone.engine.agents",
    "External": "ragstone.engine.external",
    "CodeGraph": "ragstone.engine.graph",
    "Memory": "ragstone.engine.memory",
    "Prompts": "ragstone.engine.prompts",
}


def __getattr__(name: str) -> object:
    """Return a facet class, imported now."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    facet: object = getattr(import_module(_MODULES[name]), name)
    return facet
