"""`ragstone sources`: the documents that are stored."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import click

from ragstone.surfaces import present
from ragstone.surfaces.cli.folder import open_engine
from ragstone.surfaces.cli.search import wanted
from ragstone.surfaces.cli.shell import emit, note, number, safe, say, shared, table


@click.command()
@click.option("--path", "paths", multiple=True, metavar="GLOB", help="Only those that match; may be repeated.")
@click.option("--kind", "kinds", multiple=True, help="Only documents of this kind; may be repeated.")
@click.option("--filter", "pairs", multiple=True, metavar="KEY=VALUE", help="Only where metadata says so.")
@click.option("--collection", help="Only this collection; default: all.")
@click.option("-n", "--limit", type=click.IntRange(min=0), help="How many at most; default: all.")
@shared
def sources(
    folder: Path | None, as_json: bool, collection: str | None, limit: int | None, **given: tuple[str, ...]
) -> None:
    """List the documents that are stored."""
    filters = wanted(given)
    with open_engine(folder) as engine:
        listed = engine.sources(collection=collection, filters=filters or None) if engine.exists else iter(())
        found = list(islice(listed, None if limit is None else limit + 1))
        several = collection is None and bool(found) and len(engine.collections()) > 1
    more = limit is not None and len(found) > limit
    shown = found[:limit]
    if as_json:
        emit({"success": True, "documents": [present.document(one) for one in shown], "more": more})
        return
    if not found:
        say("No documents." if filters or collection else "Empty: nothing is indexed yet (`ragstone sync` does it).")
        return
    rows = [(safe(one.uri), one.kind, *([safe(one.collection)] if several else []), number(one.chunks, "chunk"))
            for one in shown]  # fmt: skip
    table(rows, ("cyan", "magenta"))
    note(f"({number(len(shown), 'document')}{', and more' if more else ''})")
