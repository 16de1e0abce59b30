"""`ragstone sources`."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import click

from ragstone.surfaces.cli.engine import open_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import (
    add_options,
    check_output_format,
    collection_option,
    common_options,
    json_lines_option,
)
from ragstone.surfaces.cli.output import (
    print_json,
    print_json_lines,
    print_line,
    print_note,
    print_table,
    printable,
)
from ragstone.surfaces.cli.query import build_filters, filter_options
from ragstone.surfaces.present.documents import document_json
from ragstone.text.counts import plural
from ragstone.types import StoredDocument


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone sources",
        'ragstone sources --kind code --path "src/**" -n 20',
        "ragstone sources --jsonl | jq -r .uri",
    ),
)
@(lambda command: add_options(command, filter_options))
@collection_option()
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=0),
    help="Number of documents at most; default: all.",
)
@json_lines_option
@common_options
def sources(
    folder: Path | None,
    as_json: bool,
    as_json_lines: bool,
    paths: tuple[str, ...],
    kinds: tuple[str, ...],
    pairs: tuple[str, ...],
    collection: str | None,
    limit: int | None,
) -> None:
    """List the indexed documents."""
    check_output_format(as_json=as_json, as_json_lines=as_json_lines)
    filters = build_filters(paths, kinds, pairs)
    documents: list[StoredDocument] = []
    has_collections = False
    with open_engine(folder) as engine:
        if engine.exists:
            engine.admin.require_kinds(kinds)
            documents = list(
                islice(engine.sources(collection=collection, filters=filters), _one_more(limit))
            )
            has_collections = len(engine.admin.collections()) > 1
    listed = documents[:limit]
    has_more = len(listed) < len(documents)
    if as_json:
        print_json(
            {
                "success": True,
                "documents": [document_json(item) for item in listed],
                "more": has_more,
            }
        )
    elif as_json_lines:
        print_json_lines(document_json(item) for item in listed)
    elif documents:
        _print_documents(listed, with_collection=has_collections and collection is None)
        more = ", and more" if has_more else ""
        print_note(f"({plural(len(listed), 'document')}{more})")
    else:
        _print_nothing(is_filtered=bool(filters or collection))


def _print_nothing(*, is_filtered: bool) -> None:
    if is_filtered:
        print_line("No documents.")
    else:
        print_line("Empty: nothing is indexed yet (`ragstone sync` indexes the folder).")


def _one_more(limit: int | None) -> int | None:
    """Return a limit that shows whether there are more documents."""
    if limit is None:
        return None
    return limit + 1


def _print_documents(documents: list[StoredDocument], *, with_collection: bool) -> None:
    rows = []
    for document in documents:
        cells = [printable(document.uri), document.kind, plural(document.chunks, "chunk")]
        if with_collection:
            cells.insert(2, printable(document.collection))
        rows.append(cells)
    print_table(rows, ("cyan", "magenta"))
