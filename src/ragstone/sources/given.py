"""Documents that the program already holds, as a source: given text, turns, recorded runs, descriptions of nodes."""

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
        """Hold the documents; `name` is stored with each as its source.

        `scope` names the stored documents that may be affected, beside the given ones; None means all.
        """
        self.name = name
        self.covers = covers
        self._documents = {document.uri: document for document in documents}
        self.scope = None if scope is None else [*self._documents, *scope]

    def scan(self) -> Iterator[Item]:
        """Yield an item for each document."""
        for uri in self._documents:
            yield Item(uri, None)

    def load(self, item: Item) -> LoadedItem:
        """Return the document of an item."""
        return LoadedItem(document=self._documents[item.uri])
