from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from ragstone.errors import InputError, StoreError
from ragstone.store import maintenance
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Scope, Space
from tests.support.written import everything

HERE = Scope("p")


@pytest.mark.parametrize("times", [1, 40])
def test_removed_text_is_nowhere_in_the_files_after_a_secure_compaction(
    times: int, tmp_path: Path
) -> None:
    secrets = [f"zq{n:03d}secretword" for n in range(200)]
    with SqliteStore(tmp_path / "ragstone.db") as store:
        store.ensure_collection(CollectionKey("p", "c"))
        numbered = enumerate(secrets)
        store.put(
            CollectionKey("p", "c"),
            [
                prepare(f"{n}.md", [f"keep{n}me and {secret} " * times + secret])
                for n, secret in numbered
            ],
        )
        info = store.vectors.ensure_space(CollectionKey("p", "c"), Space("fake", "m", 16))
        vectors = [
            (text.text_id, b"v" + text.text.split()[-1].encode())
            for text in store.vectors.pending(HERE, info.id)
        ]
        assert store.vectors.put("p", info.id, vectors) == 200
        store.put(
            CollectionKey("p", "c"), [prepare(f"{n}.md", [f"keep{n}me"]) for n in range(100)]
        )
        store.remove(CollectionKey("p", "c"), [f"{n}.md" for n in range(100, 190)])
        before = everything(tmp_path)
        assert all(secret.encode() in before for secret in secrets)
        store.compact(secure=True)
    content = everything(tmp_path)
    assert [secret for secret in secrets[:190] if secret.encode() in content] == []
    assert all(secret.encode() in content for secret in secrets[190:])
    assert all(f"keep{n}me".encode() in content for n in (0, 99, 190))


def test_compacting_gives_room_back(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection(CollectionKey("p", "c"))
        store.put(
            CollectionKey("p", "c"),
            [prepare(f"{n}.md", [f"text {n} " * 200]) for n in range(300)],
        )
        store.remove(CollectionKey("p", "c"), [f"{n}.md" for n in range(290)])
        before = sum(file.stat().st_size for file in tmp_path.iterdir())
        freed = store.compact()
        after = sum(
            file.stat().st_size for file in tmp_path.iterdir() if not file.name.endswith("-shm")
        )
        assert freed > before / 2
        assert after < before / 2
        assert len(store.search_words(HERE, ["text"], limit=99)) == 10


def test_compacting_repairs_a_word_index_that_lost_rows(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        store.ensure_collection(CollectionKey("p", "c"))
        store.put(CollectionKey("p", "c"), [prepare("a.md", ["apple", "pear"])])
        store._database._writer.execute("INSERT INTO words (words) VALUES ('delete-all')")
        assert [finding.name for finding in store.check() if not finding.ok] == ["words"]
        store.compact()
        assert all(finding.ok for finding in store.check())
        assert len(store.search_words(HERE, ["appl"], limit=9)) == 1


def test_a_backup_is_a_whole_store_in_one_private_file(tmp_path: Path) -> None:
    home, target = tmp_path / "home", tmp_path / "copy.db"
    with SqliteStore(home / "ragstone.db") as store:
        store.ensure_collection(CollectionKey("p", "c"))
        store.put(CollectionKey("p", "c"), [prepare("a.md", ["apple"])])
        info = store.vectors.ensure_space(CollectionKey("p", "c"), Space("fake", "m", 4))
        epoch = store.vectors.rows("p", info.id).epoch
        assert store.backup(target) == target
        store.put(CollectionKey("p", "c"), [prepare("b.md", ["later"])])
    assert sorted(file.name for file in tmp_path.iterdir()) == ["copy.db", "home"]
    if os.name == "posix":
        assert target.stat().st_mode & 0o077 == 0
    with SqliteStore(target) as copy:
        assert [row.uri for row in copy.documents(HERE)] == ["a.md"]
        assert all(finding.ok for finding in copy.check())
        assert copy.vectors.rows("p", info.id).epoch != epoch, (
            "an index made from the original must not be taken for its own"
        )


def test_a_backup_refuses_existing_files_and_unwritable_folders(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("mine")
    with SqliteStore(":memory:") as store:
        with pytest.raises(InputError):
            store.backup(target)
        with pytest.raises(StoreError):
            store.backup(tmp_path / "no" / "such" / "folder")
    assert target.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [target]


def test_a_backup_touches_no_other_file(tmp_path: Path) -> None:
    for name in ("copy.db.part", ".copy.db.part", "copy.db-journal.part"):
        (tmp_path / name).write_text("mine")
    before = sorted(tmp_path.iterdir())
    with SqliteStore(":memory:") as store:
        store.backup(tmp_path / "copy.db")
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "copy.db"])
    assert {path.read_text() for path in before} == {"mine"}


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_during_a_backup_is_not_overwritten(
    tmp_path: Path, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "copy.db"
    copy = maintenance.copy

    def copy_and_be_overtaken(db: sqlite3.Connection, draft: Path) -> None:
        copy(db, draft)
        target.write_text("mine")

    def no_links(*_: object) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(maintenance, "copy", copy_and_be_overtaken)
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    with SqliteStore(":memory:") as store, pytest.raises(InputError, match="already there"):
        store.backup(target)
    assert target.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [target]


def test_a_backup_works_on_a_file_system_without_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(os, "link", no_links)
    with SqliteStore(":memory:") as store:
        store.backup(tmp_path / "copy.db")
    assert [path.name for path in tmp_path.iterdir()] == ["copy.db"]


def test_the_check_says_which_rules_guard_the_log(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        (log,) = [finding for finding in store.check() if finding.name == "log"]
    assert "SQLite 3." in log.detail


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_the_check_sees_a_file_that_others_can_read(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        (tmp_path / "ragstone.db").chmod(0o644)
        assert "private" in {finding.name for finding in store.check() if not finding.ok}


def test_the_log_does_not_grow_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.store.connection.CHECKPOINT_BYTES", 200_000)
    with SqliteStore(tmp_path / "ragstone.db") as store:
        store.ensure_collection(CollectionKey("p", "c"))
        for n in range(30):
            store.put(CollectionKey("p", "c"), [prepare(f"{n}.md", [f"some text {n} " * 400])])
        assert (tmp_path / "ragstone.db-wal").stat().st_size < 600_000


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm"])
def test_a_backup_next_to_the_log_of_another_database_is_refused(
    tmp_path: Path, suffix: str
) -> None:
    side_file = tmp_path / f"copy.db{suffix}"
    side_file.write_text("mine")
    with (
        SqliteStore(":memory:") as store,
        pytest.raises(InputError, match=f"copy.db{suffix} is already there"),
    ):
        store.backup(tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == [side_file]
    assert side_file.read_text() == "mine"
