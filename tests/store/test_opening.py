from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.errors import StoreBusy, StoreDamaged, StoreError, StoreTooNew
from ragstone.store.home_folder import network_type
from ragstone.store.lock import FileLock
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Scope

Start = Callable[..., subprocess.Popen[str]]
posix = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")


def test_stored_documents_are_there_after_opening_again(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection(CollectionKey("p", "c"))
        store.put(CollectionKey("p", "c"), [prepare("a.md", ["apple"])])
        generation = store.generation(Scope("p"))
    with SqliteStore(path) as store:
        assert store.text(CollectionKey("p", "c"), "a.md") == "apple"
        assert store.generation(Scope("p")) == generation
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "ragstone.db",
        "ragstone.db.lock",
    ]


@posix
def test_only_the_user_can_read_the_files(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "home" / "ragstone.db") as store:
        store.ensure_collection(CollectionKey("p", "c"))
        modes = {
            file.name: stat.S_IMODE(file.stat().st_mode)
            for file in (tmp_path / "home").iterdir()
        }
        assert set(modes.values()) == {0o600}
        assert {"ragstone.db", "ragstone.db-wal", "ragstone.db-shm"} <= set(modes)
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "content",
    [b"hello, this is no database" * 100, b"\0" * 5000, b"SQLite format 3\0" + b"x" * 9000],
)
def test_a_file_that_is_no_database_is_refused_and_left_alone(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "ragstone.db"
    path.write_bytes(content)
    with pytest.raises(StoreDamaged) as caught:
        SqliteStore(path)
    assert caught.value.hint
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.db"
    SqliteStore(path).close()
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("UPDATE meta SET value = 99 WHERE key = 'schema_version'")
    db.close()
    with pytest.raises(StoreTooNew, match="99") as caught:
        SqliteStore(path)
    assert "pip install" in caught.value.hint


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="folder"):
        SqliteStore(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError):
        SqliteStore(tmp_path / "file" / "ragstone.db")


READ_ONLY = """
import os, sys
from ragstone.errors import StoreError
from ragstone.store.sqlite import SqliteStore
os.chdir(sys.argv[1])
if os.getuid() == 0:  # nothing is read-only for root
    os.setgid(65534); os.setuid(65534)
try:
    SqliteStore("ragstone.db")
except StoreError as error:
    print(type(error).__name__, "RAGSTONE_RAG_STORE_PATH" in error.hint)
"""


@posix
@pytest.mark.parametrize("empty_file", [False, True])
def test_a_read_only_folder_without_a_store_is_one_clear_sentence(
    tmp_path: Path, empty_file: bool, start: Start
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    if empty_file:
        (home / "ragstone.db").touch(0o644)
    home.chmod(0o555)
    try:
        out, err = start(READ_ONLY, home).communicate(timeout=60)
    finally:
        home.chmod(0o755)
    assert out.split() == ["StoreError", "True"], err


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "ragstone.db")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.collections("p")
    with pytest.raises(StoreError, match="closed"):
        store.generation(Scope("p"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_store_is_not_used_across_a_fork(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                store.collections("p")
            except StoreError:
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert store.collections("p") == []


def test_network_file_systems_are_seen(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        f"/dev/x / ext4 rw 0 0\nserver:/x {tmp_path} nfs4 rw 0 0\n/dev/y {tmp_path}/local ext4 rw 0 0\n"
    )
    assert network_type(tmp_path / "home", mounts=mounts) == "nfs4"
    assert network_type(tmp_path / "local" / "home", mounts=mounts) == ""
    assert network_type(Path("/"), mounts=mounts) == ""
    assert network_type(tmp_path, mounts=tmp_path / "missing") == ""


def test_opening_to_read_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.db"
    SqliteStore(path).close()
    with FileLock(tmp_path / "ragstone.db.lock"), SqliteStore(path, wait=0.05) as store:
        assert store.collections("p") == []
        with pytest.raises(StoreBusy) as caught:
            store.ensure_collection(CollectionKey("p", "c"))
        assert caught.value.retryable


def test_the_lock_excludes_threads_and_other_locks_of_the_file(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", wait=0.02)
    with lock, lock:  # the thread that holds it may take it again
        with pytest.raises(StoreBusy):
            FileLock(tmp_path / "lock", wait=0.02).acquire()
        failed = []

        def other() -> None:
            try:
                lock.acquire()
            except StoreBusy as error:
                failed.append(error)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert len(failed) == 1
    with FileLock(tmp_path / "lock", wait=0.02):
        pass


def test_a_lock_works_after_its_file_was_deleted(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    waiting = FileLock(path, wait=5)
    with FileLock(path):
        thread = threading.Thread(target=waiting.acquire)
        thread.start()
        path.unlink()
    thread.join()
    assert path.exists()
    with pytest.raises(StoreBusy):
        FileLock(path, wait=0.02).acquire()


def test_threads_share_a_store(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        store.ensure_collection(CollectionKey("p", "c"))
        wrong: list[object] = []

        def write(number: int) -> None:
            for i in range(10):
                store.put(
                    CollectionKey("p", "c"),
                    [prepare(f"{number}-{i}.md", [f"apple {number} {i}"])],
                )
                if not store.search_words(Scope("p"), ["appl"], limit=500):
                    wrong.append(number)

        threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert store.collections("p")[0].documents == 40
        assert all(finding.ok for finding in store.check())
