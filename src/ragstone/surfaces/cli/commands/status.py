"""`ragstone status`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from ragstone.engine import Engine
from ragstone.errors import InputError
from ragstone.indexing.components import has_shared_store
from ragstone.surfaces.cli.engine import has_only_added_documents, open_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import (
    Styled,
    format_bytes,
    print_json,
    print_line,
    printable,
)
from ragstone.surfaces.present.index_notes import background_time
from ragstone.surfaces.present.reports import status_json
from ragstone.text.counts import plural
from ragstone.types import Job, SharedStatus, SpaceInfo, Status


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone status",
        "ragstone status --json",
    ),
)
@click.option(
    "--changes",
    is_flag=True,
    help="Also count the files that changed since the last sync; this scans the folder.",
)
@common_options
def status(folder: Path | None, as_json: bool, changes: bool) -> None:
    """Show the size of the index, the share of texts with vectors, and the last sync."""
    with open_engine(folder) as engine:
        state = _read_status(engine, count_changes=changes)
        is_incomplete = bool(
            state.documents and state.last_sync is None and not has_only_added_documents(engine)
        )
    if as_json:
        print_json({"success": True, **status_json(state)})
    else:
        _print_status(state, engine.folder, is_incomplete=is_incomplete)


def _read_status(engine: Engine, *, count_changes: bool) -> Status:
    """Return the status; a folder without an index stays without one."""
    if not engine.exists and not has_shared_store(engine.workspace.components):
        return Status(
            str(engine.home),
            engine.project,
            engine.settings.rag.enabled,
            (),
            0,
            0,
            (),
            0,
            None,
            0,
        )
    if not count_changes:
        return engine.status()
    try:
        changed_files: int | None = engine.admin.count_waiting()
    except InputError:  # the folder cannot be scanned now
        changed_files = None
    return replace(engine.status(), waiting=changed_files)


def _print_status(state: Status, folder: Path, *, is_incomplete: bool) -> None:
    if state.documents:
        documents = plural(state.documents, "document")
        print_line(
            (f"Indexed {plural(state.chunks, 'chunk')}", "bold green"), f" of {documents}"
        )
    else:
        print_line(
            ("Empty", "bold yellow"),
            ": nothing is indexed yet (`ragstone sync` indexes the folder)",
        )
    _print_fact("folder", printable(str(folder)))
    if not state.enabled:
        _print_fact("enabled", ("no: rag.enabled is false", "yellow"))
    _print_vectors(state)
    last_sync = "never"
    if is_incomplete:
        last_sync = "not complete yet (`ragstone sync` goes on)"
    if state.last_sync is not None:
        last_sync = datetime.fromtimestamp(state.last_sync, UTC).astimezone().strftime("%F %T")
    _print_fact("last sync", last_sync)
    if state.waiting:
        changed = (
            f"{plural(state.waiting, 'file')} changed since (`ragstone sync` indexes them)"
        )
        _print_fact("waiting", (changed, "yellow"))
    if len(state.collections) > 1:
        for collection in state.collections:
            _print_fact(
                "collection",
                f"{printable(collection.name)}: {plural(collection.documents, 'document')}",
            )
    if state.sessions:
        conversations = plural(state.sessions, "conversation")
        _print_fact("memory", f"{conversations}, {plural(state.turns, 'turn')}")
    if state.shared is not None:
        _print_shared(state.shared)
    _print_fact("on disk", f"{format_bytes(state.bytes_on_disk)} in {printable(state.home)}")


def _print_vectors(state: Status) -> None:
    """Print how many texts have a vector, and how the others get one."""
    for space in state.spaces:
        _print_fact("vectors", *_describe_space(space))
    if state.chunks and not state.spaces:
        _print_fact("vectors", ("none yet", "yellow"))
    lacks_vectors = not state.spaces or min(space.coverage for space in state.spaces) < 1
    if state.background.running:
        time = background_time(_count_missing(state))
        _print_fact("meaning", f"vectors are being made in the background, {time} more")
    elif state.background.failure:
        failure = f"the background process failed: {state.background.failure}"
        _print_fact("meaning", (printable(failure), "yellow"))
        _print_fact("log", printable(state.background.log))
    elif state.chunks and lacks_vectors:
        _print_fact("meaning", _describe_missing_vectors(state.spaces))


def _describe_missing_vectors(spaces: Sequence[SpaceInfo]) -> str:
    has_fallback = any(space.state == "fallback" and space.embedded for space in spaces)
    found_by = "words only"
    if has_fallback:
        found_by = "the vectors of the fallback"
    return f"texts without a vector are found by {found_by} (`ragstone sync` makes vectors)"


def _count_missing(state: Status) -> int:
    """Return how many texts of the collections have no vector of their model."""
    active = [space for space in state.spaces if space.state == "active"]
    if not active:
        return state.chunks
    return max(0, active[0].texts - sum(space.embedded for space in active))


def _print_fact(name: str, *parts: Styled) -> None:
    print_line((f"{name:>10}  ", "dim"), *parts)


def _describe_space(info: SpaceInfo) -> list[Styled]:
    count = f"{info.embedded:,} of {plural(info.texts, 'different text')} ({info.coverage:.0%})"
    colour = "green" if info.coverage >= 1 else "yellow"
    state = "" if info.state == "active" else f", {info.state}"
    return [(count, colour), f", {info.space.model}{state}"]


def _print_shared(shared: SharedStatus) -> None:
    """Print the jobs that are not done, and the replica."""
    for job in shared.jobs:
        _print_fact("job", *_describe_job(job))
    if shared.replica:
        _print_fact("replica", printable(shared.replica))


def _describe_job(job: Job) -> list[Styled]:
    """Return the state of a job, its progress or its failure."""
    name = f"{job.kind} {job.id}: "
    reason = printable(str((job.error or {}).get("message", "")))
    if job.state == "failed":
        return [name, (f"failed after {plural(job.attempts, 'attempt')}: {reason}", "red")]
    if job.state == "running":
        progress = f"{job.stage} {job.done:,} of {job.total:,}"
        return [name, ("running", "green"), f" on {printable(job.worker)}, {progress}"]
    if reason:
        return [
            name,
            (f"is repeated after {plural(job.attempts, 'attempt')}: {reason}", "yellow"),
        ]
    return [name, "waiting for a worker"]
