"""Embeds many texts request by request, so that each finished request can be stored before the next one fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ragstone.embed.refusals import RequestRefused
from ragstone.errors import ProviderError
from ragstone.protocols import Embedder, RemoteModel

if TYPE_CHECKING:
    from ragstone.types import Matrix

_MAX_REFUSED: Final = 3


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
                    # Not one text was accepted: the settings are wrong, not the texts.
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
