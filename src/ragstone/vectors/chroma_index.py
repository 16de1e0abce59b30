"""An index in Chroma: in a local folder, or on a server.

The package `chromadb` is an extra. Its errors, and those of the connection, become `ProviderError`: a search then compares
the stored vectors instead.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final
from urllib.parse import urlsplit

import chromadb
import httpx
import numpy as np
from chromadb.api import ClientAPI
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings as ChromaSettings
from numpy.typing import ArrayLike

from ragstone.errors import ConfigError, RagstoneError
from ragstone.protocols import IndexSettings
from ragstone.types import Matrix, Scored
from ragstone.vectors.exact import best
from ragstone.vectors.normalise import (
    Ids,
    check_k,
    check_pairs,
    id_array,
    products,
    unit_query,
    unit_rows,
)
from ragstone.vectors.service_failures import RequestGuard

_BATCH: Final = 1000
"""Vectors in one request."""
_TIMEOUT: Final = 10.0
"""Seconds that a request to a server may take."""
_SPARE: Final = 4
"""Candidates per wanted hit: Chroma's index is approximate, and the candidates are compared exactly."""


class ChromaIndex:
    """A `VectorIndex` in one collection of Chroma. Chroma finds candidates; their scores are exact cosines."""

    def __init__(
        self,
        connect: Callable[[], ClientAPI],
        name: str,
        dimension: int,
        *,
        stamp: str = "",
        url: str = "",
    ) -> None:
        """Take a function that returns a client; the first request calls it. A collection of another stamp is replaced.

        Messages name the `url` of a server.
        """
        self.dimension = dimension
        self._connect = connect
        self._client: ClientAPI | None = None
        self._name = name
        self._stamp = stamp
        self._lock = threading.Lock()
        self._collection: Collection | None = None
        self._guard = RequestGuard("Chroma", url)

    def upsert(self, ids: Sequence[int], vectors: Matrix) -> None:
        """Add vectors; an id that the index holds gets the new vector."""
        new_ids = id_array(ids)
        unit = unit_rows(vectors, self.dimension)
        check_pairs(new_ids, unit)
        last = {row_id: place for place, row_id in enumerate(new_ids.tolist())}
        with self._request() as collection:
            for part in _batches(list(last)):
                rows = unit[[last[row_id] for row_id in part]]
                collection.upsert(ids=_as_text(part), embeddings=rows)

    def search(
        self, vector: Matrix, k: int, *, allowed: Sequence[int] | None = None
    ) -> list[Scored]:
        """Return the k nearest by cosine, best first; only among `allowed` if that is given."""
        check_k(k)
        query = unit_query(vector, self.dimension)
        with self._request() as collection:
            if allowed is not None and len(allowed) <= _BATCH:
                ids, vectors = self._fetch(collection, sorted(set(allowed)))
            else:
                ids, vectors = self._nearest(collection, query, k, allowed)
        return best(ids, products(vectors, query), k)

    def delete(self, ids: Sequence[int]) -> int:
        """Remove vectors and return how many there were."""
        distinct = sorted(set(ids))
        with self._request() as collection:
            held = self._held(collection, distinct)
            for part in _batches(sorted(held)):
                collection.delete(ids=_as_text(part))
        return len(held)

    def has(self, ids: Sequence[int]) -> list[bool]:
        """Return for each id whether the index holds a vector for it."""
        with self._request() as collection:
            held = self._held(collection, sorted(set(ids)))
        return [row_id in held for row_id in ids]

    def count(self) -> int:
        """Return the number of vectors."""
        with self._request() as collection:
            return int(collection.count())

    def flush(self) -> None:
        """Do nothing: Chroma saves every write."""

    def drop(self) -> None:
        """Remove the collection."""
        with self._request():
            self._connected().delete_collection(self._name)
            self._collection = None

    def close(self) -> None:
        """Forget the collection; it stays in Chroma."""
        self._collection = None

    @contextmanager
    def _request(self) -> Iterator[Collection]:
        """Yield the open collection; convert every failure of Chroma to `ProviderError`."""
        self._guard.check()
        try:
            with self._lock:
                if self._collection is None:
                    self._collection = self._open()
                collection = self._collection
            yield collection
        except RagstoneError:
            raise
        except Exception as error:
            self._collection = self._client = None
            raise self._guard.record(error) from error

    def _open(self) -> Collection:
        """Return the collection of this space, empty if it had another stamp."""
        client = self._connected()
        get_or_create = partial(
            client.get_or_create_collection,
            self._name,
            metadata={"stamp": self._stamp},
            configuration={"hnsw": {"space": "cosine"}},
            embedding_function=None,
        )
        collection: Collection = get_or_create()
        if (collection.metadata or {}).get("stamp") != self._stamp:
            client.delete_collection(self._name)
            collection = get_or_create()
        return collection

    def _connected(self) -> ClientAPI:
        if self._client is None:
            self._client = self._connect()
        return self._client

    def _nearest(
        self,
        collection: Collection,
        query: Matrix,
        k: int,
        allowed: Sequence[int] | None,
    ) -> tuple[Ids, Matrix]:
        """Return the candidates that Chroma finds."""
        count = min(k * _SPARE, int(collection.count()))
        if not count:
            return self._arrays([], None)
        wanted = None if allowed is None else _as_text(sorted(set(allowed)))
        reply = collection.query(
            query_embeddings=[query.tolist()],
            n_results=count,
            include=["embeddings"],
            ids=wanted,
        )
        return self._arrays(reply["ids"][0], reply["embeddings"])

    def _fetch(self, collection: Collection, ids: Sequence[int]) -> tuple[Ids, Matrix]:
        """Return those of these ids that the index holds, and their vectors; the ids are one batch."""
        if not ids:
            return self._arrays([], None)
        reply = collection.get(ids=_as_text(ids), include=["embeddings"])
        return self._arrays(reply["ids"], reply["embeddings"])

    def _held(self, collection: Collection, ids: Sequence[int]) -> set[int]:
        held: set[int] = set()
        for part in _batches(ids):
            held.update(
                int(text) for text in collection.get(ids=_as_text(part), include=[])["ids"]
            )
        return held

    def _arrays(self, texts: Sequence[str], vectors: ArrayLike | None) -> tuple[Ids, Matrix]:
        """Return the ids and the vectors of a reply as arrays; a reply without hits may have no vectors."""
        numbers = np.asarray([] if vectors is None else vectors, np.float32)
        matrix = numbers.reshape(len(texts), self.dimension)
        return id_array([int(text) for text in texts]), matrix


def open_index(settings: IndexSettings) -> ChromaIndex:
    """Return the index on the server at `url`, or in the chosen folder, or in the home folder."""
    folder = settings.path or settings.folder

    def connect() -> ClientAPI:
        if settings.url:
            return connect_server(settings.url, settings.api_key)
        if folder is None:
            return chromadb.EphemeralClient(_quiet_settings())
        folder.mkdir(parents=True, exist_ok=True)
        return chromadb.PersistentClient(folder, _quiet_settings())

    return ChromaIndex(
        connect,
        settings.name,
        settings.codec.dimension,
        stamp=settings.stamp,
        url=settings.url,
    )


def connect_server(url: str, api_key: str) -> ClientAPI:
    """Return a client of the server at a URL such as `http://localhost:8000`; the key is sent as a token."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            f"rag.vector_store.url is not the address of a Chroma server: {url!r}.",
            hint="for example http://localhost:8000",
        )
    is_secure = parts.scheme == "https"
    headers = (
        {"Authorization": f"Bearer {api_key}", "X-Chroma-Token": api_key} if api_key else {}
    )
    client = chromadb.HttpClient(
        host=parts.hostname,
        port=parts.port or (443 if is_secure else 8000),
        ssl=is_secure,
        headers=headers,
        settings=_quiet_settings(),
    )
    # The client waits without a limit, and has no setting for it.
    session = getattr(getattr(client, "_server", None), "_session", None)
    if isinstance(session, httpx.Client):
        session.timeout = httpx.Timeout(_TIMEOUT)
    return client


def _quiet_settings() -> ChromaSettings:
    return ChromaSettings(anonymized_telemetry=False)


def _as_text(ids: Sequence[int]) -> list[str]:
    return [str(row_id) for row_id in ids]


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(ids), _BATCH):
        yield ids[start : start + _BATCH]
