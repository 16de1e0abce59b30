"""`ragstone compact`."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.surfaces.cli.engine import open_indexed_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import format_bytes, print_result


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone compact",
        "ragstone compact --secure",
    ),
)
@click.option(
    "--secure",
    is_flag=True,
    help="Also overwrite removed data, and the queries in the event log.",
)
@common_options
def compact(folder: Path | None, as_json: bool, secure: bool) -> None:
    """Free the disk space of removed documents."""
    with open_indexed_engine(folder) as engine:
        bytes_freed = engine.admin.compact(secure=secure)
    sentence = f"{format_bytes(max(bytes_freed, 0))} freed."
    if secure:
        sentence = f"Removed text and the queries of the event log are overwritten. {sentence}"
    print_result({"success": True, "bytes_freed": bytes_freed}, sentence, as_json=as_json)
