"""A Chroma server with the same texts and vectors, for `python -m bench serve`."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import numpy as np

from bench import peers
from bench.measure import Absent

if TYPE_CHECKING:
    from bench.matrix import Floats

_FILL = """
import sys, numpy, chromadb
folder, data = sys.argv[1:]
saved = numpy.load(data)
texts, vectors = saved["texts"], saved["vectors"]
client = chromadb.PersistentClient(folder, chromadb.Settings(anonymized_telemetry=False))
collection = client.create_collection("bench", configuration={"hnsw": {"space": "cosine"}})
step = client.get_max_batch_size()
for start in range(0, len(texts), step):
    part = vectors[start : start + step]
    names = [str(start + number) for number in range(len(part))]
    collection.add(ids=names, embeddings=part, documents=[str(text) for text in texts[start : start + step]])
"""
_COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections"
_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ChromaServer:
    """A running server: its process, and the address of a query."""

    process: int
    query_url: str


@contextmanager
def running_chroma(folder: Path, texts: list[str], vectors: Floats) -> Iterator[ChromaServer]:
    """Fill a Chroma database and serve it while the block runs; `Absent` if Chroma is not installed."""
    if not peers.installed("chroma"):
        raise Absent("chroma is not installed: python -m bench peers chroma")
    data = folder / "data.npz"
    np.savez(data, texts=np.array(texts), vectors=vectors)
    database = folder / "chroma"
    environment = {**os.environ, "ANONYMIZED_TELEMETRY": "False"}
    python = peers.interpreter()
    subprocess.run(
        [str(python), "-c", _FILL, str(database), str(data)], env=environment, check=True
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = [str(python.with_name("chroma")), "run", "--path", str(database)]
    with subprocess.Popen(
        [*program, "--host", "127.0.0.1", "--port", str(port)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            url = f"http://127.0.0.1:{port}"
            yield ChromaServer(server.pid, f"{url}{_COLLECTIONS}/{_collection(url)}/query")
        finally:
            server.terminate()


def _collection(url: str) -> str:
    """Return the id of the collection, as soon as the server answers."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        try:
            answer = httpx2.get(f"{url}{_COLLECTIONS}/bench", trust_env=False)
        except httpx2.HTTPError:
            time.sleep(0.1)
            continue
        return str(answer.json()["id"])
    raise Absent("the server of chroma does not start")
