"""Reads the stored vectors of one space: the part that all stores share, and the reader of SQLite."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.store import catalog
from ragstone.store.connection import ReadSource
from ragstone.store.fetch import Row, row_limit, storable_id
from ragstone.store.rows import no_space
from ragstone.types import VectorRow

_VERSION: Final = """
    SELECT s.epoch, (SELECT value FROM meta WHERE key = 'generation')
    FROM spaces s JOIN projects p ON p.id = s.project WHERE s.id = ? AND p.name = ?"""
_AFTER: Final = (
    "SELECT id, text_id, data FROM vectors WHERE space = ? AND id > ? ORDER BY id LIMIT ?"
)
_BY_ID: Final = """
    SELECT v.id, v.text_id, v.data FROM json_each(?) wanted CROSS JOIN vectors v ON v.id = wanted.value
    WHERE v.space = ?"""
_BY_TEXT: Final = """
    SELECT v.id, v.text_id, v.data FROM json_each(?) wanted CROSS JOIN vectors v ON v.text_id = wanted.value
    WHERE v.space = ?"""
_BY_CHUNK: Final = """
    SELECT c.id, v.data FROM json_each(?) wanted CROSS JOIN chunks c ON c.id = wanted.value
    CROSS JOIN vectors v ON v.text_id = c.text_id AND v.space = ?"""


@dataclass(frozen=True, slots=True)
class VectorStatements:
    """The statements that read the vectors of a space, in the SQL of one store."""

    version: str
    count: str
    ids_after: str
    after: str
    by_id: str
    by_text: str
    by_chunk: str


class StoredVectorRows(ABC):
    """Implements `VectorRows` for one space, page by page. A store adds its statements and its connections."""

    statements: VectorStatements

    def __init__(self, project: str, space_id: int) -> None:
        """Take the project and the space; `NotFound` if the project has no such space."""
        self._space = space_id
        self._project = project
        if not self.epoch:
            raise no_space(project, space_id)

    @property
    def epoch(self) -> str:
        """Return a value that changes when rows were deleted or rewritten, by any process."""
        return self.version()[0]

    def version(self) -> tuple[str, int]:
        """Return the epoch, and a number that changes with every commit that may have added rows."""
        for epoch, generation in self._fetch(
            self.statements.version, self._space, self._project
        ):
            return epoch, generation
        return "", 0

    def count(self) -> int:
        """Return the number of rows."""
        ((count,),) = self._fetch(self.statements.count, self._space)
        return int(count)

    def ids_after(self, row_id: int) -> list[int]:
        """Return all row ids larger than this one, ascending."""
        rows = self._fetch(self.statements.ids_after, self._space, storable_id(row_id))
        return [number for (number,) in rows]

    def after(self, row_id: int, limit: int) -> list[VectorRow]:
        """Return rows with a larger id, in order of id."""
        page = (storable_id(row_id), row_limit(limit))
        rows = self._fetch(self.statements.after, self._space, *page)
        return [VectorRow(*row) for row in rows]

    def by_id(self, ids: Sequence[int]) -> list[VectorRow]:
        """Return the rows with these ids; missing ids are left out."""
        rows = self._fetch(self.statements.by_id, self._id_list(ids), self._space)
        return [VectorRow(*row) for row in rows]

    def data(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the encoded vectors of the rows with these ids; missing ids are left out."""
        rows = self._fetch(self.statements.by_id, self._id_list(ids), self._space)
        return {number: data for number, _, data in rows}

    def by_text(self, text_ids: Sequence[int]) -> list[VectorRow]:
        """Return the rows of these texts; texts without a vector are left out."""
        rows = self._fetch(self.statements.by_text, self._id_list(text_ids), self._space)
        return [VectorRow(*row) for row in rows]

    def by_chunk(self, chunk_ids: Sequence[int]) -> dict[int, bytes]:
        """Return the encoded vectors of the texts of these chunks, in their order; those without a vector are left out."""
        rows = self._fetch(self.statements.by_chunk, self._id_list(chunk_ids), self._space)
        data: dict[int, bytes] = dict(rows)
        return {number: data[number] for number in chunk_ids if number in data}

    @abstractmethod
    def _fetch(self, statement: str, *parameters: object) -> list[Row]:
        """Return the rows of a statement."""

    @abstractmethod
    def _id_list(self, ids: Sequence[int]) -> object:
        """Return ids as a parameter of a statement."""


class SqliteVectorRows(StoredVectorRows):
    """The vectors of one space in a SQLite database."""

    statements = VectorStatements(
        version=_VERSION,
        count="SELECT count(*) FROM vectors WHERE space = ?",
        ids_after="SELECT id FROM vectors WHERE space = ? AND id > ? ORDER BY id",
        after=_AFTER,
        by_id=_BY_ID,
        by_text=_BY_TEXT,
        by_chunk=_BY_CHUNK,
    )

    def __init__(self, source: ReadSource, project: str, space_id: int) -> None:
        """Take the source of connections; `NotFound` if the project has no such space."""
        self._source = source
        super().__init__(project, storable_id(space_id))

    def _fetch(self, statement: str, *parameters: object) -> list[Row]:
        with self._source.reading() as db:
            return db.execute(statement, parameters).fetchall()

    def _id_list(self, ids: Sequence[int]) -> str:
        return catalog.id_list(ids)
