"""`ragstone record-run`: what an agent did, so that it is found later."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, BinaryIO, Final

import click

from ragstone.errors import InputError
from ragstone.surfaces import present
from ragstone.surfaces.cli.folder import open_engine
from ragstone.surfaces.cli.shell import emit, number, remark, safe, say, shared

_LONGEST: Final = 50_000_000
_HINT: Final = '{"run_id": "r1", "summary": "…", "changes": [{"path": "app/Song.php", "action": "modified"}]}'
_KNOWN: Final = ("run_id", "summary", "changes", "at")


@click.command("record-run")
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--collection", help="Where to store it; default: the one documents are in.")
@shared
def record_run(file: BinaryIO, folder: Path | None, as_json: bool, collection: str | None) -> None:
    r"""Store what a run did, from a FILE of JSON or from stdin; the same id again replaces it.

    \b
    ragstone record-run run.json
    echo '{"run_id": "r1", "summary": "Renamed play", "changes": [{"path": "a.py"}]}' | ragstone record-run
    """
    told = _told(file)
    with open_engine(folder) as engine:
        report = engine.record_run(
            told.get("run_id"),  # type: ignore[arg-type]  # whatever JSON says: looked at by the engine
            told.get("summary"),  # type: ignore[arg-type]  # as above
            told.get("changes", []),
            at=told.get("at"),
            collection=collection,
        )
    if as_json:
        emit({"success": True, "run_id": told["run_id"], **present.add_report(report)})
    else:
        changed = number(max(0, report.documents - 1), "change")
        say(f"Run {safe(str(told['run_id']))} recorded with {changed}.")
    remark(report.notes)


def _told(file: BinaryIO) -> dict[str, Any]:
    stream = sys.stdin.buffer if file.name in ("-", "<stdin>") else file
    data = stream.read(_LONGEST + 1)
    if len(data) > _LONGEST:
        raise InputError("the run is too long", hint="record it in parts, under several ids")
    try:
        told = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError("a run is told as JSON, and this is none", hint=_HINT) from error
    if not isinstance(told, dict):
        raise InputError("a run is told as one JSON object", hint=_HINT)
    unknown = next((key for key in told if key not in _KNOWN), None)
    if unknown is not None:
        raise InputError(f"a run has no {unknown!r}", hint=_HINT)
    return told
