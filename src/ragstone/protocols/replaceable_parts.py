"""The protocols of all replaceable parts but the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from ragstone import types

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with a stage ("scan", "index", "graph", "embed"), how much is done and how much there is (0: not known)."""


class Source(Protocol):
    """Lists items and loads them: a folder, web pages, the help of a program, or given documents."""

    @property
    def name(self) -> str:
        """Return the name that is stored with every document of this source."""

    @property
    def scope(self) -> Sequence[str] | None:
        """Return the uris that all items are at or below; None if they can be anywhere."""

    def scan(self) -> Iterator[types.Item | types.Skip]:
        """Yield every item, or why it is left out. One bad item never raises."""

    def load(self, item: types.Item) -> types.LoadedItem:
        """Return an item's content, or raise `ReadError`."""

    def covers(self, uri: str) -> bool:
        """Return whether a stored document that the last scan did not list is gone."""


class Reader(Protocol):
    """Reads a file as a document."""

    def read(self, data: bytes, uri: str) -> types.Document:
        """Return the whole document, or raise `ReadError`; never half of one."""


class Chunker(Protocol):
    """Cuts a document into chunks. `recipe` names the method and its sizes; if it changes, documents are cut again."""

    recipe: str

    def chunk(self, document: types.Document) -> list[types.Chunk]:
        """Return exact slices in order that together cover all non-space text."""


class Embedder(Protocol):
    """Converts texts to vectors."""

    space: types.Space
    max_tokens: int

    def embed(
        self,
        texts: Sequence[str],
        role: types.Role = "document",
        *,
        progress: Progress | None = None,
    ) -> types.Matrix:
        """Return one row per text, in order. A text's vector does not depend on its neighbours."""

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the model sees in a text, markers not counted."""


@runtime_checkable
class RemoteModel(Protocol):
    """An embedder behind a service: each request costs time or money, so its result is stored at once."""

    request_size: types.RequestSize
    usage: types.EmbedUsage
    price: float | None
    """Dollars per million tokens; None if it is not known."""

    @property
    def problem(self) -> str:
        """Return why the last request failed; empty if it succeeded."""

    def cut(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the positions of the texts of each request."""

    def embed_request(
        self,
        texts: Sequence[str],
        role: types.Role = "document",
        *,
        seconds: float | None = None,
    ) -> types.Matrix:
        """Return one row per text of one request; retries end after `seconds`."""

    def close(self) -> None:
        """Close the connections; they are opened again on the next use."""


class Codec(Protocol):
    """Encodes vectors as rows of bytes and decodes them."""

    name: str
    dimension: int
    row_bytes: int

    def encode(self, matrix: types.Matrix) -> list[bytes]:
        """Return one row of bytes per vector; vectors are scaled to length one."""

    def decode(self, rows: Sequence[bytes]) -> types.Matrix:
        """Return the vectors of these rows; raise `StoreError` if one has the wrong length."""

    def scores(self, query: types.Matrix, rows: Sequence[bytes]) -> types.Matrix:
        """Return the inner product of a query with every row."""

    def sound(self, rows: Sequence[bytes]) -> list[bool]:
        """Return for each row whether it is a vector: the right length, and numbers."""


class VectorRows(Protocol):
    """The stored vectors of one space, from which an index is built."""

    @property
    def epoch(self) -> str:
        """Return a value that changes when rows were deleted or rewritten; an index of another epoch is rebuilt."""

    def version(self) -> tuple[str, int]:
        """Return the epoch, and a number that changes with every commit that may have added rows."""

    def count(self) -> int:
        """Return the number of rows."""

    def ids_after(self, row_id: int) -> list[int]:
        """Return all row ids larger than this one, ascending. A smaller id may be committed after a larger one."""

    def after(self, row_id: int, limit: int) -> list[types.VectorRow]:
        """Return rows with a larger id, in order of id."""

    def by_id(self, ids: Sequence[int]) -> list[types.VectorRow]:
        """Return the rows with these ids in any order; missing ids are left out."""

    def data(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the encoded vectors of the rows with these ids; missing ids are left out."""

    def by_text(self, text_ids: Sequence[int]) -> list[types.VectorRow]:
        """Return the rows of these texts in any order; texts without a vector are left out."""

    def by_chunk(self, chunk_ids: Sequence[int]) -> dict[int, bytes]:
        """Return the encoded vectors of the texts of these chunks; chunks without a vector are left out."""


class ComparedVectors(Protocol):
    """The vectors of one space in a form that the server of the store compares itself."""

    def put(self, rows: Sequence[tuple[int, Sequence[float]]]) -> None:
        """Add vectors by the id of their stored row, or replace them; ids without a stored row are left out."""

    def remove(self, ids: Sequence[int]) -> int:
        """Remove vectors and return how many there were."""

    def clear(self) -> None:
        """Remove all vectors of the space."""

    def count(self) -> int:
        """Return the number of vectors."""

    def held(self, ids: Sequence[int]) -> set[int]:
        """Return those of some ids that have a vector."""

    def nearest(
        self, query: Sequence[float], limit: int, *, allowed: Sequence[int] | None, count: int
    ) -> list[types.Scored]:
        """Return the nearest by cosine, best first; `count` is how many vectors the space has."""

    def ensure_index(self) -> None:
        """Build the server's index if there are many vectors and it has none."""


@runtime_checkable
class ServerVectors(Protocol):
    """Stored vectors whose server can compare them."""

    def embeddings(self, dimension: int) -> ComparedVectors:
        """Return the vectors as the server compares them."""


class VectorIndex(Protocol):
    """Finds the nearest vectors. It is derived from the store and can be rebuilt without embedding."""

    def upsert(self, ids: Sequence[int], vectors: types.Matrix) -> None:
        """Add vectors; an id that the index holds gets the new vector."""

    def search(
        self, vector: types.Matrix, k: int, *, allowed: Sequence[int] | None = None
    ) -> list[types.Scored]:
        """Return the k nearest by cosine, best first; only among `allowed` if that is given.

        A caller does not change the list of allowed ids afterwards, so that an index may cache it.
        """

    def delete(self, ids: Sequence[int]) -> int:
        """Remove vectors and return how many there were."""

    def has(self, ids: Sequence[int]) -> list[bool]:
        """Return for each id whether the index holds a vector for it."""

    def count(self) -> int:
        """Return the number of vectors."""

    def flush(self) -> None:
        """Save the index, so that the next process opens it quickly."""

    def drop(self) -> None:
        """Remove everything, the files too."""

    def close(self) -> None:
        """Release files and memory."""


class IndexedText(NamedTuple):
    """The text behind a row of an index, in one collection that has it."""

    row_id: int
    collection: str
    hash: str
    """Names the text on every machine."""
    uri: str
    line_start: int
    line_end: int
    text: str


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How to open the index of one space. A plug-in is constructed with this object alone."""

    name: str
    """Names the index among all indexes of a server: letters, digits and hyphens."""
    stamp: str
    """Names the state of the stored rows; vectors of another stamp must not be searched."""
    rows: VectorRows
    codec: Codec
    """Decodes the rows; it also has the dimension."""
    texts: Callable[[Sequence[int]], list[IndexedText]]
    """Returns the texts of rows, one for each collection that has it; rows without a chunk are left out."""
    folder: Path | None = None
    """The private folder of the index; None if nothing is written to disk."""
    path: Path | None = None
    """The folder that the user chose (`rag.vector_store.path`)."""
    url: str = ""
    api_key: str = field(default="", repr=False)


@runtime_checkable
class SharedVectors(Protocol):
    """An index that brings vectors of another machine, so that their texts need not be embedded here."""

    def shared_rows(self, text_keys: Sequence[str]) -> dict[str, bytes]:
        """Return the encoded vectors that are known for these hashes of texts."""


class RemoteCollection(Protocol):
    """A collection on another server, which gets the text of a query. It can be searched and not written."""

    def search(self, query: str, top_k: int) -> list[types.RemotePassage]:
        """Return at most top_k passages, best first; raise `ProviderError` if the server does not answer."""

    def close(self) -> None:
        """Release the connection; a later search opens it again."""


class Reranker(Protocol):
    """Scores the best candidates again, more slowly and more exactly."""

    name: str

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, higher is better."""


class JobFile(Protocol):
    """A file that a job stores."""

    @property
    def name(self) -> str:
        """Return the name, which becomes the uri."""

    @property
    def size(self) -> int:
        """Return the number of bytes."""

    def read(self) -> bytes:
        """Return the bytes."""


class JobQueue(Protocol):
    """Jobs of all projects. A worker claims a job for the time of its lease, and renews the lease while it works.

    After the lease another worker may claim the job. From then on the calls of the first worker return False, and
    change nothing.
    """

    def add(
        self,
        project: str,
        request: types.JobRequest,
        files: Sequence[types.IncomingFile] = (),
        *,
        max_bytes: int | None = None,
    ) -> types.Job:
        """Store a job with its files and return it. `Overloaded` if too many jobs or bytes of the project wait."""

    def claim(self, worker: str, places: Sequence[str], *, lease: float) -> types.Job | None:
        """Return the oldest job that may run now, as running, or None.

        A job waits for earlier jobs with a file of the same name and for earlier jobs of the same place. Jobs of
        other places than those of the worker are left out. A job whose workers died too often fails instead.
        """

    def files(self, job: types.Job) -> list[JobFile]:
        """Return the files of a job, in order; their bytes are read when they are needed."""

    def renew(self, job: types.Job, *, lease: float) -> bool:
        """Store the progress in `job` and start its lease anew; return whether the worker still has the job."""

    def finish(self, job: types.Job, result: Mapping[str, object]) -> bool:
        """Store that a job is done, and its result; return whether the worker still had the job."""

    def fail(
        self, job: types.Job, error: Mapping[str, object], *, retry_after: float | None
    ) -> bool:
        """Store why a job failed; it runs again after some seconds, or never if None."""

    def release(self, job: types.Job) -> bool:
        """Give a job back that was not finished; it can be claimed at once, and the attempt does not count."""

    def get(self, project: str, job_id: str) -> types.Job | None:
        """Return a job of a project, or None."""

    def list(self, project: str, limit: int) -> list[types.Job]:
        """Return the newest jobs of a project, newest first."""
