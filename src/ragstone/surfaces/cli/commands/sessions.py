"""`ragstone sessions`."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.surfaces.cli.engine import (
    describe_outer_memory,
    open_engine,
    open_indexed_engine,
)
from ragstone.surfaces.cli.help import ExampleGroup
from ragstone.surfaces.cli.json_lines import (
    PIPE,
    check_target,
    decode_lines,
    open_input,
    write_export,
)
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import (
    print_json,
    print_line,
    print_notes,
    print_result,
    print_table,
    printable,
)
from ragstone.surfaces.cli.values import complete_session
from ragstone.surfaces.present.memory import session_json
from ragstone.text.counts import plural


@click.group(
    cls=ExampleGroup,
    invoke_without_command=True,
    examples=(
        "ragstone sessions",
        "ragstone sessions export monday",
    ),
)
@common_options
@click.pass_context
def sessions(context: click.Context, folder: Path | None, as_json: bool) -> None:
    """List, export and import conversations, or undo that a message supersedes others."""
    if context.invoked_subcommand is None:
        context.invoke(list_sessions, folder=folder, as_json=as_json)


@sessions.command("list", examples=("ragstone sessions list --json",))
@common_options
def list_sessions(folder: Path | None, as_json: bool) -> None:
    """List the remembered conversations."""
    with open_engine(folder) as engine:
        listed = engine.memory.sessions() if engine.exists else []
        notes = [] if listed else describe_outer_memory(engine)
    if as_json:
        print_json({"success": True, "sessions": [session_json(session) for session in listed]})
    elif listed:
        rows = [
            (printable(session.name), plural(session.documents, "turn")) for session in listed
        ]
        print_table(rows, ("cyan", ""))
    else:
        print_line("No conversations yet (`ragstone remember` stores a message).")
    print_notes(notes)


@sessions.command("export", examples=("ragstone sessions export monday monday.jsonl",))
@click.argument("session", shell_complete=complete_session)
@click.argument("file", default=PIPE)
@click.option("--force", is_flag=True, help="Write over an existing file.")
@common_options
def export_session(
    session: str, file: str, folder: Path | None, as_json: bool, force: bool
) -> None:
    """Write the conversation SESSION to FILE (default: stdout), word for word."""
    check_target(file, as_json=as_json, force=force)
    with open_indexed_engine(folder) as engine:
        write_export(engine, file, engine.memory.export(session), as_json=as_json)


@sessions.command(
    "import",
    examples=(
        "ragstone sessions import monday.jsonl",
        "ragstone sessions import monday.jsonl --session copy",
    ),
)
@click.argument("file")
@click.option("--session", help="The name to store it under; default: its old name.")
@common_options
def import_session(file: str, folder: Path | None, as_json: bool, session: str | None) -> None:
    """Load FILE (`-` is stdin) that `ragstone sessions export` wrote; messages keep their numbers and times."""
    with open_engine(folder) as engine, open_input(engine, file) as data:
        count = engine.memory.load(decode_lines(data), session)
    print_result(
        {"success": True, "turns": count},
        f"{plural(count, 'new turn')} imported",
        as_json=as_json,
    )


@sessions.command("restore", examples=("ragstone sessions restore monday 4",))
@click.argument("session", shell_complete=complete_session)
@click.argument("turn", type=click.IntRange(min=0))
@common_options
def restore_turns(session: str, turn: int, folder: Path | None, as_json: bool) -> None:
    """Undo that message TURN of SESSION supersedes earlier ones."""
    with open_indexed_engine(folder) as engine:
        engine.memory.restore(session, turn)
    data = {"success": True, "session_id": session, "turn_index": turn, "supersedes": []}
    print_result(
        data, f"turn {turn} of {printable(session)} supersedes nothing", as_json=as_json
    )
