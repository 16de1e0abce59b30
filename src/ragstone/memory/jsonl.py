"""A conversation as lines of JSON: one that says what it is, then one for each turn, word for word."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ragstone.errors import InputError
from ragstone.memory.turns import MAX_TURNS, check_turn
from ragstone.types import Turn

FORMAT: Final = 1
_LATEST: Final = 253_402_300_799  # the end of the year 9999
_WROTE: Final = "give a file that `ragstone sessions export` wrote"


def export_lines(session: str, turns: Iterable[Turn]) -> Iterator[str]:
    """Yield the lines of a conversation."""
    yield _line(ragstone_session=FORMAT, session=session)
    for turn in turns:
        about = {
            "speaker": turn.speaker,
            "metadata": dict(turn.metadata),
            "supersedes": list(turn.supersedes),
        }
        told = {key: value for key, value in {**about, "because": turn.because}.items() if value}
        yield _line(turn=turn.index, role=turn.role, time=turn.time, content=turn.content, **told)


def read_lines(lines: Iterable[str], session: str | None = None) -> list[Turn]:
    """Return the turns of a conversation, under another name where one is given; nothing of a damaged one."""
    numbered = enumerate(lines, start=1)
    head = _parsed(*next(numbered, (1, "")))
    name = session or head.get("session")
    if head.get("ragstone_session") != FORMAT or not isinstance(name, str):
        raise InputError(
            "this is no conversation", hint="the first line must say ragstone_session: 1"
        )
    turns: list[Turn] = []
    for number, line in numbered:
        if line.strip():
            turns.append(
                _turn(number, _parsed(number, line), name, turns[-1].index if turns else -1)
            )
    return turns


def _turn(number: int, row: dict[str, Any], session: str, last: int) -> Turn:
    index, time, supersedes = (
        row.get("turn", -1),
        row.get("time", math.inf),
        row.get("supersedes", []),
    )
    texts = [row.get(key, "") for key in ("speaker", "because")]
    sound = (
        _whole(index)
        and last < index < MAX_TURNS
        and isinstance(time, int | float)
        and not isinstance(time, bool)
        and abs(time) <= _LATEST
        and isinstance(row.get("metadata", {}), dict)
        and isinstance(supersedes, list)
        and all(_whole(one) and one < index for one in supersedes)
        and all(isinstance(text, str) for text in texts)
    )
    if not sound:
        raise InputError(f"line {number} is no turn, or not in order", hint=_WROTE)
    try:
        check_turn(session, row.get("role"), row.get("content"))
    except InputError as error:
        raise InputError(f"line {number}: {error.message}", hint=error.hint) from error
    speaker, because = texts
    return Turn(session, index, row["role"], row["content"], float(time), speaker, row.get("metadata", {}),
                tuple(supersedes), because)  # fmt: skip


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _line(**fields: Any) -> str:
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":"))


def _parsed(number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError, TypeError) as error:
        raise InputError(f"line {number} is not JSON", hint=_WROTE) from error
    if not isinstance(row, dict):
        raise InputError(f"line {number} is not an object", hint=_WROTE)
    return row
