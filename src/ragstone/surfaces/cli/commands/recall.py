"""`ragstone recall`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import click

from ragstone.config.validation import HIT_RANGE
from ragstone.engine import Engine
from ragstone.errors import InputError
from ragstone.memory.session_cache import explain_replacement
from ragstone.retrieval.ranking.confidence import WEAK_CONFIDENCE
from ragstone.surfaces.cli.engine import describe_outer_memory, open_engine
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import (
    check_output_format,
    common_options,
    json_lines_option,
    number_type,
    parse_time,
)
from ragstone.surfaces.cli.output import (
    Styled,
    print_json,
    print_json_lines,
    print_line,
    print_notes,
    printable,
    shorten,
)
from ragstone.surfaces.cli.query import query_text
from ragstone.surfaces.cli.values import complete_session
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.memory import (
    describe_no_message,
    find_weak_score,
    recalled_json,
)
from ragstone.text.counts import plural
from ragstone.types import Recalled, Turn

_MAX_CHARACTERS: Final = 400
_NOTHING_FITS: Final = "nothing fits well: these are only the nearest messages"


@click.command(
    cls=ExampleCommand,
    examples=(
        'ragstone recall "how often do we retry"',
        'ragstone recall "what was decided" --session monday --since 2026-05-01',
        "ragstone recall --session monday -k 10        # the last ten messages",
    ),
)
@click.argument("query", nargs=-1)
@click.option(
    "--session",
    shell_complete=complete_session,
    show_default="all conversations",
    help="Only this conversation.",
)
@click.option(
    "-k",
    "--top-k",
    type=number_type("-k", HIT_RANGE),
    default=5,
    show_default=True,
    help="Number of messages at most.",
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
    session: str | None,
    top_k: int,
    since: str | None,
    until: str | None,
) -> None:
    """Show the messages that answer QUERY; without QUERY, the last messages."""
    check_output_format(as_json=as_json, as_json_lines=as_json_lines)
    first, last = parse_time(since, "--since"), parse_time(until, "--until")
    text = None
    if query:
        text = query_text(query)
    elif first is not None or last is not None:
        raise InputError(
            "--since and --until need a query", hint="without one, the last messages are shown"
        )
    with open_engine(folder) as engine:
        counts = {stored.name: stored.documents for stored in engine.memory.sessions()}
        if session is None and len(counts) == 1:
            session = next(iter(counts))
        if text is not None:
            results = engine.recall(session, text, top_k, since=first, until=last)
        else:
            results = _last_messages(engine, session, top_k)
        notes = [*engine.memory.notes(), *describe_no_message(session, counts, text)]
        notes += _weak_notes(results) if results else describe_outer_memory(engine)
    notes += _count_hidden(len(results), top_k, session, counts)
    answer = RecallAnswer(session, results, notes, has_scores=bool(query))
    if as_json_lines:
        print_json_lines(answer.rows())
    else:
        _print_answer(answer, as_json=as_json)
    print_notes(notes)


def _last_messages(engine: Engine, session: str | None, count: int) -> list[Recalled]:
    """Return the last messages of a conversation, or of all if it is None, oldest first."""
    names = [session]
    if session is None:
        names = [stored.name for stored in engine.memory.sessions()]
    results: list[Recalled] = []
    for name in names:
        results += _as_recalled(engine.turns(str(name), count))
    results.sort(key=lambda result: result.turn.time)
    return results[-count:] if count else []


def _weak_notes(results: Sequence[Recalled]) -> list[str]:
    """Return a note if even the best message hardly answers."""
    if max(result.score for result in results) < WEAK_CONFIDENCE:
        return [_NOTHING_FITS]
    return []


def _count_hidden(
    count: int, top_k: int, session: str | None, counts: Mapping[str, int]
) -> list[str]:
    """Return a note if a conversation has more messages than are shown."""
    total = sum(counts.values())
    if session is not None:
        total = counts.get(session, 0)
    if count < top_k or count >= total:
        return []
    return [f"{count} of {plural(total, 'message')}: -k {total} shows all"]


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """Recalled messages of one conversation, or of all of them."""

    session: str | None
    results: list[Recalled]
    notes: list[str]
    has_scores: bool
    """Whether the messages answer a query; otherwise they are the last ones."""

    def rows(self) -> list[Json]:
        """Return the messages as JSON; those of all conversations name theirs."""
        if self.session is not None:
            return [recalled_json(result) for result in self.results]
        return [
            {"session_id": result.turn.session, **recalled_json(result)}
            for result in self.results
        ]


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
            because = explain_replacement(turn.content, newer)
            results.append(Recalled(turn, 1.0, superseded_by=newer.index, because=because))
    return results


def _print_answer(answer: RecallAnswer, *, as_json: bool) -> None:
    if as_json:
        data = {"success": True, "session_id": answer.session, "results": answer.rows()}
        print_json({**data, "notes": answer.notes})
    else:
        _print_results(answer)


def _print_results(answer: RecallAnswer) -> None:
    weak_score = find_weak_score(answer.results)
    for result in answer.results:
        score: list[Styled] = []
        if answer.has_scores:
            score.append((f"  {result.score:.2f}", "green"))
            if result.score < weak_score and result.superseded_by is None:
                score.append(("  fits little", "dim"))
        _print_result(result, score, name_session=answer.session is None)
    if not answer.results:
        print_line("No message answers that.")


def _print_result(result: Recalled, score: Sequence[Styled], *, name_session: bool) -> None:
    turn = result.turn
    session = f"{printable(turn.session)} " if name_session else ""
    time = datetime.fromtimestamp(turn.time).isoformat(" ", "minutes")
    print_line(
        (f"{session}turn {turn.index}", "bold"),
        f"  {time}  ",
        (printable(turn.speaker or turn.role), "cyan"),
        *score,
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
