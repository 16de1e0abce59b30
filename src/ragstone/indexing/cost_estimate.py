"""Computes what a sync would do, without storing or embedding anything: files, chunks, tokens, time and money."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone.indexing.backfill import TEXTS_PER_SECOND
from ragstone.indexing.collection import folder_source
from ragstone.indexing.prepare import ItemPreparer, prepare_items
from ragstone.protocols import RemoteModel
from ragstone.types import Item, SyncPlan, embedding_text

if TYPE_CHECKING:
    from ragstone.indexing.collection import IndexedCollection
    from ragstone.protocols import Embedder, Progress
    from ragstone.types import PreparedDocument

_PAGE: Final = 500
_SECONDS_PER_REQUEST: Final = 1.0
"""About how long a service takes for one request."""


@dataclass(frozen=True, slots=True)
class SyncPlanner:
    """Plans the sync of one collection with its folder."""

    collection: IndexedCollection
    full: bool = False
    progress: Progress | None = None
    has_files: bool = True
    """Whether the files of the folder count, or the stored texts only."""

    def run(self, paths: Sequence[str | Path] | None = None) -> SyncPlan:
        """Return the plan. A text that moved from another file counts as new, so the figures are upper limits."""
        embedder = self.collection.backfill().spaces.embedder
        files = chunks = 0
        counts: dict[bytes, int] = {}
        for text in self._texts_without_vector(embedder):
            counts[_digest(text)] = embedder.count_tokens(text)
        if self.has_files:
            for prepared in self._changed_documents(paths):
                files += 1
                chunks += len(prepared.chunks)
                for text in self._new_texts(prepared):
                    counts[_digest(text)] = embedder.count_tokens(text)
        texts, tokens = len(counts), sum(counts.values())
        seconds, cost = _estimate(embedder, texts, tokens)
        return SyncPlan(
            embedder=embedder.space.embedder,
            model=embedder.space.model,
            files=files,
            chunks=chunks,
            texts=texts,
            tokens=tokens,
            seconds=seconds,
            cost=cost,
        )

    def _changed_documents(
        self, paths: Sequence[str | Path] | None
    ) -> Iterator[PreparedDocument]:
        """Yield the files that are new or different, read and cut as a sync would."""
        writer = self.collection.writer()
        source = folder_source(self.collection.settings, paths)
        stored = {} if self.full else writer.stored_files(source)
        recipe = writer.chunking.recipe
        waiting: list[Item] = []
        hashes: dict[str, str] = {}
        for item in source.scan():
            if not isinstance(item, Item):
                continue
            known_file = stored.get(item.uri)
            if known_file is not None and known_file.recipe == recipe:
                if known_file.stamp == item.stamp:
                    continue
                hashes[item.uri] = known_file.content_hash
            waiting.append(item)
        preparer = ItemPreparer(source, writer.chunking, hashes)
        for done, outcome in enumerate(prepare_items(preparer, waiting), start=1):
            if self.progress:
                self.progress("index", done, len(waiting))
            if outcome.prepared is not None:
                yield outcome.prepared

    def _new_texts(self, prepared: PreparedDocument) -> set[str]:
        """Return the texts of a document that its stored version does not have."""
        store = self.collection.components.store
        stored_chunks = store.document_chunks(self.collection.key, prepared.document.uri)
        before = {embedding_text(row.chunk.header, row.chunk.text) for row in stored_chunks}
        now = {embedding_text(chunk.header, chunk.text) for chunk in prepared.chunks}
        return now - before

    def _texts_without_vector(self, embedder: Embedder) -> Iterator[str]:
        """Yield the stored texts that the embedder made no vector for."""
        store, key = self.collection.components.store, self.collection.key
        fingerprint = embedder.space.fingerprint
        for info in store.vectors.spaces(key.scope):
            if info.space.fingerprint == fingerprint:
                last_id = 0
                while page := store.vectors.pending(
                    key.scope, info.id, after=last_id, limit=_PAGE
                ):
                    yield from (text.text for text in page)
                    last_id = page[-1].text_id
                return
        after: tuple[str, str] | None = None
        while documents := store.documents(key.scope, after=after, limit=_PAGE):
            for document in documents:
                for row in store.document_chunks(key, document.uri):
                    yield embedding_text(row.chunk.header, row.chunk.text)
            after = (documents[-1].collection, documents[-1].uri)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _estimate(embedder: Embedder, texts: int, tokens: int) -> tuple[float, float | None]:
    """Return about how many seconds and dollars the texts take; None if the price is not known."""
    if not isinstance(embedder, RemoteModel):
        return texts / TEXTS_PER_SECOND, 0.0
    size = embedder.request_size
    requests = max(texts / size.texts, tokens / size.tokens)
    seconds = requests * _SECONDS_PER_REQUEST / size.at_once
    if embedder.price is None:
        return seconds, None
    return seconds, tokens * embedder.price / 1_000_000
