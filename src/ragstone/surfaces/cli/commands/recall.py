"""`ragstone recall`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

import click

from ragstone.errors import InputError, NotFound
from ragstone.surfaces.cli.engine import open_indexed_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import (
    check_output_format,
    common_options,
    json_lines_option,
    parse_time,
    session_option,
)
from ragstone.surfaces.cli.output import (
    print_json,
    print_json_lines,
    print_line,
    print_notes,
    printable,
    shorten,
)
from ragstone.surfaces.present.memory import recalled_json
from ragstone.types import Recalled, Turn

_MAX_CHARACTERS: Final = 400


@click.command(
    cls=ExampleCommand,
    examples=(
        'ragstone recall "how often do we retry"',
        'ragstone recall "what was decided" --session monday --since 2026-05-01',
        "ragstone recall -k 10        # the last ten messages",
    ),
)
@click.argument("query", nargs=-1)
@session_option
@click.option(
    "-k", "--top-k", type=int, default=5, show_default=True, help="Number of messages at most."
)
@click.option("--since", metavar="TIME", help="Only messages from this time on.")
@click.option("--until", metavar="TIME", help="Only messages until this time.")
@json_lines_option
@common_options
def recall(
    query: tuple[str, ...],
    folder: Path | None,
    as_json: bool,
    as_json_lines: bool,
    session: str,
    top_k: int,
    since: str | None,
    until: str | None,
) -> None:
    """Show the messages of a conversation that answer QUERY; without QUERY, the last messages."""
    check_output_format(as_json=as_json, as_json_lines=as_json_lines)
    first, last = parse_time(since, "--since"), parse_time(until, "--until")
    with open_indexed_engine(folder) as engine:
        if query:
            results = engine.recall(session, " ".join(query), top_k, since=first, until=last)
        elif first is not None or last is not None:
            raise InputError(
                "--since and --until need a query",
                hint="without one, the last messages are shown",
            )
        else:
            results = _as_recalled(engine.turns(session, top_k))
        sessions = [known.name for known in engine.memory.sessions()]
        notes = engine.memory.notes()
    if as_json_lines:
        print_json_lines(recalled_json(result) for result in results)
    elif as_json:
        print_json(
            {
                "success": True,
                "session_id": session,
                "results": [recalled_json(result) for result in results],
                "notes": notes,
            }
        )
    else:
        _print_results(results, session, sessions)
    print_notes(notes)


def _as_recalled(turns: list[Turn]) -> list[Recalled]:
    """Return turns as results; a turn that a later one supersedes says so."""
    later: dict[int, Turn] = {}
    for turn in turns:
        later.update(dict.fromkeys(turn.supersedes, turn))
    results = []
    for turn in turns:
        newer = later.get(turn.index)
        if newer is None:
            results.append(Recalled(turn, 1.0))
        else:
            results.append(
                Recalled(turn, 1.0, superseded_by=newer.index, because=newer.because)
            )
    return results


def _print_results(results: list[Recalled], session: str, sessions: list[str]) -> None:
    """Print messages; raise `NotFound` if there is no such conversation."""
    if session not in sessions:
        hint = f"there are {', '.join(sessions) or 'no sessions'}"
        raise NotFound(f"nothing is remembered of {session!r}", hint=hint)
    for result in results:
        _print_result(result)
    if not results:
        print_line("No message answers that.")


def _print_result(result: Recalled) -> None:
    turn = result.turn
    time = datetime.fromtimestamp(turn.time).isoformat(" ", "minutes")
    print_line(
        (f"turn {turn.index}", "bold"),
        f"  {time}  ",
        (printable(turn.speaker or turn.role), "cyan"),
    )
    print_line(f"  {shorten(turn.content.strip(), _MAX_CHARACTERS)}")
    if result.superseded_by is not None:
        print_line(
            (
                f"  superseded by turn {result.superseded_by}: {printable(result.because)}",
                "yellow",
            )
        )
    if result.said_again:
        print_line((f"  also said in turn {', '.join(map(str, result.said_again))}", "dim"))
