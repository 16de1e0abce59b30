"""Parses the receiver of a call, such as `$this->songs()->first` or `new Song().album`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from ragstone.code.resolve.brackets import find_closing_bracket

_SEPARATOR: Final = re.compile(r"\s*(?:\?->|->|::|\?\.|!!?\.|\.)\s*")
_NON_NULL: Final = re.compile(r"!+(?=\.|$)")
_STEP_NAME: Final = re.compile(r"\$?[^\W\d]\w*!?|\\[\w\\]+|@{1,2}\w+")
_HEAD_NAME: Final = re.compile(r"\\?\$?[^\W\d][\w\\]*|@{1,2}\w+")
_NEW: Final = re.compile(r"new\s+(?P<name>[\\\w$.:]+)\s*")


class ReceiverStep(NamedTuple):
    """A name in a receiver, and whether it is called."""

    name: str
    is_called: bool


class Receiver(NamedTuple):
    """A receiver: its first name, and the steps from there."""

    head: ReceiverStep
    is_new: bool
    """Whether the head is a type after `new`."""
    is_awaited: bool
    steps: tuple[ReceiverStep, ...]


@lru_cache(maxsize=20_000)
def parse_receiver(text: str) -> Receiver | None:
    """Return the parsed receiver, or None if it has more than names, calls and `new`."""
    text = text.strip()
    while text.startswith("(") and find_closing_bracket(text, 0) == len(text) - 1:
        text = text[1:-1].strip()
    is_awaited = text.startswith("await ")
    if is_awaited:
        text = text.removeprefix("await ").strip()
    if text.startswith("("):
        return _parse_parenthesized(text, is_awaited=is_awaited)
    creation = _NEW.match(text)
    if creation:
        head = ReceiverStep(creation["name"], True)
        position = max(creation.end(), find_closing_bracket(text, creation.end()) + 1)
    else:
        name = _HEAD_NAME.match(text)
        if name is None:
            return None
        position, is_called = _skip_call(text, name.end())
        head = ReceiverStep(name[0], is_called)
    steps = _parse_steps(text, position)
    if steps is None:
        return None
    return Receiver(head, creation is not None, is_awaited, steps)


def _parse_parenthesized(text: str, *, is_awaited: bool) -> Receiver | None:
    """Parse a receiver that starts with another receiver in parentheses."""
    end = find_closing_bracket(text, 0)
    if end < 0:
        return None
    inner = parse_receiver(text[: end + 1])
    steps = _parse_steps(text, end + 1)
    if inner is None or steps is None or inner.is_awaited:
        return None
    return Receiver(inner.head, inner.is_new, is_awaited, (*inner.steps, *steps))


def _parse_steps(text: str, position: int) -> tuple[ReceiverStep, ...] | None:
    """Return the steps from a position to the end, or None if the text has anything else."""
    steps: list[ReceiverStep] = []
    while position < len(text):
        separator = _SEPARATOR.match(text, position) or _NON_NULL.match(text, position)
        if separator is None:
            return None
        name = _STEP_NAME.match(text, separator.end())
        if name is None:
            return tuple(steps) if separator.end() == len(text) else None
        position, is_called = _skip_call(text, name.end())
        steps.append(ReceiverStep(name[0], is_called))
    return tuple(steps)


def _skip_call(text: str, start: int) -> tuple[int, bool]:
    """Return the position behind the arguments of a call at `start`, and whether there is a call."""
    position = start
    while position < len(text) and text[position] == " ":
        position += 1
    sign = text[position : position + 1]
    if sign == "(":
        end = find_closing_bracket(text, position)
        if end > 0:
            return end + 1, True
    if sign and sign not in "?-:.!":
        return start, False
    return position, False
