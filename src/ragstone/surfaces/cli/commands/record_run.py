"""`ragstone record-run`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import BinaryIO, Final

import click

from ragstone.errors import InputError
from ragstone.surfaces.cli.engine import open_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import collection_option, common_options
from ragstone.surfaces.cli.output import print_notes, print_result, printable
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.reports import add_report_json
from ragstone.text.counts import plural

_MAX_BYTES: Final = 50_000_000
_EXAMPLE: Final = '{"run_id": "r1", "summary": "…", "changes": [{"path": "app/Song.php", "action": "modified"}]}'
_KEYS: Final = ("run_id", "summary", "changes", "at")


@click.command(
    "record-run",
    cls=ExampleCommand,
    examples=(
        "ragstone record-run run.json",
        'echo \'{"run_id": "r1", "summary": "Renamed play", "changes": [{"path": "a.py"}]}\' | ragstone record-run',
    ),
)
@click.argument("file", type=click.File("rb"), default="-")
@collection_option("The collection to store it in; default: the one for documents.")
@common_options
def record_run(
    file: BinaryIO, folder: Path | None, as_json: bool, collection: str | None
) -> None:
    """Store a summary of an agent's run, from a JSON FILE or from stdin; the same run_id replaces it."""
    run = _read_run(file)
    with open_engine(folder) as engine:
        report = engine.record_run(
            run.get("run_id"),  # type: ignore[arg-type]  # the engine checks the types
            run.get("summary"),  # type: ignore[arg-type]
            run.get("changes", []),
            at=run.get("at"),
            collection=collection,
        )
    changes = plural(max(0, report.documents - 1), "change")
    sentence = f"Run {printable(str(run['run_id']))} recorded with {changes}."
    data = {"success": True, "run_id": run["run_id"], **add_report_json(report)}
    print_result(data, sentence, as_json=as_json)
    print_notes(report.notes)


def _read_run(file: BinaryIO) -> Json:
    stream = sys.stdin.buffer if file.name in ("-", "<stdin>") else file
    data = stream.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise InputError("the run is too long", hint="record it in parts, under several ids")
    try:
        run = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError("the run is not valid JSON", hint=_EXAMPLE) from error
    if not isinstance(run, dict):
        raise InputError("a run is one JSON object", hint=_EXAMPLE)
    unknown = [key for key in run if key not in _KEYS]
    if unknown:
        raise InputError(f"a run has no {unknown[0]!r}", hint=_EXAMPLE)
    return run
