"""Maintenance of the file: checks of every invariant, compaction, and verified copies."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from ragstone.errors import InputError, StoreBusy, StoreDamaged, StoreError
from ragstone.store import catalog, vectors
from ragstone.store.codec import fresh_uuid, load, load_gaps, load_marks, unpack
from ragstone.store.connection import Database
from ragstone.store.failures import READ_AGAIN, RESTORE, explain, translated
from ragstone.store.fetch import Row, fetch_column, fetch_value
from ragstone.store.graph import writer as graph_writer
from ragstone.store.reader import join_text
from ragstone.store.rows import sound
from ragstone.store.unfinished_copies import new_draft, remove_draft, remove_leftovers
from ragstone.store.words import derived_index, fts5
from ragstone.text.counts import plural
from ragstone.types import Document, Finding

_SAFE_LOG: Final = (3, 51, 3)
_WAIT_FOR_READERS: Final = 30.0
_MOST_NAMES: Final = 20
_SPACES_WITH_UNUSED: Final = (
    "SELECT DISTINCT space FROM vectors WHERE text_id NOT IN (SELECT text_id FROM chunks)"
)
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
_SIDE_FILES: Final = ("-journal", "-wal", "-shm")


# ── checks ────────────────────────────────────────────────────────────────────────────────────────
_ALL_DOCUMENTS: Final = """
    SELECT col.name, d.id, d.gaps, d.characters, d.hash, d.uri, d.kind, d.language, d.title, d.metadata, d.marks,
           d.beside
    FROM documents d JOIN collections col ON col.id = d.collection ORDER BY d.collection, d.uri"""
_DOCUMENTS_WITH_TEXTS: Final = (
    "SELECT document FROM chunks WHERE text_id IN (SELECT value FROM json_each(?))"
)
_TEXTS: Final = "SELECT id, hash, CAST(body AS BLOB) FROM texts"


class _Check(NamedTuple):
    """One invariant: its name, the message if it holds, the function that finds problems, and the remedy."""

    name: str
    success: str
    find_problem: Callable[[sqlite3.Connection], str]
    remedy: str


def check(database: Database) -> list[Finding]:
    """Check every invariant and return the findings; damage is a finding, not an error."""
    findings = [_run_check(database, invariant) for invariant in _CHECKS]
    return [*findings, _check_log(database), *_check_permissions(database)]


def _run_check(database: Database, invariant: _Check) -> Finding:
    try:
        with database.reading() if database.read_only else _rolled_back(database) as db:
            problem = invariant.find_problem(db)
    except StoreBusy:
        raise
    except StoreError as error:
        return Finding(invariant.name, False, error.message, error.hint)
    if problem:
        return Finding(invariant.name, False, problem, invariant.remedy)
    return Finding(invariant.name, True, invariant.success)


@contextmanager
def _rolled_back(database: Database) -> Iterator[sqlite3.Connection]:
    """Give the writer in a transaction that is rolled back: FTS5 checks itself by an INSERT."""
    with database.exclusive() as db:
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")


def _check_pages(db: sqlite3.Connection) -> str:
    problems = fetch_column(db, "PRAGMA quick_check(5)")
    return "" if problems == ["ok"] else "; ".join(map(str, problems))


def _check_references(db: sqlite3.Connection) -> str:
    broken = len(db.execute("PRAGMA foreign_key_check").fetchall())
    broken += fetch_value(db, _STRAY_CHUNKS)
    return f"{broken} rows point at something that is not there" if broken else ""


def _check_counts(db: sqlite3.Connection) -> str:
    wrong = fetch_value(db, _WRONG_COUNTS)
    return f"{plural(wrong, 'collection counts', 'collections count')} wrongly" if wrong else ""


def _check_documents(db: sqlite3.Connection) -> str:
    damaged = list(_damaged_documents(db))
    if not damaged:
        return ""
    documents = plural(len(damaged), "document is", "documents are")
    names = ", ".join(damaged[:_MOST_NAMES])
    more = ", …" if len(damaged) > _MOST_NAMES else ""
    return f"{documents} not what was stored: {names}{more}"


def _damaged_documents(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the collection and uri of every document that cannot be read or does not match its hash."""
    damaged_texts = catalog.id_list(_damaged_texts(db))
    with_damaged_text = set(fetch_column(db, _DOCUMENTS_WITH_TEXTS, damaged_texts))
    for collection, number, *row in db.execute(_ALL_DOCUMENTS).fetchall():
        if number in with_damaged_text or not _is_intact(db, number, row):
            uri = row[3]
            if not isinstance(uri, str):
                uri = bytes(uri).decode(errors="replace")
            yield f"{collection}/{uri}"


def _is_intact(db: sqlite3.Connection, number: int, row: Row) -> bool:
    gaps, length, stored_hash, uri, kind, language, title, metadata, marks, beside = row
    try:
        rebuilt = Document(
            uri=unpack(uri),
            text=join_text(db, number, load_gaps(gaps), length, (0, length)),
            kind=unpack(kind),
            language=unpack(language),
            title=unpack(title),
            metadata=load(metadata),
            marks=load_marks(marks),
            beside=unpack(beside),
        )
    except StoreDamaged:
        return False
    return bool(rebuilt.hash == stored_hash)


def _damaged_texts(db: sqlite3.Connection) -> list[int]:
    """Return the ids of all damaged texts."""
    rows = db.execute(_TEXTS)
    return [number for number, key, body in rows if sound(key, body) is None]


def _check_words(db: sqlite3.Connection) -> str:
    if not fetch_value(db, "PRAGMA query_only"):
        db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    return fts5.find_differences(db)


def _check_vectors(db: sqlite3.Connection) -> str:
    wrong = fetch_value(db, _WRONG_WIDTHS)
    foreign = fetch_value(db, _FOREIGN_VECTORS)
    if not wrong and not foreign:
        return ""
    return f"{wrong} vectors have a wrong length, {foreign} a wrong owner"


_CHECKS: Final = (
    _Check("file", "every page of the file is intact", _check_pages, RESTORE),
    _Check("references", "every row belongs to something", _check_references, RESTORE),
    _Check("counts", "the counts of every collection are right", _check_counts, RESTORE),
    _Check("documents", "the text of every document is complete", _check_documents, READ_AGAIN),
    _Check(
        "words", "every chunk can be found by words", _check_words, "run `ragstone compact`"
    ),
    _Check(
        "vectors",
        "every vector has the right length and owner",
        _check_vectors,
        "run `ragstone reembed`",
    ),
    _Check(
        "graph",
        "every part of the graph has its owner",
        graph_writer.find_problem,
        "run `ragstone sync --full`",
    ),
)


def _check_log(database: Database) -> Finding:
    if database.path is None:
        return Finding("log", True, "in memory: nothing is kept")
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info >= _SAFE_LOG:
        return Finding(
            "log",
            True,
            f"SQLite {version}: checkpoints cannot race writes, and our write lock guards them too",
        )
    return Finding(
        "log",
        True,
        f"SQLite {version}: our write lock guards checkpoints against this version's race",
    )


def _check_permissions(database: Database) -> list[Finding]:
    if database.path is None or os.name != "posix":
        return []
    if database.path.stat().st_mode & 0o077:
        return [
            Finding(
                "private",
                False,
                f"other users can read {database.path}",
                f"chmod 600 {database.path}",
            )
        ]
    return [Finding("private", True, "only this user can read the file")]


# ── compaction ────────────────────────────────────────────────────────────────────────────────────


def compact(database: Database, *, secure: bool) -> int:
    """Free the space of removed rows and return the bytes freed. `secure` also overwrites them."""
    with database.exclusive() as db:
        size_before = _file_size(database, db)
        if secure:
            db.execute("PRAGMA secure_delete = ON")
        try:
            with database.writing():
                _remove_unused(db)
                if secure or fts5.find_differences(db) or not fts5.is_current(db):
                    fts5.rebuild(db)
                fts5.optimise(db)
                if secure:
                    derived_index.new_epoch(db)
            db.execute("VACUUM")
            is_complete = database.checkpoint(db, wait=_WAIT_FOR_READERS if secure else 0.0)
        finally:
            db.execute("PRAGMA secure_delete = OFF")
        if secure and not is_complete:
            raise StoreBusy(
                "a reader still holds what was removed",
                hint="run it again when other programs are done",
            )
        return max(0, size_before - _file_size(database, db))


def _remove_unused(db: sqlite3.Connection) -> None:
    """Remove texts that no chunk has, and their vectors."""
    for space in fetch_column(db, _SPACES_WITH_UNUSED):
        db.execute("UPDATE spaces SET epoch = ? WHERE id = ?", (fresh_uuid(), space))
    db.execute("DELETE FROM vectors WHERE text_id NOT IN (SELECT text_id FROM chunks)")
    db.execute("DELETE FROM texts WHERE id NOT IN (SELECT text_id FROM chunks)")
    vectors.free_widths(db)


def _file_size(database: Database, db: sqlite3.Connection) -> int:
    pages: int = fetch_value(db, "PRAGMA page_count")
    page_size: int = fetch_value(db, "PRAGMA page_size")
    return pages * page_size + database.log_bytes


# ── copies ────────────────────────────────────────────────────────────────────────────────────────


def backup(database: Database, target: Path) -> Path:
    """Write a copy to a new file, open it again to verify it, and return its path."""
    with new_copy(target) as draft, database.reading() as db:
        copy(db, draft)
    return target


@contextmanager
def new_copy(target: Path) -> Iterator[Path]:
    """Give the path of a draft; after the block it is verified and gets the name of the target, which must be free."""
    # SQLite would use a log or journal of that name as the log of the copy.
    for path in (target, *(target.with_name(target.name + suffix) for suffix in _SIDE_FILES)):
        if os.path.lexists(path):
            raise _already_exists(path)
    remove_leftovers(target.parent)
    draft = new_draft(target.parent)
    try:
        yield draft
        _verify(draft)
        _rename_to_new(draft, target)
    except FileExistsError as error:
        raise _already_exists(target) from error
    except OSError as error:
        raise StoreError(
            f"cannot write {target}: {error.strerror}", hint="choose another folder"
        ) from error
    finally:
        remove_draft(draft)


def copy(db: sqlite3.Connection, target: Path) -> None:
    """Copy a database into a new private file through SQLite itself."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with (
        translated(str(target)),
        closing(sqlite3.connect(target, isolation_level=None)) as other,
    ):
        db.backup(other)
        # A single file without side files, and with epochs that no index of the original has.
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("UPDATE spaces SET epoch = epoch || '+'")
        derived_index.new_epoch(other)


def _rename_to_new(draft: Path, target: Path) -> None:
    """Give a draft its final name; `FileExistsError` if another process has used the name."""
    try:
        os.link(draft, target)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # a file system without links
        if os.path.lexists(target):
            raise FileExistsError(target) from None
        draft.rename(target)


def _already_exists(target: Path) -> InputError:
    return InputError(f"{target} is already there", hint="choose a name that is free")


def _verify(path: Path) -> None:
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            problem = _check_pages(db) or _check_references(db)
    except sqlite3.Error as error:
        raise explain(error, str(path)) from error
    if problem:
        raise StoreDamaged(f"the copy is not intact: {problem}", hint="run `ragstone doctor`")
