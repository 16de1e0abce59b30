"""A damaged text stops nothing, is reported, and is repaired by storing its document again."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ragstone.errors import StoreDamaged
from ragstone.store import codec, rows
from ragstone.store.sqlite import SqliteStore
from ragstone.store.words import derived_index
from ragstone.store.words.terms import terms_of
from ragstone.testing.store_case import prepare
from ragstone.types import Chunk, CollectionKey, PreparedDocument, Scope, Space
from tests.support.written import everything

HERE = Scope("p")
DOCUMENTS = 6


def words_of(number: int) -> str:
    return f"only{number} " + " ".join(f"word{number * n % 1009} and" for n in range(1, 80))


def document(number: int, *more: str) -> PreparedDocument:
    return prepare(f"{number}.md", [words_of(number), *more], header=f"Head{number}")


def found(store: SqliteStore, *terms: str) -> list[int]:
    return sorted(row.id for row in store.search_words(HERE, terms, limit=99))


def wrong(store: SqliteStore) -> list[str]:
    return [finding.name for finding in store.check() if not finding.ok]


def another_text(body: bytes) -> bytes:
    """Return a squeezed text with one bit flipped that can still be read, with words that are others."""
    for bit in range(8 * len(body) - 1, 8, -1):
        flipped = bytearray(body)
        flipped[bit // 8] ^= 1 << (bit % 8)
        try:
            read = codec.unpack_body(bytes(flipped))
        except StoreDamaged:
            continue
        if terms_of(read) != terms_of(codec.unpack_body(body)):
            return bytes(flipped)
    raise AssertionError("no flipped bit makes another text")


Damage = Callable[[sqlite3.Connection, int], None]


def flipped(db: sqlite3.Connection, number: int) -> None:
    body = db.execute("SELECT body FROM texts WHERE id = ?", (number,)).fetchone()[0]
    db.execute("UPDATE texts SET body = ? WHERE id = ?", (another_text(body), number))


def forged(db: sqlite3.Connection, number: int) -> None:
    db.execute("UPDATE texts SET body = 'forged' WHERE id = ?", (number,))


def cut(db: sqlite3.Connection, number: int) -> None:
    db.execute("UPDATE texts SET body = substr(body, 1, 40) WHERE id = ?", (number,))


def no_text(db: sqlite3.Connection, number: int) -> None:
    db.execute("UPDATE texts SET body = CAST(x'41ff42' AS TEXT) WHERE id = ?", (number,))


def wrong_head(db: sqlite3.Connection, number: int) -> None:
    body = codec.unpack_body(
        db.execute("SELECT body FROM texts WHERE id = ?", (number,)).fetchone()[0]
    )
    db.execute(
        "UPDATE texts SET body = ? WHERE id = ?", (codec.pack_body("X" + body[1:]), number)
    )


def wrong_key(db: sqlite3.Connection, number: int) -> None:
    db.execute("UPDATE texts SET hash = x'0102030405060708' WHERE id = ?", (number,))


unreadable = pytest.mark.parametrize("damage", [cut, no_text])
every = pytest.mark.parametrize(
    "damage", [flipped, forged, wrong_head, wrong_key, cut, no_text]
)
ages = pytest.mark.parametrize("old", [False, True], ids=["short keys", "whole keys"])


def damaged(path: Path, damage: Damage, *, old: bool = False) -> Path:
    """Return a store with vectors whose first text is damaged."""
    with SqliteStore(path) as store:
        for name in ("c", "d"):
            store.ensure_collection(CollectionKey("p", name))
        store.put(CollectionKey("p", "c"), [document(n) for n in range(1, DOCUMENTS + 1)])
        store.put(CollectionKey("p", "d"), [prepare("other.md", ["another one"])])
        info = store.vectors.ensure_space(CollectionKey("p", "c"), Space("fake", "m", 4))
        store.vectors.put(
            "p",
            info.id,
            [(text.text_id, b"1234") for text in store.vectors.pending(HERE, info.id, limit=3)],
        )
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        if old:
            for number, body in db.execute("SELECT id, body FROM texts").fetchall():
                digest = hashlib.sha256(codec.unpack_body(body).encode()).digest()
                db.execute("UPDATE texts SET hash = ? WHERE id = ?", (digest, number))
        damage(db, 1)
    return path


def all_is_well(store: SqliteStore) -> None:
    """Every document is complete and is found by its own word, by its head, and once only."""
    assert wrong(store) == []
    for number in range(1, DOCUMENTS + 1):
        assert store.text(CollectionKey("p", "c"), f"{number}.md") == words_of(number)
        (chunk,) = store.document_chunks(CollectionKey("p", "c"), f"{number}.md")
        assert found(store, f"only{number}") == found(store, f"head{number}") == [chunk.id]
    assert len(found(store, "word1", "word2", "word5", "and")) == DOCUMENTS


@ages
@every
def test_a_damaged_text_is_repaired_by_storing_its_document_again(
    damage: Damage, old: bool, tmp_path: Path
) -> None:
    with SqliteStore(damaged(tmp_path / "ragstone.db", damage, old=old)) as store:
        assert wrong(store) == ["documents"]
        store.put(CollectionKey("p", "c"), [document(n) for n in range(1, DOCUMENTS + 1)])
        all_is_well(store)
        assert store.put(CollectionKey("p", "c"), [document(1)])[0].kept == 1
        store.put(CollectionKey("p", "c"), [prepare("1.md", ["quite new"])])
        assert found(store, "only1") == []
        assert len(found(store, "new")) == 1
        store.remove(CollectionKey("p", "c"), ["1.md"])
        assert found(store, "new") == []
        assert wrong(store) == []


@pytest.mark.parametrize("damage", [flipped, forged, wrong_head, cut, no_text])
def test_a_repaired_text_keeps_its_chunk_and_its_vector(damage: Damage, tmp_path: Path) -> None:
    with SqliteStore(damaged(tmp_path / "ragstone.db", damage)) as store:
        (put,) = store.put(CollectionKey("p", "c"), [document(1)])
        assert (put.added, put.kept, put.removed) == (0, 1, 0)
        assert store.chunks("p", [1])[1].chunk.text == words_of(1)
        assert store.vectors.locate(HERE, 1, [1]) == {1: 1}


@every
def test_words_rebuilt_while_a_text_was_damaged_are_restored_with_it(
    damage: Damage, tmp_path: Path
) -> None:
    with SqliteStore(damaged(tmp_path / "ragstone.db", damage)) as store:
        store.compact(secure=True)
        assert found(store, "only1") == []
        assert found(store, "only2") == [2]
        assert wrong(store) == ["documents"]
        store.put(CollectionKey("p", "c"), [document(1)])
        all_is_well(store)
        store.remove(CollectionKey("p", "c"), ["1.md"])
        assert found(store, "only1", "head1") == []
        assert found(store, "only2") == [2]


@every
def test_a_damaged_document_that_changes_leaves_no_words_behind(
    damage: Damage, tmp_path: Path
) -> None:
    with SqliteStore(damaged(tmp_path / "ragstone.db", damage)) as store:
        results = store.put(
            CollectionKey("p", "c"),
            [prepare("2.md", ["plum"]), prepare("1.md", ["grape"]), document(9)],
        )
        assert [result.added for result in results] == [1, 1, 1]
        assert found(store, "only1", "only2", "head1") == []
        assert len(found(store, "plum", "grape", "only9")) == 3
        assert found(store, "only3") == [3]
        assert wrong(store) == []


@every
def test_a_damaged_document_can_be_removed_and_leaves_nothing(
    damage: Damage, tmp_path: Path
) -> None:
    path = damaged(tmp_path / "ragstone.db", damage)
    with SqliteStore(path) as store:
        assert store.remove(CollectionKey("p", "c"), ["1.md"]) == 1
        assert found(store, "only1", "head1") == []
        assert found(store, "only2") == [2]
        assert wrong(store) == []
        store.compact(secure=True)
        assert found(store, "only2") == [2]
    assert b"only1" not in everything(tmp_path)


@every
def test_a_collection_with_a_damaged_document_can_be_dropped(
    damage: Damage, tmp_path: Path
) -> None:
    with SqliteStore(damaged(tmp_path / "ragstone.db", damage)) as store:
        assert store.drop_collection(CollectionKey("p", "c")) == DOCUMENTS
        assert found(store, "only1", "only2") == []
        assert len(found(store, "anoth")) == 1
        assert wrong(store) == []


@unreadable
def test_an_unreadable_text_hides_no_other(damage: Damage, tmp_path: Path) -> None:
    with SqliteStore(damaged(tmp_path / "ragstone.db", damage)) as store:
        assert sorted(store.chunks("p", [1, 2, 3])) == [2, 3]
        assert store.document_chunks(CollectionKey("p", "c"), "1.md") == []
        assert sorted(store.outlines("p", [1, 2])) == [1, 2]
        with pytest.raises(StoreDamaged) as caught:
            store.text(CollectionKey("p", "c"), "1.md")
        assert "ragstone sync --full" in caught.value.hint


@every
def test_no_vector_is_made_of_a_damaged_text(damage: Damage, tmp_path: Path) -> None:
    with SqliteStore(damaged(tmp_path / "ragstone.db", damage)) as store:
        store.vectors.remove("p", 1)
        assert [text.text_id for text in store.vectors.pending(HERE, 1)] == [2, 3, 4, 5, 6, 7]
        # Who asks for one after the other must not take a damaged one for the end.
        assert [text.text_id for text in store.vectors.pending(HERE, 1, limit=1)] == [2]
        assert [text.text_id for text in store.vectors.pending(HERE, 1, after=2, limit=2)] == [
            3,
            4,
        ]
        assert store.vectors.pending(HERE, 1, limit=0) == []
        store.put(CollectionKey("p", "c"), [document(1)])
        assert len(store.vectors.pending(HERE, 1)) == DOCUMENTS + 1


@every
def test_words_of_another_analysis_are_rebuilt_despite_a_damaged_text(
    damage: Damage, tmp_path: Path
) -> None:
    path = damaged(tmp_path / "ragstone.db", damage)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE meta SET value = '' WHERE key = 'words_version'")
    with SqliteStore(path) as store:
        assert found(store, "only1") == []
        assert found(store, "only2") == [2]
        store.put(CollectionKey("p", "c"), [document(1)])
        all_is_well(store)


def test_the_check_names_every_damaged_document_and_the_remedy(tmp_path: Path) -> None:
    def three(db: sqlite3.Connection, _: int) -> None:
        for number, damage in ((1, cut), (3, flipped), (5, no_text)):
            damage(db, number)

    with SqliteStore(damaged(tmp_path / "ragstone.db", three)) as store:
        (finding,) = [finding for finding in store.check() if not finding.ok]
        assert finding.detail == "3 documents are not what was stored: c/1.md, c/3.md, c/5.md"
        assert "ragstone sync --full" in finding.hint
        store.put(CollectionKey("p", "c"), [document(n) for n in range(1, DOCUMENTS + 1)])
        all_is_well(store)


@every
def test_the_derived_index_finds_a_repaired_text(
    damage: Damage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(derived_index, "LEAST_CHUNKS", 2)
    with SqliteStore(damaged(tmp_path / "ragstone.db", damage)) as store:
        store.compact()
        store.compact(secure=True)
        assert found(store, "only2") == [2]
        store.put(CollectionKey("p", "c"), [document(1)])
        store.compact()
        all_is_well(store)


def test_of_two_texts_with_one_key_only_the_damaged_one_is_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_hash = Chunk.hash.fget  # type: ignore[attr-defined]  # a property has it
    monkeypatch.setattr(Chunk, "hash", property(lambda chunk: bytes(8) + full_hash(chunk)[8:]))
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection(CollectionKey("p", "c"))
        store.put(CollectionKey("p", "c"), [document(1), document(2)])
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        cut(db, 1)
    with SqliteStore(path) as store:
        assert store.put(CollectionKey("p", "c"), [document(2)])[0].kept == 1
        assert wrong(store) == ["documents"]
        assert store.put(CollectionKey("p", "c"), [document(1)])[0].kept == 1
        assert (
            store.text(CollectionKey("p", "c"), "1.md"),
            store.text(CollectionKey("p", "c"), "2.md"),
        ) == (
            words_of(1),
            words_of(2),
        )
        assert len(found(store, "only1")) == len(found(store, "only2")) == 1
        assert wrong(store) == []


def test_a_damaged_text_is_never_returned() -> None:
    key = hashlib.sha256(b"apple").digest()[:8]
    assert rows.sound(key, "apple") == rows.sound(key, b"apple") == "apple"
    assert rows.sound(key, "apples") is None
    assert rows.sound(key, b"\xff\x00") is None
