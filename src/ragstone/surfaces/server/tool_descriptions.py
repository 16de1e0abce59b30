"""Stores the descriptions of all tools when the server starts, in a thread."""

from __future__ import annotations

import logging
import threading

from ragstone.engine import Engine
from ragstone.errors import RagstoneError
from ragstone.sources.folder.roots import is_risky
from ragstone.surfaces.mcp.other_servers import store_tools

logger = logging.getLogger(__name__)


def start_tool_descriptions(engine: Engine) -> threading.Thread | None:
    """Start the thread, unless retrieval is off or the folder was never indexed and is risky."""
    if not engine.enabled or (not engine.exists and is_risky(engine.folder)):
        return None
    thread = threading.Thread(
        target=_store, args=(engine,), name="ragstone-tool-catalog", daemon=True
    )
    thread.start()
    return thread


def _store(engine: Engine) -> None:
    try:
        store_tools(engine)
    except RagstoneError as error:  # the first call of rag_find_tools tries again
        logger.warning("the tools could not be stored: %s", error)
