"""`ragstone forget`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from ragstone.errors import InputError, NotFound
from ragstone.surfaces.cli.engine import open_indexed_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options, parse_time
from ragstone.surfaces.cli.output import print_result
from ragstone.surfaces.cli.values import complete_session
from ragstone.text.counts import plural


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone forget --session monday",
        "ragstone forget --session monday --turn 4",
        "ragstone forget --all-sessions --before 2026-01-01",
    ),
)
@click.option(
    "--session",
    shell_complete=complete_session,
    help="The conversation; with --turn it is `default` if left out.",
)
@click.option("--all-sessions", is_flag=True, help="With --before: every conversation.")
@click.option("--turn", type=int, help="Delete only this message.")
@click.option("--before", metavar="TIME", help="Delete only messages before this time.")
@common_options
def forget(
    folder: Path | None,
    as_json: bool,
    session: str | None,
    all_sessions: bool,
    turn: int | None,
    before: str | None,
) -> None:
    """Delete a conversation, one of its messages, or messages older than a time."""
    if turn is not None and session is None and not all_sessions:
        session = "default"
    if all_sessions == (session is not None):
        raise InputError(
            "which messages? Give --session NAME, or --all-sessions with --before TIME",
            hint="`ragstone sessions` lists the conversations",
        )
    with open_indexed_engine(folder) as engine:
        sessions = [known.name for known in engine.memory.sessions()]
        if session is not None and session not in sessions:
            raise NotFound(
                f"nothing is remembered of {session!r}", hint="`ragstone sessions` lists them"
            )
        count = engine.memory.forget(session, turn=turn, before=parse_time(before, "--before"))
    if turn is not None and not count:
        raise NotFound(
            f"{session!r} has no turn {turn}",
            hint=f"`ragstone recall --session {shlex.quote(str(session))}` shows the numbers",
        )
    sentence = "No message is that old: nothing was forgotten."
    if count:
        erase = "`ragstone compact --secure` erases the text from the files."
        sentence = f"{plural(count, 'turn')} forgotten. {erase}"
    print_result({"success": True, "forgotten": count}, sentence, as_json=as_json)
