"""System collections: Ragstone's own documents and the descriptions of tools.

They belong to a project of their own, which all projects of a store share. No other search reads them.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ragstone import registry
from ragstone.engine.own_documents import read_reference
from ragstone.errors import NotFound, RagstoneError, StaleSpace
from ragstone.indexing.collection import IndexedCollection
from ragstone.indexing.embedders import EmbedderName
from ragstone.indexing.events import EventBus
from ragstone.indexing.reconcile import Reconciler
from ragstone.sources.in_memory import GivenDocuments
from ragstone.types import (
    CollectionKey,
    Condition,
    Document,
    Explanation,
    Filter,
    Request,
    Scalar,
)

if TYPE_CHECKING:
    from ragstone.engine.workspace import Workspace

OWNER: Final = "system:ragstone"
"""The project of the system collections; a user's project cannot have this name."""
REFERENCE: Final = "system:reference"
MCP_TOOLS: Final = "system:mcp_tools"
ALIASES: Final = {"system:philosophy": REFERENCE}
NAMES: Final = (REFERENCE, MCP_TOOLS, *ALIASES)
OWN_SERVER: Final = "ragstone"
"""The server name of Ragstone's own tools."""
SERVER_FIELD: Final = "server"
"""The metadata field of a tool that names its server."""
_SOURCE: Final = "system"
_FREE_EMBEDDER: Final = "minilm"
_EMBED_SECONDS: Final = 1.0
"""How long one search may make vectors of system collections that have none yet."""
logger = logging.getLogger(__name__)


class SystemCollections:
    """Fills and searches the system collections of one workspace. Safe to use from several threads."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the workspace; nothing is stored yet."""
        self._workspace = workspace
        self._components = workspace.components
        self._lock = threading.Lock()
        self._has_reference = False
        self._put_before: dict[str, tuple[Document, ...]] = {}
        """The tools of each server that this process stored last."""

    def search(self, name: str, request: Request, servers: Sequence[str] = ()) -> Explanation:
        """Return the hits in a system collection; of tools only those of Ragstone and of these servers."""
        name = ALIASES.get(name, name)
        if name not in NAMES:
            hint = f"there are {', '.join(NAMES)}"
            raise NotFound(f"there is no collection {name!r}", hint=hint)
        if name == REFERENCE:
            self.fill_reference()
        self._embed(name, _EMBED_SECONDS)
        if name == MCP_TOOLS:
            request = _only_servers(request, (OWN_SERVER, *servers))
        request = replace(request, scope=_key(name).scope)
        return self._workspace.searcher.run(request)

    def fill_reference(self) -> None:
        """Store Ragstone's own documents, once in a process; unchanged ones stay as they are."""
        with self._lock:
            if not self._has_reference:
                self._put(REFERENCE, read_reference(), scope=None)
                self._has_reference = True

    def put_tools(self, server: str, documents: Iterable[Document]) -> None:
        """Store the descriptions of a server's tools in place of its earlier ones."""
        tools = tuple(documents)
        with self._lock:
            if self._put_before.get(server) != tools:
                self._put(MCP_TOOLS, tools, scope=[tool_uri(server)])
                self._put_before[server] = tools

    def text(self, name: str, uri: str) -> str:
        """Return the text of a document of a system collection; empty if there is no such document."""
        return self._components.store.text(_key(name), uri) or ""

    def embed(self) -> None:
        """Make all vectors that are missing."""
        for name in (MCP_TOOLS, REFERENCE):
            self._embed(name, None)

    def _put(
        self, name: str, documents: Iterable[Document], scope: Sequence[str] | None
    ) -> None:
        source = GivenDocuments(documents, name=_SOURCE, covers=lambda uri: True, scope=scope)
        self._open(name)
        Reconciler(self._collection(name).writer(), source).run()

    def _open(self, name: str) -> None:
        """Create a collection, anew if it is to be embedded by another model."""
        store, key = self._components.store, _key(name)
        own_settings = self._own_settings()
        if dict(store.ensure_collection(key, settings=own_settings).settings) != own_settings:
            store.drop_collection(key)
            store.ensure_collection(key, settings=own_settings)

    def _own_settings(self) -> dict[str, Scalar]:
        """Return the settings of a system collection: a paid model is not used for it."""
        provider = EmbedderName.parse(self._workspace.settings.embed.provider).provider
        is_paid = registry.find("embedder", provider).is_paid
        return {"embedder": _FREE_EMBEDDER} if is_paid else {}

    def _embed(self, name: str, seconds: float | None) -> None:
        """Make missing vectors; without them the collection is searched by words."""
        if name not in self._stored_names():
            return
        backfill = self._collection(name).backfill()
        try:
            active = backfill.spaces.active()
            if active is None or active.embedded < active.texts:
                backfill.run(seconds=seconds)
            elif not backfill.spaces.is_configured(active):
                backfill.rebuild()
        except StaleSpace:
            backfill.rebuild()
        except RagstoneError as error:
            logger.info("%s has no vectors: %s", name, error)

    def _stored_names(self) -> set[str]:
        return {collection.name for collection in self._components.store.collections(OWNER)}

    def _collection(self, name: str) -> IndexedCollection:
        settings = self._workspace.settings
        return IndexedCollection(self._components, settings, EventBus(), _key(name))


def tool_uri(server: str, tool: str = "") -> str:
    """Return the uri of a tool, or of all tools of a server."""
    return f"tool:{server}/{tool}" if tool else f"tool:{server}"


def _key(name: str) -> CollectionKey:
    return CollectionKey(OWNER, name)


def _only_servers(request: Request, servers: Sequence[str]) -> Request:
    condition = Condition(f"meta.{SERVER_FIELD}", "in", tuple(servers))
    conditions = request.filter.conditions if request.filter else ()
    return replace(request, filter=Filter((*conditions, condition)))
