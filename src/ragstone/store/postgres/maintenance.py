"""Checks the invariants of the database, and removes rows that nothing uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from ragstone.errors import StoreDamaged, StoreError
from ragstone.store.codec import fresh_uuid, load, load_marks
from ragstone.store.failures import READ_AGAIN, RESTORE
from ragstone.store.fetch import Row, fetch_column, fetch_value
from ragstone.store.postgres import document_text, vectors
from ragstone.store.postgres.connection import PostgresDatabase, Transaction
from ragstone.text.counts import plural
from ragstone.types import Document, Finding

_MOST_NAMES: Final = 20
_PAGE: Final = 1000
_WRONG_COUNTS: Final = """
    SELECT count(*) FROM collections c
    WHERE c.documents != (SELECT count(*) FROM documents d WHERE d.collection = c.id)
       OR (c.chunks, c.terms) != (
           SELECT count(*), coalesce(sum(k.terms), 0) FROM chunks k WHERE k.collection = c.id)"""
_STRAY_CHUNKS: Final = """
    SELECT count(*) FROM chunks c JOIN documents d ON d.id = c.document JOIN texts t ON t.id = c.text_id
    WHERE d.collection != c.collection OR d.project != c.project OR t.project != c.project"""
_STRAY_DOCUMENTS: Final = """
    SELECT count(*) FROM documents d JOIN collections c ON c.id = d.collection WHERE c.project != d.project"""
_CHUNKS_WITHOUT_TERMS: Final = """
    SELECT count(*) FROM chunks c
    WHERE c.terms > 0 AND NOT EXISTS (SELECT 1 FROM chunk_terms w WHERE w.chunk = c.id)"""
_TERMS_WITHOUT_CHUNK: Final = """
    SELECT count(DISTINCT w.chunk) FROM chunk_terms w LEFT JOIN chunks c ON c.id = w.chunk
    WHERE c.id IS NULL OR c.collection != w.collection OR c.project != w.project"""
_WRONG_WIDTHS: Final = """
    SELECT count(*) FROM vectors v JOIN spaces s ON s.id = v.space WHERE length(v.data) IS DISTINCT FROM s.width"""
_FOREIGN_VECTORS: Final = """
    SELECT count(*) FROM vectors v JOIN spaces s ON s.id = v.space JOIN texts t ON t.id = v.text_id
    WHERE t.project != s.project OR v.project != s.project"""
_STRAY_GRAPH: Final = """
    SELECT count(*) FROM (
        SELECT owner, collection, project FROM graph_nodes UNION ALL SELECT owner, collection, project FROM graph_links
        UNION ALL SELECT owner, collection, project FROM graph_aliases
        UNION ALL SELECT owner, collection, project FROM graph_unresolved
    ) r JOIN graph_owners o ON o.id = r.owner WHERE o.collection != r.collection OR o.project != r.project"""
_DOCUMENTS: Final = """
    SELECT d.id, col.name, d.gaps, d.characters, d.hash, d.uri, d.kind, d.language, d.title, d.metadata, d.marks,
           d.beside
    FROM documents d JOIN collections col ON col.id = d.collection WHERE d.id > %s ORDER BY d.id LIMIT %s"""
_BYPASSES: Final = """
    SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"""
_SPACES_WITH_UNUSED: Final = """
    SELECT DISTINCT space FROM vectors v WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.text_id = v.text_id)"""
_REMOVE_VECTORS: Final = """
    DELETE FROM vectors v WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.text_id = v.text_id)"""
_REMOVE_TEXTS: Final = """
    DELETE FROM texts t WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.text_id = t.id)"""
_PROJECTS: Final = "SELECT name FROM projects ORDER BY id"
_SIZE: Final = "SELECT pg_database_size(current_database())"


class _Check(NamedTuple):
    """One invariant: its name, the message if it holds, the function that finds problems, and the remedy."""

    name: str
    success: str
    find_problem: Callable[[Transaction], str]
    remedy: str


def check(database: PostgresDatabase) -> list[Finding]:
    """Check every invariant and return the findings; damage is a finding, not an error."""
    return [_run_check(database, invariant) for invariant in _CHECKS]


def _run_check(database: PostgresDatabase, invariant: _Check) -> Finding:
    try:
        with database.reading(None) as db:
            problem = invariant.find_problem(db)
    except StoreError as error:
        return Finding(invariant.name, False, error.message, error.hint)
    if problem:
        return Finding(invariant.name, False, problem, invariant.remedy)
    return Finding(invariant.name, True, invariant.success)


def _check_references(db: Transaction) -> str:
    broken = fetch_value(db, _STRAY_CHUNKS) + fetch_value(db, _STRAY_DOCUMENTS)
    if broken:
        return f"{broken} rows belong to another collection or project"
    return ""


def _check_counts(db: Transaction) -> str:
    wrong = fetch_value(db, _WRONG_COUNTS)
    if wrong:
        return f"{plural(wrong, 'collection counts', 'collections count')} wrongly"
    return ""


def _check_documents(db: Transaction) -> str:
    damaged = list(_damaged_documents(db))
    if not damaged:
        return ""
    documents = plural(len(damaged), "document is", "documents are")
    names = ", ".join(damaged[:_MOST_NAMES])
    more = ", …" if len(damaged) > _MOST_NAMES else ""
    return f"{documents} not what was stored: {names}{more}"


def _damaged_documents(db: Transaction) -> Iterator[str]:
    """Yield the collection and uri of every document that cannot be read or does not match its hash."""
    last = 0
    while rows := db.execute(_DOCUMENTS, (last, _PAGE)).fetchall():
        for number, collection, *columns in rows:
            if not _is_intact(db, number, tuple(columns)):
                yield f"{collection}/{columns[3]}"
        last = rows[-1][0]


def _is_intact(db: Transaction, number: int, row: Row) -> bool:
    gaps, length, stored_hash, uri, kind, language, title, metadata, marks, beside = row
    try:
        rebuilt = Document(
            uri=uri,
            text=document_text.join(db, number, gaps, length, (0, length)),
            kind=kind,
            language=language,
            title=title,
            metadata=load(metadata),
            marks=load_marks(marks),
            beside=beside,
        )
    except StoreDamaged:
        return False
    return bool(rebuilt.hash == stored_hash)


def _check_words(db: Transaction) -> str:
    missing = fetch_value(db, _CHUNKS_WITHOUT_TERMS)
    extra = fetch_value(db, _TERMS_WITHOUT_CHUNK)
    if not missing and not extra:
        return ""
    return f"{missing} chunks cannot be found by words, {extra} rows point nowhere"


def _check_vectors(db: Transaction) -> str:
    wrong = fetch_value(db, _WRONG_WIDTHS)
    foreign = fetch_value(db, _FOREIGN_VECTORS)
    if not wrong and not foreign:
        return ""
    return f"{wrong} vectors have a wrong length, {foreign} a wrong owner"


def _check_graph(db: Transaction) -> str:
    stray = fetch_value(db, _STRAY_GRAPH)
    if stray:
        return f"{stray} rows belong to another owner"
    return ""


def _check_row_security(db: Transaction) -> str:
    if not fetch_value(db, _BYPASSES):
        return ""
    return "the role of store.url is a superuser, whom row-level security does not limit"


_CHECKS: Final = (
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
        _check_graph,
        "run `ragstone sync --full`",
    ),
    _Check(
        "row security",
        "the server shows a transaction the rows of its project only",
        _check_row_security,
        "connect as a role without superuser rights; docs/guides/shared.md says how",
    ),
)


def compact(database: PostgresDatabase, *, secure: bool) -> int:
    """Remove unused texts and vectors, and return the bytes freed. `secure` rewrites the tables without old rows."""
    with database.reading(None) as db:
        size_before = fetch_value(db, _SIZE)
        projects = fetch_column(db, _PROJECTS)
    for project in projects:
        with database.writing(project) as db:
            _remove_unused(db)
    with database.autocommit() as connection:
        connection.execute("SET statement_timeout = 0")
        connection.execute("SET ragstone.project = 0")
        try:
            connection.execute("VACUUM (FULL, ANALYZE)" if secure else "VACUUM (ANALYZE)")
        finally:
            connection.execute("RESET ragstone.project")
    with database.reading(None) as db:
        return max(0, int(size_before - fetch_value(db, _SIZE)))


def _remove_unused(db: Transaction) -> None:
    """Remove texts of the project that no chunk has, and their vectors."""
    for space in fetch_column(db, _SPACES_WITH_UNUSED):
        db.execute("UPDATE spaces SET epoch = %s WHERE id = %s", (fresh_uuid(), space))
    db.execute(_REMOVE_VECTORS)
    db.execute(_REMOVE_TEXTS)
    vectors.free_widths(db)
