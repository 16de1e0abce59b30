"""What a store promises: everything that stays, and the graph of the code in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

from ragstone import types
from ragstone.protocols.parts import VectorRows

Given = TypeVar("Given")
Some: TypeAlias = "Sequence[str] | None"
Stamps: TypeAlias = "Mapping[str, str] | None"
Kept: TypeAlias = "Mapping[str, bytes] | None"


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

    def shared(self, work: Callable[[], Given]) -> Callable[[], Given]:
        """Return work that another thread may do in this one's moment, while this one reads nothing.

        Outside of a moment it is the work itself. A moment ends only when what is done in it by others has ended, and
        work that was not begun by then raises `StoreError`. Such work shares nothing further.
        """

    def generation(self) -> int:
        """Return a number that changes with every committed write, of any process."""

    # collections
    def ensure_collection(
        self, project: str, name: str, *, description: str = "", settings: Mapping[str, types.Scalar] | None = None
    ) -> types.Collection:
        """Return the collection of that name, made now if it was not there."""

    def collections(self, project: str) -> list[types.Collection]:
        """Return a project's collections by name, with their counts."""

    def drop_collection(self, project: str, name: str) -> int:
        """Remove a collection and all in it; return how many documents went. `NotFound` if there is none."""

    # documents
    def put(self, project: str, collection: str, prepared: Sequence[types.Prepared]) -> list[types.PutResult]:
        """Store or replace documents, all in one transaction; unchanged chunks are kept."""

    def touch(self, project: str, collection: str, source: str, stamps: Mapping[str, types.Stamp | None]) -> None:
        """Note new stamps of documents whose content was looked at and had not changed."""

    def remove(self, project: str, collection: str, uris: Sequence[str]) -> int:
        """Remove documents; return how many were there."""

    def document(self, project: str, collection: str, uri: str) -> types.StoredDocument | None:
        """Return what is stored of one document."""

    def documents(
        self,
        scope: types.Scope,
        *,
        filter: types.Filter | None = None,
        after: tuple[str, str] | None = None,
        limit: int = 50,
    ) -> list[types.StoredDocument]:
        """Return documents ordered by (collection, uri), from behind `after` on."""

    def text(self, project: str, collection: str, uri: str) -> str | None:
        """Return the whole text of a document."""

    def slice(self, project: str, collection: str, uri: str, span: tuple[int, int]) -> str:
        """Return characters start to end of a document's text."""

    def known(
        self, project: str, collection: str, source: str, *, uris: Sequence[str] | None = None, below: bool = False
    ) -> dict[str, types.Known]:
        """Return what is remembered of every document that came from a source.

        `uris`: only of these, `below`: and of those whose uri goes on after one of them with a `/`.
        """

    def document_chunks(self, project: str, collection: str, uri: str) -> list[types.StoredChunk]:
        """Return a document's chunks in order."""

    def chunks(self, project: str, ids: Sequence[int]) -> dict[int, types.StoredChunk]:
        """Return chunks by id, those of other projects left out."""

    def outlines(self, project: str, ids: Sequence[int]) -> dict[int, types.Outline]:
        """Return what ranking looks at of chunks by id, those of other projects left out."""

    def copies(self, scope: types.Scope, text_ids: Sequence[int]) -> dict[int, list[int]]:
        """Return, for each text, the ids of all chunks in scope that hold it."""

    # words
    def search_words(
        self, scope: types.Scope, terms: Sequence[str], *, limit: int, filter: types.Filter | None = None
    ) -> list[types.Scored]:
        """Return chunks that hold any of the terms, best first; terms are those of `ragstone.text`."""

    # vectors
    def ensure_space(
        self,
        project: str,
        collection: str,
        space: types.Space,
        *,
        storage: str | None = None,
        state: types.SpaceState = "active",
    ) -> types.SpaceInfo:
        """Return a space of the collection, made now if it was not there; `StaleSpace` if another is active.

        A storage of None is that of the space there is: the collection's, another collection's, or one nobody uses
        now if there are vectors in it; else the default.
        """

    def activate_space(self, project: str, collection: str, space_id: int) -> None:
        """Make a space the one that answers, and retire the one before it."""

    def spaces(self, scope: types.Scope) -> list[types.SpaceInfo]:
        """Return the spaces in use, each with its coverage over the scope."""

    def pending(
        self, scope: types.Scope, space_id: int, *, after: int = 0, limit: int = 1000
    ) -> list[types.PendingText]:
        """Return texts in scope that have no vector in the space, in order of id, from behind `after` on."""

    def put_vectors(self, project: str, space_id: int, rows: Iterable[tuple[int, bytes]]) -> int:
        """Store (text_id, encoded vector) rows, in one transaction; return how many were new."""

    def remove_vectors(self, project: str, space_id: int, row_ids: Sequence[int] | None = None) -> int:
        """Forget vectors of a space (None: all of them) and return how many went."""

    def vector_rows(self, project: str, space_id: int) -> VectorRows:
        """Return the space's vectors for a derived index to read."""

    def vectors_in(self, scope: types.Scope, space_id: int, *, filter: types.Filter | None = None) -> list[int]:
        """Return the row ids of all vectors whose text is in scope and passes the filter."""

    def locate(
        self, scope: types.Scope, space_id: int, row_ids: Sequence[int], *, filter: types.Filter | None = None
    ) -> dict[int, int]:
        """Return, for each vector row, the first chunk in scope that holds its text and passes the filter."""

    # the graph
    def put_graph(
        self,
        project: str,
        collection: str,
        parts: Mapping[str, types.Graph],
        *,
        stamps: Stamps = None,
        kept: Kept = None,
    ) -> dict[str, int]:
        """Make what each owner gave be exactly this, in one transaction; return how many nodes, links, … changed.

        An owner is a pass (`file:app/Song.php`, `laravel`); one that gives nothing and has no stamp is forgotten.
        """

    def graph_kept(self, project: str, collection: str) -> dict[str, bytes]:
        """Return what passes wanted to be given back when they run again, by owner."""

    def graph_owners(self, project: str, collection: str, *, owners: Some = None) -> dict[str, str]:
        """Return the owners of a collection, or some of them, with the stamps their parts were put with."""

    def nodes(
        self, scope: types.Scope, *, keys: Some = None, kinds: Some = None, uris: Some = None, limit: int = 1000
    ) -> list[types.Node]:
        """Return nodes by key; of one key that two passes gave, the framework's with the attributes of both."""

    def named(self, scope: types.Scope, names: Sequence[str]) -> list[types.Alias]:
        """Return the aliases that are one of these names, whatever the case."""

    def links(
        self,
        scope: types.Scope,
        keys: Sequence[str],
        *,
        kinds: Sequence[str] = (),
        back: bool = False,
        limit: int = 10_000,
    ) -> list[types.Link]:
        """Return the links from these nodes, or to them; in their order."""

    def walk(
        self, scope: types.Scope, anchors: Sequence[str], steps: Sequence[types.Step], *, limit: int = 1000
    ) -> list[types.Walked]:
        """Return the paths from the anchors along all of the steps."""

    def unresolved(
        self, scope: types.Scope, *, name: str | None = None, sources: Some = None, limit: int = 1000
    ) -> list[types.Unresolved]:
        """Return references that nothing written decides, by their name or by where they stand."""

    # notes and upkeep
    def note(self, project: str, key: str) -> str | None:
        """Return a small remembered value."""

    def set_note(self, project: str, key: str, value: str) -> None:
        """Remember a small value."""

    def check(self) -> list[types.Finding]:
        """Return what a look at every invariant found."""

    def compact(self, *, secure: bool = False) -> int:
        """Give back the room of what was removed; return bytes freed. Secure: overwrite it too."""

    def backup(self, target: Path) -> Path:
        """Write a verified copy and return its path."""
