"""`ragstone add`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import click

from ragstone.engine import Engine
from ragstone.errors import InputError, ReadError
from ragstone.read.readers import is_binary, reader_for
from ragstone.sources.safe_open import safe_open
from ragstone.surfaces.cli.engine import open_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.ledger import print_remarks
from ragstone.surfaces.cli.options import collection_option, common_options, parse_pairs
from ragstone.surfaces.cli.output import (
    plural,
    print_error,
    print_json,
    print_line,
    print_notes,
    printable,
)
from ragstone.surfaces.cli.paths import canonical_path, file_uri
from ragstone.surfaces.cli.urls import add_pages, check_urls, is_url, merge_reports
from ragstone.surfaces.present.failures import completion_code
from ragstone.surfaces.present.reports import add_report_json, skips_json
from ragstone.types import AddReport, Document, Metadata, Skip

_STDIN: Final = "-"


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone add report.pdf notes.txt",
        "ragstone add https://example.com/handbook",
        "pbpaste | ragstone add - --name notes/today.md",
        "ragstone add report.pdf --collection reports --metadata year=2026",
    ),
)
@click.argument("files", nargs=-1, required=True)
@collection_option("The collection to add to.")
@click.option(
    "--metadata",
    multiple=True,
    metavar="KEY=VALUE",
    help="Metadata of the documents; may be repeated.",
)
@click.option(
    "--name", help="The name to store it under; for a single file or text from a pipe."
)
@common_options
def add(
    files: tuple[str, ...],
    folder: Path | None,
    as_json: bool,
    collection: str | None,
    metadata: tuple[str, ...],
    name: str | None,
) -> int:
    """Add FILES to the index: paths, urls of web pages, or `-` for stdin, which needs --name."""
    urls = [file for file in files if is_url(file)]
    paths = [file for file in files if not is_url(file)]
    _check_name(paths, name)
    check_urls(urls, name=name, metadata=metadata)
    with open_engine(folder) as engine:
        reader = FileReader(engine, paths, name, dict(parse_pairs(metadata, "--metadata")))
        report = AddReport(0, 0, 0)
        if paths:
            report = engine.add(reader.documents(), collection=collection)
        pages = add_pages(engine, urls, collection, raise_failure=len(files) == 1)
        if engine.enabled:
            engine.admin.embed_in_background()
    report = merge_reports([report, *pages.reports])
    failed = [*reader.failed, *pages.failed]
    is_partial = bool(failed) or (bool(report.notes) and engine.enabled)
    if as_json:
        print_json(
            {"success": not is_partial, **add_report_json(report), "failed": skips_json(failed)}
        )
    else:
        _print_report(report, reader.files_by_uri)
    print_notes(report.notes)
    return completion_code(is_complete=not is_partial)


@dataclass(slots=True)
class FileReader:
    """Reads the files named on the command line; an unreadable file is reported and kept in `failed`."""

    engine: Engine
    files: Sequence[str]
    name: str | None
    metadata: Metadata
    failed: list[Skip] = field(default_factory=list)
    files_by_uri: dict[str, str] = field(default_factory=dict)
    """The argument of each document, for the report."""

    def documents(self) -> Iterator[Document]:
        """Yield a document for every readable file."""
        for file in self.files:
            uri = self.name or file_uri(file, self.engine.settings.base)
            try:
                document = self._read(file, uri)
            except ReadError as error:
                self.failed.append(Skip(file, str(error)))
                print_error(f"{file}: {error}")
                continue
            self.files_by_uri[uri] = uri if file == _STDIN else file
            yield replace(document, metadata={**document.metadata, **self.metadata})

    def _read(self, file: str, uri: str) -> Document:
        if file != _STDIN and os.path.isdir(file):
            raise ReadError("it is a folder", hint="`ragstone sync` indexes folders")
        reader_for(uri)  # refuses an unsupported type before the file is opened
        data = self._read_stdin(uri) if file == _STDIN else self._read_file(file, uri)
        if is_binary(data, uri):
            raise ReadError("it is binary, not text", hint="convert it to text first")
        return reader_for(uri, data).read(data, uri)

    def _read_file(self, file: str, uri: str) -> bytes:
        source = self.engine.admin.source()
        parent, name = os.path.split(canonical_path(file))
        try:
            # The database's side files come and go, so `own_files` is asked for each file.
            return safe_open(
                Path(parent),
                name,
                max_bytes=source.limits.max_bytes(uri),
                never=source.own_files(),
            ).data
        except ReadError as error:
            if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
                raise ReadError("there is no such file", hint="check the path") from error
            raise

    def _read_stdin(self, uri: str) -> bytes:
        max_bytes = self.engine.admin.source().limits.max_bytes(uri)
        try:
            data = sys.stdin.buffer.read(max_bytes + 1)
        except OSError as error:
            raise ReadError(f"it cannot be read: {error.strerror or error}") from error
        if len(data) > max_bytes:
            raise ReadError(
                f"too large: more than {max_bytes:,} bytes",
                hint="sources.max_file_bytes or sources.max_document_bytes sets the limit",
            )
        return data


def _print_report(report: AddReport, files_by_uri: dict[str, str]) -> None:
    for result in report.per_document:
        file = files_by_uri.get(result.uri, result.uri)
        print_line(f"{printable(file)}: {plural(result.added + result.kept, 'chunk')}")
    print_remarks(report.remarks, verbose=True)


def _check_name(files: Sequence[str], name: str | None) -> None:
    if name is not None and len(files) > 1:
        raise InputError("--name goes with a single file", hint="add the files separately")
    if _STDIN in files and not name:
        raise InputError(
            "text from a pipe needs a name", hint="ragstone add - --name notes/today.md"
        )
    if name is not None and not name.strip():
        raise InputError("--name is empty", hint="for example --name notes/today.md")
