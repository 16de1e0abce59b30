"""Files and texts that are no documents: rules, exports, nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.errors import InputError
from ragstone.types import Document


def test_ignore_files_are_no_documents(engine: Engine, folder: Path) -> None:
    (folder / ".gitignore").write_text("*.log\n", encoding="utf-8")
    (folder / "docs" / ".ragstoneignore").write_text("old/\n", encoding="utf-8")
    report = engine.sync()
    reasons = {skip.uri: skip.reason for skip in report.skipped}
    assert reasons == {".gitignore": "ignore file", "docs/.ragstoneignore": "ignore file"}


def test_a_text_without_words_is_refused_and_not_stored(engine: Engine, folder: Path) -> None:
    (folder / "empty.txt").touch()
    for text in ("", " \n\t"):
        with pytest.raises(InputError, match="has no text"):
            engine.add(text, uri="note")
    (failure,) = engine.external.add_files(folder / "empty.txt").failed
    assert failure.reason.startswith("it is empty")
    assert engine.is_empty()


def test_of_many_documents_those_without_text_are_reported_and_the_others_stored(
    engine: Engine,
) -> None:
    report = engine.add(
        [Document("empty.py", "\n"), Document("note", "The ferry leaves at nine.")]
    )
    assert report.documents == 1
    assert [(skip.uri, skip.reason) for skip in report.failed] == [
        ("empty.py", "has no text, so nothing was stored")
    ]
    assert [source.uri for source in engine.sources()] == ["note"]


def test_what_ragstone_exported_is_skipped_with_a_reason(engine: Engine, folder: Path) -> None:
    engine.sync()
    engine.remember("talk", "user", "The ferry leaves at nine.")
    config = {"rag.vector_store.provider": "file"}
    with Engine.open(folder, config=config, project="other") as other:
        other.sync()
        other.search("anything", mode="vectors")
    (written,) = (folder / ".ragstone").rglob("*.vectors.jsonl")
    files = {
        "knowledge.jsonl": "\n".join(engine.admin.export()),
        "chat.txt": "\n".join(engine.memory.export("talk")),
        "copy.json": written.read_text(encoding="utf-8"),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    report = engine.sync()
    reasons = {skip.uri: skip.reason for skip in report.skipped}
    assert report.ok and report.indexed == 0
    assert "`ragstone import`" in reasons["knowledge.jsonl"]
    assert "`ragstone sessions import`" in reasons["chat.txt"]
    assert "vectors" in reasons["copy.json"]
    assert not engine.admin.has_changes()
    (failure,) = engine.external.add_files(folder / "knowledge.jsonl").failed
    assert "export of Ragstone" in failure.reason
