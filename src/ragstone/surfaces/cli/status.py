"""`ragstone status`: what is indexed, at a glance."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from ragstone.engine import Engine
from ragstone.errors import InputError
from ragstone.surfaces import present
from ragstone.surfaces.cli.folder import open_engine
from ragstone.surfaces.cli.shell import Part, emit, number, safe, say, shared, size
from ragstone.types import SpaceInfo, Status


@click.command()
@shared
def status(folder: Path | None, as_json: bool) -> None:
    """Show what is indexed, how far vectors are, and when it was last synced."""
    with open_engine(folder) as engine:
        state = replace(engine.status(), waiting=_waiting(engine)) if engine.exists else _nothing(engine)
    if as_json:
        emit({"success": True, **present.status(state)})
    else:
        _show(state, engine.folder)


def _nothing(engine: Engine) -> Status:
    """Return the state of a folder that has no index; looking at it makes none."""
    enabled = engine.settings.rag.enabled
    return Status(str(engine.home), engine.project, enabled, (), 0, 0, (), 0, None, 0)


def _waiting(engine: Engine) -> int | None:
    """Return how many files changed since they were last looked at; None where the folder cannot be looked at."""
    try:
        return engine.waiting()
    except InputError:
        return None


def _show(state: Status, folder: Path) -> None:
    if state.documents:
        say((f"Indexed {number(state.chunks, 'chunk')}", "bold green"), f" of {number(state.documents, 'document')}")
    else:
        say(("Empty", "bold yellow"), ": nothing is indexed yet (`ragstone sync` does it)")
    _row("folder", safe(str(folder)))
    if not state.enabled:
        _row("enabled", ("no: rag.enabled is false", "yellow"))
    for one in state.spaces:
        _row("vectors", *_coverage(one))
    synced = state.last_sync
    _row("last sync", "never" if synced is None else datetime.fromtimestamp(synced, UTC).astimezone().strftime("%F %T"))
    if state.waiting:
        _row("waiting", (f"{number(state.waiting, 'file')} changed since (`ragstone sync` brings them in)", "yellow"))
    if len(state.collections) > 1:
        for collection in state.collections:
            _row("collection", f"{safe(collection.name)}: {number(collection.documents, 'document')}")
    _row("on disk", f"{size(state.bytes_on_disk)} in {safe(state.home)}")


def _coverage(one: SpaceInfo) -> list[Part]:
    count = f"{one.embedded:,} of {number(one.texts, 'text')} ({one.coverage:.0%})"
    parts: list[Part] = [(count, "green" if one.coverage >= 1 else "yellow")]
    return [*parts, f", {one.space.model}" + ("" if one.state == "active" else f", {one.state}")]


def _row(name: str, *parts: Part) -> None:
    say((f"{name:>10}  ", "dim"), *parts)
