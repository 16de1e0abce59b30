"""The work of a server when it starts, in threads: load what the first requests need, store the descriptions of tools."""

from __future__ import annotations

import logging
import threading
from typing import Final

from ragstone.engine import Engine
from ragstone.errors import RagstoneError
from ragstone.protocols import RemoteModel
from ragstone.sources.folder.roots import is_risky
from ragstone.surfaces.mcp.other_servers import store_tools
from ragstone.surfaces.web.templates import environment
from ragstone.types import Mode, Request, Scope

_QUERY: Final = "first search"
logger = logging.getLogger(__name__)


def start_preload(engine: Engine) -> threading.Thread:
    """Start the thread that loads. Requests are answered meanwhile, and load what they need themselves."""
    thread = threading.Thread(
        target=_preload, args=(engine,), name="ragstone-preload", daemon=True
    )
    thread.start()
    return thread


def preload(engine: Engine) -> None:
    """Load the templates; if the folder was indexed before, also the index and the model. Nothing is written or synced."""
    templates = environment()
    for name in templates.list_templates():
        templates.get_template(name)
    if not engine.exists or not engine.enabled:
        return
    engine.status()
    engine.graph.exists()
    engine.memory.sessions()
    _load_search(engine)


def _load_search(engine: Engine) -> None:
    """Search once, without an event. If a service makes the vectors, only by words: a query would cost money."""
    scope = Scope(engine.project)
    components = engine.workspace.components
    spaces = components.store.vectors.spaces(scope)
    models = [components.embedder_of(info.space) for info in spaces if info.state == "active"]
    has_service = any(isinstance(model, RemoteModel) for model in models)
    mode: Mode = "words" if has_service else "hybrid"
    engine.workspace.searcher.run(Request(_QUERY, scope, mode=mode))


def _preload(engine: Engine) -> None:
    try:
        preload(engine)
    except RagstoneError as error:  # the first request says what is wrong
        logger.info("nothing was loaded before the first request: %s", error)


def start_storing_tools(engine: Engine) -> threading.Thread | None:
    """Start the thread that stores the descriptions of all tools.

    It is not started if retrieval is off, or if the folder is risky and was never indexed.
    """
    if not engine.enabled or (not engine.exists and is_risky(engine.folder)):
        return None
    thread = threading.Thread(
        target=_store_tools, args=(engine,), name="ragstone-tools", daemon=True
    )
    thread.start()
    return thread


def _store_tools(engine: Engine) -> None:
    try:
        store_tools(engine)
    except RagstoneError as error:  # the first call of rag_find_tools tries again
        logger.warning("the tools could not be stored: %s", error)
