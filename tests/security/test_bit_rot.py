"""Damage in the files of an index is never shown as the text of a document."""

from __future__ import annotations

import random
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.errors import RagstoneError
from ragstone.store.sqlite import SqliteStore
from ragstone.store.words import derived_index
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Scope
from tests.security.homes import FAKE

KEY = CollectionKey("p", "c")
QUIET = {**FAKE, "events.log": False}


def test_a_text_that_does_not_match_its_hash_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Pay 100 to Alice.", encoding="utf-8")
    with Engine.open(tmp_path, config=QUIET) as engine:
        engine.sync()
    with closing(sqlite3.connect(tmp_path / ".ragstone" / "ragstone.db")) as db:
        db.execute("UPDATE texts SET body = replace(body, '100', '900')")
        db.commit()
    with Engine.open(tmp_path, config=QUIET) as engine:
        assert engine.search("pay Alice", mode="words") == []
        assert not all(finding.ok for finding in engine.admin.check())
        engine.sync(full=True)
        assert [hit.text for hit in engine.search("pay Alice")] == ["Pay 100 to Alice."]


def test_random_damage_shows_true_text_or_an_error(tmp_path: Path, seed: int) -> None:
    choices = random.Random(seed)
    for number in range(12):
        lines = [f"Zebra {number} sleeps on line {line}.\n\n" for line in range(8)]
        (tmp_path / f"{number}.md").write_text("".join(lines), encoding="utf-8")
    with Engine.open(tmp_path, config=QUIET) as engine:
        engine.sync()
    file = tmp_path / ".ragstone" / "ragstone.db"
    intact = file.read_bytes()
    in_texts = [match.start() for match in re.finditer(b"sleeps on line", intact)]
    for _ in range(25):
        damaged = bytearray(intact)
        anywhere = [choices.randrange(len(damaged)) for _ in range(3)]
        for position in (*anywhere, choices.choice(in_texts)):
            damaged[position] ^= choices.randrange(1, 256)
        file.write_bytes(damaged)
        for side_file in ("ragstone.db-wal", "ragstone.db-shm"):
            file.with_name(side_file).unlink(missing_ok=True)
        try:
            with Engine.open(tmp_path, config=QUIET) as engine:
                hits = engine.search("zebra sleeps", top_k=20, mode="words")
        except RagstoneError:
            continue
        for hit in hits:
            assert hit.text in (tmp_path / hit.source_doc_id).read_text(encoding="utf-8")


@pytest.fixture
def large_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of a store that has a fast word index."""
    monkeypatch.setattr(derived_index, "LEAST_CHUNKS", 10)
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection(KEY)
        store.put(KEY, [prepare(f"{number}.md", [f"zebra {number}"]) for number in range(50)])
        store.compact()
    assert list((tmp_path / "words").rglob("checksums.json"))
    return path


def test_a_damaged_word_index_hides_no_document_and_doctor_sees_it(
    large_store: Path, seed: int
) -> None:
    files = [path for path in (large_store.parent / "words").rglob("*.*") if path.is_file()]
    choices = random.Random(seed)
    for file in [file for file in files if file.suffix in (".idx", ".term", ".fast", ".pos")]:
        intact = file.read_bytes()
        # Without checksums, damage of the third byte of the file `.fast` hides 4 documents.
        for position in (2, choices.randrange(len(intact))):
            damaged = bytearray(intact)
            damaged[position] ^= 1 << position % 8
            file.write_bytes(damaged)
            with SqliteStore(large_store) as store:
                assert len(store.search_words(Scope("p"), ["zebra"], limit=100)) == 50
                faults = [finding.name for finding in store.check() if not finding.ok]
            assert faults == ["fast words"]
        file.write_bytes(intact)
    with SqliteStore(large_store) as store:
        assert all(finding.ok for finding in store.check())


def test_compact_mends_a_damaged_word_index(large_store: Path) -> None:
    next((large_store.parent / "words").rglob("*.term")).write_bytes(b"x")
    with SqliteStore(large_store) as store:
        store.compact()
        assert all(finding.ok for finding in store.check())
