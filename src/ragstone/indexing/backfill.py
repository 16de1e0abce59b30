"""Makes vectors for stored texts that have none. It can stop at any point and go on later.

Texts are embedded request by request, so that each finished request can be stored before the next one fails.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ragstone import registry
from ragstone.embed.request_failures import RequestRefused
from ragstone.errors import ConfigError, MissingKey, ProviderError, RagstoneError, StoreBusy
from ragstone.indexing.components import BUILT_IN_INDEX, SHARED_INDEX
from ragstone.indexing.embedders import CollectionSpaces
from ragstone.protocols import Embedder, RemoteModel
from ragstone.protocols.cancellation import check_cancelled
from ragstone.store.home_folder import EMBED_LOCK
from ragstone.types import EmbedUsage, PendingText, embedding_text

if TYPE_CHECKING:
    from ragstone.config import Settings
    from ragstone.indexing.components import Components
    from ragstone.protocols import Progress
    from ragstone.types import CollectionKey, Matrix, SpaceInfo

_BATCH: Final = 128
# A batch cannot be stopped half way, so it is smaller if the time is limited.
_TIMED_BATCH: Final = 32
_LONG_SECONDS: Final = 60.0
"""With more time than this, a batch that takes a little too long does not matter."""
_PAUSE_SECONDS: Final = 0.02
"""Between two batches, so that a process that waits for the lock gets it."""
_FLUSHED_COUNT: Final = 1000
"""With fewer new vectors, the next search adds them to the index itself."""
_MAX_REFUSED: Final = 3
"""Texts that a service may refuse before it accepted one; then its settings are wrong, not the texts."""
TEXTS_PER_SECOND: Final = 200
"""About the speed of the built-in model, for deciding whether a short time is worth using."""


@dataclass(frozen=True, slots=True)
class EmbeddedTexts:
    """Rows of some texts, by their positions."""

    positions: list[int]
    rows: Matrix


@dataclass(slots=True)
class BatchEmbedder:
    """Embeds lists of texts with one embedder, and remembers the texts that the service refused."""

    embedder: Embedder
    seconds: float | None = None
    """When retries end; None: as the settings say."""
    refused: list[RequestRefused] = field(default_factory=list)
    accepted: bool = False
    """Whether the service accepted a text."""

    @property
    def texts_at_once(self) -> int:
        """Return how many texts fill all concurrent requests; 0 if the embedder sends no requests."""
        if not isinstance(self.embedder, RemoteModel):
            return 0
        size = self.embedder.request_size
        return size.texts * size.at_once

    def embed(self, texts: Sequence[str]) -> Iterator[EmbeddedTexts]:
        """Yield the rows of the texts, request by request in any order; texts that the service refuses are left out.

        If the service fails, the requests that are under way are still yielded, then `ProviderError` is raised.
        """
        if not isinstance(self.embedder, RemoteModel):
            yield EmbeddedTexts(list(range(len(texts))), self.embedder.embed(texts, "document"))
            return
        requests = self.embedder.cut(texts)
        workers = min(self.embedder.request_size.at_once, len(requests))
        pool = ThreadPoolExecutor(max(1, workers), thread_name_prefix="ragstone-embed")
        try:
            futures = [
                pool.submit(self._embed_request, self.embedder, texts, positions)
                for positions in requests
            ]
            yield from _finished(futures)
        finally:
            pool.shutdown(cancel_futures=True)

    def raise_if_refused(self) -> None:
        """Raise `ProviderError` if the service refused some texts; all others have a vector."""
        if self.refused:
            count = len(self.refused)
            first = self.refused[0].message
            raise ProviderError(
                f"{count} texts have no vector, because the service refused them: {first}",
                hint="they are found by words; a smaller chunk size may help",
            )

    def _embed_request(
        self, model: RemoteModel, texts: Sequence[str], positions: list[int]
    ) -> list[EmbeddedTexts]:
        """Return the rows of one request. If the service refuses it, smaller requests find the text that it refuses."""
        done: list[EmbeddedTexts] = []
        refused: list[RequestRefused] = []
        waiting = [positions]
        while waiting:
            part = waiting.pop()
            try:
                rows = model.embed_request(
                    [texts[place] for place in part], "document", seconds=self.seconds
                )
            except RequestRefused as error:
                if len(part) > 1:
                    half = len(part) // 2
                    waiting += [part[half:], part[:half]]
                    continue
                refused.append(error)
                if not self.accepted and len(refused) + len(self.refused) >= _MAX_REFUSED:
                    raise
            else:
                self.accepted = True
                done.append(EmbeddedTexts(part, rows))
        self.refused += refused
        return done


def _finished(futures: Sequence[Future[list[EmbeddedTexts]]]) -> Iterator[EmbeddedTexts]:
    """Yield the results as they finish. After a failure no new request starts, and it is raised at the end."""
    failure: Exception | None = None
    for future in as_completed(futures):
        if future.cancelled():
            continue
        try:
            yield from future.result()
        except Exception as error:  # noqa: BLE001 - raised below, after the finished requests
            failure = failure or error
            for other in futures:
                other.cancel()
    if failure is not None:
        raise failure


@dataclass(slots=True)
class VectorBackfill:
    """Embeds the texts of one collection with its own embedder, or with the configured one."""

    components: Components
    key: CollectionKey
    spaces: CollectionSpaces = field(init=False)
    stored: int = field(default=0, init=False)
    """How many vectors the last run stored so far; correct also if the run failed."""
    _waiting: int | None = field(default=None, init=False)
    """How many texts waited for a vector when the last run began; None if nothing ran."""

    def __post_init__(self) -> None:
        self.spaces = CollectionSpaces(self.components, self.key)

    def run(self, *, seconds: float | None = None, progress: Progress | None = None) -> int:
        """Embed pending texts and return how many vectors were stored; `StaleSpace` if another model made the others.

        With `seconds` it stops after that time. The fallback embedder comes first: it does not depend on a service.
        """
        started = time.monotonic()
        self._fill_fallback(seconds, progress)
        if seconds is not None:
            seconds = max(0.0, seconds - (time.monotonic() - started))
        self.stored = 0  # vectors of the fallback do not count
        info = self._main_space()
        self._waiting = info.texts - info.embedded
        return self._fill(info, seconds, progress)

    def run_secondary(
        self, name: str, *, seconds: float | None = None, progress: Progress | None = None
    ) -> int:
        """Embed the texts with another embedder, which searches do not use by default; return the number of new vectors."""
        return self._fill(self.spaces.secondary(name), seconds, progress)

    def run_documents(self, uris: Sequence[str]) -> int:
        """Embed the texts of some documents and return how many vectors were stored; `StaleSpace` as in `run`.

        It takes no lock, because a caller that adds one note must not wait for a process that embeds a folder. If both
        embed the same text, the second vector is not stored.
        """
        fallback = self.components.settings.embed.fallback
        if fallback:
            self._embed_documents(uris, self.spaces.secondary(fallback))
        return self._embed_documents(uris, self._main_space())

    def run_if_few(self, seconds: float) -> int:
        """Embed pending texts only if the time is about enough for all of them; return how many were stored.

        A few vectors out of many improve no answer, so a waiting user does not wait for them.
        """
        fallback = self.components.settings.embed.fallback
        if fallback:
            self._fill_if_few(self.spaces.secondary(fallback), seconds)
        info = self.spaces.active()
        if info is None or not self.spaces.is_configured(info):
            return 0
        return self._fill_if_few(info, seconds)

    def rebuild(self, progress: Progress | None = None) -> int:
        """Build the vectors of the configured embedder next to the old ones, then switch; return how many are new.

        Existing vectors of that embedder are kept, unless they are damaged.
        """
        components, project = self.components, self.key.project
        info = self.spaces.main(state="building")
        damaged = components.damaged_vectors(project, info)
        if damaged:
            components.store.vectors.remove(project, info.id, damaged)
        count = self._fill(info, None, progress)
        components.store.vectors.activate_space(self.key, info.id)
        return count

    def pending(self) -> int:
        """Return how many texts of the collection have no vector."""
        if self._waiting == self.stored:
            return 0  # the run was complete: a large store need not be counted again
        info = self.spaces.active()
        if info is None:
            return 0
        return info.texts - info.embedded

    def usage(self) -> EmbedUsage:
        """Return what this process asked the collection's service to embed; nothing if it has no service."""
        try:
            embedder = self.spaces.embedder
        except ConfigError:
            return EmbedUsage()
        if not isinstance(embedder, RemoteModel):
            return EmbedUsage()
        return embedder.usage

    def _main_space(self) -> SpaceInfo:
        """Return the space to fill. A missing key is an outage: `ProviderError`, because words answer meanwhile."""
        try:
            return self.spaces.main()
        except MissingKey as error:
            raise ProviderError(error.message, hint=error.hint) from error

    def _fill_fallback(self, seconds: float | None, progress: Progress | None) -> None:
        fallback = self.components.settings.embed.fallback
        if fallback:
            self._fill(self.spaces.secondary(fallback), seconds, progress)

    def _fill_if_few(self, info: SpaceInfo, seconds: float) -> int:
        pending = info.texts - info.embedded
        is_quick = 0 < pending <= seconds * TEXTS_PER_SECOND
        if not is_quick or not info.embedded:
            return 0
        return self._fill(info, seconds, None)

    def _embed_documents(self, uris: Sequence[str], info: SpaceInfo) -> int:
        batches = self._batch_embedder(info, None)
        stored = 0
        for texts in self._texts_of(uris, info):
            stored += self._store_vectors(info, texts, batches)
        self._flush(info, stored)
        batches.raise_if_refused()
        return stored

    def _fill(self, info: SpaceInfo, seconds: float | None, progress: Progress | None) -> int:
        deadline = math.inf
        batches = self._batch_embedder(info, seconds)
        batch = batches.texts_at_once or _BATCH
        if seconds is not None:
            deadline = time.monotonic() + seconds
            if seconds < _LONG_SECONDS:
                batch = _TIMED_BATCH
        total = info.texts - info.embedded
        if progress and total:
            progress("embed", 0, total)
        stored = last_id = 0
        while time.monotonic() < deadline:
            check_cancelled()
            count, last_id = self._embed_batch(info, last_id, batch, deadline, batches)
            stored += count
            if progress and count:
                progress("embed", min(stored, total), total)
            if not last_id:
                break
            time.sleep(_PAUSE_SECONDS)
        self._flush(info, stored)
        batches.raise_if_refused()
        return stored

    def _embed_batch(
        self,
        info: SpaceInfo,
        after: int,
        batch: int,
        deadline: float,
        batches: BatchEmbedder,
    ) -> tuple[int, int]:
        """Embed the next texts; return how many vectors were stored, and the last text's id, 0 if there is no more.

        Two processes that embed the same texts would do the work twice. So the lock is held while a batch is chosen,
        embedded and stored, and no longer: processes take turns.
        """
        wait = None if deadline == math.inf else max(0.0, deadline - time.monotonic())
        try:
            with self.components.lock(EMBED_LOCK, self.key.project, wait=wait):
                texts = self.components.store.vectors.pending(
                    self.key.scope, info.id, after=after, limit=batch
                )
                count = self._store_vectors(info, texts, batches)
        except StoreBusy:
            return 0, 0
        if len(texts) < batch:
            return count, 0
        return count, texts[-1].text_id

    def _store_vectors(
        self, info: SpaceInfo, texts: Sequence[PendingText], batches: BatchEmbedder
    ) -> int:
        """Embed texts, store the vectors of each request in one transaction, and return how many were new."""
        if not texts:
            return 0
        stored_before = self.stored
        if self.components.parts.vector_index == SHARED_INDEX:
            texts = self._store_shared(info, texts)
            if not texts:
                return self.stored - stored_before
        codec = self.components.codec(info)
        for part in batches.embed([text.text for text in texts]):
            ids = [texts[position].text_id for position in part.positions]
            rows = zip(ids, codec.encode(part.rows), strict=True)
            self.stored += self.components.store.vectors.put(self.key.project, info.id, rows)
        return self.stored - stored_before

    def _store_shared(self, info: SpaceInfo, texts: Sequence[PendingText]) -> list[PendingText]:
        """Store the vectors that the shared index file has, and return the texts that still need one."""
        keys = [
            hashlib.sha256(text.text.encode("utf-8", "surrogatepass")).hexdigest()
            for text in texts
        ]
        index = self.components.space_index(self.key.project, info)
        known = index.shared_rows(keys)
        rows = []
        rest = []
        for text, key in zip(texts, keys, strict=True):
            if key in known:
                rows.append((text.text_id, known[key]))
            else:
                rest.append(text)
        if rows:
            self.stored += self.components.store.vectors.put(self.key.project, info.id, rows)
        return rest

    def _batch_embedder(self, info: SpaceInfo, seconds: float | None) -> BatchEmbedder:
        """Return the embedder of a space's texts; `ConfigError` if it or the chosen vector index cannot be used.

        A search would refuse vectors that were made for an index that is not installed.
        """
        vector_index = self.components.parts.vector_index
        if vector_index != BUILT_IN_INDEX:
            registry.load("vector_index", vector_index)
        return BatchEmbedder(self.components.embedder_of(info.space), seconds)

    def _texts_of(self, uris: Sequence[str], info: SpaceInfo) -> Iterator[list[PendingText]]:
        """Yield the texts of documents that have no vector, a batch at a time."""
        store = self.components.store
        vector_rows = store.vectors.rows(self.key.project, info.id)
        waiting: dict[int, str] = {}
        for uri in uris:
            chunks = store.document_chunks(self.key, uri)
            embedded = {row.text_id for row in vector_rows.by_text([c.text_id for c in chunks])}
            for stored in chunks:
                if stored.text_id not in embedded:
                    text = embedding_text(stored.chunk.header, stored.chunk.text)
                    waiting[stored.text_id] = text
            while len(waiting) >= _BATCH:
                yield _take(waiting, _BATCH)
        yield _take(waiting, _BATCH)

    def _flush(self, info: SpaceInfo, stored: int) -> None:
        """Write a large index to disk now, so that the next process opens it at once."""
        if stored >= _FLUSHED_COUNT:
            self.components.space_index(self.key.project, info).flush()


def outage_note(settings: Settings, error: RagstoneError) -> str:
    """Return the note about texts that are stored, but have no vector of the configured model yet."""
    substitute = "words"
    if settings.embed.fallback:
        substitute = f"those of {settings.embed.fallback}"
    return f"vectors are missing, {substitute} answer: {error}"


def _take(waiting: dict[int, str], count: int) -> list[PendingText]:
    """Remove up to `count` texts from a dict of texts by id, and return them."""
    ids = list(waiting)[:count]
    return [PendingText(text_id, waiting.pop(text_id)) for text_id in ids]
