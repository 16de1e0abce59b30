"""Full disks, failing disks, damaged files: a typed error, nothing acknowledged, nothing lost, never a crash."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.errors import RagstoneError, StoreDamaged, StoreError
from ragstone.store.failures import DiskFailed, explain
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Scope, Space

HERE = Scope("p")
Start = Callable[..., subprocess.Popen[str]]


def _filled(path: Path, documents: int = 30) -> SqliteStore:
    store = SqliteStore(path)
    store.ensure_collection(CollectionKey("p", "c"))
    store.put(
        CollectionKey("p", "c"),
        [prepare(f"{n}.md", [f"apple {n} " * 40, f"pear {n} " * 40]) for n in range(documents)],
    )
    info = store.vectors.ensure_space(CollectionKey("p", "c"), Space("fake", "m", 4))
    store.vectors.put(
        "p", info.id, [(text.text_id, b"1234") for text in store.vectors.pending(HERE, info.id)]
    )
    return store


def test_a_full_disk_fails_the_call_and_stored_data_is_intact(tmp_path: Path) -> None:
    with _filled(tmp_path / "ragstone.db", 3) as store:
        generation = store.generation(Scope("p"))
        writer = store._database._writer
        pages = writer.execute("PRAGMA page_count").fetchone()[0]
        writer.execute(f"PRAGMA max_page_count = {pages + 4}")
        with pytest.raises(StoreError, match="no room") as caught:
            store.put(
                CollectionKey("p", "c"),
                [prepare(f"big{n}.md", [f"{n} x{n} " * 3000]) for n in range(20)],
            )
        assert "disk space" in caught.value.hint
        assert store.generation(Scope("p")) == generation
        assert store.collections("p")[0].documents == 3
        assert len(store.search_words(HERE, ["appl"], limit=9)) == 3
        writer.execute("PRAGMA max_page_count = 1000000")
        store.put(CollectionKey("p", "c"), [prepare("big.md", ["orange " * 3000])])
        assert store.collections("p")[0].documents == 4
        assert all(finding.ok for finding in store.check())


DISK_FAILS = """
from ragstone.types import CollectionKey
import resource, sys
from pathlib import Path
from ragstone.errors import StoreError
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
store = SqliteStore(sys.argv[1])
store.ensure_collection(CollectionKey("p", "c"))
store.put(CollectionKey("p", "c"), [prepare("a.md", ["apple"])])
size = Path(sys.argv[1] + "-wal").stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20000, resource.RLIM_INFINITY))
for name in ("b.md", "c.md"):
    try:
        store.put(CollectionKey("p", "c"), [prepare(name, ["pear %d " % n * 500 for n in range(100)])])
        print("stored")
    except StoreError as error:
        print(error.code, error.message.split(":")[0], sep="|")
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(store.text(CollectionKey("p", "c"), "a.md"))
store.close()
"""


def test_after_the_disk_failed_nothing_is_acknowledged_until_it_is_opened_again(
    tmp_path: Path, start: Start
) -> None:
    pytest.importorskip("resource")
    path = tmp_path / "ragstone.db"
    out, err = start(DISK_FAILS, path).communicate(timeout=60)
    failed, refused, text = out.splitlines()
    assert failed.startswith("store|the disk failed"), err
    assert refused == "store|writing has stopped"
    assert text == "apple"
    with SqliteStore(path) as store:
        assert [row.uri for row in store.documents(HERE)] == ["a.md"]
        assert all(finding.ok for finding in store.check())
        store.put(CollectionKey("p", "c"), [prepare("b.md", ["pear"])])


def test_errors_of_sqlite_become_ours_by_their_code() -> None:
    def failure(code: int) -> StoreError:
        error = sqlite3.OperationalError("x")
        error.sqlite_errorcode = code
        return explain(error, "nowhere/at/all.db")

    assert failure(sqlite3.SQLITE_BUSY_SNAPSHOT).code == "store_busy"
    assert failure(sqlite3.SQLITE_CORRUPT_VTAB).code == "store_damaged"
    assert failure(sqlite3.SQLITE_NOTADB).code == "store_damaged"
    assert isinstance(failure(sqlite3.SQLITE_IOERR_FSYNC), DiskFailed)
    assert not isinstance(failure(sqlite3.SQLITE_FULL), DiskFailed)
    assert "writable" in failure(sqlite3.SQLITE_READONLY_DIRECTORY).hint
    assert explain(sqlite3.ProgrammingError("y"), "z").hint


def _use(store: SqliteStore) -> None:
    """Do a bit of everything."""
    for row in store.documents(HERE):
        store.text(CollectionKey("p", "c"), row.uri)
        store.document_chunks(CollectionKey("p", "c"), row.uri)
    store.search_words(HERE, ["appl", "pear"], limit=50)
    for info in store.vectors.spaces(HERE):
        store.vectors.rows("p", info.id).after(0, 1000)
        store.vectors.locate(HERE, info.id, store.vectors.ids_in(HERE, info.id))
    store.known_files(CollectionKey("p", "c"), "")
    store.put(
        CollectionKey("p", "c"), [prepare("new.md", ["plum"]), prepare("1.md", ["grape"])]
    )
    store.remove(CollectionKey("p", "c"), ["2.md"])


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "ragstone.db"
    _filled(path).close()
    return path


@pytest.mark.parametrize("number", range(40))
def test_a_damaged_file_is_an_error_or_a_finding_never_a_crash(
    sound: Path, tmp_path: Path, number: int
) -> None:
    chance = random.Random(number)
    path = tmp_path / "ragstone.db"
    content = bytearray(sound.read_bytes())
    if number % 3 == 0:
        del content[chance.randrange(1, len(content)) :]
    for _ in range(chance.choice((1, 10, 200))):
        at = chance.randrange(len(content))
        length = min(chance.randrange(1, 16), len(content) - at)
        content[at : at + length] = chance.randbytes(length)
    path.write_bytes(content)
    try:
        with SqliteStore(path) as store:
            assert store.check()
            _use(store)
    except RagstoneError as error:
        assert error.hint


def test_a_truncated_file_is_called_damaged(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "ragstone.db"
    path.write_bytes(sound.read_bytes()[:20_000])
    with pytest.raises(StoreDamaged) as caught, SqliteStore(path) as store:
        _use(store)
    assert "backup" in caught.value.hint


def test_a_check_finds_changes_by_other_programs(sound: Path, tmp_path: Path) -> None:
    statements = {
        "documents": "UPDATE texts SET body = 'forged' WHERE id = 1",
        "counts": "UPDATE collections SET chunks = 7",
        "words": "DELETE FROM words_docsize WHERE id = 1",
        "vectors": "UPDATE vectors SET data = x'00' WHERE id = 1",
        "references": "UPDATE chunks SET document = 999 WHERE id = 1",
    }
    for name, statement in statements.items():
        path = tmp_path / f"{name}.db"
        shutil.copy(sound, path)
        db = sqlite3.connect(path, isolation_level=None)
        db.execute(statement)
        db.close()
        with SqliteStore(path) as store:
            assert name in {finding.name for finding in store.check() if not finding.ok}
