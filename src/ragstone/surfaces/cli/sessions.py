"""`ragstone sessions`: the conversations that are remembered, as lines of JSON and back."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.errors import InputError
from ragstone.sources.safe_open import identities
from ragstone.surfaces import present
from ragstone.surfaces.cli.folder import open_engine, open_existing
from ragstone.surfaces.cli.portable import give, may_write, opened, text_lines
from ragstone.surfaces.cli.shell import emit, number, safe, say, shared, table


@click.group(invoke_without_command=True)
@shared
@click.pass_context
def sessions(context: click.Context, folder: Path | None, as_json: bool) -> None:
    """List conversations, carry one elsewhere and back, take back that a turn supersedes others."""
    if context.invoked_subcommand is None:
        context.invoke(list_sessions, folder=folder, as_json=as_json)


@sessions.command("list")
@shared
def list_sessions(folder: Path | None, as_json: bool) -> None:
    """List the conversations that are remembered."""
    with open_engine(folder) as engine:
        found = engine.sessions() if engine.exists else []
    if as_json:
        told = [
            {"session_id": one.name, "turns": one.documents, "updated_at": present.moment(one.updated_at)}
            for one in found
        ]
        emit({"success": True, "sessions": told})
    elif found:
        table([(safe(one.name), number(one.documents, "turn")) for one in found], ("cyan", ""))
    else:
        say("Nothing is remembered yet (`ragstone remember` does it).")


@sessions.command("export")
@click.argument("session")
@click.argument("file", default="-")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@shared
def export(session: str, file: str, folder: Path | None, as_json: bool, force: bool) -> None:
    """Write the conversation SESSION to FILE (`-`, the default, is stdout), word for word."""
    may_write(file, as_json=as_json, force=force)
    with open_existing(folder) as engine:
        if identities([file]) & engine.source().own_files():
            raise InputError(f"{file} belongs to the index itself", hint="choose another name")
        give(file, engine.export_session(session), as_json=as_json)


@sessions.command("import")
@click.argument("file")
@click.option("--session", help="The name to remember it under; default: the one it had.")
@shared
def load(file: str, folder: Path | None, as_json: bool, session: str | None) -> None:
    """Take in FILE, written by `ragstone sessions export` (`-` is stdin); turns keep their numbers and times."""
    with open_engine(folder) as engine, opened(file, engine.source().own_files()) as data:
        new = engine.load_session(text_lines(data), session)
    if as_json:
        emit({"success": True, "turns": new})
    else:
        say(f"{number(new, 'new turn')} taken in")


@sessions.command("restore")
@click.argument("session")
@click.argument("turn", type=click.IntRange(min=0))
@shared
def restore(session: str, turn: int, folder: Path | None, as_json: bool) -> None:
    """Take back that TURN of SESSION supersedes earlier ones."""
    with open_existing(folder) as engine:
        engine.restore(session, turn)
    if as_json:
        emit({"success": True, "session_id": session, "turn_index": turn, "supersedes": []})
    else:
        say(f"turn {turn} of {safe(session)} supersedes nothing")
