"""Looking after the file: checks of every invariant, compaction, verified copies."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from ragstone.errors import InputError, StoreBusy, StoreDamaged, StoreError
from ragstone.store import disk, documents, graph, texts, vectors
from ragstone.store.codec import fresh_uuid
from ragstone.store.connection import Database
from ragstone.store.failures import READ_AGAIN, RESTORE, explain, translated
from ragstone.store.words import derived as words_derived
from ragstone.store.words import fts5_index as words_index
from ragstone.types import Finding

_SAFE_LOG: Final = (3, 51, 3)
_SECURE_PATIENCE: Final = 30.0
_NAMED: Final = 20
_ORPHANS: Final = "SELECT id FROM texts WHERE id NOT IN (SELECT text_id FROM chunks)"
_TOUCHED_SPACES: Final = "SELECT DISTINCT v.space FROM vectors v WHERE v.text_id NOT IN (SELECT text_id FROM chunks)"
_WRONG_COUNTS: Final = """
    SELECT count(*) FROM collections c
    WHERE c.documents != (SELECT count(*) FROM documents d WHERE d.collection = c.id)
       OR c.chunks != (SELECT count(*) FROM chunks k WHERE k.collection = c.id)"""
_STRAY_CHUNKS: Final = """
    SELECT count(*) FROM chunks c JOIN documents d ON d.id = c.document WHERE d.collection != c.collection"""
_WRONG_WIDTHS: Final = """
    SELECT count(*) FROM vectors v JOIN spaces s ON s.id = v.space WHERE length(v.data) IS NOT s.width"""
_FOREIGN_VECTORS: Final = """
    SELECT count(*) FROM vectors v JOIN spaces s ON s.id = v.space JOIN texts t ON t.id = v.text_id
    WHERE t.project != s.project"""
_UNUSED_VECTORS: Final = "SELECT count(*) FROM vectors WHERE text_id NOT IN (SELECT text_id FROM chunks)"
_SIDE_FILES: Final = ("-journal", "-wal", "-shm")

Check = Callable[[sqlite3.Connection], str]
"""Returns what is wrong, or nothing."""


def check(database: Database) -> list[Finding]:
    """Return what a look at every invariant found; damage is a finding, not an error."""
    checks: tuple[tuple[str, str, Check, str], ...] = (
        ("file", "every page of the file is sound", _pages, RESTORE),
        ("references", "every row belongs to something", _references, RESTORE),
        ("counts", "the counts of every collection are right", _counts, RESTORE),
        ("documents", "the text of every document is whole", _documents, READ_AGAIN),
        ("words", "every chunk can be found by words", _words, "run `ragstone compact`"),
        ("vectors", "every vector has the right length and owner", _vectors, "run `ragstone reembed`"),
        ("graph", "every part of the graph has its owner", graph.rows.check, "run `ragstone sync --full`"),
    )
    findings = [_look(database, *one) for one in checks]
    return [*findings, _log(database), *_private(database)]


def _look(database: Database, name: str, fine: str, test: Check, hint: str) -> Finding:
    try:
        with database.reading() if database.read_only else _rolled_back(database) as db:
            wrong = test(db)
    except StoreBusy:
        raise
    except StoreError as error:
        return Finding(name, False, error.message, error.hint)
    return Finding(name, False, wrong, hint) if wrong else Finding(name, True, fine)


@contextmanager
def _rolled_back(database: Database) -> Iterator[sqlite3.Connection]:
    """Give the writer in a transaction that changes nothing: FTS5 checks itself by an INSERT."""
    with database.exclusive() as db:
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")


def _pages(db: sqlite3.Connection) -> str:
    rows = [row[0] for row in db.execute("PRAGMA quick_check(5)")]
    return "" if rows == ["ok"] else "; ".join(str(row) for row in rows)


def _references(db: sqlite3.Connection) -> str:
    broken = db.execute("PRAGMA foreign_key_check").fetchall()
    stray = db.execute(_STRAY_CHUNKS).fetchone()[0]
    return f"{len(broken) + stray} rows point at something that is not there" if broken or stray else ""


def _counts(db: sqlite3.Connection) -> str:
    wrong = db.execute(_WRONG_COUNTS).fetchone()[0]
    return f"{wrong} collections count wrongly" if wrong else ""


def _documents(db: sqlite3.Connection) -> str:
    wrong = list(documents.wrong_documents(db))
    named = ", ".join(wrong[:_NAMED]) + (", …" if len(wrong) > _NAMED else "")
    return f"{len(wrong)} documents are not what was stored: {named}" if wrong else ""


def _words(db: sqlite3.Connection) -> str:
    if not db.execute("PRAGMA query_only").fetchone()[0]:
        db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    return words_index.consistent(db)


def _vectors(db: sqlite3.Connection) -> str:
    wrong = db.execute(_WRONG_WIDTHS).fetchone()[0]
    foreign = db.execute(_FOREIGN_VECTORS).fetchone()[0]
    return f"{wrong} vectors have a wrong length, {foreign} a wrong owner" if wrong or foreign else ""


def _log(database: Database) -> Finding:
    if database.path is None:
        return Finding("log", True, "in memory: nothing is kept")
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info >= _SAFE_LOG:
        return Finding(
            "log", True, f"SQLite {version}: checkpoints cannot race writes, and our write lock guards them too"
        )
    return Finding("log", True, f"SQLite {version}: our write lock guards checkpoints against this version's race")


def _private(database: Database) -> list[Finding]:
    if database.path is None or os.name != "posix":
        return []
    if database.path.stat().st_mode & 0o077:
        return [Finding("private", False, f"other users can read {database.path}", f"chmod 600 {database.path}")]
    return [Finding("private", True, "only this user can read the file")]


def compact(database: Database, *, secure: bool) -> int:
    """Give back the room of what was removed and return the bytes freed."""
    with database.exclusive() as db:
        before = _size(database, db)
        if secure:
            db.execute("PRAGMA secure_delete = ON")
        try:
            with database.writing():
                _drop_orphans(db)
                texts.squeeze(db)
                if secure or words_index.consistent(db) or not words_index.current(db):
                    words_index.rebuild(db)
                words_index.optimise(db)
                if secure:
                    words_derived.new_epoch(db)
            db.execute("VACUUM")
            done = database.checkpoint(db, wait=_SECURE_PATIENCE if secure else 0.0)
        finally:
            db.execute("PRAGMA secure_delete = OFF")
        if secure and not done:
            raise StoreBusy("a reader still holds what was removed", hint="run it again when other programs are done")
        return max(0, before - _size(database, db))


def _drop_orphans(db: sqlite3.Connection) -> None:
    for (space,) in db.execute(_TOUCHED_SPACES).fetchall():
        db.execute("UPDATE spaces SET epoch = ? WHERE id = ?", (fresh_uuid(), space))
    db.execute("DELETE FROM vectors WHERE text_id NOT IN (SELECT text_id FROM chunks)")
    db.execute("DELETE FROM texts WHERE id NOT IN (SELECT text_id FROM chunks)")
    vectors.free_widths(db)


def _size(database: Database, db: sqlite3.Connection) -> int:
    pages = db.execute("PRAGMA page_count").fetchone()[0] * db.execute("PRAGMA page_size").fetchone()[0]
    return int(pages) + (disk.size_of(database.wal) if database.wal else 0)


def backup(database: Database, target: Path) -> Path:
    """Write a copy, look at it with fresh eyes, and return its path."""
    target = Path(target)
    # SQLite would take a log or journal of another database that lies beside the copy for the copy's own.
    for path in (target, *(target.with_name(target.name + suffix) for suffix in _SIDE_FILES)):
        if os.path.lexists(path):
            raise _taken(path)
    # A name that nobody else has; should somebody have it after all, `copy` fails and the file stays theirs.
    draft = target.with_name(f".ragstone-{fresh_uuid()}.part")
    try:
        with database.reading() as db:
            copy(db, draft)
        _verify(draft)
        _name(draft, target)
    except FileExistsError as error:
        raise _taken(target) from error
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror}", hint="choose another folder") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return target


def _taken(target: Path) -> InputError:
    return InputError(f"{target} is already there", hint="choose a name that is free")


def _name(draft: Path, target: Path) -> None:
    """Give a finished draft its name; `FileExistsError` if somebody has taken it meanwhile."""
    try:
        os.link(draft, target)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # a file system without links, where a look beforehand must do
        if os.path.lexists(target):
            raise FileExistsError(target) from None
        draft.rename(target)


def copy(db: sqlite3.Connection, target: Path) -> None:
    """Copy a database into a new private file through SQLite itself."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with translated(str(target)), closing(sqlite3.connect(target, isolation_level=None)) as other:
        db.backup(other)
        # One file without side files; and indexes made from the original do not take the copy for it.
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("UPDATE spaces SET epoch = epoch || '+'")
        words_derived.new_epoch(other)


def _verify(path: Path) -> None:
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            wrong = _pages(db) or _references(db)
    except sqlite3.Error as error:
        raise explain(error, str(path)) from error
    if wrong:
        raise StoreDamaged(f"the copy is not sound: {wrong}", hint="run `ragstone doctor`")
