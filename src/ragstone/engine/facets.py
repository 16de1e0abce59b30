"""Parts of the engine that load on first use, so that a search does not import them.

Use them as attributes of this module: `facets.Memory(project)`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.access.keys import KeyRing as KeyRing
    from ragstone.access.pepper import load_pepper as load_pepper
    from ragstone.access.plans import Plan as Plan
    from ragstone.access.plans import Plans as Plans
    from ragstone.engine.admin import Admin as Admin
    from ragstone.engine.agents import Agents as Agents
    from ragstone.engine.compaction import compact as compact
    from ragstone.engine.cost_estimate import plan_sync as plan_sync
    from ragstone.engine.external_documents import External as External
    from ragstone.engine.graph import CodeGraph as CodeGraph
    from ragstone.engine.keys import ProjectKeys as ProjectKeys
    from ragstone.engine.memory import Memory as Memory
    from ragstone.engine.project_status import last_sync as last_sync
    from ragstone.engine.project_status import list_projects as list_projects
    from ragstone.engine.project_status import project_status as project_status
    from ragstone.engine.project_status import require_kinds as require_kinds
    from ragstone.engine.prompts import Prompts as Prompts
    from ragstone.engine.system_collections import SystemCollections as SystemCollections
    from ragstone.engine.transfer import Transfer as Transfer
    from ragstone.engine.usage_statistics import search_stats as search_stats
    from ragstone.indexing.background_embedding import (
        BackgroundEmbedding as BackgroundEmbedding,
    )
    from ragstone.indexing.cost_estimate import SyncPlanner as SyncPlanner
    from ragstone.indexing.page_pictures import draw_page_picture as draw_page_picture
    from ragstone.indexing.size_history import SizeHistory as SizeHistory
    from ragstone.indexing.watcher import Watcher as Watcher
    from ragstone.retrieval.code.class_headers import with_signatures as with_signatures
    from ragstone.retrieval.code.related import with_related as with_related
    from ragstone.retrieval.remote.search import search_remote as search_remote

_MODULES = {
    "Admin": "ragstone.engine.admin",
    "Agents": "ragstone.engine.agents",
    "External": "ragstone.engine.external_documents",
    "CodeGraph": "ragstone.engine.graph",
    "KeyRing": "ragstone.access.keys",
    "Memory": "ragstone.engine.memory",
    "Plan": "ragstone.access.plans",
    "Plans": "ragstone.access.plans",
    "ProjectKeys": "ragstone.engine.keys",
    "load_pepper": "ragstone.access.pepper",
    "last_sync": "ragstone.engine.project_status",
    "list_projects": "ragstone.engine.project_status",
    "plan_sync": "ragstone.engine.cost_estimate",
    "require_kinds": "ragstone.engine.project_status",
    "project_status": "ragstone.engine.project_status",
    "Prompts": "ragstone.engine.prompts",
    "search_stats": "ragstone.engine.usage_statistics",
    "SystemCollections": "ragstone.engine.system_collections",
    "Transfer": "ragstone.engine.transfer",
    "BackgroundEmbedding": "ragstone.indexing.background_embedding",
    "SizeHistory": "ragstone.indexing.size_history",
    "SyncPlanner": "ragstone.indexing.cost_estimate",
    "compact": "ragstone.engine.compaction",
    "draw_page_picture": "ragstone.indexing.page_pictures",
    "Watcher": "ragstone.indexing.watcher",
    "search_remote": "ragstone.retrieval.remote.search",
    "with_related": "ragstone.retrieval.code.related",
    "with_signatures": "ragstone.retrieval.code.class_headers",
}


def __getattr__(name: str) -> object:
    """Return a class or function by name; its module is imported now."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_MODULES[name])
    facet: object = getattr(module, name)
    return facet
