"""The store: documents, words, vectors, the code graph and state. Each call is one transaction.

A store that implements these protocols passes the contract tests in `ragstone.testing`. The registry group `store`
constructs it with one `StoreSettings` object. When a write returns, it is durable. A read outside of a snapshot is
consistent in itself; several reads of one moment need `snapshot()`. Every method may be called from any thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, Unpack, runtime_checkable

from ragstone import types
from ragstone.protocols.access import KeyStore
from ragstone.protocols.replaceable_parts import JobQueue, VectorRows


class VectorReader(Protocol):
    """Reads embedding spaces and the vectors in them."""

    def spaces(self, scope: types.Scope) -> list[types.SpaceInfo]:
        """Return the spaces that collections in scope use, each with its coverage of the scope."""

    def pending(
        self, scope: types.Scope, space_id: int, *, after: int = 0, limit: int = 1000
    ) -> list[types.PendingText]:
        """Return texts in scope without a vector in the space, by text id, starting after the id `after`."""

    def rows(self, project: str, space_id: int) -> VectorRows:
        """Return the stored vectors of a space, for building an index. `NotFound` if the project has no such space."""

    def ids_in(
        self, scope: types.Scope, space_id: int, *, filter: types.Filter | None = None
    ) -> list[int]:
        """Return the row ids of all vectors whose text is in scope and passes the filter."""

    def locate(
        self,
        scope: types.Scope,
        space_id: int,
        row_ids: Sequence[int],
        *,
        filter: types.Filter | None = None,
    ) -> dict[int, int]:
        """Return the first chunk in scope that has the text of each vector row and passes the filter."""


class VectorStore(VectorReader, Protocol):
    """Reads and writes embedding spaces and vectors."""

    def ensure_space(
        self,
        key: types.CollectionKey,
        space: types.Space,
        *,
        storage: str | None = None,
        state: types.SpaceState = "active",
    ) -> types.SpaceInfo:
        """Return a space of the collection; create it if it is missing. `StaleSpace` if another space is active.

        If `storage` is None, the storage of existing vectors of this space is used, else the default.
        """

    def activate_space(self, key: types.CollectionKey, space_id: int) -> None:
        """Let searches use this space, and retire the space that was active before."""

    def put(self, project: str, space_id: int, rows: Iterable[tuple[int, bytes]]) -> int:
        """Store (text id, encoded vector) rows and return how many were new."""

    def remove(self, project: str, space_id: int, row_ids: Sequence[int] | None = None) -> int:
        """Remove vectors of a space, or all of them if `row_ids` is None; return how many were removed."""


class GraphReader(Protocol):
    """Reads the graph of the code: nodes, aliases, links and unresolved references."""

    def owner_stamps(
        self, key: types.CollectionKey, *, owners: Sequence[str] | None = None
    ) -> dict[str, str]:
        """Return the stamp of each owner of a collection, or of some owners."""

    def owner_data(self, key: types.CollectionKey) -> dict[str, bytes]:
        """Return the data that each owner asked to keep for its next run."""

    def nodes(
        self,
        scope: types.Scope,
        *,
        keys: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        uris: Sequence[str] | None = None,
        limit: int = 1000,
    ) -> list[types.Node]:
        """Return nodes that pass every condition.

        If two owners put the same key, the node of the framework is returned with the attributes of both.
        """

    def count_kinds(self, scope: types.Scope) -> dict[str, int]:
        """Return how many nodes there are of each kind, by kind."""

    def most_linked(self, scope: types.Scope, kinds: Sequence[str], *, limit: int) -> list[str]:
        """Return the keys of the nodes of some kinds with the most links, at most so many from each collection."""

    def find_aliases(self, scope: types.Scope, names: Sequence[str]) -> list[types.Alias]:
        """Return the aliases with one of these names, ignoring case."""

    def links(
        self,
        scope: types.Scope,
        keys: Sequence[str],
        *,
        kinds: Sequence[str] = (),
        back: bool = False,
        limit: int = 10_000,
    ) -> list[types.Link]:
        """Return the links that start at these nodes, or end at them if `back`, in their order."""

    def walk(
        self,
        scope: types.Scope,
        anchors: Sequence[str],
        steps: Sequence[types.Step],
        *,
        limit: int = 1000,
    ) -> list[types.Walked]:
        """Return the paths from the anchors along all of the steps."""

    def unresolved(
        self,
        scope: types.Scope,
        *,
        name: str | None = None,
        sources: Sequence[str] | None = None,
        limit: int = 1000,
    ) -> list[types.Unresolved]:
        """Return references that could not be resolved, by name, by source node, or all."""


class GraphStore(GraphReader, Protocol):
    """Reads and writes the graph of the code."""

    def put(
        self,
        key: types.CollectionKey,
        parts: Mapping[str, types.Graph],
        *,
        stamps: Mapping[str, str] | None = None,
        data: Mapping[str, bytes] | None = None,
    ) -> dict[str, int]:
        """Replace the graph of each owner in `parts`; return how many nodes, links and so on changed.

        An owner is a pass over a file or a framework (`file:app/Song.php`, `laravel`). An owner with an empty graph
        and no stamp is removed.
        """


class StateStore(Protocol):
    """Remembers the progress of syncs and conversations. State is removed with the collection or session it is about.

    Only an update that changes a value counts as a write.
    """

    def collection_state(self, key: types.CollectionKey) -> types.CollectionState:
        """Return the state of a collection, with defaults if nothing was stored."""

    def update_collection_state(
        self, key: types.CollectionKey, **changes: Unpack[types.CollectionStateChanges]
    ) -> None:
        """Change some fields of a collection's state. `NotFound` if there is no such collection."""

    def unread_files(self, key: types.CollectionKey) -> types.UnreadFiles:
        """Return the files of a collection that gave no text."""

    def set_unread_files(self, key: types.CollectionKey, unread: types.UnreadFiles) -> None:
        """Replace the files of a collection that gave no text. `NotFound` if there is no such collection."""

    def session_state(self, key: types.CollectionKey) -> types.SessionState:
        """Return the state of a conversation, with defaults if nothing was stored."""

    def update_session_state(
        self, key: types.CollectionKey, **changes: Unpack[types.SessionStateChanges]
    ) -> None:
        """Change some fields of a conversation's state. `NotFound` if there is no such collection."""

    def shown_passages(self, project: str, session: str) -> list[str]:
        """Return the marks of the passages that a session was already shown, oldest first."""

    def add_shown_passages(
        self, project: str, session: str, marks: Sequence[str], *, keep: int
    ) -> None:
        """Add marks of passages that a session was shown; only the newest `keep` marks of it are kept."""


class DocumentReader(Protocol):
    """Reads collections, documents, chunks and words."""

    @property
    def vectors(self) -> VectorReader:
        """Return the reader of vectors."""

    @property
    def graph(self) -> GraphReader:
        """Return the reader of the code graph."""

    def generation(self, scope: types.Scope) -> int:
        """Return a number that changes with every committed write to a collection in scope, by any process.

        Writes to documents, vectors, graph and state count. Writes to other collections do not change it.
        """

    def projects(self) -> list[str]:
        """Return the names of the projects that have collections, by name."""

    def collections(
        self, project: str, kind: types.CollectionKind = "documents"
    ) -> list[types.Collection]:
        """Return the collections of one kind in a project, by name, with their counts."""

    def document(self, key: types.CollectionKey, uri: str) -> types.StoredDocument | None:
        """Return a document without its text, or None."""

    def documents(
        self,
        scope: types.Scope,
        *,
        filter: types.Filter | None = None,
        after: tuple[str, str] | None = None,
        order: types.DocumentOrder = types.BY_URI,
        skip: int = 0,
        limit: int = 50,
    ) -> list[types.StoredDocument]:
        """Return documents by collection and then in an order, without the first `skip`.

        With `after`, documents up to this pair of (collection, uri) are left out. Texts are compared by code point.
        """

    def count_sources(self, scope: types.Scope) -> dict[str, int]:
        """Return how many documents came from each source."""

    def text(self, key: types.CollectionKey, uri: str) -> str | None:
        """Return the full text of a document, or None."""

    def slice(self, key: types.CollectionKey, uri: str, span: tuple[int, int]) -> str:
        """Return the characters from start to end of a document's text; empty if there is no such document."""

    def known_files(
        self,
        key: types.CollectionKey,
        source: str,
        *,
        uris: Sequence[str] | None = None,
        below: bool = False,
    ) -> dict[str, types.KnownFile]:
        """Return hash, stamp and recipe of the documents that came from a source, by uri.

        `uris` limits the result to these documents; with `below` it also includes documents in folders of these names.
        """

    def document_chunks(self, key: types.CollectionKey, uri: str) -> list[types.StoredChunk]:
        """Return the chunks of a document in order."""

    def chunks(self, project: str, ids: Sequence[int]) -> dict[int, types.StoredChunk]:
        """Return chunks of a project by id; ids of other projects are left out."""

    def outlines(self, project: str, ids: Sequence[int]) -> dict[int, types.ChunkOutline]:
        """Return outlines of chunks of a project by id; ids of other projects are left out."""

    def copies(self, scope: types.Scope, text_ids: Sequence[int]) -> dict[int, list[int]]:
        """Return the ids of all chunks in scope that have each text."""

    def search_words(
        self,
        scope: types.Scope,
        terms: Sequence[str],
        *,
        limit: int,
        filter: types.Filter | None = None,
    ) -> list[types.Scored]:
        """Return chunks with any of the terms, best first. `ragstone.text.query_terms` makes the terms."""

    def known_terms(self, scope: types.Scope, terms: Sequence[str]) -> set[str]:
        """Return those of the terms that a chunk in scope has."""

    def term_rarities(self, scope: types.Scope, terms: Sequence[str]) -> Mapping[str, float]:
        """Return how rare each term is among the chunks in scope; a term that no chunk has is the rarest."""


class DocumentStore(DocumentReader, Protocol):
    """Reads and writes everything that is kept. Projects are borders: no call returns rows of another project."""

    location: str

    @property
    def vectors(self) -> VectorStore:
        """Return the store of vectors."""

    @property
    def graph(self) -> GraphStore:
        """Return the store of the code graph."""

    @property
    def state(self) -> StateStore:
        """Return the store of collection and session state."""

    @property
    def keys(self) -> KeyStore:
        """Return the store of keys and plans."""

    def snapshot(self) -> AbstractContextManager[DocumentReader]:
        """Return a context manager that gives a read-only view of this moment.

        Any thread may read from the view while the `with` block runs. After it every read raises `StoreError`.
        """

    def lock_timeout(self, seconds: float | None) -> AbstractContextManager[None]:
        """Limit how long writes of this thread wait for other writers; None changes nothing."""

    def close(self) -> None:
        """Close the store."""

    def ensure_collection(
        self,
        key: types.CollectionKey,
        *,
        description: str = "",
        settings: Mapping[str, types.Scalar] | None = None,
        limits: types.Limits = types.NO_LIMITS,
    ) -> types.Collection:
        """Return a collection; create it if it is missing. `QuotaError` if the project has too many already."""

    def drop_collection(self, key: types.CollectionKey) -> int:
        """Remove a collection with all its documents and state; return how many documents it had. `NotFound` if none.

        Dropping a session also removes the marks of the passages it was shown.
        """

    def put(
        self,
        key: types.CollectionKey,
        documents: Sequence[types.PreparedDocument],
        *,
        limits: types.Limits = types.NO_LIMITS,
    ) -> list[types.PutResult]:
        """Store or replace documents in one transaction; unchanged chunks keep their ids.

        `QuotaError` if the collection would grow beyond its limit; then nothing is stored.
        """

    def touch(
        self, key: types.CollectionKey, source: str, stamps: Mapping[str, types.Stamp | None]
    ) -> None:
        """Store new stamps of documents whose content did not change."""

    def remove(self, key: types.CollectionKey, uris: Sequence[str]) -> int:
        """Remove documents and return how many existed."""

    def check(self) -> list[types.Finding]:
        """Check every invariant and return the findings."""

    def compact(self, *, secure: bool = False) -> int:
        """Free the space of removed rows and return the bytes freed. `secure` also overwrites them."""

    def backup(self, target: Path) -> Path:
        """Write a verified copy to a new file and return its path."""


@runtime_checkable
class SharedStore(Protocol):
    """A store that processes on several machines use, so that a lock file cannot keep them apart."""

    @property
    def jobs(self) -> JobQueue:
        """Return the queue of jobs."""

    def describe_replica(self) -> str:
        """Return a sentence about the replica that answers searches; empty if there is none."""

    def named_lock(self, name: str, *, wait: float | None) -> AbstractContextManager[None]:
        """Hold a lock that all processes share while the `with` block runs; `StoreBusy` after `wait` seconds.

        None waits without a limit. The lock of a process that dies is released.
        """
