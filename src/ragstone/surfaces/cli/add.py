"""`ragstone add`: store files by hand, wherever they are, web pages by their addresses, or text from a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from ragstone.engine import Engine
from ragstone.errors import InputError, ReadError
from ragstone.read.readers import is_binary, reader_for
from ragstone.sources.safe_open import safe_open
from ragstone.surfaces import present
from ragstone.surfaces.cli.folder import open_engine
from ragstone.surfaces.cli.page import add_pages, check_addresses, is_address, together
from ragstone.surfaces.cli.place import full_path, uri_of
from ragstone.surfaces.cli.search import pairs
from ragstone.surfaces.cli.shell import complain, emit, number, remark, safe, say, shared
from ragstone.surfaces.cli.sync import remarks
from ragstone.types import AddReport, Document, Metadata, Skip

_STDIN = "-"


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--collection", help="The collection to add to.")
@click.option("--metadata", multiple=True, metavar="KEY=VALUE", help="What is known about them; may be repeated.")
@click.option("--name", help="The name it is stored under; for one file, or text from a pipe.")
@shared
def add(
    files: tuple[str, ...],
    folder: Path | None,
    as_json: bool,
    collection: str | None,
    metadata: tuple[str, ...],
    name: str | None,
) -> int:
    """Store FILES: paths, addresses of web pages, or `-`, which is stdin and needs --name."""
    urls = [file for file in files if is_address(file)]
    files = tuple(file for file in files if file not in urls)
    _check(files, name)
    check_addresses(urls, name=name, metadata=metadata)
    with open_engine(folder) as engine:
        given = Given(engine, files, name, dict(pairs(metadata, "--metadata")))
        report = engine.add(given.documents(), collection=collection) if files else AddReport(0, 0, 0)
        pages = add_pages(engine, urls, collection, alone=not files)
    report = together([report, *pages.reports])
    unread = [*given.failed, *pages.failed]
    undone = bool(unread or (report.notes and engine.enabled))
    if as_json:
        failed = [{"uri": one.uri, "reason": one.reason} for one in unread]
        emit({"success": not undone, **present.add_report(report), "failed": failed})
    else:
        _show(report, given.shown)
        remarks(report.remarks, verbose=True)
    remark(report.notes)
    return present.PARTIAL if undone else present.OK


@dataclass(slots=True)
class Given:
    """The files named on the command line, read one by one; what cannot be read is told and kept."""

    engine: Engine
    files: Sequence[str]
    name: str | None
    metadata: Metadata
    failed: list[Skip] = field(default_factory=list)
    shown: dict[str, str] = field(default_factory=dict)

    def documents(self) -> Iterator[Document]:
        """Yield a document for every file that says something."""
        for file in self.files:
            uri = self.name or uri_of(file, self.engine.settings.base)
            try:
                document = self._read(file, uri)
            except ReadError as error:
                self.failed.append(Skip(file, str(error)))
                complain(f"{file}: {error}")
                continue
            self.shown[uri] = uri if file == _STDIN else file
            yield replace(document, metadata={**document.metadata, **self.metadata})

    def _read(self, file: str, uri: str) -> Document:
        """Return the document in a file; one that no reader takes by its name is not opened for it."""
        if file != _STDIN and os.path.isdir(file):
            raise ReadError("it is a folder", hint="`ragstone sync` takes folders in")
        reader_for(uri)
        data = self._piped(uri) if file == _STDIN else self._bytes(file, uri)
        if is_binary(data, uri):
            raise ReadError("it is binary, not text", hint="convert it to text first")
        return reader_for(uri, data).read(data, uri)

    def _bytes(self, file: str, uri: str) -> bytes:
        source = self.engine.source()
        above, name = os.path.split(full_path(file))
        try:
            # The database's side files come and go while we work, so they are looked up each time.
            return safe_open(Path(above), name, max_bytes=source.most_bytes(uri), never=source.own_files()).data
        except ReadError as error:
            if isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError)):
                raise ReadError("there is no such file", hint="check the path") from error
            raise

    def _piped(self, uri: str) -> bytes:
        most = self.engine.source().most_bytes(uri)
        try:
            data = sys.stdin.buffer.read(most + 1)
        except OSError as error:
            raise ReadError(f"it cannot be read: {error.strerror or error}") from error
        if len(data) > most:
            raise ReadError(
                f"too large: more than {most:,} bytes",
                hint="sources.max_file_bytes or sources.max_document_bytes sets the limit",
            )
        return data


def _check(files: Sequence[str], name: str | None) -> None:
    if name is not None and len(files) > 1:
        raise InputError("--name goes with one file", hint="add them one by one")
    if _STDIN in files and not name:
        raise InputError("text from a pipe needs a name", hint="ragstone add - --name notes/today.md")
    if name is not None and not name.strip():
        raise InputError("--name is empty", hint="for example --name notes/today.md")


def _show(report: AddReport, shown: dict[str, str]) -> None:
    for one in report.per_document:
        say(safe(shown.get(one.uri, one.uri)), f": {number(one.added + one.kept, 'chunk')}")
