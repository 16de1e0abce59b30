"""`ragstone events`: what happened lately, and what happens."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

import click

from ragstone.events import NAMES
from ragstone.surfaces.cli.folder import open_existing
from ragstone.surfaces.cli.shell import note, safe, say, shared

_LOOK_SECONDS: Final = 0.5
_SHOWN: Final = 200


@click.command()
@click.option("--follow", is_flag=True, help="Go on: show what happens from now on, until it is stopped.")
@click.option(
    "--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Events at most, the last ones."
)
@click.option("--name", "names", multiple=True, type=click.Choice(NAMES), help="Only events of this name.")
@shared
def events(folder: Path | None, as_json: bool, follow: bool, limit: int, names: tuple[str, ...]) -> None:
    """Show the last events of the index; with --json each is a line of its own."""
    with open_existing(folder) as engine:
        wanted = names or None
        _, end = engine.log.since(None, wanted)
        found = engine.log.last(limit, wanted)
        for event in found:
            _show(event, as_json=as_json)
        if not found and not follow:
            off = "" if engine.settings.events.log else " (events.log is false)"
            note(f"No events are kept{off}.")
        while follow:
            sys.stdout.flush()
            time.sleep(_LOOK_SECONDS)
            news, end = engine.log.since(end, wanted)
            for event in news:
                _show(event, as_json=as_json)


def _show(event: Mapping[str, object], *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(event) + "\n")
        return
    about = {key: value for key, value in event.items() if key not in ("time", "name")}
    text = safe(", ".join(f"{key} {_told(value)}" for key, value in about.items()))
    say((_time(event.get("time")), "dim"), "  ", (safe(str(event.get("name"))), "cyan"), f"  {text[:_SHOWN]}")


def _told(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"[{', '.join(map(_told, value))}]" if isinstance(value, list) else str(value)


def _time(seconds: object) -> str:
    try:
        return datetime.fromtimestamp(float(str(seconds))).isoformat(" ", "seconds")
    except (ValueError, OverflowError, OSError):
        return "?"
