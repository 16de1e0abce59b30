"""`ragstone config`."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone import config as configuration
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_json, print_line, print_table, printable
from ragstone.surfaces.cli.paths import project_folder
from ragstone.surfaces.cli.values import complete_setting


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone config",
        "ragstone config rag.chunk_size",
        "ragstone config search.top_k --describe",
    ),
)
@click.argument("key", required=False, shell_complete=complete_setting)
@click.option(
    "--describe", is_flag=True, help="Explain each setting, with its default and its variables."
)
@common_options
def config(key: str | None, folder: Path | None, as_json: bool, describe: bool) -> None:
    """Show every setting and its origin, or only KEY (`rag.chunk_size`).

    To change a setting, write it into ragstone.toml (`ragstone init` makes the file) or into the variable that
    --describe names.
    """
    settings = configuration.load(project_folder(folder))
    if key is not None:
        settings.value(key)  # raises for an unknown key, with the nearest known one
    if describe:
        _print_descriptions(key, as_json=as_json)
        return
    rows = [row for row in settings.listing() if key in (None, row[0])]
    if as_json:
        values = {name: {"value": value, "origin": origin} for name, value, origin in rows}
        print_json({"success": True, "settings": values})
        return
    cells = [
        (name, printable(_format_value(value)), f"({printable(origin)})")
        for name, value, origin in rows
    ]
    print_table(cells, ("cyan", "", "dim"))


def _print_descriptions(key: str | None, *, as_json: bool) -> None:
    rows = [row for row in configuration.describe() if key in (None, row.key)]
    if as_json:
        print_json({"success": True, "settings": [row._asdict() for row in rows]})
        return
    for row in rows:
        print_line((row.key, "bold cyan"), f" = {_format_value(row.default)}")
        print_line(f"    {row.doc}")
        print_line((f"    {', '.join(row.variables)}", "dim"))


def _format_value(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value)
