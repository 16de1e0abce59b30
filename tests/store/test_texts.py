"""Texts are compressed and stored once in a project, under a short key that is only a hint."""

from __future__ import annotations

import hashlib
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import StoreDamaged
from ragstone.store import codec
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
from ragstone.types import Chunk, CollectionKey, Scope, Space, embedding_text

HERE = Scope("p")
LONG = "The quick brown fox jumps over the lazy dog, and nobody has told it why it should. " * 8
any_text = st.text(st.characters(exclude_categories=()), max_size=400)


def words_of(number: int) -> str:
    return " ".join(f"word{number * n % 1009} and" for n in range(60))


def rows(path: Path) -> list[tuple[bytes, str | bytes]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT hash, body FROM texts ORDER BY id").fetchall()


def as_before(path: Path) -> None:
    """Store all texts uncompressed under their plain_size hash, as development versions did."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for number, body in db.execute("SELECT id, body FROM texts").fetchall():
            text = codec.unpack_body(body)
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
            db.execute(
                "UPDATE texts SET hash = ?, body = ? WHERE id = ?",
                (digest, codec.pack(text), number),
            )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection(CollectionKey("p", "c"))
        store.put(
            CollectionKey("p", "c"),
            [
                prepare(f"{n}.md", [words_of(n), f"short {n}"], header="Of words")
                for n in range(1, 60)
            ],
        )
        store.put(
            CollectionKey("p", "c"),
            [prepare("odd.md", ["lone \ud800 surrogate " * 40, "and \udfff"])],
        )
        info = store.vectors.ensure_space(CollectionKey("p", "c"), Space("fake", "m", 4))
        vectors = [
            (text.text_id, text.text_id.to_bytes(4, "big"))
            for text in store.vectors.pending(HERE, info.id)
        ]
        store.vectors.put("p", info.id, vectors)
    return path


@settings(deadline=None)
@given(any_text, st.integers(1, 9))
def test_any_text_comes_back_to_the_letter(text: str, times: int) -> None:
    assert codec.unpack_body(codec.pack_body(text * times)) == text * times
    assert codec.unpack_body(codec.pack(text * times)) == text * times


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_bytes_that_are_no_text_are_damage(noise: bytes) -> None:
    for stored in (noise, b"\xff" + noise):
        try:
            assert isinstance(codec.unpack_body(stored), str)
        except StoreDamaged as error:
            assert error.hint


def test_long_texts_are_compressed_but_short_or_dense_ones_are_not() -> None:
    assert len(codec.pack_body(LONG)) < len(LONG) / 3
    assert codec.pack_body(LONG[:200]) == LONG[:200]
    luck = random.Random(1)
    dense = "".join(chr(luck.randrange(0x21, 0x7F)) for _ in range(400))
    assert codec.pack_body(dense) == dense


def test_compressed_texts_take_less_space_in_the_file(path: Path) -> None:
    stored = rows(path)
    assert {len(key) for key, _ in stored} == {8}
    assert sum(isinstance(body, bytes) for _, body in stored) == 61
    plain_size = sum(len(codec.unpack_body(body)) for _, body in stored)
    assert sum(len(body) for _, body in stored) < plain_size * 0.7


def test_a_text_that_is_stored_again_is_recognised(path: Path) -> None:
    with SqliteStore(path) as store:
        again = [
            prepare(f"{n}.md", [words_of(n), f"short {n}"], header="Of words")
            for n in range(1, 60)
        ]
        assert {
            (result.added, result.kept) for result in store.put(CollectionKey("p", "c"), again)
        } == {(0, 2)}
        (moved,) = store.put(
            CollectionKey("p", "c"),
            [prepare("new.md", [words_of(3), "short 3", LONG], header="Of words")],
        )
        assert moved.added == 3
        assert [text.text for text in store.vectors.pending(HERE, 1)] == [
            embedding_text("Of words", LONG)
        ]


@pytest.mark.parametrize("same", [8, 16])
def test_texts_with_the_same_key_are_kept_apart(
    same: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_hash = Chunk.hash.fget  # type: ignore[attr-defined]  # a property has it
    monkeypatch.setattr(
        Chunk, "hash", property(lambda chunk: bytes(same) + full_hash(chunk)[same:])
    )
    pieces = [words_of(n) for n in range(1, 4)]
    with SqliteStore(tmp_path / "ragstone.db") as store:
        store.ensure_collection(CollectionKey("p", "c"))
        store.put(CollectionKey("p", "c"), [prepare("a.md", pieces[:1])])
        store.put(CollectionKey("p", "c"), [prepare("b.md", pieces[1:2])])
        assert store.text(CollectionKey("p", "c"), "a.md") == pieces[0]
        assert store.text(CollectionKey("p", "c"), "b.md") == pieces[1]
        (result,) = store.put(CollectionKey("p", "c"), [prepare("b.md", pieces[1:2])])
        assert (result.added, result.kept) == (0, 1)
        store.put(CollectionKey("p", "c"), [prepare("c.md", pieces[2:])])
        assert store.text(CollectionKey("p", "c"), "c.md") == pieces[2]
        assert all(finding.ok for finding in store.check())
    assert [len(key) for key, _ in rows(tmp_path / "ragstone.db")] == [
        8,
        16,
        16 if same == 8 else 32,
    ]


def test_texts_with_the_same_key_in_one_put_are_kept_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_hash = Chunk.hash.fget  # type: ignore[attr-defined]  # a property has it
    monkeypatch.setattr(Chunk, "hash", property(lambda chunk: bytes(8) + full_hash(chunk)[8:]))
    pieces = [words_of(n) for n in range(1, 4)]
    with SqliteStore(tmp_path / "ragstone.db") as store:
        store.ensure_collection(CollectionKey("p", "c"))
        store.put(CollectionKey("p", "c"), [prepare("a.md", [*pieces, pieces[1]])])
        assert store.text(CollectionKey("p", "c"), "a.md") == "\n\n".join([*pieces, pieces[1]])
    assert [len(key) for key, _ in rows(tmp_path / "ragstone.db")] == [8, 16, 16]


def test_a_text_that_another_program_changed_is_not_reused(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE texts SET body = 'forged' WHERE id = 1")
    with SqliteStore(path) as store:
        assert [finding.name for finding in store.check() if not finding.ok] == ["documents"]
        store.put(
            CollectionKey("p", "c"),
            [prepare("1.md", [words_of(1), "short 1"], header="Of words")],
        )
        assert store.text(CollectionKey("p", "c"), "1.md") == words_of(1) + "\n\nshort 1"


def test_a_compressed_text_that_cannot_be_unpacked_is_damage(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE texts SET body = substr(body, 1, 40) WHERE id = 1")
    with SqliteStore(path) as store:
        with pytest.raises(StoreDamaged, match="cannot be unpacked|has changed"):
            store.text(CollectionKey("p", "c"), "1.md")
        assert "documents" in [finding.name for finding in store.check() if not finding.ok]


def test_texts_that_are_stored_under_their_whole_hash_are_recognised(path: Path) -> None:
    with SqliteStore(path) as store:
        before = [
            store.document_chunks(CollectionKey("p", "c"), uri)
            for uri in ("1.md", "7.md", "odd.md")
        ]
        hits = store.search_words(HERE, ["word7", "short"], limit=9)
    as_before(path)
    assert {len(key) for key, _ in rows(path)} == {32}
    with SqliteStore(path) as store:
        assert [
            store.document_chunks(CollectionKey("p", "c"), uri)
            for uri in ("1.md", "7.md", "odd.md")
        ] == before
        assert store.search_words(HERE, ["word7", "short"], limit=9) == hits
        (again,) = store.put(
            CollectionKey("p", "c"),
            [prepare("1.md", [words_of(1), "short 1"], header="Of words")],
        )
        assert (again.added, again.kept) == (0, 2)
        store.put(CollectionKey("p", "c"), [prepare("late.md", [LONG])])
        assert all(finding.ok for finding in store.check())
    assert sorted({len(key) for key, _ in rows(path)}) == [8, 32]
