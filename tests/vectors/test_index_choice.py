"""`rag.vector_store.provider` chooses the index, and every index gives the same answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ragstone import registry
from ragstone.errors import ConfigError, MissingExtra
from ragstone.indexing import components
from ragstone.surfaces.cli.app import run
from ragstone.types import Document
from tests.support.index_answers import answers, describe, fill, open_with, record_embedded


def test_the_same_queries_with_filters_give_the_same_hits_on_every_local_index(
    tmp_path: Path,
) -> None:
    results = {}
    for provider in ("sqlite", "turbo", "memory", "file"):
        with open_with(tmp_path, provider) as engine:
            fill(engine)
            results[provider] = answers(engine)
    assert all(results["turbo"])
    assert results["turbo"] == results["sqlite"] == results["memory"] == results["file"]


def test_an_unknown_name_is_an_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no store or vector index called 'tubro'") as caught:
        with open_with(tmp_path, "tubro") as engine:
            engine.add(Document("a.md", "granite"))
    hint = caught.value.hint
    assert "did you mean turbo?" in hint
    for name in ("sqlite", "memory", "turbo", "file"):
        assert name in hint
    assert hint.count("memory") == 1


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        ("sqlite", ("sqlite", "turbo")),
        ("turbo", ("sqlite", "turbo")),
        ("memory", ("memory", "memory")),
        ("mock", ("memory", "memory")),
        ("file", ("sqlite", "file")),
        ("milvus", ("sqlite", "milvus")),
    ],
)
def test_a_provider_stands_for_a_store_and_an_index(
    provider: str, expected: tuple[str, str]
) -> None:
    assert registry.store_and_index(provider) == expected


def test_a_missing_package_is_named_with_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    monkeypatch.setitem(sys.modules, "milvus_lite.server_manager", None)
    monkeypatch.delitem(sys.modules, "ragstone.vectors.milvus_index", raising=False)
    with open_with(tmp_path, "milvus") as engine:
        with pytest.raises(MissingExtra) as caught:
            fill(engine, 2)
            engine.search("granite", mode="vectors")
        assert engine.search("granite marble", mode="words"), "the text is stored"
    assert caught.value.hint == "pip install 'ragstone[milvus]'"


def test_a_sync_refuses_an_index_that_no_search_could_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAGSTONE_EMBED_PROVIDER", "fake")
    monkeypatch.setitem(sys.modules, "milvus_lite.server_manager", None)
    monkeypatch.delitem(sys.modules, "ragstone.vectors.milvus_index", raising=False)
    (tmp_path / "a.md").write_text("Granite is hard.\n")
    for provider, advice in (
        ("milvus", "pip install 'ragstone[milvus]'"),
        ("pgvector", "RAGSTONE_STORE_URL"),
    ):
        monkeypatch.setenv("RAGSTONE_RAG_STORE", provider)
        assert run(["sync", "-C", str(tmp_path)]) == 2
        assert advice in capsys.readouterr().err


def test_another_machine_takes_vectors_from_the_committed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
        (folder / "a.md").write_text("Granite is hard.\n")
        (folder / "b.md").write_text("Chalk is soft.\n")
    with open_with(ours, "file", path="vectors") as engine:
        engine.sync()
        expected = [describe(hit) for hit in engine.search("granite", mode="vectors")]
    (file,) = (ours / "vectors").iterdir()
    header, *lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert header["dimension"] and len(lines) == 2
    file.parent.rename(theirs / "vectors")

    embedded = record_embedded(monkeypatch)
    with open_with(theirs, "file", path="vectors") as engine:
        report = engine.sync()
        assert engine.status().spaces[0].coverage == 1.0
        assert [describe(hit) for hit in engine.search("granite", mode="vectors")] == expected
        assert not [note for note in report.notes if "vector" in note]
    assert len(list((theirs / "vectors").iterdir())) == 1
    assert not [text for text in embedded if "is hard" in text or "is soft" in text]


def test_each_collection_has_a_file_that_a_person_can_read(tmp_path: Path) -> None:
    def read(collection: str) -> dict[str, tuple[str, str]]:
        (file,) = (tmp_path / "vectors").glob(f"{collection}-*.vectors.jsonl")
        _, *lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        return {line["document"]: (line["lines"], line["begins"]) for line in lines}

    (tmp_path / "a.md").write_text("Granite\nis hard.\n")
    (tmp_path / "elsewhere.md").write_text("Only on this branch.\n")
    with open_with(tmp_path, "file", path="vectors") as engine:
        engine.sync()
        engine.add("Kreide ist weich, für alle.", uri="chalk", collection="notes")
        engine.search("granite", mode="vectors")
    expected = {
        "a.md": ("1-2", "Granite is hard."),
        "elsewhere.md": ("1-1", "Only on this branch."),
    }
    assert read("default") == expected
    assert read("notes") == {"chalk": ("1-1", "Kreide ist weich, für alle.")}
    (tmp_path / "a.md").write_text("Granite is heavy.\n")
    (tmp_path / "elsewhere.md").unlink()
    with open_with(tmp_path, "file", path="vectors") as engine:
        engine.sync()
        engine.search("granite", mode="vectors")
    assert read("default") == {**expected, "a.md": ("1-1", "Granite is heavy.")}


def test_a_damaged_index_file_costs_only_its_damaged_lines(tmp_path: Path) -> None:
    with open_with(tmp_path, "file", path="vectors") as engine:
        fill(engine, 10)
        expected = answers(engine, 20)
    (file,) = (tmp_path / "vectors").iterdir()
    lines = file.read_bytes().splitlines(keepends=True)
    for damage in (
        b"".join(
            [*lines[:3], b'{"text": "x", "vector": "@@"}\n', b"\xff\n", b"[" * 9999, *lines[4:]]
        ),
        b"not ours\n",
        b"",
    ):
        file.write_bytes(damage)
        with open_with(tmp_path, "file", path="vectors") as engine:
            assert answers(engine, 20) == expected
        assert file.read_bytes() == b"".join(lines)


def test_the_index_file_is_not_indexed_itself(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Granite is hard.\n")
    for _ in range(2):
        with open_with(tmp_path, "file", path="vectors") as engine:
            engine.sync()
            assert [source.uri for source in engine.sources()] == ["a.md"]


def test_doctor_says_if_the_chosen_index_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAGSTONE_EMBED_PROVIDER", "fake")
    (tmp_path / "a.md").write_text("granite")
    assert run(["sync", "-C", str(tmp_path)]) == 0
    monkeypatch.setattr(components, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    monkeypatch.delitem(sys.modules, "ragstone.vectors.milvus_index", raising=False)
    for provider, is_sound in (("chroma", True), ("milvus", False)):
        monkeypatch.setenv("RAGSTONE_RAG_STORE", provider)
        capfd.readouterr()
        assert (run(["doctor", "-C", str(tmp_path)]) == 0) == is_sound
        assert f"pip install 'ragstone[{provider}]'" in capfd.readouterr().out
