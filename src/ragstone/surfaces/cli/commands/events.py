"""`ragstone events`."""

from __future__ import annotations

import json
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Final

import click

from ragstone.indexing.events import NAMES, EventRecord
from ragstone.surfaces.cli.engine import open_indexed_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_line, print_note, printable

_POLL_SECONDS: Final = 0.5
_MAX_CHARACTERS: Final = 200


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone events --limit 50",
        "ragstone events --follow --name rag_search_completed",
    ),
)
@click.option("--follow", is_flag=True, help="Also show new events, until Ctrl-C.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Number of past events at most.",
)
@click.option(
    "--name", "names", multiple=True, type=click.Choice(NAMES), help="Only events of this name."
)
@common_options
def events(
    folder: Path | None, as_json: bool, follow: bool, limit: int, names: tuple[str, ...]
) -> None:
    """Show the last events of the index; with --json each line is one object."""
    with open_indexed_engine(folder) as engine:
        position = engine.admin.log.end()
        records = engine.admin.log.last(limit, names or None)
        for record in records:
            _print_record(record, as_json=as_json)
        if limit and not records and not follow:
            reason = "" if engine.settings.events.log else " (events.log is false)"
            print_note(f"No events are kept{reason}.")
        while follow:
            sys.stdout.flush()
            time.sleep(_POLL_SECONDS)
            records, position = engine.admin.log.since(position, names or None)
            for record in records:
                _print_record(record, as_json=as_json)


def _print_record(record: EventRecord, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(record) + "\n")
        return
    details = [
        f"{key} {_format_value(value)}"
        for key, value in record.items()
        if key not in ("time", "name")
    ]
    print_line(
        (_format_time(record.get("time")), "dim"),
        "  ",
        (printable(str(record.get("name"))), "cyan"),
        f"  {printable(', '.join(details))[:_MAX_CHARACTERS]}",
    )


def _format_value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return f"[{', '.join(map(_format_value, value))}]"
    return str(value)


def _format_time(seconds: object) -> str:
    try:
        return datetime.fromtimestamp(float(str(seconds))).isoformat(" ", "seconds")
    except (ValueError, OverflowError, OSError):
        return "?"
