"""An index that can only be read answers as ever; every write is one clear sentence, and nothing is changed."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ragstone.store import schema
from ragstone.store.home_folder import make_home
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Scope, Space

Start = Callable[..., subprocess.Popen[str]]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")

USE = """
import json, os, sys
from pathlib import Path
os.chdir(sys.argv[1])
from ragstone.errors import RagstoneError
from ragstone.store.home_folder import make_home
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Scope, Space
if os.getuid() == 0:  # nothing is read-only for root
    os.setgid(65534); os.setuid(65534)
report = {}
HERE = Scope("p")
try:
    store = SqliteStore(make_home(Path(".ragstone")) / "ragstone.db")
    report["found"] = len(store.search_words(HERE, ["appl"], limit=9))
    report["uris"] = [row.uri for row in store.documents(HERE)]
    report["text"] = store.text(CollectionKey("p", "c"), "a.md")
    report["generation"] = store.generation(HERE) > 0
    (space,) = store.vectors.spaces(HERE)
    report["vectors"] = [row.data.decode() for row in store.vectors.rows("p", space.id).after(0, 9)]
    report["collection"] = store.ensure_collection(CollectionKey("p", "c")).name
    report["wrong"] = [finding.name for finding in store.check() if not finding.ok]
    report["backup"] = store.backup(Path(sys.argv[2]) / "copy.db").exists()
    report["refused"] = []
    for write in (
        lambda: store.put(CollectionKey("p", "c"), [prepare("b.md", ["pear"])]),
        lambda: store.ensure_collection(CollectionKey("p", "new")),
        lambda: store.remove(CollectionKey("p", "c"), ["a.md"]),
        lambda: store.state.update_collection_state(CollectionKey("p", "c"), synced_at=1.0),
        lambda: store.vectors.remove("p", space.id),
        lambda: store.compact(),
        lambda: store.drop_collection(CollectionKey("p", "c")),
    ):
        try:
            write()
        except RagstoneError as error:
            report["refused"].append([error.code, "RAGSTONE_RAG_STORE_PATH" in error.hint])
    store.close()
except RagstoneError as error:
    report["error"] = str(error)
print(json.dumps(report))
"""
ANSWERS = {
    "found": 1, "uris": ["a.md"], "text": "apple", "generation": True, "vectors": ["1234"], "collection": "c",
    "wrong": ["private"], "backup": True, "refused": [["store", True]] * 7,
}  # fmt: skip


@pytest.fixture
def room() -> Iterator[Path]:
    """Return a folder that others may look into, as they may not into those of pytest, with an index in it."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    home = make_home(folder / ".ragstone")
    with SqliteStore(home / "ragstone.db") as store:
        store.ensure_collection(CollectionKey("p", "c"))
        store.put(CollectionKey("p", "c"), [prepare("a.md", ["apple"])])
        info = store.vectors.ensure_space(CollectionKey("p", "c"), Space("fake", "m", 4))
        store.vectors.put(
            "p",
            info.id,
            [(text.text_id, b"1234") for text in store.vectors.pending(Scope("p"), info.id)],
        )
    yield folder
    home.chmod(0o700)
    shutil.rmtree(folder)


def _close(room: Path, *, folder: int = 0o555, file: int = 0o444) -> None:
    """Take the right to write, and give the rest to everybody: the tests may run as root."""
    home = room / ".ragstone"
    for path in home.iterdir():
        path.chmod(file)
    home.chmod(folder)


def _use(start: Start, room: Path) -> dict[str, Any]:
    spare = room / "spare"
    spare.mkdir()
    spare.chmod(0o777)
    out, err = start(USE, room, spare).communicate(timeout=60)
    assert out, err
    report: dict[str, Any] = json.loads(out)
    return report


@pytest.mark.parametrize(("folder", "file"), [(0o555, 0o444), (0o555, 0o666), (0o777, 0o444)])
def test_a_read_only_store_can_be_read(
    room: Path, start: Start, folder: int, file: int
) -> None:
    before = (room / ".ragstone" / "ragstone.db").read_bytes()
    _close(room, folder=folder, file=file)
    assert _use(start, room) == ANSWERS
    assert (room / ".ragstone" / "ragstone.db").read_bytes() == before


def test_an_older_store_that_can_only_be_read_is_refused_with_the_reason(
    room: Path, start: Start
) -> None:
    with closing(
        sqlite3.connect(room / ".ragstone" / "ragstone.db", isolation_level=None)
    ) as db:
        db.execute(
            "UPDATE meta SET value = ? WHERE key = 'schema_version'", (schema.NEWEST - 1,)
        )
    _close(room)
    assert "was written by an older Ragstone and can only be read" in _use(start, room)["error"]


CRASH = """
from ragstone.types import CollectionKey
import os, sys
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
store = SqliteStore(sys.argv[1])
store.put(CollectionKey("p", "c"), [prepare("z.md", ["apple zest"])])
os._exit(0)
"""


def test_a_log_that_a_dead_writer_left_is_read_too(room: Path, start: Start) -> None:
    start(CRASH, room / ".ragstone" / "ragstone.db").communicate(timeout=60)
    _close(room)
    report = _use(start, room)
    assert (report["found"], report["uris"]) == (2, ["a.md", "z.md"])


def test_a_log_that_cannot_be_read_is_refused(room: Path, start: Start) -> None:
    start(CRASH, room / ".ragstone" / "ragstone.db").communicate(timeout=60)
    (room / ".ragstone" / "ragstone.db-shm").unlink()
    _close(room)
    assert "log" in _use(start, room)["error"]


def test_an_unreadable_file_is_refused(room: Path, start: Start) -> None:
    _close(room, file=0o200)
    assert "cannot read" in _use(start, room)["error"]


WATCH = """
from ragstone.types import CollectionKey
import os, sys, time
from ragstone.store.sqlite import SqliteStore
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
store = SqliteStore(sys.argv[1])
print(store.text(CollectionKey("p", "c"), "a.md"), flush=True)
while not os.path.exists(sys.argv[2]):
    time.sleep(0.01)
print(store.text(CollectionKey("p", "c"), "a.md"), flush=True)
"""


@pytest.mark.skipif(
    os.name != "posix" or os.getuid() != 0, reason="needs one who may write and one who may not"
)
def test_a_read_only_process_sees_later_writes_of_another(room: Path, start: Start) -> None:
    path = room / ".ragstone" / "ragstone.db"
    _close(room)
    go = room / "go"
    watcher = start(WATCH, path, go)
    assert watcher.stdout is not None
    assert watcher.stdout.readline().strip() == "apple"
    with SqliteStore(path) as store:
        store.put(CollectionKey("p", "c"), [prepare("a.md", ["pear"])])
    go.touch()
    out, err = watcher.communicate(timeout=60)
    assert out.strip() == "pear", err
