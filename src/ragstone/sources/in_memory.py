"""Documents that are already in memory, as a source: added texts, turns, recorded runs, descriptions of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ragstone.types import Document, Item, LoadedItem


def _covers_nothing(uri: str) -> bool:
    return False


class GivenDocuments:
    """A list of documents. `covers` says which stored documents are removed if they are not in the list."""

    def __init__(
        self,
        documents: Iterable[Document],
        *,
        name: str = "",
        covers: Callable[[str], bool] = _covers_nothing,
        scope: Sequence[str] | None = (),
    ) -> None:
        """Take the documents; `name` is stored with each as its source.

        `scope` names other stored documents that may be removed; None means all of them.
        """
        self.name = name
        self.covers = covers
        self._documents = {document.uri: document for document in documents}
        self.scope: list[str] | None = None
        if scope is not None:
            self.scope = [*self._documents, *scope]

    def scan(self) -> Iterator[Item]:
        """Yield an item for each document."""
        for uri in self._documents:
            yield Item(uri, None)

    def load(self, item: Item) -> LoadedItem:
        """Return the document of an item."""
        return LoadedItem(document=self._documents[item.uri])
