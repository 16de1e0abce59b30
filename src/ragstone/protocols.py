"""The promises: what each replaceable part must do. A part is found by name through `registry`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ragstone.types import (
    Alias,
    Chunk,
    Collection,
    Document,
    Filter,
    Finding,
    Graph,
    Item,
    Known,
    Link,
    Node,
    PendingText,
    Prepared,
    PutResult,
    Role,
    Scalar,
    Scope,
    Scored,
    Skip,
    Space,
    SpaceInfo,
    SpaceState,
    Stamp,
    Step,
    StoredChunk,
    StoredDocument,
    Unresolved,
    VectorRow,
    Walked,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix: TypeAlias = NDArray[np.float32]

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with a stage ("scan", "index", "graph", "embed"), how much is done and how much there is (0: not known)."""
Some: TypeAlias = "Sequence[str] | None"
Stamps: TypeAlias = "Mapping[str, str] | None"
Kept: TypeAlias = "Mapping[str, bytes] | None"


class Source(Protocol):
    """Where text is."""

    name: str

    def scan(self) -> Iterator[Item | Skip]:
        """Yield everything there is, or why it is left out. Never raises for one bad item."""

    def load(self, item: Item) -> bytes:
        """Return an item's bytes, or raise `ReadError`."""


class Reader(Protocol):
    """What a file says."""

    def read(self, data: bytes, uri: str) -> Document:
        """Return the whole document, or raise `ReadError`; never half of one."""


class Chunker(Protocol):
    """How a document is cut. `recipe` names the cut and its sizes: another recipe means cutting again."""

    recipe: str

    def chunk(self, document: Document) -> list[Chunk]:
        """Return exact slices in order that together cover all non-space text."""


class Embedder(Protocol):
    """How text becomes numbers."""

    space: Space
    max_tokens: int
    related: float
    """A cosine beyond which two texts have to do with each other, whatever else is near."""

    def embed(self, texts: Sequence[str], role: Role = "document", *, progress: Progress | None = None) -> Matrix:
        """Return one row per text, in order. A text's vector does not depend on its neighbours."""

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the model sees in a text, markers not counted."""


class Codec(Protocol):
    """How a vector becomes the bytes of a row and back."""

    name: str
    dimension: int
    row_bytes: int

    def encode(self, matrix: Matrix) -> list[bytes]:
        """Return one row of bytes per vector; vectors are brought to length one."""

    def decode(self, rows: Sequence[bytes]) -> Matrix:
        """Return the vectors of these rows, or raise `StoreError` where one is damaged."""

    def scores(self, query: Matrix, rows: Sequence[bytes]) -> Matrix:
        """Return the inner product of a query with every row."""

    def sound(self, rows: Sequence[bytes]) -> list[bool]:
        """Return for each row whether it is a vector: the right length, and numbers."""


class VectorRows(Protocol):
    """One space's vectors as the store keeps them: what a derived index is built from."""

    epoch: str
    """Changes when rows were deleted or rewritten: an index of another epoch is rebuilt."""

    def newest(self) -> tuple[str, int]:
        """Return the epoch and the largest row id (0 without rows), both of one moment."""

    def after(self, row_id: int, limit: int) -> list[VectorRow]:
        """Return rows with a larger id, in order of id."""

    def data_after(self, row_id: int, limit: int) -> dict[int, bytes]:
        """Return the encoded vectors of rows with a larger id, in order of id: what an index is filled from."""

    def by_id(self, ids: Sequence[int]) -> list[VectorRow]:
        """Return the rows with these ids, in any order, missing ones left out."""

    def data(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the encoded vectors of the rows with these ids, missing ones left out: what a search compares."""

    def by_text(self, text_ids: Sequence[int]) -> list[VectorRow]:
        """Return the rows of these texts, in any order, missing ones left out."""

    def by_chunk(self, chunk_ids: Sequence[int]) -> dict[int, bytes]:
        """Return the encoded vectors of these chunks' texts, missing ones left out."""


class VectorIndex(Protocol):
    """Which vectors are near. Holds nothing that cannot be rebuilt."""

    high_water: int
    """The largest row id taken in."""

    def upsert(self, ids: Sequence[int], vectors: Matrix) -> None:
        """Take vectors in; an id that is already there gets the new vector."""

    def search(self, vector: Matrix, k: int, *, allowed: Sequence[int] | None = None) -> list[Scored]:
        """Return the k nearest by cosine, best first; only among `allowed` where that is given."""

    def delete(self, ids: Sequence[int]) -> int:
        """Return how many were there and are no longer."""

    def has(self, row_id: int) -> bool:
        """Return whether an id is there."""

    def count(self) -> int:
        """Return how many vectors are there."""

    def flush(self) -> None:
        """Make what was taken in quick to open next time; losing it costs only time."""

    def drop(self) -> None:
        """Forget everything, files included."""

    def close(self) -> None:
        """Let go of files and memory."""


class Nearest(Protocol):
    """One space, ready to be asked: its index, kept level with the store."""

    damaged: int
    """How many stored rows were no vectors and are left out."""

    def search(self, vector: Matrix, k: int, *, allowed: Sequence[int] | None = None) -> list[Scored]:
        """Return the k nearest vector rows by cosine, best first."""

    def scores(self, vector: Matrix, chunk_ids: Sequence[int]) -> dict[int, float]:
        """Return the cosine of each of these chunks, those without a vector left out."""

    def vectors(self, text_ids: Sequence[int]) -> Matrix:
        """Return one row per text, zero where a text has no vector yet."""

    def flush(self) -> None:
        """Make what was taken in quick to open next time."""

    def close(self) -> None:
        """Let go of files and memory."""


class Spaces(Protocol):
    """What a search asks of the spaces it meets."""

    def query_vector(self, space: Space, query: str) -> Matrix | None:
        """Return the query's vector in a space, or None where that space cannot be asked here."""

    def nearest(self, project: str, info: SpaceInfo) -> Nearest:
        """Return a space's index, ready to be asked."""

    def related(self, space: Space) -> float:
        """Return the cosine beyond which two texts of a space have to do with each other."""


class Reranker(Protocol):
    """A second, slower look at the best candidates."""

    name: str

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, higher is better."""


class Framework(Protocol):
    """What a framework makes of a project's files; executes nothing."""

    name: str

    def detects(self, world: World) -> bool:
        """Return whether the project is one of this framework's."""

    def read(self, world: World) -> Graph:
        """Return its routes, tables, models and what links them; what cannot be known is in the remarks."""


class World(Protocol):
    """A project's files, as far as an adapter needs them; `ragstone.code.world` has more."""

    uris: tuple[str, ...]

    def has(self, uri: str) -> bool:
        """Return whether there is such a file."""


class Store(Protocol):
    """Where everything stays. Every call names the project; nothing crosses its border.

    One call is one transaction: it happens wholly or not at all, and when it returns it is durable.
    """

    location: str

    def close(self) -> None:
        """Let go of the database."""

    def patience(self, seconds: float | None) -> AbstractContextManager[None]:
        """Wait at most this long for other writers while it is entered; None changes nothing."""

    def moment(self) -> AbstractContextManager[None]:
        """Let everything this thread reads while it is entered be of one moment."""

    def generation(self) -> int:
        """Return a number that changes with every committed write, of any process."""

    # collections
    def ensure_collection(
        self, project: str, name: str, *, description: str = "", settings: Mapping[str, Scalar] | None = None
    ) -> Collection:
        """Return the collection of that name, made now if it was not there."""

    def collections(self, project: str) -> list[Collection]:
        """Return a project's collections by name, with their counts."""

    def drop_collection(self, project: str, name: str) -> int:
        """Remove a collection and all in it; return how many documents went. `NotFound` if there is none."""

    # documents
    def put(self, project: str, collection: str, prepared: Sequence[Prepared]) -> list[PutResult]:
        """Store or replace documents, all in one transaction; unchanged chunks are kept."""

    def touch(self, project: str, collection: str, source: str, stamps: Mapping[str, Stamp | None]) -> None:
        """Note new stamps of documents whose content was looked at and had not changed."""

    def remove(self, project: str, collection: str, uris: Sequence[str]) -> int:
        """Remove documents; return how many were there."""

    def document(self, project: str, collection: str, uri: str) -> StoredDocument | None:
        """Return what is stored of one document."""

    def documents(
        self, scope: Scope, *, filter: Filter | None = None, after: tuple[str, str] | None = None, limit: int = 50
    ) -> list[StoredDocument]:
        """Return documents ordered by (collection, uri), from behind `after` on."""

    def text(self, project: str, collection: str, uri: str) -> str | None:
        """Return the whole text of a document."""

    def slice(self, project: str, collection: str, uri: str, span: tuple[int, int]) -> str:
        """Return characters start to end of a document's text."""

    def known(
        self, project: str, collection: str, source: str, *, uris: Sequence[str] | None = None, below: bool = False
    ) -> dict[str, Known]:
        """Return what is remembered of every document that came from a source.

        `uris`: only of these, `below`: and of those whose uri goes on after one of them with a `/`.
        """

    def document_chunks(self, project: str, collection: str, uri: str) -> list[StoredChunk]:
        """Return a document's chunks in order."""

    def chunks(self, project: str, ids: Sequence[int]) -> dict[int, StoredChunk]:
        """Return chunks by id, those of other projects left out."""

    def copies(self, scope: Scope, text_ids: Sequence[int]) -> dict[int, list[int]]:
        """Return, for each text, the ids of all chunks in scope that hold it."""

    # words
    def search_words(
        self, scope: Scope, terms: Sequence[str], *, limit: int, filter: Filter | None = None
    ) -> list[Scored]:
        """Return chunks that hold any of the terms, best first; terms are those of `ragstone.words`."""

    # vectors
    def ensure_space(
        self, project: str, collection: str, space: Space, *, storage: str = "int16", state: SpaceState = "active"
    ) -> SpaceInfo:
        """Return a space of the collection, made now if it was not there; `StaleSpace` if another is active."""

    def activate_space(self, project: str, collection: str, space_id: int) -> None:
        """Make a space the one that answers, and retire the one before it."""

    def spaces(self, scope: Scope) -> list[SpaceInfo]:
        """Return the spaces in use, each with its coverage over the scope."""

    def pending(self, scope: Scope, space_id: int, *, after: int = 0, limit: int = 1000) -> list[PendingText]:
        """Return texts in scope that have no vector in the space, in order of id, from behind `after` on."""

    def put_vectors(self, project: str, space_id: int, rows: Iterable[tuple[int, bytes]]) -> int:
        """Store (text_id, encoded vector) rows, in one transaction; return how many were new."""

    def remove_vectors(self, project: str, space_id: int, row_ids: Sequence[int] | None = None) -> int:
        """Forget vectors of a space (None: all of them) and return how many went."""

    def vector_rows(self, project: str, space_id: int) -> VectorRows:
        """Return the space's vectors for a derived index to read."""

    def vectors_in(self, scope: Scope, space_id: int, *, filter: Filter | None = None) -> list[int]:
        """Return the row ids of all vectors whose text is in scope and passes the filter."""

    def locate(
        self, scope: Scope, space_id: int, row_ids: Sequence[int], *, filter: Filter | None = None
    ) -> dict[int, int]:
        """Return, for each vector row, the first chunk in scope that holds its text and passes the filter."""

    # the graph
    def put_graph(
        self, project: str, collection: str, parts: Mapping[str, Graph], *, stamps: Stamps = None, kept: Kept = None
    ) -> dict[str, int]:
        """Make what each owner gave be exactly this, in one transaction; return how many nodes, links, … changed.

        An owner is a pass (`file:app/Song.php`, `laravel`); one that gives nothing and has no stamp is forgotten.
        """

    def graph_kept(self, project: str, collection: str) -> dict[str, bytes]:
        """Return what passes wanted to be given back when they run again, by owner."""

    def graph_owners(self, project: str, collection: str, *, owners: Some = None) -> dict[str, str]:
        """Return the owners of a collection, or some of them, with the stamps their parts were put with."""

    def nodes(
        self, scope: Scope, *, keys: Some = None, kinds: Some = None, uris: Some = None, limit: int = 1000
    ) -> list[Node]:
        """Return nodes by key; of one key that two passes gave, the framework's with the attributes of both."""

    def named(self, scope: Scope, names: Sequence[str]) -> list[Alias]:
        """Return the aliases that are one of these names, whatever the case."""

    def links(
        self, scope: Scope, keys: Sequence[str], *, kinds: Sequence[str] = (), back: bool = False, limit: int = 10_000
    ) -> list[Link]:
        """Return the links from these nodes, or to them; in their order."""

    def walk(self, scope: Scope, anchors: Sequence[str], steps: Sequence[Step], *, limit: int = 1000) -> list[Walked]:
        """Return the paths from the anchors along all of the steps."""

    def unresolved(
        self, scope: Scope, *, name: str | None = None, sources: Some = None, limit: int = 1000
    ) -> list[Unresolved]:
        """Return references that nothing written decides, by their name or by where they stand."""

    # notes and upkeep
    def note(self, project: str, key: str) -> str | None:
        """Return a small remembered value."""

    def set_note(self, project: str, key: str, value: str) -> None:
        """Remember a small value."""

    def check(self) -> list[Finding]:
        """Return what a look at every invariant found."""

    def compact(self, *, secure: bool = False) -> int:
        """Give back the room of what was removed; return bytes freed. Secure: overwrite it too."""

    def backup(self, target: Path) -> Path:
        """Write a verified copy and return its path."""
