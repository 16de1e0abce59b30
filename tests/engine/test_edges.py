"""The engine at its edges: several collections, changes that hide, arguments that make no sense, damage."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone import Document, Engine
from ragstone.embed.fake import FakeEmbedder
from ragstone.errors import Conflict, InputError, NotFound
from ragstone.types import CollectionKey
from tests.support.internals import store_of

FAKE = {"rag.embedding_provider": "fake"}


def test_a_named_collection_and_the_default_one_are_both_refreshed(
    engine: Engine, folder: Path
) -> None:
    engine.sync(collection="other")
    assert engine.admin.refresh() is None
    (folder / "lease.py").write_text("def borrow():\n    return 'zeppelin'\n", encoding="utf-8")
    report = engine.admin.refresh()
    assert report is not None
    assert report.indexed == 1
    assert {hit.collection for hit in engine.search("zeppelin")} == {"other"}
    engine.sync()
    (folder / "lease.py").write_text("def borrow():\n    return 'gondola'\n", encoding="utf-8")
    engine.admin.refresh()
    assert engine.search("zeppelin", mode="words") == []
    assert {document.collection for document in engine.sources()} == {"default", "other"}


def test_a_refresh_sees_an_edit_whose_time_was_set_back_and_another_chunk_size(
    engine: Engine, folder: Path
) -> None:
    engine.sync()
    before = (folder / "lease.py").stat()
    text = (folder / "lease.py").read_text(encoding="utf-8").replace("wait", "swim")
    (folder / "lease.py").write_text(text, encoding="utf-8")
    os.utime(folder / "lease.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert engine.admin.refresh() is not None
    assert engine.search("swim", mode="words")
    with Engine.open(folder, config=FAKE | {"rag.chunk_size": 30}) as other:
        report = other.admin.refresh()
        assert report is not None
        assert report.indexed == 2


def test_a_refresh_that_finds_nothing_new_writes_nothing(engine: Engine, folder: Path) -> None:
    (folder / "picture.txt").write_bytes(bytes(range(256)) * 8)
    for path in folder.rglob("*.*"):
        os.utime(path, (1_000_000, 1_000_000))
    engine.sync()
    time.sleep(
        2.1
    )  # a file this new is looked into again, since a change in the same instant would not show
    engine.sync()
    generation = engine.status().generation
    assert engine.admin.refresh() is None
    assert engine.status().generation == generation


def test_an_index_of_given_documents_is_not_filled_from_its_folder(engine: Engine) -> None:
    engine.add(Document(uri="note", text="a zeppelin"))
    assert engine.admin.refresh() is None
    assert [document.uri for document in engine.sources()] == ["note"]


def test_a_collection_may_be_cut_in_its_own_way(engine: Engine, folder: Path) -> None:
    (folder / "long.md").write_text("word " * 400, encoding="utf-8")
    collection = engine.admin.create_collection(
        "small", "short pieces", chunker="chars", chunk_size=100, chunk_overlap=0
    )
    assert (collection.name, collection.description) == ("small", "short pieces")
    engine.sync()
    engine.sync(collection="small")
    counts = {collection.name: collection.chunks for collection in engine.admin.collections()}
    assert counts["small"] > 2 * counts["default"]
    assert engine.sync(collection="small").indexed == 0
    with pytest.raises(Conflict):
        engine.admin.create_collection("small")
    with pytest.raises(InputError):
        engine.admin.create_collection("bad", chunk_size=10, chunk_overlap=10)
    assert engine.admin.drop_collection("small") == 3
    with pytest.raises(NotFound):
        engine.admin.drop_collection("small")


def test_copies_are_listed_when_only_vectors_found_them(engine: Engine) -> None:
    engine.add(
        [Document(uri=name, text="the gondola crosses the lagoon") for name in ("a", "b", "c")]
    )
    hit = engine.search("gondola lagoon", mode="vectors")[0]
    assert {hit.source_doc_id, *(place.rpartition(":")[0] for place in hit.duplicates)} == {
        "a",
        "b",
        "c",
    }


def test_a_query_with_nothing_in_common_has_no_hits(tmp_path: Path) -> None:
    topics = (
        "harbour",
        "invoice",
        "glacier",
        "compiler",
        "orchard",
        "violin",
        "parliament",
        "engine",
        "coral",
        "bakery",
    )
    facts = (
        "opens at dawn",
        "was rebuilt in stone",
        "costs more each year",
        "needs a second look",
        "sleeps in winter",
    )
    with Engine.open(tmp_path, config={"rag.vector_store.provider": "memory"}) as engine:
        texts = [
            f"The {topic} {fact}, said the {other}."
            for topic in topics
            for fact in facts
            for other in topics[:4]
        ]
        engine.add([Document(uri=f"t{number}", text=text) for number, text in enumerate(texts)])
        engine.add(Document(uri="boat", text="The gondola crosses the lagoon."))
        for nonsense in ("qwzx blorptang", "asdfgh jklqwe", "xkcdqw", "😀😀😀"):
            assert engine.search(nonsense) == [], nonsense
        assert engine.search("a boat on the water")[0].source_doc_id == "boat"


def test_a_named_path_that_does_not_exist_is_a_failure(engine: Engine) -> None:
    engine.sync()
    report = engine.sync(["lease.py", "nowhere.py"])
    assert [skip.uri for skip in report.failed] == ["nowhere.py"]
    assert report.closes
    assert not report.ok


def test_damaged_vectors_are_found_by_the_check_and_made_again(
    engine: Engine, folder: Path
) -> None:
    engine.sync()
    engine.close()
    with closing(sqlite3.connect(engine.home / "ragstone.db")) as db, db:
        db.execute("UPDATE vectors SET data = zeroblob(length(data)) WHERE id = 1")
    with Engine.open(folder, config=FAKE) as again:
        assert [finding for finding in again.admin.check() if not finding.ok]
        assert again.admin.reembed() == 1
        assert [finding for finding in again.admin.check() if not finding.ok] == []


def test_a_damaged_vector_does_not_affect_other_answers(engine: Engine, folder: Path) -> None:
    engine.sync()
    engine.add(
        [Document(uri=f"given{number}", text=f"lease number {number}") for number in range(3)]
    )
    engine.close()
    with closing(sqlite3.connect(engine.home / "ragstone.db")) as db, db:
        db.execute("UPDATE vectors SET data = x'0011' WHERE id = 2")
        db.execute("UPDATE vectors SET data = zeroblob(length(data)) WHERE id = 1")
    with Engine.open(folder, config=FAKE) as second:
        assert second.search("lease", mode="vectors", top_k=10)
    shutil.rmtree(engine.home / "vectors")
    with Engine.open(folder, config=FAKE) as third:
        explained = third.explain("lease", top_k=10)
        assert explained.hits
        assert any("2 vectors are damaged" in note for note in explained.notes)
        (folder / "new.md").write_text("a zeppelin", encoding="utf-8")
        assert third.sync().indexed == 1
        assert third.admin.reembed() == 2
        assert third.explain("lease zeppelin").coverage == {"fake": 1.0}


def test_reembed_repairs_and_switches_every_collection(engine: Engine, folder: Path) -> None:
    engine.sync()
    engine.sync(collection="small")
    with Engine.open(folder, config=FAKE | {"embed.storage": "compact"}) as other:
        assert not other.sync(collection="small").ok
        other.admin.reembed()
        assert other.sync().ok
        assert other.sync(collection="small").ok
        assert {info.storage for info in other.status().spaces} == {"compact"}
        assert {collection.name for collection in other.admin.collections()} == {
            "default",
            "small",
        }


def test_vectors_keep_their_storage_without_a_setting(engine: Engine, folder: Path) -> None:
    engine.close()
    with Engine.open(folder, config=FAKE | {"embed.storage": "compact"}) as before:
        before.sync()
        texts = before.status().spaces[0].texts
    (folder / "new.md").write_text("a zeppelin", encoding="utf-8")
    with Engine.open(folder, config=FAKE) as now:
        assert now.admin.refresh() is not None
        assert now.sync().ok
        (info,) = now.status().spaces
        assert (info.storage, info.texts, info.embedded) == ("compact", texts + 1, texts + 1)
        assert now.admin.reembed() == 0
        now.sync(collection="small")
        assert {space.storage for space in now.status().spaces} == {"compact"}
        assert now.search("zeppelin", mode="vectors", collection="small")
    with Engine.open(folder, config=FAKE | {"embed.storage": "int10"}) as other:
        assert not other.sync().ok
        assert other.admin.reembed() == texts + 1
        assert {space.storage for space in other.status().spaces} == {"int10"}


def test_going_back_to_a_model_uses_its_old_vectors(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.close()
    with Engine.open(folder, config=FAKE | {"embed.storage": "compact"}) as before:
        before.sync()
        texts = before.status().spaces[0].texts
    first = FakeEmbedder.space
    monkeypatch.setattr(FakeEmbedder, "space", replace(first, model="another"))
    with Engine.open(folder, config=FAKE) as other:
        assert other.admin.reembed() == texts
        assert [info.storage for info in other.status().spaces] == ["int10"]
    monkeypatch.setattr(FakeEmbedder, "space", first)
    with Engine.open(folder, config=FAKE) as back:
        assert back.admin.reembed() == 0
        assert [(info.storage, info.embedded) for info in back.status().spaces] == [
            ("compact", texts)
        ]
        assert back.search("lease", mode="vectors")
    with Engine.open(folder, config=FAKE | {"embed.storage": "int10"}) as configured:
        assert configured.admin.reembed() == texts
        assert [info.storage for info in configured.status().spaces] == ["int10"]


@pytest.mark.parametrize(
    ("settings", "embedded", "storage"),
    [({}, 0, "compact"), ({"embed.storage": "int10"}, 1, "int10")],
)
def test_a_dropped_collection_gets_its_vectors_when_it_is_added_again(
    engine: Engine, folder: Path, settings: dict[str, str], embedded: int, storage: str
) -> None:
    engine.close()
    document = Document(uri="given", text="a zeppelin over the lagoon")
    with Engine.open(folder, config=FAKE | {"embed.storage": "compact"}) as before:
        assert before.add(document).embedded == 1
        before.admin.drop_collection("default")
    with Engine.open(folder, config=FAKE | settings) as again:
        assert again.add(document).embedded == embedded
        assert [(info.storage, info.embedded) for info in again.status().spaces] == [
            (storage, 1)
        ]


@pytest.mark.parametrize("storage", ["int16", "int8"])
def test_vectors_of_an_earlier_version_are_searched_and_added_to(
    engine: Engine, folder: Path, storage: str
) -> None:
    store, key = store_of(engine), CollectionKey("default", "old")
    store.ensure_collection(key)
    store.vectors.ensure_space(key, FakeEmbedder.space, storage=storage)
    engine.add(Document(uri="a", text="a zeppelin over the lagoon"), collection="old")
    assert [info.storage for info in engine.status().spaces if info.embedded == 1] == [storage]
    assert engine.search("zeppelin", mode="vectors", collection="old")


def test_two_ways_to_store_one_model_are_one_list(engine: Engine, folder: Path) -> None:
    engine.add(Document(uri="a", text="the apple falls"), collection="left")
    with Engine.open(folder, config=FAKE | {"embed.storage": "compact"}) as other:
        other.add(Document(uri="b", text="the apple pie"), collection="right")
        explained = other.explain("apple", mode="vectors")
        assert {hit.source_doc_id for hit in explained.hits} == {"a", "b"}
        assert explained.coverage == {"fake": 1.0}


def test_a_sync_of_some_paths_does_not_make_a_search_index_the_folder(engine: Engine) -> None:
    engine.sync(["docs"], collection="docs")
    assert engine.admin.refresh() is None
    assert {document.uri for document in engine.sources()} == {"docs/locks.md"}


def test_imported_files_are_known_to_the_next_sync(engine: Engine, folder: Path) -> None:
    engine.sync()
    engine.add(Document(uri="given", text="a zeppelin"))
    lines = list(engine.admin.export())
    (folder / "lease.py").unlink()
    engine.sync()
    engine.admin.load(lines)
    assert engine.admin.text("lease.py")
    engine.sync()
    assert {document.uri for document in engine.sources()} == {"docs/locks.md", "given"}


def test_an_import_after_a_change_of_model_stores_and_says_so(
    engine: Engine, folder: Path
) -> None:
    engine.add(Document(uri="given", text="a zeppelin"))
    lines = list(engine.admin.export())
    engine.remove("given")
    engine.add(Document(uri="kept", text="an airship"))
    with Engine.open(folder, config=FAKE | {"embed.storage": "compact"}) as other:
        report = other.admin.load(lines)
        assert report.documents == 1
        assert "reembed" in report.notes[0]
        assert other.search("zeppelin", mode="words")


@pytest.mark.parametrize(
    "verb", ["search", "sources", "export", "reembed", "embed", "text", "remove", "drop"]
)
def test_an_unknown_collection_is_not_found(engine: Engine, verb: str) -> None:
    engine.sync()
    calls: dict[str, Callable[[], object]] = {
        "search": lambda: engine.search("a", collection="nope"),
        "sources": lambda: list(engine.sources(collection="nope")),
        "export": lambda: list(engine.admin.export(collection="nope")),
        "reembed": lambda: engine.admin.reembed(collection="nope"),
        "embed": lambda: engine.admin.embed(collection="nope"),
        "text": lambda: engine.admin.text("a", collection="nope"),
        "remove": lambda: engine.remove("a", collection="nope"),
        "drop": lambda: engine.admin.drop_collection("nope"),
    }
    with pytest.raises(NotFound, match="nope"):
        calls[verb]()
    assert [collection.name for collection in engine.admin.collections()] == ["default"]


def test_copies_outside_the_filter_are_not_listed(engine: Engine) -> None:
    same = "the gondola crosses the lagoon"
    engine.add(
        [Document(uri=f"{team}/x", text=same, metadata={"team": team}) for team in ("a", "b")]
    )
    hit = engine.search("gondola", filters={"team": "b"})[0]
    assert (hit.source_doc_id, hit.duplicates) == ("b/x", ())
