"""Details of the store in PostgreSQL: the same ranking as SQLite, odd texts, races, copies and locks."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ragstone.errors import QuotaError, StoreBusy
from ragstone.protocols import DocumentStore
from ragstone.store.postgres import schema
from ragstone.store.postgres.connection import Transaction
from ragstone.store.postgres.store import PostgresStore
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.example_graph import put_example_graph
from ragstone.testing.store_case import HERE, KEY, PROJECT, SECOND_KEY, SPACE, prepare, put_text
from ragstone.text import query_terms
from ragstone.types import Limits
from tests.support.postgres_server import PostgresServer

WORDS = "lease writer reader lock snapshot index chunk vector term file path query".split()
NEWER = schema.NEWEST + 1


@pytest.fixture
def store(database_url: str) -> Iterator[PostgresStore]:
    with PostgresStore(database_url) as store:
        store.ensure_collection(KEY)
        yield store


# ── words ─────────────────────────────────────────────────────────────────────────────────────────


def fill_with_words(store: DocumentStore, seed: int) -> None:
    """Store documents of random words in two collections."""
    generator = random.Random(seed)
    for key in (KEY, SECOND_KEY):
        store.ensure_collection(key)
        documents = [
            prepare(
                f"src/{generator.choice(WORDS)}_{number}.py",
                [
                    " ".join(generator.choices(WORDS, k=generator.randint(3, 60)))
                    for _ in range(generator.randint(1, 4))
                ],
                header=generator.choice(WORDS),
                symbol=f"{generator.choice(WORDS)}{generator.choice(WORDS).title()}",
            )
            for number in range(40)
        ]
        store.put(key, documents)


def test_words_are_scored_as_in_sqlite(store: PostgresStore, seed: int) -> None:
    def ranked(
        target: DocumentStore, query: str, scope: object
    ) -> list[tuple[str, int, float]]:
        rows = target.search_words(scope, query_terms(query), limit=30)  # type: ignore[arg-type]
        chunks = target.chunks(PROJECT, [row.id for row in rows])
        return [
            (chunks[row.id].uri, chunks[row.id].chunk.order, round(row.score, 5))
            for row in rows
        ]

    with SqliteStore(":memory:") as other:
        fill_with_words(store, seed)
        fill_with_words(other, seed)
        for query in ("lease", "writer lock", "snapshot of the index chunk", "src path query"):
            for scope in (HERE, SECOND_KEY.scope):
                assert ranked(store, query, scope) == ranked(other, query, scope)


def test_a_chunk_with_a_very_long_word_is_found(store: PostgresStore) -> None:
    word = "x" * 20_000
    put_text(store, "a.md", f"apple {word}")
    assert len(store.search_words(HERE, ["appl"], limit=5)) == 1
    assert store.text(KEY, "a.md") == f"apple {word}"


def test_words_are_found_as_quickly_before_the_server_knows_how_many_rows_there_are(
    postgres_server: PostgresServer,
) -> None:
    name = postgres_server.new_database()
    with PostgresStore(postgres_server.url(name)) as store:
        postgres_server.run_as_admin(
            name, "ALTER TABLE chunk_terms SET (autovacuum_enabled = false)"
        )
        store.ensure_collection(KEY)
        store.put(KEY, [prepare("a.md", [f"{' '.join(WORDS)} {n}" for n in range(1500)])])
        without_counts = seconds_of_a_word_search(store)
        postgres_server.run_as_admin(name, "ANALYZE chunk_terms")
        assert without_counts < 4 * seconds_of_a_word_search(store)
    postgres_server.drop_database(name)


def seconds_of_a_word_search(store: PostgresStore) -> float:
    """Return the time of the fastest of three searches for many frequent words."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        assert store.search_words(HERE, query_terms(" ".join(WORDS)), limit=9)
        times.append(time.perf_counter() - started)
    return min(times)


# ── texts ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["a\0b", "\ud800 half", "\ufdd0 mark", "\ufdd0", "plain"])
def test_every_text_comes_back_as_it_was_stored(store: PostgresStore, text: str) -> None:
    store.put(KEY, [prepare(text, [text, "more"], title=text, symbol=text, source=text)])
    stored = store.document(KEY, text)
    assert stored is not None
    assert (stored.uri, stored.title, stored.source) == (text, text, text)
    assert store.text(KEY, text) == f"{text}\n\nmore"
    assert [document.uri for document in store.documents(HERE)] == [text]
    assert list(store.known_files(KEY, text)) == [text]


def test_a_folder_also_has_files_whose_names_are_stored_in_another_form(
    store: PostgresStore,
) -> None:
    uris = ["a/b", "a/\udcff", "a\udcff/c"]
    store.put(KEY, [prepare(uri, ["x"], source="files") for uri in uris])
    below = store.known_files(KEY, "files", uris=["a"], below=True)
    odd_folder = store.known_files(KEY, "files", uris=["a\udcff"], below=True)
    assert sorted(below) == sorted(uris[:2])
    assert list(odd_folder) == [uris[2]]


# ── several users at once ─────────────────────────────────────────────────────────────────────────


def test_a_snapshot_does_not_see_later_writes(store: PostgresStore) -> None:
    put_text(store, "a.md", "apple")
    with store.snapshot() as view:
        before = view.generation(HERE)
        put_text(store, "b.md", "apple")
        assert [document.uri for document in view.documents(HERE)] == ["a.md"]
        assert len(view.search_words(HERE, ["appl"], limit=9)) == 1
        assert view.generation(HERE) == before
    assert len(store.search_words(HERE, ["appl"], limit=9)) == 2


def test_racing_writers_stay_exactly_within_a_quota(database_url: str) -> None:
    limits = Limits(chunks=10)

    def write(writer: int) -> int:
        stored = 0
        with PostgresStore(database_url) as store:
            for number in range(5):
                try:
                    store.put(KEY, [prepare(f"{writer}-{number}", ["text"])], limits=limits)
                    stored += 1
                except QuotaError:
                    pass
        return stored

    with PostgresStore(database_url) as store:
        store.ensure_collection(KEY)
        with ThreadPoolExecutor(6) as pool:
            counts = list(pool.map(write, range(6)))
        assert sum(counts) == 10
        assert store.collections(PROJECT)[0].chunks == 10


def test_a_named_lock_is_held_by_one_process_at_a_time(database_url: str) -> None:
    with PostgresStore(database_url) as first, PostgresStore(database_url) as second:
        with first.named_lock("memory", wait=1.0):
            with pytest.raises(StoreBusy), second.named_lock("memory", wait=0.05):
                pass
            with second.named_lock("another", wait=0.05):
                pass
        with second.named_lock("memory", wait=1.0):
            pass


def test_stores_that_open_an_empty_database_at_once_make_one_set_of_tables(
    postgres_server: PostgresServer,
) -> None:
    url = postgres_server.url(postgres_server.new_database())
    barrier = threading.Barrier(4)

    def open_at_once(_: int) -> str:
        barrier.wait()
        with PostgresStore(url) as store:
            store.ensure_collection(KEY)
            return store.collections(PROJECT)[0].uuid

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(open_at_once, range(4)))) == 1


# ── versions and copies ───────────────────────────────────────────────────────────────────────────


def test_older_tables_are_migrated_in_one_transaction(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_server.url(postgres_server.new_database())
    with PostgresStore(url) as store:
        store.ensure_collection(KEY)
        put_text(store, "a.md", "apple")

    def fail(db: Transaction) -> None:
        db.execute("ALTER TABLE documents DROP COLUMN title")
        raise RuntimeError("pulled the plug")

    def change(db: Transaction) -> None:
        db.execute("ALTER TABLE documents ADD COLUMN extra text NOT NULL DEFAULT ''")

    monkeypatch.setattr(schema, "NEWEST", NEWER)
    monkeypatch.setattr(schema, "MIGRATIONS", {NEWER - 1: fail})
    with pytest.raises(RuntimeError):
        PostgresStore(url)
    monkeypatch.setattr(schema, "MIGRATIONS", {NEWER - 1: change})
    with PostgresStore(url) as store:
        assert store.text(KEY, "a.md") == "apple"
        assert store.document(KEY, "a.md") is not None


def test_a_backup_is_a_home_that_sqlite_opens(store: PostgresStore, tmp_path: Path) -> None:
    store.put(KEY, [prepare("a\udcff.md", ["apple \0 pie", "tart"], metadata={"n": 1})])
    put_example_graph(store)
    space = store.vectors.ensure_space(KEY, SPACE).id
    texts = store.vectors.pending(HERE, space)
    store.vectors.put(PROJECT, space, [(text.text_id, b"abcd") for text in texts])
    target = store.backup(tmp_path / "copy.db")
    with SqliteStore(target) as copy:
        assert copy.documents(HERE) == store.documents(HERE)
        assert copy.document_chunks(KEY, "a\udcff.md") == store.document_chunks(
            KEY, "a\udcff.md"
        )
        assert copy.graph.nodes(HERE) == store.graph.nodes(HERE)
        assert copy.vectors.rows(PROJECT, space).after(0, 9) == store.vectors.rows(
            PROJECT, space
        ).after(0, 9)
        assert len(copy.search_words(HERE, ["appl"], limit=9)) == 1
        assert all(finding.ok for finding in copy.check())
        copy.put(KEY, [prepare("new.md", ["fresh"])])


def test_damage_is_found(store: PostgresStore, database_url: str) -> None:
    put_text(store, "a.md", "apple")
    with store._database.writing(PROJECT) as db:
        db.execute("UPDATE texts SET body = 'worm'")
    assert store.document_chunks(KEY, "a.md") == []
    findings = {finding.name: finding for finding in store.check()}
    assert "notes/a.md" in findings["documents"].detail
    put_text(store, "a.md", "apple")
    assert store.text(KEY, "a.md") == "apple"
    assert all(finding.ok for finding in store.check())
