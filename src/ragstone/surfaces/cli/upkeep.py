"""`ragstone reembed`, `compact`, `backup`: looking after an index."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.surfaces.cli.folder import STAYS, open_existing
from ragstone.surfaces.cli.progress import Bar
from ragstone.surfaces.cli.shell import Interrupted, emit, number, safe, say, shared, size


@click.command()
@click.option("--collection", help="The collection whose vectors to make.")
@shared
def reembed(folder: Path | None, as_json: bool, collection: str | None) -> None:
    """Make all vectors again with the model in the settings, beside the old ones, then switch over."""
    try:
        with open_existing(folder) as engine, Bar() as progress:
            made = engine.reembed(collection=collection, progress=progress)
    except KeyboardInterrupt:
        raise Interrupted(f"the old vectors still answer; {STAYS}") from None
    if as_json:
        emit({"success": True, "embedded": made})
    else:
        say(f"{number(made, 'vector')} made, and now in use.")


@click.command()
@click.option("--secure", is_flag=True, help="Also overwrite what was removed.")
@shared
def compact(folder: Path | None, as_json: bool, secure: bool) -> None:
    """Give back the room of what was removed."""
    with open_existing(folder) as engine:
        freed = engine.compact(secure=secure)
    if as_json:
        emit({"success": True, "bytes_freed": freed})
    else:
        say(f"{size(max(freed, 0))} given back.")


@click.command()
@click.argument("target", type=click.Path(path_type=Path))
@shared
def backup(target: Path, folder: Path | None, as_json: bool) -> None:
    """Write a verified copy of the database to TARGET."""
    with open_existing(folder) as engine:
        path = engine.backup(target.absolute())
    if as_json:
        emit({"success": True, "path": str(path), "bytes": path.stat().st_size})
    else:
        say(f"{size(path.stat().st_size)} written to {safe(str(path))} and verified.")
