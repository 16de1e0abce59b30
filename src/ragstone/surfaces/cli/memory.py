"""`ragstone remember`, `recall` and `forget`: what was said in a conversation."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Final

import click

from ragstone.errors import InputError, NotFound
from ragstone.surfaces import present
from ragstone.surfaces.cli.folder import open_engine, open_existing
from ragstone.surfaces.cli.shell import emit, number, safe, say, shared
from ragstone.types import Recalled, Turn

_MOST_STDIN: Final = 4_000_000
_SHOWN: Final = 400


@click.command()
@click.argument("content", nargs=-1, required=True)
@click.option("--session", default="default", show_default=True, help="The conversation it belongs to.")
@click.option("--role", default="user", show_default=True, help="Who said it: user, assistant, or any other word.")
@click.option("--speaker", default="", help="The name of who said it.")
@click.option("--at", metavar="TIME", help="When it was said, such as 2026-05-08T14:00; default: now.")
@shared
def remember(content: tuple[str, ...], folder: Path | None, as_json: bool, session: str, **about: str | None) -> None:
    """Remember CONTENT (`-` reads it from stdin) as a turn of a conversation."""
    text = " ".join(content)
    if text == "-":
        text = sys.stdin.buffer.read(_MOST_STDIN).decode("utf-8", "replace")
    with open_engine(folder) as engine:
        role, speaker = about["role"] or "", about["speaker"] or ""
        index = engine.remember(session, role, text, speaker=speaker, at=_moment(about["at"], "--at"))
        supersedes = engine.turns(session, 1)[0].supersedes if index >= 0 else ()
    if as_json:
        emit({"success": index >= 0, "session_id": session, "turn_index": index, "role": role,
              "supersedes": list(supersedes)})  # fmt: skip
        return
    say(f"turn {index} of {safe(session)}" if index >= 0 else "retrieval is switched off: nothing was remembered")
    for old in supersedes:
        say(
            f"it supersedes turn {old}: `ragstone recall` shows both",
        )


@click.command()
@click.argument("query", nargs=-1)
@click.option("--session", default="default", show_default=True, help="The conversation to look in.")
@click.option("-k", "--top-k", type=int, default=5, show_default=True, help="How many turns at most.")
@click.option("--since", metavar="TIME", help="Only what was said from then on.")
@click.option("--until", metavar="TIME", help="Only what was said until then.")
@shared
def recall(
    query: tuple[str, ...], folder: Path | None, as_json: bool, session: str, top_k: int, **times: str | None
) -> None:
    """Show the turns of a conversation that answer QUERY; without one, the last turns."""
    with open_existing(folder) as engine:
        if query:
            since, until = _moment(times["since"], "--since"), _moment(times["until"], "--until")
            found = engine.recall(session, " ".join(query), top_k, since=since, until=until)
        else:
            found = [Recalled(turn, 1.0) for turn in engine.turns(session, top_k)]
        known = [one.name for one in engine.sessions()]
    if as_json:
        emit({"success": True, "session_id": session, "results": [present.recalled(one) for one in found]})
        return
    if session not in known:
        raise NotFound(f"nothing is remembered of {session!r}", hint=f"there are {', '.join(known) or 'no sessions'}")
    for one in found:
        _show(one)
    if not found:
        say("Nothing that was said answers that.")


@click.command()
@click.option("--session", help="The conversation to forget, or to forget something of.")
@click.option("--all-sessions", is_flag=True, help="With --before: of every conversation.")
@click.option("--turn", type=int, help="Only this turn.")
@click.option("--before", metavar="TIME", help="Only what was said before then.")
@shared
def forget(
    folder: Path | None, as_json: bool, session: str | None, all_sessions: bool, turn: int | None, before: str | None
) -> None:
    """Forget a conversation, one of its turns, or what is older than a time."""
    if all_sessions is (session is not None):
        raise InputError("forget needs one of --session and --all-sessions", hint="--session NAME")
    with open_existing(folder) as engine:
        if session is not None and session not in [one.name for one in engine.sessions()]:
            raise NotFound(f"nothing is remembered of {session!r}", hint="`ragstone recall --session NAME` shows it")
        gone = engine.forget(session, turn=turn, before=_moment(before, "--before"))
    if as_json:
        emit({"success": True, "forgotten": gone})
    else:
        say(f"{number(gone, 'turn')} forgotten.")


def _show(one: Recalled) -> None:
    turn = one.turn
    say((f"turn {turn.index}", "bold"), f"  {_time(turn)}  ", (safe(turn.speaker or turn.role), "cyan"))
    text = safe(turn.content.strip())
    say(f"  {text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}")
    if one.superseded_by is not None:
        say((f"  superseded by turn {one.superseded_by}: {safe(one.because)}", "yellow"))
    if one.said_again:
        say((f"  also said in turn {', '.join(map(str, one.said_again))}", "dim"))


def _time(turn: Turn) -> str:
    return datetime.fromtimestamp(turn.time).isoformat(" ", "minutes")


def _moment(text: str | None, flag: str) -> float | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(f"{flag} {text!r} is no time", hint="for example 2026-05-08 or 2026-05-08T14:00") from error
