"""The index in Chroma: a folder, a real server, and a server that goes away."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import numpy as np
import pytest

pytest.importorskip("chromadb", reason="needs ragstone[chroma]: `make test-stores` installs it")

import chromadb

from ragstone import Engine
from ragstone.errors import ConfigError
from ragstone.protocols import VectorIndex
from ragstone.testing.vector_index import VectorIndexContract
from ragstone.vectors import service_failures
from ragstone.vectors.chroma_index import ChromaIndex, connect_server
from ragstone.vectors.exact import ExactIndex
from tests.support.index_answers import (
    answers,
    document_texts,
    fill,
    open_with,
    recall,
    record_embedded,
)


class Server:
    """A Chroma server on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = Path(sys.executable).with_name("chroma")
        place = ["--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self.process = subprocess.Popen([command, "run", *place], stdout=subprocess.DEVNULL)
        for _ in range(300):
            try:
                httpx2.get(f"{self.url}/api/v2/heartbeat").raise_for_status()
            except httpx2.HTTPError:
                time.sleep(0.1)
            else:
                return
        raise AssertionError("the Chroma server did not start")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("chroma"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "server")
    server.start()
    yield server
    server.stop()


def open_on(server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setenv("RAGSTONE_RAG_VECTOR_STORE_API_KEY", "a-key")
    return open_with(folder, "chroma", url=server.url)


class TestChromaFolder(VectorIndexContract):
    is_exact = False

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make(self) -> VectorIndex:
        return ChromaIndex(
            lambda: chromadb.PersistentClient(self.folder), "space", self.dimension
        )


class TestChromaServer(VectorIndexContract):
    is_exact = False

    @pytest.fixture(autouse=True)
    def _server(self, shared_server: Server, request: pytest.FixtureRequest) -> None:
        self.url = shared_server.url
        self.name = f"space-{abs(hash(request.node.name))}"

    def make(self) -> VectorIndex:
        return ChromaIndex(lambda: connect_server(self.url, ""), self.name, self.dimension)


def test_chroma_gives_the_answers_of_the_built_in_index(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_with(tmp_path, "turbo") as engine:
        fill(engine)
        expected = answers(engine)
    with open_with(tmp_path, "chroma", path="chroma") as engine:
        fill(engine)
        assert recall(expected, answers(engine)) >= 0.95
    assert (tmp_path / "chroma" / "chroma.sqlite3").exists()
    on_server = tmp_path / "on-server"
    on_server.mkdir()
    with open_on(server, on_server, monkeypatch) as engine:
        fill(engine)
        assert recall(expected, answers(engine)) >= 0.95


@pytest.mark.parametrize("part", ["all", "half"])
def test_lost_rows_come_back_without_an_embedding(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    with open_on(server, tmp_path, monkeypatch) as engine:
        fill(engine, 60)
        expected = answers(engine, 20)
    client = connect_server(server.url, "")
    (collection,) = client.list_collections()
    if part == "all":
        client.delete_collection(collection.name)
    else:
        collection.delete(ids=collection.get()["ids"][::2])
    embedded = record_embedded(monkeypatch)
    with open_on(server, tmp_path, monkeypatch) as engine:
        assert answers(engine, 20) == expected
    (collection,) = client.list_collections()
    assert collection.count() == 60
    assert not document_texts(embedded)


def test_a_server_that_goes_away_costs_a_note_and_no_vector(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_failures, "PAUSE_SECONDS", 0.0)
    with open_on(server, tmp_path, monkeypatch) as engine:
        fill(engine, 30)
        expected = answers(engine, 9)
        server.stop()
        explanation = engine.explain("granite slate", mode="vectors")
        assert explanation.hits
        (note,) = [note for note in explanation.notes if "Chroma" in note]
        assert note.startswith("the vector index does not answer, stored vectors do: ")
        assert f"Chroma at {urlsplit(server.url).netloc} failed" in note
        assert "check rag.vector_store.url" in note
        assert engine.search("granite", mode="words")
        assert engine.search("granite")
        engine.add("Obsidian is glass.", uri="new.md")
        assert engine.search("Obsidian is glass.", mode="vectors")[0].source_doc_id == "new.md"
        embedded = record_embedded(monkeypatch)
        server.start()
        explanation = engine.explain("granite slate marble", mode="vectors")
        assert not [note for note in explanation.notes if "Chroma" in note]
        (collection,) = connect_server(server.url, "").list_collections()
        assert collection.count() == 31
        collection.delete(ids=collection.get()["ids"][:7])
        assert engine.search("Obsidian is glass", mode="vectors")[0].source_doc_id == "new.md"
        assert collection.count() == 31, "lost rows come back from the store"
        assert not [text for text in embedded if "is glass." in text]
    assert expected[0]


def test_a_long_list_of_allowed_ids_limits_the_hits(shared_server: Server) -> None:
    index = ChromaIndex(lambda: connect_server(shared_server.url, ""), "many-ids", 16)
    vectors = np.random.default_rng(1).standard_normal((3000, 16)).astype(np.float32)
    index.upsert(range(1, 3001), vectors)
    allowed = range(2, 3001, 2)
    exact = ExactIndex(16)
    exact.upsert(range(1, 3001), vectors)
    shared = 0
    for query in vectors[:20]:
        hits = {hit.id for hit in index.search(query, 10, allowed=allowed)}
        assert all(row_id % 2 == 0 for row_id in hits)
        shared += len(hits & {hit.id for hit in exact.search(query, 10, allowed=allowed)})
    assert shared >= 0.95 * 200


def test_an_address_that_is_none_is_an_error(tmp_path: Path) -> None:
    with open_with(tmp_path, "chroma", url="localhost:8000") as engine:
        fill(engine, 2)
        with pytest.raises(ConfigError, match="not the address of a Chroma server"):
            engine.search("granite", mode="vectors")
