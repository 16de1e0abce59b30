"""sqlite-vec: a virtual table of float vectors, cosine, every row compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.adapters import library

if TYPE_CHECKING:
    from bench.matrix import Floats


class SqliteVec:
    """One database file; opened by apsw, because some Pythons' own sqlite3 takes no extensions."""

    effort = 0
    _connection: Any

    def load_library(self) -> None:
        """Import both."""
        library("apsw")
        library("sqlite_vec")

    def prepare(self, folder: Path, count: int) -> None:
        """Do nothing."""

    def build(self, folder: Path, vectors: Floats) -> None:
        """Insert every row in one transaction."""
        self.open(folder)
        width = int(vectors.shape[1])
        self._connection.execute(
            f"create virtual table bench using vec0(v float[{width}] distance_metric=cosine)"
        )
        with self._connection:
            rows = ((number, row.tobytes()) for number, row in enumerate(vectors, 1))
            self._connection.executemany("insert into bench(rowid, v) values (?, ?)", rows)
        self._connection.close()

    def open(self, folder: Path) -> None:
        """Open the file with the extension."""
        apsw = library("apsw")
        sqlite_vec = library("sqlite_vec")

        self._connection = apsw.Connection(str(folder / "bench.db"))
        self._connection.enable_load_extension(True)
        self._connection.load_extension(sqlite_vec.loadable_path())
        self._connection.enable_load_extension(False)

    def search(self, query: Floats, k: int) -> list[int]:
        """Return the nearest ids."""
        found = self._connection.execute(
            "select rowid from bench where v match ? and k = ?", (query.tobytes(), k)
        )
        return [int(row[0]) - 1 for row in found]
