"""`ragstone add`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from ragstone.engine import Engine
from ragstone.errors import InputError, ReadError
from ragstone.read.choose_reader import explain_no_text, reader_for
from ragstone.sources.added_files import file_uri
from ragstone.surfaces.cli.engine import open_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import collection_option, common_options, parse_pairs
from ragstone.surfaces.cli.output import (
    print_error,
    print_json,
    print_line,
    print_notes,
    printable,
)
from ragstone.surfaces.cli.queued_files import AddTarget, queue_files
from ragstone.surfaces.cli.sync_report import print_remarks
from ragstone.surfaces.cli.urls import add_pages, check_urls, is_url, merge_reports
from ragstone.surfaces.present.failures import OK, completion_code
from ragstone.surfaces.present.reports import add_report_json, skips_json
from ragstone.text.counts import plural
from ragstone.types import AddReport, Document, Skip

_STDIN: Final = "-"


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone add report.pdf notes.txt",
        "ragstone add ~/Downloads/minutes.docx",
        "ragstone add https://example.com/handbook",
        "pbpaste | ragstone add - --name notes/today.md",
        "ragstone add report.pdf --collection reports --metadata year=2026",
        "ragstone add scans/*.pdf --queue",
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
@click.option(
    "--queue",
    is_flag=True,
    help="Leave the work to a `ragstone worker`; needs a shared database.",
)
@common_options
def add(
    files: tuple[str, ...],
    folder: Path | None,
    as_json: bool,
    collection: str | None,
    metadata: tuple[str, ...],
    name: str | None,
    queue: bool,
) -> int:
    """Add FILES to the index: paths, urls of web pages, or `-` for stdin, which needs --name.

    A file may be outside of the folder. Searches and `ragstone sync` check it again, like a file of the folder.
    """
    urls = [file for file in files if is_url(file)]
    paths = [file for file in files if not is_url(file)]
    _check_name(paths, name)
    check_urls(urls, name=name, metadata=metadata)
    given_metadata = dict(parse_pairs(metadata, "--metadata"))
    target = AddTarget(name, given_metadata, collection)
    if queue:
        queue_files(folder, files, target, as_json=as_json)
        return OK
    with open_engine(folder) as engine:
        report = _add_paths(engine, paths, target)
        pages = add_pages(engine, urls, collection, raise_failure=len(files) == 1)
        if engine.enabled:
            engine.admin.embed_in_background()
    report = merge_reports([report, *pages.reports])
    failed = [*report.failed, *pages.failed]
    is_partial = bool(failed) or (bool(report.notes) and engine.enabled)
    if as_json:
        print_json(
            {"success": not is_partial, **add_report_json(report), "failed": skips_json(failed)}
        )
    else:
        _print_report(report, paths, engine.settings.base)
    print_notes(report.notes)
    return completion_code(is_complete=not is_partial)


def _add_paths(engine: Engine, paths: Sequence[str], target: AddTarget) -> AddReport:
    """Store the files at these paths, or stdin, print the failures, and return the report."""
    if not paths:
        return AddReport(0, 0, 0)
    if _STDIN in paths:
        report = _add_stdin(engine, target)
    else:
        report = engine.external.add_files(
            paths, uri=target.name, metadata=target.metadata, collection=target.collection
        )
    for skip in report.failed:
        print_error(f"{skip.uri}: {skip.reason}")
    return report


def _add_stdin(engine: Engine, target: AddTarget) -> AddReport:
    try:
        document = _read_stdin(engine, target.name or "")
    except ReadError as error:
        return AddReport(0, 0, 0, failed=(Skip(_STDIN, str(error)),))
    metadata = {**document.metadata, **target.metadata}
    return engine.add(replace(document, metadata=metadata), collection=target.collection)


def _read_stdin(engine: Engine, uri: str) -> Document:
    """Return the text from stdin as a document, with the reader of its name."""
    ocr = engine.settings.ocr
    reader_for(uri, ocr=ocr)  # refuses an unsupported type before anything is read
    max_bytes = engine.admin.source().limits.max_bytes(uri)
    try:
        data = sys.stdin.buffer.read(max_bytes + 1)
    except OSError as error:
        raise ReadError(f"it cannot be read: {error.strerror or error}") from error
    if len(data) > max_bytes:
        raise ReadError(
            f"too large: more than {max_bytes:,} bytes",
            hint="sources.max_file_bytes or sources.max_document_bytes sets the limit",
        )
    reason = explain_no_text(data, uri, ocr)
    if reason is not None:
        raise ReadError(reason, hint="give a file of text")
    return reader_for(uri, data, ocr).read(data, uri)


def _print_report(report: AddReport, paths: Sequence[str], base: Path) -> None:
    files_by_uri = {file_uri(path, base): path for path in paths}
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
