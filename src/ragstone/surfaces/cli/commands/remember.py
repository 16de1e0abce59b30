"""`ragstone remember`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ragstone.errors import InputError
from ragstone.memory.turns import ROLES
from ragstone.surfaces.cli.engine import open_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options, parse_time, session_option
from ragstone.surfaces.cli.output import print_json, print_line, print_notes, printable
from ragstone.surfaces.cli.query import MAX_STDIN_BYTES
from ragstone.surfaces.present.memory import describe_redaction


@click.command(
    cls=ExampleCommand,
    examples=(
        'ragstone remember "We retry three times."',
        'ragstone remember "Agreed." --session monday --role assistant --speaker Ada',
        'echo "We retry three times." | ragstone remember -',
    ),
)
@click.argument("content", nargs=-1)
@session_option
@click.option(
    "--role",
    default="user",
    show_default=True,
    help=f"The role: {ROLES}.",
)
@click.option("--speaker", default="", show_default=False, help="The speaker's name.")
@click.option("--at", metavar="TIME", help="The time, such as 2026-05-08T14:00; default: now.")
@common_options
def remember(
    content: tuple[str, ...],
    folder: Path | None,
    as_json: bool,
    session: str,
    role: str,
    speaker: str,
    at: str | None,
) -> None:
    """Store CONTENT (`-` reads it from stdin) as a message of a conversation."""
    text = " ".join(content)
    if not text.strip():
        raise InputError("the message is empty", hint="give its text, or `-` to read a pipe")
    if text == "-":
        text = sys.stdin.buffer.read(MAX_STDIN_BYTES).decode("utf-8", "replace")
    superseded: tuple[int, ...] = ()
    with open_engine(folder) as engine:
        turn_index = engine.remember(
            session, role, text, speaker=speaker, at=parse_time(at, "--at")
        )
        is_stored = turn_index >= 0
        notes = engine.memory.notes()
        if is_stored:
            turn = engine.turns(session, 1)[0]
            superseded = turn.supersedes
            notes += describe_redaction(text, turn.content)
    if as_json:
        data = {
            "success": is_stored,
            "session_id": session,
            "turn_index": turn_index,
            "role": role,
            "supersedes": list(superseded),
            "notes": notes,
        }
        print_json(data)
        return
    if not is_stored:
        print_line("retrieval is switched off: nothing was remembered")
        return
    print_line(f"stored as turn {turn_index} of the session {printable(session)}")
    for old_index in superseded:
        print_line(f"it supersedes turn {old_index}: `ragstone recall` shows both")
    print_notes(notes)
