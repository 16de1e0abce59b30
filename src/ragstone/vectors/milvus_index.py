"""An index in Milvus: Milvus Lite in a local folder, or a cluster.

The package `pymilvus` is an extra. Its errors, and those of the connection, become `ProviderError`: a search then
compares the stored vectors instead. Milvus Lite lets one process open a folder. The others compare the stored
vectors.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol, TypedDict
from urllib.parse import urlsplit

import numpy as np
from milvus_lite.server_manager import server_manager_instance
from pymilvus import DataType, MilvusClient

from ragstone.errors import ConfigError, ProviderError, RagstoneError
from ragstone.protocols import IndexSettings, VectorIndex
from ragstone.types import Matrix, Scored
from ragstone.vectors.exact import ExactIndex, best
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
_ID_BATCH: Final = 10_000
"""Ids in one request or filter."""
_MAX_HITS: Final = 16_384
"""Milvus returns no more in one search."""
_TIMEOUT: Final = 10.0
"""Seconds that a request may take, retries of the client included."""
_SPARE: Final = 2
"""Candidates per wanted hit: Milvus's index is approximate, and the candidates are compared exactly."""
_MIN_CANDIDATES: Final = 64
_MAX_UNFLUSHED: Final = 200
"""Milvus Lite scans rows that were not flushed one by one: 4,000 of them cost 0.3 s a search."""
_LITE_FOLDER: Final = "milvus.db"
_CACHE_TAG: Final = "Signature: 8a477f597d28d172789f06886806bc55\n"
"""Other programs and a sync skip a folder with a file `CACHEDIR.TAG` that starts with this line."""

for _name in ("pymilvus", "milvus_lite"):
    # They print the traceback of every failed request, which becomes a note of the search.
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


class MilvusRow(TypedDict, total=False):
    """A row of a reply, with the fields that were asked for."""

    id: int
    vector: Sequence[float]


class MilvusConnection(Protocol):
    """Opens and closes the client of one index."""

    def open(self) -> MilvusClient:
        """Return a connected client."""

    def close(self) -> None:
        """Release the client's server, if it is in this process."""


class MilvusIndex:
    """A `VectorIndex` in one collection of Milvus. Milvus finds candidates; their scores are exact cosines."""

    def __init__(
        self,
        connection: MilvusConnection,
        name: str,
        dimension: int,
        *,
        stamp: str = "",
        url: str = "",
    ) -> None:
        """Take a connection; the first request opens it. A collection of another stamp is replaced.

        Messages name the `url` of a cluster.
        """
        self.dimension = dimension
        self._connection = connection
        self._family = f"{name.replace('-', '_')}_"
        self._name = self._family + hashlib.sha256(stamp.encode()).hexdigest()[:16]
        self._lock = threading.Lock()
        self._client: MilvusClient | None = None
        self._unflushed = 0
        self._guard = RequestGuard("Milvus", url)

    def upsert(self, ids: Sequence[int], vectors: Matrix) -> None:
        """Add vectors; an id that the index holds gets the new vector."""
        new_ids = id_array(ids)
        unit = unit_rows(vectors, self.dimension)
        check_pairs(new_ids, unit)
        last = {row_id: place for place, row_id in enumerate(new_ids.tolist())}
        with self._request() as client:
            for part in _batches(list(last), _BATCH):
                rows = [{"id": row_id, "vector": unit[last[row_id]]} for row_id in part]
                client.upsert(self._name, rows, timeout=_TIMEOUT)
                self._count_unflushed(client, len(part))

    def search(
        self, vector: Matrix, k: int, *, allowed: Sequence[int] | None = None
    ) -> list[Scored]:
        """Return the k nearest by cosine, best first; only among `allowed` if that is given."""
        check_k(k)
        query = unit_query(vector, self.dimension)
        with self._request() as client:
            if allowed is not None and len(allowed) <= _BATCH:
                rows = self._fetch(client, sorted(set(allowed)), "vector")
            else:
                rows = self._nearest(client, query, k, allowed)
        ids, vectors = self._arrays(rows)
        return best(ids, products(vectors, query), k)

    def delete(self, ids: Sequence[int]) -> int:
        """Remove vectors and return how many there were."""
        with self._request() as client:
            held = sorted(self._held(client, sorted(set(ids))))
            for part in _batches(held, _ID_BATCH):
                client.delete(self._name, ids=part, timeout=_TIMEOUT)
        return len(held)

    def has(self, ids: Sequence[int]) -> list[bool]:
        """Return for each id whether the index holds a vector for it."""
        with self._request() as client:
            held = self._held(client, sorted(set(ids)))
        return [row_id in held for row_id in ids]

    def count(self) -> int:
        """Return the number of vectors."""
        with self._request() as client:
            return self._count(client)

    def flush(self) -> None:
        """Move the newest rows into the files that Milvus searches fast."""
        with self._request() as client:
            client.flush(self._name, timeout=_TIMEOUT)
            self._unflushed = 0

    def drop(self) -> None:
        """Remove the collection."""
        with self._request() as client:
            client.drop_collection(self._name, timeout=_TIMEOUT)
            self._forget_client()

    def close(self) -> None:
        """Release the connection; the collection stays in Milvus."""
        self._forget_client()

    @contextmanager
    def _request(self) -> Iterator[MilvusClient]:
        """Yield the client; convert every failure of Milvus to `ProviderError`."""
        self._guard.check()
        try:
            yield self._open()
        except RagstoneError:
            raise
        except Exception as error:
            self._forget_client()
            raise self._guard.record(error) from error

    def _open(self) -> MilvusClient:
        """Return the client; the first call creates the collection and removes those of other stamps."""
        with self._lock:
            if self._client is None:
                client = self._connection.open()
                try:
                    self._prepare(client)
                except BaseException:
                    self._connection.close()
                    raise
                self._client = client
            return self._client

    def _prepare(self, client: MilvusClient) -> None:
        for name in client.list_collections(timeout=_TIMEOUT):
            if name.startswith(self._family) and name != self._name:
                client.drop_collection(name, timeout=_TIMEOUT)
        if client.has_collection(self._name, timeout=_TIMEOUT):
            client.load_collection(self._name, timeout=_TIMEOUT)
            return
        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=self.dimension)
        indexes = client.prepare_index_params()
        indexes.add_index("vector", index_type="AUTOINDEX", metric_type="COSINE")
        # "Strong" lets every process see the writes of the others at once.
        client.create_collection(
            self._name,
            schema=schema,
            index_params=indexes,
            consistency_level="Strong",
            timeout=_TIMEOUT,
        )

    def _forget_client(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client = None
                self._connection.close()

    def _count(self, client: MilvusClient) -> int:
        rows = client.query(self._name, filter="", output_fields=["count(*)"], timeout=_TIMEOUT)
        return int(rows[0]["count(*)"])

    def _count_unflushed(self, client: MilvusClient, added: int) -> None:
        self._unflushed += added
        if self._unflushed > _MAX_UNFLUSHED:
            client.flush(self._name, timeout=_TIMEOUT)
            self._unflushed = 0

    def _nearest(
        self,
        client: MilvusClient,
        query: Matrix,
        k: int,
        allowed: Sequence[int] | None,
    ) -> list[MilvusRow]:
        """Return the ids and vectors of the candidates that Milvus finds."""
        if k > _MAX_HITS:
            raise ProviderError(f"Milvus returns at most {_MAX_HITS} hits, not {k}.")
        limit = min(max(k * _SPARE, _MIN_CANDIDATES), _MAX_HITS)
        filters = [""]
        if allowed is not None:
            # A very long filter is refused, so each part of the ids is searched by itself.
            parts = _batches(sorted(set(allowed)), _ID_BATCH)
            filters = [f"id in {list(part)}" for part in parts]
        rows: list[MilvusRow] = []
        for expression in filters:
            reply = client.search(
                self._name,
                [query.tolist()],
                limit=limit,
                filter=expression,
                output_fields=["vector"],
                timeout=_TIMEOUT,
            )
            rows += [{"id": hit["id"], "vector": hit["entity"]["vector"]} for hit in reply[0]]
        return rows

    def _fetch(
        self,
        client: MilvusClient,
        ids: Sequence[int],
        field: str,
    ) -> list[MilvusRow]:
        """Return a field of those of these ids that the index holds."""
        rows: list[MilvusRow] = []
        for part in _batches(ids, _ID_BATCH):
            rows += client.get(
                self._name, ids=list(part), output_fields=["id", field], timeout=_TIMEOUT
            )
        return rows

    def _held(self, client: MilvusClient, ids: Sequence[int]) -> set[int]:
        return {int(row["id"]) for row in self._fetch(client, ids, "id")}

    def _arrays(self, rows: Sequence[MilvusRow]) -> tuple[Ids, Matrix]:
        vectors = [row["vector"] for row in rows]
        matrix = np.asarray(vectors, np.float32).reshape(len(rows), self.dimension)
        return id_array([int(row["id"]) for row in rows]), matrix


class LiteConnection:
    """Milvus Lite in a folder. All indexes of this process that use the folder share its server."""

    _users: Counter[Path] = Counter()
    _lock = threading.Lock()

    def __init__(self, folder: Path) -> None:
        """Take the folder; `open` creates it."""
        self._path = folder.resolve() / _LITE_FOLDER

    def open(self) -> MilvusClient:
        """Return a client of the server in this process."""
        self._path.mkdir(parents=True, exist_ok=True)
        (self._path / "CACHEDIR.TAG").write_text(_CACHE_TAG)
        with self._lock:
            try:
                client = MilvusClient(str(self._path))
            except Exception as error:
                raise ProviderError(
                    f"Milvus Lite cannot open {self._path}; another process may use it.",
                    hint="one process at a time; a cluster has no such limit: set rag.vector_store.url",
                ) from error
            self._users[self._path] += 1
        return client

    def close(self) -> None:
        """Stop the server if no other index uses the folder."""
        with self._lock:
            self._users[self._path] -= 1
            if self._users[self._path] <= 0:
                del self._users[self._path]
                server_manager_instance.release_server(str(self._path))


class ClusterConnection:
    """A Milvus server or cluster at an address."""

    def __init__(self, url: str, api_key: str) -> None:
        """Take an address such as `http://localhost:19530` and a token; the token may be empty."""
        self._url = url
        self._api_key = api_key
        self._client: MilvusClient | None = None

    def open(self) -> MilvusClient:
        """Return a client; raise `ConfigError` if the address is none."""
        parts = urlsplit(self._url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(
                f"rag.vector_store.url is not the address of a Milvus server: {self._url!r}.",
                hint="for example http://localhost:19530",
            )
        self._client = MilvusClient(self._url, token=self._api_key, timeout=_TIMEOUT)
        return self._client

    def close(self) -> None:
        """Close the client."""
        if self._client is not None:
            self._client.close()
            self._client = None


def open_index(settings: IndexSettings) -> VectorIndex:
    """Return the index on the cluster at `url`, or in the chosen folder, or in the home folder."""
    dimension = settings.codec.dimension
    folder = settings.path or settings.folder
    connection: MilvusConnection
    if settings.url:
        connection = ClusterConnection(settings.url, settings.api_key)
    elif folder is not None:
        connection = LiteConnection(folder)
    else:  # Milvus Lite needs a folder, and nothing may be written to disk.
        return ExactIndex(dimension)
    return MilvusIndex(
        connection, settings.name, dimension, stamp=settings.stamp, url=settings.url
    )


def _batches(ids: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
