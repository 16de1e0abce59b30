"""Export and import of collections as lines of JSON."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from ragstone.engine import arguments
from ragstone.engine.project import OFF, Project
from ragstone.errors import InputError, StaleSpace
from ragstone.indexing.export import export_lines, import_lines
from ragstone.types import AddReport

_MAX_BYTES: Final = 1_000_000_000
"""A text that unpacks to more bytes is refused."""


class Transfer:
    """Exports and imports the collections of one project."""

    def __init__(self, project: Project) -> None:
        """Take the project; nothing is opened yet."""
        self._project = project

    def export(self, collection: str | None, *, vectors: bool) -> Iterator[str]:
        """Yield a collection as lines of JSON that `load` reads."""
        key = self._project.index.key(self._project.existing(collection))
        return export_lines(self._project.store, key, vectors=vectors)

    def to_base64(self, collection: str | None) -> str:
        """Return a collection with its vectors as one line of text."""
        lines = "".join(f"{line.rstrip()}\n" for line in self.export(collection, vectors=True))
        return base64.b64encode(zlib.compress(lines.encode("utf-8"))).decode("ascii")

    def from_base64(self, text: str, collection: str | None) -> AddReport:
        """Load a collection from the text of `to_base64` and return the counts."""
        return self.load(_decompress(text).splitlines(), collection)

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


def _decompress(text: str) -> str:
    """Return the lines in a text of `to_base64`; `InputError` if it is damaged or too long."""
    hint = "give a text from to_base64()"
    if not isinstance(text, str):
        raise InputError("from_base64 takes a text", hint=hint)
    unpacker = zlib.decompressobj()
    try:
        packed = base64.b64decode(text.strip(), validate=True)
        data = unpacker.decompress(packed, _MAX_BYTES)
        lines = data.decode("utf-8")
    except (ValueError, zlib.error) as error:
        raise InputError("this text holds no collection", hint=hint) from error
    if not unpacker.eof:
        raise InputError("this text is cut off, or too long", hint=hint)
    return lines
