"""`ragstone config`: every setting, its value, and where that came from."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone import config as configuration
from ragstone.surfaces.cli.place import root_of
from ragstone.surfaces.cli.shell import emit, safe, say, shared, table


@click.command()
@click.argument("key", required=False)
@click.option("--describe", is_flag=True, help="What each setting means, its default and its variables.")
@shared
def config(key: str | None, folder: Path | None, as_json: bool, describe: bool) -> None:
    """Show every setting and where it came from, or only KEY (`rag.chunk_size`)."""
    loaded = configuration.load(root_of(folder))
    if key is not None:
        loaded.value(key)  # an unknown key is told here, with the nearest one
    rows = [row for row in loaded.listing() if key in (None, row[0])]
    if describe:
        _describe(key, as_json=as_json)
    elif as_json:
        emit({"success": True, "settings": {name: {"value": value, "origin": origin} for name, value, origin in rows}})
    else:
        table([(name, safe(_shown(value)), f"({safe(origin)})") for name, value, origin in rows], ("cyan", "", "dim"))


def _describe(key: str | None, *, as_json: bool) -> None:
    rows = [one for one in configuration.describe() if key in (None, one.key)]
    if as_json:
        emit({"success": True, "settings": [one._asdict() for one in rows]})
        return
    for one in rows:
        say((one.key, "bold cyan"), f" = {_shown(one.default)}")
        say(f"    {one.doc}")
        say((f"    {', '.join(one.variables)}", "dim"))


def _shown(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(str(item) for item in value) or "none" if isinstance(value, tuple) else str(value)
