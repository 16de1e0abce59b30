"""A conversation as JSON lines: a header, then one line for each turn."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final, TypeGuard

from ragstone.errors import InputError
from ragstone.memory.turns import MAX_TURNS, check_turn
from ragstone.types import Turn

FORMAT: Final = 1
_MAX_TIME: Final = 253_402_300_799  # the end of the year 9999
_HINT: Final = "give a file that `ragstone sessions export` wrote"


def export_lines(session: str, turns: Iterable[Turn]) -> Iterator[str]:
    """Yield the lines of a conversation; empty optional fields are left out."""
    yield _to_line({"ragstone_session": FORMAT, "session": session})
    for turn in turns:
        required = {
            "turn": turn.index,
            "role": turn.role,
            "time": turn.time,
            "content": turn.content,
        }
        optional = {
            "speaker": turn.speaker,
            "metadata": dict(turn.metadata),
            "supersedes": list(turn.supersedes),
            "because": turn.because,
        }
        filled = {key: value for key, value in optional.items() if value}
        yield _to_line({**required, **filled})


def read_lines(lines: Iterable[str], session: str | None = None) -> list[Turn]:
    """Return the turns of a conversation, under the name `session` if given.

    Raise `InputError` if any line is damaged.
    """
    numbered = enumerate(lines, start=1)
    header = _parse_line(*next(numbered, (1, "")))
    name = session or header.get("session")
    if header.get("ragstone_session") != FORMAT or not isinstance(name, str):
        raise InputError(
            "this is no conversation", hint="the first line must say ragstone_session: 1"
        )
    turns: list[Turn] = []
    previous = -1
    for number, line in numbered:
        if line.strip():
            turn = _parse_turn(number, _parse_line(number, line), name, previous)
            turns.append(turn)
            previous = turn.index
    return turns


def _parse_turn(number: int, row: dict[str, object], session: str, previous: int) -> Turn:
    """Return the turn of a row; raise `InputError` if it is not valid or its index is not after `previous`."""
    index = row.get("turn")
    time = row.get("time")
    metadata = row.get("metadata", {})
    if not _is_index(index) or index <= previous or not _is_time(time):
        raise _invalid_turn(number)
    if not isinstance(metadata, dict):
        raise _invalid_turn(number)
    role = row.get("role")
    content = row.get("content")
    try:
        check_turn(session, role, content)
    except InputError as error:
        raise InputError(f"line {number}: {error.message}", hint=error.hint) from error
    return Turn(
        session=session,
        index=index,
        role=str(role),
        content=str(content),
        time=float(time),
        speaker=_get_text(row, "speaker", number),
        metadata=metadata,
        supersedes=_get_superseded(row, index, number),
        because=_get_text(row, "because", number),
    )


def _get_text(row: dict[str, object], key: str, number: int) -> str:
    text = row.get(key, "")
    if not isinstance(text, str):
        raise _invalid_turn(number)
    return text


def _get_superseded(row: dict[str, object], index: int, number: int) -> tuple[int, ...]:
    """Return the superseded turns of a row; all must be before the turn itself."""
    superseded = row.get("supersedes", [])
    if not isinstance(superseded, list):
        raise _invalid_turn(number)
    if not all(_is_index(earlier) and earlier < index for earlier in superseded):
        raise _invalid_turn(number)
    return tuple(superseded)


def _is_index(value: object) -> TypeGuard[int]:
    """Return whether a value can be the index of a turn; JSON's `true` is no number."""
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return 0 <= value < MAX_TURNS


def _is_time(value: object) -> TypeGuard[int | float]:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) <= _MAX_TIME


def _invalid_turn(number: int) -> InputError:
    return InputError(f"line {number} is no turn, or not in order", hint=_HINT)


def _to_line(fields: dict[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":"))


def _parse_line(number: int, line: str) -> dict[str, object]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError, TypeError) as error:
        raise InputError(f"line {number} is not JSON", hint=_HINT) from error
    if not isinstance(row, dict):
        raise InputError(f"line {number} is not an object", hint=_HINT)
    return row
