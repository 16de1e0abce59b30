"""Export and import of collections as lines of JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ragstone.engine import arguments
from ragstone.engine.project import OFF, Project
from ragstone.errors import StaleSpace
from ragstone.indexing.export import export_lines, import_lines
from ragstone.types import AddReport


class Transfer:
    """Exports and imports the collections of one project."""

    def __init__(self, project: Project) -> None:
        """Take the project; nothing is opened yet."""
        self._project = project

    def export(self, collection: str | None, *, vectors: bool) -> Iterator[str]:
        """Yield a collection as lines of JSON that `load` reads."""
        key = self._project.index.key(self._project.existing(collection))
        return export_lines(self._project.store, key, vectors=vectors)

    def load(self, lines: Iterable[str], collection: str | None) -> AddReport:
        """Import the lines of an export and return the counts; vectors of the same space are not made again."""
        if not self._project.enabled:
            return AddReport(0, 0, 0, notes=(OFF,))
        target = self._project.index.collection(self._project.collection_name(collection))
        notes: tuple[str, ...] = ()
        try:
            target.backfill().spaces.main()
        except StaleSpace as error:
            notes = (str(error),)
        codec_of = self._project.workspace.components.codec
        report = import_lines(target.writer(), arguments.check_lines(lines), codec_of)
        pending = target.backfill().pending()
        return replace(report, pending=pending, notes=(*notes, *report.notes))
