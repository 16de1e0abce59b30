"""`ragstone remove`: documents out of the index."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

import click

from ragstone.engine import Engine
from ragstone.errors import NotFound
from ragstone.sources.uris import from_uri
from ragstone.surfaces.cli.folder import open_existing
from ragstone.surfaces.cli.place import uri_of
from ragstone.surfaces.cli.shell import emit, note, number, say, shared


@click.command()
@click.argument("uris", nargs=-1, required=True)
@click.option("--collection", help="The collection to remove from.")
@shared
def remove(uris: tuple[str, ...], folder: Path | None, as_json: bool, collection: str | None) -> None:
    """Remove the documents URIS (as `ragstone sources` lists them, ids of hits, or paths from where you are)."""
    with open_existing(folder) as engine:
        counts = {uri: _removed(engine, uri, collection) for uri in uris}
        missing = [uri for uri, count in counts.items() if not count]
        hint = _nearest(engine, missing[0], collection) if missing else ""
        on_disk = any(count and _there(engine, uri) for uri, count in counts.items())
    gone = sum(counts.values())
    if missing:
        also = f"; {number(gone, 'other document')} removed" if gone else ""
        raise NotFound(f"not in the index: {', '.join(missing)}{also}", hint=hint)
    if as_json:
        emit({"success": True, "removed": gone})
        return
    say(f"{number(gone, 'document')} removed from the index.")
    if on_disk:
        note("(the file is still there: the next sync takes it in again unless sources.exclude names it)")


def _removed(engine: Engine, uri: str, collection: str | None) -> int:
    here = uri_of(uri, engine.settings.base)
    return engine.remove(ids=[uri], collection=collection) or engine.remove(here, collection=collection)


def _there(engine: Engine, uri: str) -> bool:
    base = engine.settings.base
    return any(os.path.isfile(base / from_uri(one)) for one in (uri, uri_of(uri, base)))


def _nearest(engine: Engine, uri: str, collection: str | None) -> str:
    known = [document.uri for document in engine.sources(collection=collection)]
    by_name = [one for one in known if Path(one).name == Path(uri).name]
    near = (by_name or get_close_matches(uri, known, n=3))[:3]
    return f"did you mean {' or '.join(near)}?" if near else "`ragstone sources` lists what is there"
