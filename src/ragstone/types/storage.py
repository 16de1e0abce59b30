"""Rows of the store: collections, documents, chunks and the state of collections and sessions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypedDict

from ragstone.types.documents import (
    API_ENDPOINT,
    Chunk,
    Document,
    Mark,
    Metadata,
    Scalar,
    Stamp,
    cite_lines,
    cite_page,
    cite_text_lines,
)

CollectionKind = Literal["documents", "session", "agent"]
"""Documents of the project, the turns of one conversation, or the documents of one agent."""


@dataclass(frozen=True, slots=True)
class CollectionKey:
    """Names one collection: project, kind and name together are unique."""

    project: str
    name: str
    kind: CollectionKind = "documents"

    @property
    def scope(self) -> Scope:
        """Return the scope that holds this collection only."""
        return Scope(self.project, (self.name,), self.kind)


@dataclass(frozen=True, slots=True)
class Scope:
    """The collections that a call may read: those of one kind in one project, or some of them by name."""

    project: str = "default"
    collections: tuple[str, ...] | None = None
    kind: CollectionKind = "documents"


@dataclass(frozen=True, slots=True)
class Collection:
    """A named set of documents in a project."""

    uuid: str
    project: str
    name: str
    description: str = ""
    settings: Mapping[str, Scalar] = field(default_factory=dict)
    documents: int = 0
    chunks: int = 0
    updated_at: float | None = None
    kind: CollectionKind = "documents"

    @property
    def key(self) -> CollectionKey:
        """Return the key that store methods take."""
        return CollectionKey(self.project, self.name, self.kind)


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """How to open a store. A plug-in is constructed with this object alone."""

    path: Path | None = None
    """The database file of a store on this machine; None keeps everything in memory."""
    url: str = ""
    """The address of a store that runs as a server."""
    api_key: str = field(default="", repr=False)
    options: Mapping[str, Scalar] = field(default_factory=dict)
    """Settings of this store alone, such as `cache_mb` of SQLite."""


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document with its chunks, ready to be stored in one transaction."""

    document: Document
    chunks: tuple[Chunk, ...]
    source: str = ""
    stamp: Stamp | None = None
    recipe: str = ""
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """The stored hash, stamp and recipe of a source's item: enough to decide if it must be read again."""

    content_hash: str
    stamp: Stamp | None
    recipe: str

    @property
    def text_version(self) -> str:
        """Return a value that changes with a document's text: its bytes, and how they were read and redacted."""
        reading_recipe = self.recipe.partition(";")[2]
        return f"{self.content_hash};{reading_recipe}"


@dataclass(frozen=True, slots=True)
class PutResult:
    """The number of chunks that storing one document added, kept and removed."""

    uri: str
    added: int
    kept: int
    removed: int
    remarks: tuple[str, ...] = ()
    """Messages for the user, such as secrets that were removed from the text."""


DocumentColumn = Literal["uri", "kind", "chunks", "characters", "added_at"]


@dataclass(frozen=True, slots=True)
class DocumentOrder:
    """The order of a list of documents; documents with equal values are sorted by uri in the same direction."""

    column: DocumentColumn = "uri"
    descending: bool = False


BY_URI: Final = DocumentOrder()


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as the store lists it, without its text."""

    uri: str
    collection: str
    kind: str
    language: str
    title: str
    metadata: Metadata
    source: str
    chunks: int
    characters: int
    hash: str
    stamp: Stamp | None
    added_at: float
    marks: tuple[Mark, ...] = ()
    beside: str = ""


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A stored chunk with the fields of its document."""

    id: int
    text_id: int
    collection: str
    uri: str
    title: str
    document_kind: str
    language: str
    metadata: Metadata
    chunk: Chunk
    content_hash: str = ""
    """Hash of the source's item that the document was made of."""
    added_at: float = 0.0
    """When the text of the document was stored, in seconds since 1970."""

    @property
    def kind(self) -> str:
        """Return the kind of the chunk if it is finer than the kind of its document."""
        return API_ENDPOINT if self.chunk.kind == API_ENDPOINT else self.document_kind

    @property
    def ingested_at(self) -> str:
        """Return the time of storing as ISO 8601 text in UTC."""
        return datetime.fromtimestamp(self.added_at, UTC).isoformat(timespec="seconds")


class ChunkOutline(NamedTuple):
    """The columns of a chunk that ranking needs. It has no text, since most candidates are never shown."""

    id: int
    text_id: int
    collection: str
    uri: str
    document_kind: str
    order: int
    symbol: str
    start: int
    end: int
    line_start: int = 1
    line_end: int = 1
    page: int | None = None
    page_label: str = ""
    unit: str = ""

    @property
    def citation(self) -> str:
        """Return the citation of the chunk: `path:first-last`, or its page, slide or sheet."""
        if self.page is None:
            return cite_lines(self.uri, self.line_start, self.line_end)
        place = cite_page(self.uri, self.page, self.page_label, self.unit)
        return place + cite_text_lines(self.unit, self.line_start, self.line_end)


class Scored(NamedTuple):
    """A row id and its score; a higher score is better."""

    id: int
    score: float


@dataclass(frozen=True, slots=True)
class CollectionState:
    """The state of a collection that sync and the graph builder keep between runs."""

    synced_at: float | None = None
    """When the collection last matched its folder, in seconds since 1970."""
    follows_folder: bool = False
    """Whether the whole folder was synced once, so that every later sync must match it."""
    fingerprint: str | None = None
    """The fingerprint of the folder at the last complete sync; empty if a file failed for an unknown reason."""
    root: str | None = None
    """The absolute folder that document paths start from; empty if paths start from several folders."""
    relative_root: str | None = None
    """The same folder relative to the home folder, so that both can move together."""
    needs_vectors: bool = False
    """Whether a refresh ran with `embed=False`; the next embedding refresh also embeds these texts."""
    graph_seconds: float | None = None
    """How long the last update of the graph took."""
    graph_remarks: tuple[str, ...] = ()
    """References that the last update of the graph could not resolve, with the reason."""


class CollectionStateChanges(TypedDict, total=False):
    """The fields of `CollectionState` that one update sets."""

    synced_at: float | None
    follows_folder: bool
    fingerprint: str | None
    root: str | None
    relative_root: str | None
    needs_vectors: bool
    graph_seconds: float | None
    graph_remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SessionState:
    """The state of a conversation besides its turns."""

    next_turn: int | None = None
    """The number of the next turn; None if the session does not exist."""
    version: str | None = None
    """A random value that changes when a stored turn is changed or forgotten."""


class SessionStateChanges(TypedDict, total=False):
    """The fields of `SessionState` that one update sets."""

    next_turn: int | None
    version: str | None


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file that gave no text: its stamp at that time, the reason, and if the reason is a failure."""

    stamp: Stamp
    reason: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class UnreadFiles:
    """All unread files of a collection, by uri, and the recipe of the readers that tried them."""

    recipe: str = ""
    files: Mapping[str, UnreadFile] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Space:
    """An embedding space. Two vectors are comparable only if every field of their spaces is equal."""

    embedder: str
    model: str
    dimension: int
    query_prefix: str = ""
    document_prefix: str = ""
    normalised: bool = True
    version: str = "1"

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 over every field."""
        return _hash_fields(self)


@lru_cache(maxsize=256)  # a search needs it a few times
def _hash_fields(space: Space) -> str:
    values = list(astuple(space))
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


SpaceState = Literal["active", "building", "fallback", "retired"]
"""`fallback` is the state of a building space in a `Status`, if the setting `embed.fallback` names its embedder."""

DEFAULT_STORAGE: Final = "int10"
"""The codec of vectors if neither the settings nor the stored vectors name another."""
STORAGE_BITS: Final = {"compact": 4, "int8": 8, "int10": 10, "int16": 16}
"""The bits of a number in each codec."""


@dataclass(frozen=True, slots=True)
class SpaceInfo:
    """A space of a collection, and how much of the collection it covers."""

    id: int
    space: Space
    storage: str
    state: SpaceState
    texts: int
    embedded: int

    @property
    def coverage(self) -> float:
        """Return the share of the collection's texts that have a vector."""
        if not self.texts:
            return 1.0
        return self.embedded / self.texts

    @property
    def bits(self) -> int | None:
        """Return how many bits a number of a vector has; None for a codec of a plug-in."""
        return STORAGE_BITS.get(self.storage)


@dataclass(frozen=True, slots=True)
class RequestSize:
    """The largest request that is sent to a service, and how many are sent at the same time."""

    texts: int
    tokens: int
    at_once: int = 4


@dataclass(frozen=True, slots=True)
class EmbedUsage:
    """What a service was asked to embed, and the cost in dollars by its list price."""

    requests: int = 0
    texts: int = 0
    tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: EmbedUsage) -> EmbedUsage:
        """Return both usages together."""
        return EmbedUsage(
            self.requests + other.requests,
            self.texts + other.texts,
            self.tokens + other.tokens,
            self.cost + other.cost,
        )

    def __sub__(self, earlier: EmbedUsage) -> EmbedUsage:
        """Return the usage since an earlier moment."""
        return EmbedUsage(
            self.requests - earlier.requests,
            self.texts - earlier.texts,
            self.tokens - earlier.tokens,
            self.cost - earlier.cost,
        )


@dataclass(frozen=True, slots=True)
class PendingText:
    """A stored text that has no vector in a space yet."""

    text_id: int
    text: str


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A stored vector: its row number (grows, never reused), the text it belongs to, its encoded bytes."""

    id: int
    text_id: int
    data: bytes
