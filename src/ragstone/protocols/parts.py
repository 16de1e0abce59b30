"""What the replaceable parts promise, all but the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeAlias

from ragstone import types

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with a stage ("scan", "index", "graph", "embed"), how much is done and how much there is (0: not known)."""


class Source(Protocol):
    """Where text is."""

    name: str

    def scan(self) -> Iterator[types.Item | types.Skip]:
        """Yield everything there is, or why it is left out. Never raises for one bad item."""

    def load(self, item: types.Item) -> types.FileContent:
        """Return an item's bytes and the stamp they were read at, or raise `ReadError`."""

    def covers(self, uri: str) -> bool:
        """Return whether a uri that the last scan did not yield is gone, and was not merely out of its sight."""


class Reader(Protocol):
    """What a file says."""

    def read(self, data: bytes, uri: str) -> types.Document:
        """Return the whole document, or raise `ReadError`; never half of one."""


class Chunker(Protocol):
    """How a document is cut. `recipe` names the cut and its sizes: another recipe means cutting again."""

    recipe: str

    def chunk(self, document: types.Document) -> list[types.Chunk]:
        """Return exact slices in order that together cover all non-space text."""


class Embedder(Protocol):
    """How text becomes numbers."""

    space: types.Space
    max_tokens: int
    related: float
    """A cosine beyond which two texts have to do with each other, whatever else is near."""

    def embed(
        self, texts: Sequence[str], role: types.Role = "document", *, progress: Progress | None = None
    ) -> types.Matrix:
        """Return one row per text, in order. A text's vector does not depend on its neighbours."""

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the model sees in a text, markers not counted."""


class Codec(Protocol):
    """How a vector becomes the bytes of a row and back."""

    name: str
    dimension: int
    row_bytes: int

    def encode(self, matrix: types.Matrix) -> list[bytes]:
        """Return one row of bytes per vector; vectors are brought to length one."""

    def decode(self, rows: Sequence[bytes]) -> types.Matrix:
        """Return the vectors of these rows, or raise `StoreError` where one is damaged."""

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


class VectorIndex(Protocol):
    """Which vectors are near. Holds nothing that cannot be rebuilt."""

    def upsert(self, ids: Sequence[int], vectors: types.Matrix) -> None:
        """Take vectors in; an id that is already there gets the new vector."""

    def search(self, vector: types.Matrix, k: int, *, allowed: Sequence[int] | None = None) -> list[types.Scored]:
        """Return the k nearest by cosine, best first; only among `allowed` where that is given."""

    def delete(self, ids: Sequence[int]) -> int:
        """Return how many were there and are no longer."""

    def has(self, ids: Sequence[int]) -> list[bool]:
        """Return for each id whether the index holds a vector for it."""

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

    def search(self, vector: types.Matrix, k: int, *, allowed: Sequence[int] | None = None) -> list[types.Scored]:
        """Return the k nearest vector rows by cosine, best first."""

    def cosines(self, chunk_ids: Sequence[int]) -> Callable[[types.Matrix], dict[int, float]]:
        """Return what gives a vector's cosine with each of these chunks, those without a vector left out.

        Their rows are read now, so that a query's vector may still be in the making.
        """

    def vectors(self, text_ids: Sequence[int]) -> types.Matrix:
        """Return one row per text, zero where a text has no vector yet."""

    def flush(self) -> None:
        """Make what was taken in quick to open next time."""

    def close(self) -> None:
        """Let go of files and memory."""


class Spaces(Protocol):
    """What a search asks of the spaces it meets."""

    def query_vector(self, space: types.Space, query: str) -> types.Matrix | None:
        """Return the query's vector in a space, or None where that space cannot be asked here."""

    def nearest(self, project: str, info: types.SpaceInfo) -> Nearest:
        """Return a space's index, ready to be asked."""

    def related(self, space: types.Space) -> float:
        """Return the cosine beyond which two texts of a space have to do with each other."""


class Reranker(Protocol):
    """A second, slower look at the best candidates."""

    name: str

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, higher is better."""
