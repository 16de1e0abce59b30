"""`ragstone remove`."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

import click

from ragstone.engine import Engine
from ragstone.errors import NotFound
from ragstone.sources.added_files import file_uri
from ragstone.sources.files import from_uri
from ragstone.surfaces.cli.engine import open_indexed_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import collection_option, common_options
from ragstone.surfaces.cli.output import print_json, print_line, print_note
from ragstone.surfaces.cli.values import complete_document
from ragstone.text.counts import plural


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone remove docs/old.md",
        "ragstone remove https://example.com/handbook",
    ),
)
@click.argument("uris", nargs=-1, required=True, shell_complete=complete_document)
@collection_option("The collection to remove from.")
@common_options
def remove(
    uris: tuple[str, ...], folder: Path | None, as_json: bool, collection: str | None
) -> None:
    """Remove documents from the index: URIS as `ragstone sources` lists them, ids of hits, or paths."""
    with open_indexed_engine(folder) as engine:
        counts = {uri: _remove(engine, uri, collection) for uri in uris}
        total = sum(counts.values())
        missing = [uri for uri, count in counts.items() if not count]
        if missing:
            others = f"; {plural(total, 'other document')} removed" if total else ""
            hint = _suggest(engine, missing[0], collection)
            raise NotFound(f"not in the index: {', '.join(missing)}{others}", hint=hint)
        comes_back = collection is None and any(_is_file_of_folder(engine, uri) for uri in uris)
    if as_json:
        print_json({"success": True, "removed": total})
        return
    print_line(f"{plural(total, 'document')} removed from the index.")
    if comes_back:
        print_note(
            "(the file still exists: the next sync adds it again unless sources.exclude names it)"
        )


def _remove(engine: Engine, uri: str, collection: str | None) -> int:
    """Remove a document by uri, by the id of a hit, or by a path from the current folder; return the count."""
    count = engine.remove(ids=[uri], collection=collection)
    return count or engine.remove(file_uri(uri, engine.settings.base), collection=collection)


def _is_file_of_folder(engine: Engine, uri: str) -> bool:
    """Return whether a sync would find the file again; a file outside of the folder comes only by `add`."""
    base = engine.settings.base
    names = [name for name in (uri, file_uri(uri, base)) if not os.path.isabs(from_uri(name))]
    inside = [name for name in names if ".." not in Path(from_uri(name)).parts]
    return any(os.path.isfile(base / from_uri(name)) for name in inside)


def _suggest(engine: Engine, uri: str, collection: str | None) -> str:
    """Return a hint with documents of the same file name, or with a similar uri."""
    known = [document.uri for document in engine.sources(collection=collection)]
    same_name = [known_uri for known_uri in known if Path(known_uri).name == Path(uri).name]
    suggestions = (same_name or get_close_matches(uri, known, n=3))[:3]
    if not suggestions:
        return "`ragstone sources` lists the documents"
    return f"did you mean {' or '.join(suggestions)}?"
