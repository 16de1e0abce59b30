"""Knowledge for AI agents: index a folder, search it by words and by meaning, get cited pieces back.

These are the public names. All but the errors are imported on first use, so that `import ragstone` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ragstone.errors import (
    AccessError,
    ConfigError,
    Conflict,
    InputError,
    MissingExtra,
    MissingKey,
    NotFound,
    Overloaded,
    ProviderError,
    QuotaError,
    RagstoneError,
    ReadError,
    SlowRequest,
    StaleSpace,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreTooNew,
    TimedOut,
    TooLarge,
    Unauthenticated,
)

if TYPE_CHECKING:
    from ragstone.config import Settings
    from ragstone.engine import Engine, Workspace
    from ragstone.engine.async_engine import AsyncEngine
    from ragstone.engine.context_selector import RAGContextSelector
    from ragstone.engine.prompts import inject
    from ragstone.indexing.events import Event
    from ragstone.retrieval.context.selection import Candidate
    from ragstone.surfaces.attachments import Attachment, attachment, extract_text
    from ragstone.surfaces.client.client import AsyncClient, Client
    from ragstone.types import (
        AddReport,
        Agent,
        AgentPrompt,
        Chunk,
        Cited,
        Collection,
        Condition,
        Context,
        Document,
        Explanation,
        Filter,
        Finding,
        Hit,
        Recalled,
        Scope,
        Skip,
        Slice,
        Space,
        Span,
        Status,
        StoredDocument,
        SyncReport,
        Trace,
        Turn,
    )
    from ragstone.vectors.codecs.turboquant import TurboQuantizer

__version__ = "0.1.0"

# fmt: off
__all__ = [
    "__version__", "AsyncClient", "AsyncEngine", "Attachment", "Candidate", "Client", "Engine", "Event",
    "RAGContextSelector", "Settings", "TurboQuantizer", "Workspace", "attachment", "extract_text", "inject",
    # errors
    "AccessError", "ConfigError", "Conflict", "InputError", "MissingExtra", "MissingKey", "NotFound", "ProviderError",
    "QuotaError", "RagstoneError", "ReadError", "StaleSpace", "StoreBusy", "StoreDamaged", "StoreError", "StoreTooNew",
    "Overloaded", "SlowRequest", "TimedOut", "TooLarge", "Unauthenticated",
    # types
    "AddReport", "Agent", "AgentPrompt", "Chunk", "Cited", "Collection", "Condition", "Context", "Document",
    "Explanation", "Filter", "Finding", "Hit", "Recalled", "Scope", "Skip", "Slice", "Space", "Span", "Status",
    "StoredDocument", "SyncReport", "Trace", "Turn",
]
# fmt: on

_MODULES = {
    "AsyncClient": "ragstone.surfaces.client.client",
    "AsyncEngine": "ragstone.engine.async_engine",
    "Attachment": "ragstone.surfaces.attachments",
    "Candidate": "ragstone.retrieval.context.selection",
    "Client": "ragstone.surfaces.client.client",
    "Engine": "ragstone.engine",
    "Event": "ragstone.indexing.events",
    "RAGContextSelector": "ragstone.engine.context_selector",
    "Settings": "ragstone.config",
    "TurboQuantizer": "ragstone.vectors.codecs.turboquant",
    "Workspace": "ragstone.engine",
    "attachment": "ragstone.surfaces.attachments",
    "extract_text": "ragstone.surfaces.attachments",
    "inject": "ragstone.engine.prompts",
}
"""The modules of lazily imported names; a name that is missing here is in `ragstone.types`."""


def __getattr__(name: str) -> object:
    """Return a public name, imported now."""
    if name not in __all__:
        raise AttributeError(f"module 'ragstone' has no attribute {name!r}")
    module = import_module(_MODULES.get(name, "ragstone.types"))
    value: object = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
