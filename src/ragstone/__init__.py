"""Knowledge for AI agents: index a folder, search it by words and by meaning, get cited pieces back.

These are the public names. Each is imported when it is first used, so that `import ragstone` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.config import Settings as Settings
    from ragstone.engine import Engine as Engine
    from ragstone.engine import Workspace as Workspace
    from ragstone.engine.async_engine import AsyncEngine as AsyncEngine
    from ragstone.engine.prompts import inject as inject
    from ragstone.errors import AccessError as AccessError
    from ragstone.errors import ConfigError as ConfigError
    from ragstone.errors import Conflict as Conflict
    from ragstone.errors import InputError as InputError
    from ragstone.errors import MissingExtra as MissingExtra
    from ragstone.errors import NotFound as NotFound
    from ragstone.errors import ProviderError as ProviderError
    from ragstone.errors import QuotaError as QuotaError
    from ragstone.errors import RagstoneError as RagstoneError
    from ragstone.errors import ReadError as ReadError
    from ragstone.errors import StaleSpace as StaleSpace
    from ragstone.errors import StoreBusy as StoreBusy
    from ragstone.errors import StoreDamaged as StoreDamaged
    from ragstone.errors import StoreError as StoreError
    from ragstone.errors import StoreTooNew as StoreTooNew
    from ragstone.events import Event as Event
    from ragstone.surfaces.attachments import Attachment as Attachment
    from ragstone.surfaces.attachments import attachment as attachment
    from ragstone.types import AddReport as AddReport
    from ragstone.types import Agent as Agent
    from ragstone.types import AgentPrompt as AgentPrompt
    from ragstone.types import Chunk as Chunk
    from ragstone.types import Cited as Cited
    from ragstone.types import Collection as Collection
    from ragstone.types import Condition as Condition
    from ragstone.types import Context as Context
    from ragstone.types import Document as Document
    from ragstone.types import Explanation as Explanation
    from ragstone.types import Filter as Filter
    from ragstone.types import Finding as Finding
    from ragstone.types import Hit as Hit
    from ragstone.types import Recalled as Recalled
    from ragstone.types import Scope as Scope
    from ragstone.types import Skip as Skip
    from ragstone.types import Space as Space
    from ragstone.types import Span as Span
    from ragstone.types import Status as Status
    from ragstone.types import StoredDocument as StoredDocument
    from ragstone.types import SyncReport as SyncReport
    from ragstone.types import Trace as Trace
    from ragstone.types import Turn as Turn

__version__ = "0.1.0"

_PUBLIC = {
    "ragstone.surfaces.attachments": ("Attachment", "attachment"),
    "ragstone.config": ("Settings",),
    "ragstone.engine": ("Engine", "Workspace"),
    "ragstone.engine.async_engine": ("AsyncEngine",),
    "ragstone.errors": (
        "AccessError", "ConfigError", "Conflict", "InputError", "MissingExtra", "NotFound", "ProviderError",
        "QuotaError", "RagstoneError", "ReadError", "StaleSpace", "StoreBusy", "StoreDamaged", "StoreError",
        "StoreTooNew",
    ),
    "ragstone.events": ("Event",),
    "ragstone.engine.prompts": ("inject",),
    "ragstone.types": (
        "AddReport", "Agent", "AgentPrompt", "Chunk", "Cited", "Collection", "Condition", "Context", "Document",
        "Explanation", "Filter", "Finding", "Hit", "Recalled", "Scope", "Skip", "Space", "Span", "Status",
        "StoredDocument", "SyncReport", "Trace", "Turn",
    ),
}  # fmt: skip
_HOME = {name: module for module, names in _PUBLIC.items() for name in names}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> object:
    """Return a public name, imported now."""
    if name not in _HOME:
        raise AttributeError(f"module 'ragstone' has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
