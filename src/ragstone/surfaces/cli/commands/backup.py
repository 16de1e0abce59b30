"""`ragstone backup`."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.surfaces.cli.engine import open_indexed_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import format_bytes, print_result, printable


@click.command(cls=ExampleCommand, examples=("ragstone backup /mnt/backup/ragstone.db",))
@click.argument("target", type=click.Path(path_type=Path))
@common_options
def backup(target: Path, folder: Path | None, as_json: bool) -> None:
    """Write a verified copy of the database to TARGET."""
    with open_indexed_engine(folder) as engine:
        path = engine.admin.backup(target.absolute())
    size = path.stat().st_size
    sentence = f"{format_bytes(size)} written to {printable(str(path))} and verified."
    print_result({"success": True, "path": str(path), "bytes": size}, sentence, as_json=as_json)
