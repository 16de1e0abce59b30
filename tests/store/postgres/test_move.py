"""`ragstone migrate`: a home becomes a database with the same answers, and nothing is embedded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone import Engine
from ragstone.embed.fake import FakeEmbedder
from ragstone.engine.move import move_home
from ragstone.errors import Conflict, InputError, NotFound, StoreError
from ragstone.store.postgres.store import PostgresStore
from ragstone.store.postgres.vectors import PostgresVectorStore
from ragstone.surfaces.cli.app import run
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Document
from tests.indexing.graph.quarry import write

FAKE = {"rag.embedding_provider": "fake"}
QUERIES = ("lease", "acquire_lease", "one writer at a time", "stones.update")


@pytest.fixture
def home(folder: Path) -> Iterator[Path]:
    """Give a folder with an index: files, a code graph, vectors, a conversation, a key and a collection more."""
    write(folder)
    with Engine.open(folder, config=FAKE) as engine:
        engine.sync()
        engine.remember("talk", "user", "The quarry opens at nine.")
        engine.remember("talk", "assistant", "Then I will be there at ten.")
        engine.admin.create_collection("notes")
        engine.add(Document("chisel", "A note about chisels."), collection="notes")
    yield folder


def answers(engine: Engine) -> list[object]:
    """Return what an engine finds, recalls and knows about the code."""
    return [
        *(
            [(hit.doc_id, round(hit.score, 5)) for hit in engine.search(query)]
            for query in QUERIES
        ),
        [(hit.doc_id, hit.collection) for hit in engine.search("chisels", collection="notes")],
        [recalled.turn.content for recalled in engine.recall("talk", "when does it open")],
        [(turn.content, turn.index) for turn in engine.turns("talk")],
        [related.node.key for related in engine.graph.related("stones.update")],
        [(source.uri, source.hash, source.added_at) for source in engine.sources()],
    ]


def refuse(*arguments: object, **options: object) -> None:
    raise AssertionError("a move embeds nothing")


def test_a_moved_home_gives_the_same_answers_without_an_embedding(
    home: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine.open(home, config=FAKE) as engine:
        before = answers(engine)
    with monkeypatch.context() as patch:
        patch.setattr(FakeEmbedder, "embed", refuse)
        report = move_home(home, database_url)
    assert report.collections == 3
    assert report.documents > 5
    assert report.vectors >= report.documents
    with Engine.open(home, config={**FAKE, "store.url": database_url}) as engine:
        assert answers(engine) == before


def test_a_move_that_was_interrupted_continues(
    home: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(PostgresVectorStore, "put", lambda *_: (_ for _ in ()).throw(OSError()))
        with pytest.raises(OSError):
            move_home(home, database_url)
    first = move_home(home, database_url)
    again = move_home(home, database_url)
    assert (first.documents, first.vectors) == (again.documents, again.vectors)
    with PostgresStore(database_url) as store:
        assert all(finding.ok for finding in store.check())


def test_a_collection_that_is_already_there_is_not_mixed(home: Path, database_url: str) -> None:
    key = CollectionKey("default", "default")
    with PostgresStore(database_url) as store:
        store.ensure_collection(key)
        store.put(key, [prepare("mine.md", ["mine"])])
    with pytest.raises(Conflict):
        move_home(home, database_url)
    with PostgresStore(database_url) as store:
        assert [document.uri for document in store.documents(key.scope)] == ["mine.md"]


def test_a_copy_that_differs_is_not_called_verified(
    home: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose_one(self: PostgresVectorStore, project: str, space: int, rows: Any) -> int:  # noqa: ANN401
        return put(self, project, space, list(rows)[1:])

    put = PostgresVectorStore.put
    monkeypatch.setattr(PostgresVectorStore, "put", lose_one)
    with pytest.raises(StoreError, match="vectors"):
        move_home(home, database_url)


@pytest.mark.parametrize("url", [None, "sqlite:///x.db", "mysql://u:hunter2@h/d"])
def test_another_address_is_refused(home: Path, url: str | None) -> None:
    with pytest.raises(InputError) as caught:
        move_home(home, url)
    assert "hunter2" not in str(caught.value)


def test_a_folder_without_an_index_cannot_be_moved(tmp_path: Path, database_url: str) -> None:
    with pytest.raises(NotFound):
        move_home(tmp_path, database_url)


def test_the_command_reports_the_counts_and_the_setting(
    home: Path,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("RAGSTONE_RAG_EMBEDDING_PROVIDER", "fake")
    assert run(("migrate", "--to", database_url, "-C", str(home), "--json")) == 0
    printed = json.loads(capfd.readouterr().out)
    assert printed["setting"] == "store.url"
    assert printed["documents"] > 5
    assert run(("migrate", "--to", database_url, "-C", str(home))) == 0
    output = capfd.readouterr()
    assert "RAGSTONE_STORE_URL" in output.out
    assert "sesame" not in output.out + output.err
