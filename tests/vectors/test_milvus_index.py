"""The index in Milvus: Milvus Lite in a folder, and a real server at an address."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pymilvus", reason="needs ragstone[milvus]: `make test-stores` installs it")

from pymilvus import MilvusClient

from ragstone import Engine
from ragstone.errors import ConfigError
from ragstone.protocols import VectorIndex
from ragstone.testing.vector_index import VectorIndexContract
from ragstone.vectors import milvus_index, service_failures
from ragstone.vectors.exact import ExactIndex
from ragstone.vectors.milvus_index import ClusterConnection, LiteConnection, MilvusIndex
from tests.support.index_answers import (
    answers,
    document_texts,
    fill,
    open_with,
    recall,
    record_embedded,
)


class Server:
    """A Milvus server on this machine, in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        program = str(Path(sys.executable).with_name("milvus-lite"))
        place = ["--data-dir", str(self.folder), "--host", "127.0.0.1"]
        self.process = subprocess.Popen(
            [program, "server", *place, "--port", str(self.port)], stdout=subprocess.DEVNULL
        )
        for _ in range(300):
            with socket.socket() as connection:
                if connection.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise AssertionError("the Milvus server did not start")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("milvus"))
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
    return open_with(folder, "milvus", url=server.url)


def milvus_notes(engine: Engine, query: str) -> list[str]:
    notes = engine.explain(query, mode="vectors").notes
    return [note for note in notes if "Milvus" in note]


def wait_until_it_answers(engine: Engine) -> None:
    """Wait until the client has connected again: it waits a little longer after each failure."""
    for number in range(60):
        if not milvus_notes(engine, f"granite {number} slate"):
            return
        time.sleep(0.5)
    raise AssertionError("the server is back, and the index does not use it")


class TestMilvusLite(VectorIndexContract):
    is_exact = False

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make(self) -> VectorIndex:
        return MilvusIndex(LiteConnection(self.folder), "space-1", self.dimension)


class TestMilvusServer(VectorIndexContract):
    is_exact = False

    @pytest.fixture(autouse=True)
    def _server(self, shared_server: Server, request: pytest.FixtureRequest) -> None:
        self.url = shared_server.url
        self.name = f"space-{abs(hash(request.node.name))}"

    def make(self) -> VectorIndex:
        return MilvusIndex(ClusterConnection(self.url, ""), self.name, self.dimension)


def test_milvus_gives_the_answers_of_the_built_in_index_also_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_with(tmp_path, "turbo") as engine:
        fill(engine)
        expected = answers(engine)
    with open_with(tmp_path, "milvus") as engine:
        fill(engine)
        assert recall(expected, answers(engine)) == 1.0
    embedded = record_embedded(monkeypatch)
    with open_with(tmp_path, "milvus") as engine:
        assert answers(engine, 20) == expected[:20]
    assert not document_texts(embedded)
    assert list((tmp_path / ".ragstone-milvus" / "vectors").glob("*/milvus.db"))


def test_a_sync_does_not_index_the_folder_of_milvus(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Granite is hard.\n")
    for _ in range(2):
        with open_with(tmp_path, "milvus", path="vectors") as engine:
            engine.sync()
            assert engine.search("granite", mode="vectors")
            assert [source.uri for source in engine.sources()] == ["a.md"]
    assert (tmp_path / "vectors" / "milvus.db" / "collections").is_dir()


@pytest.mark.parametrize("part", ["all", "half"])
def test_lost_rows_come_back_without_an_embedding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    with open_with(tmp_path, "milvus", path="vectors") as engine:
        fill(engine, 60)
        expected = answers(engine, 20)
    connection = LiteConnection(tmp_path / "vectors")
    client: MilvusClient = connection.open()
    (name,) = client.list_collections()
    if part == "all":
        client.drop_collection(name)
    else:
        client.load_collection(name)
        client.delete(name, filter="id > 30")
    connection.close()
    embedded = record_embedded(monkeypatch)
    with open_with(tmp_path, "milvus", path="vectors") as engine:
        assert answers(engine, 20) == expected
    assert not document_texts(embedded)
    index = MilvusIndex(LiteConnection(tmp_path / "vectors"), "other", 4)
    index.close()


def test_a_server_that_goes_away_costs_a_note_and_no_vector(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_failures, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(milvus_index, "_TIMEOUT", 2.0)
    with open_on(server, tmp_path, monkeypatch) as engine:
        fill(engine, 30)
        expected = answers(engine, 9)
        assert not milvus_notes(engine, "granite slate")
        server.stop()
        (note,) = milvus_notes(engine, "granite slate marble")
        assert note.startswith("the vector index does not answer, stored vectors do: ")
        assert engine.search("granite", mode="words")
        engine.add("Obsidian is glass.", uri="new.md")
        assert engine.search("Obsidian is glass.", mode="vectors")[0].source_doc_id == "new.md"
        embedded = record_embedded(monkeypatch)
        server.start()
        wait_until_it_answers(engine)
        (name,) = MilvusClient(server.url).list_collections()
        (row,) = MilvusClient(server.url).query(name, output_fields=["count(*)"])
        assert row["count(*)"] == 31
        assert engine.search("Obsidian is glass", mode="vectors")[0].source_doc_id == "new.md"
        assert not document_texts(embedded)
    assert expected[0]


def test_collections_of_others_and_of_other_spaces_are_left_alone(
    shared_server: Server,
) -> None:
    vectors = np.eye(4, dtype=np.float32)
    connection = ClusterConnection(shared_server.url, "")
    client = connection.open()
    client.create_collection("holiday_photos", dimension=4)
    first = MilvusIndex(connection, "ragstone-one", 4, stamp="epoch 1")
    first.upsert([1, 2], vectors[:2])
    second = MilvusIndex(connection, "ragstone-two", 4, stamp="epoch 1")
    second.upsert([3], vectors[2:3])
    assert first.count() == 2
    newer = MilvusIndex(connection, "ragstone-one", 4, stamp="epoch 2")
    assert newer.count() == 0
    names = client.list_collections()
    assert "holiday_photos" in names
    assert len([name for name in names if name.startswith("ragstone_one")]) == 1
    assert second.count() == 1


def test_a_second_process_compares_the_stored_vectors_and_says_so(tmp_path: Path) -> None:
    with open_with(tmp_path, "milvus") as engine:
        fill(engine, 30)
        engine.search("granite", mode="vectors")
        code = (
            "import sys; from pathlib import Path;"
            "from tests.support.index_answers import open_with;"
            "engine = open_with(Path(sys.argv[1]), 'milvus');"
            "result = engine.explain('granite slate', mode='vectors');"
            "print(len(result.hits), *result.notes); engine.close()"
        )
        process = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            capture_output=True,
            text=True,
            check=True,
        )
        count, _, notes = process.stdout.partition(" ")
        assert int(count) > 0
        assert "another process may use it" in notes
        assert not process.stderr.strip()
        assert not milvus_notes(engine, "granite slate"), "the first process is not disturbed"


def test_two_engines_of_one_process_share_the_folder(tmp_path: Path) -> None:
    with open_with(tmp_path, "milvus") as first:
        fill(first, 30)
        expected = answers(first, 6)
        with open_with(tmp_path, "milvus") as second:
            assert answers(second, 6) == expected
        assert not milvus_notes(first, "granite slate")


def test_a_long_list_of_allowed_ids_limits_the_hits(
    shared_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(milvus_index, "_ID_BATCH", 600)
    index = MilvusIndex(ClusterConnection(shared_server.url, ""), "many-ids", 16)
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
    with open_with(tmp_path, "milvus", url="localhost:19530") as engine:
        fill(engine, 2)
        with pytest.raises(ConfigError, match="not the address of a Milvus server"):
            engine.search("granite", mode="vectors")
