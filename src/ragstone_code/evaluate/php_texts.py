"""PHP's functions that can make a short text very long. They compute the length of the result first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ragstone_code.evaluate.budget import MAX_TEXT
from ragstone_code.evaluate.values import (
    Arguments,
    Array,
    CallSite,
    Unknown,
    Value,
    display_text,
    first_known,
)

if TYPE_CHECKING:
    from ragstone_code.evaluate.evaluator import Evaluator

_DIRECTIVE: Final = re.compile(r"%(?:(\d+)\$)?([-+0]|'.)*(\d+)?(?:\.(\d+))?([%bcdeEfFgGosuxX])")
_MAX_WIDTH: Final = 200


def sprintf(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    """Return a formatted text; unknown parts appear as their display text."""
    template = first_known(arguments.at(0))
    if not isinstance(template, str):
        return Unknown("the format is not known")
    values = list(arguments.positional[1:])
    remaining = iter(values)
    unknown_reasons: list[str] = []

    def format_directive(directive: re.Match[str]) -> str:
        if directive[5] == "%":
            return "%"
        if directive[1]:
            value = _value_at(values, int(directive[1]))
        else:
            value = next(remaining, None)
        if isinstance(value, Unknown) and not isinstance(first_known(value), str | int):
            unknown_reasons.append(value.reason)
        return _pad_directive(directive, display_text(value))

    longest = max((len(display_text(value)) for value in values), default=0)
    if len(template) + template.count("%") * (longest + _MAX_WIDTH) > MAX_TEXT:
        return Unknown("too long a text")
    text = _DIRECTIVE.sub(format_directive, template)
    if unknown_reasons:
        return Unknown(unknown_reasons[0], text)
    return text


def _value_at(values: list[Value], number: int) -> Value:
    """Return the value for `%number$s`, counted from 1 (0 is the last value, as in a Python index)."""
    if number <= len(values):
        return values[number - 1]
    return None


def _pad_directive(directive: re.Match[str], text: str) -> str:
    if not directive[3] or int(directive[3]) >= _MAX_WIDTH:
        return text
    fill = " "
    if "%0" in directive[0]:
        fill = "0"
    return text.rjust(int(directive[3]), fill)


def str_replace(search: Value, replacement: Value, text: str) -> Value:
    """Return a text with one or several parts replaced; `ValueError` if it would be too long."""
    if not isinstance(search, Array):
        return _replace(text, display_text(search), display_text(replacement))
    if isinstance(replacement, Array):
        replacements = [display_text(value) for value in replacement.values]
        replacements += [""] * (len(search) - len(replacements))
    else:
        replacements = [display_text(replacement)] * len(search)
    for searched, replacing in zip(search.values, replacements, strict=False):
        text = _replace(text, display_text(searched), replacing)
    return text


def _replace(text: str, old: str, new: str) -> str:
    """Return a text with a part replaced; `ValueError` if it would be too long."""
    if len(text) + text.count(old) * len(new) > MAX_TEXT:
        raise ValueError("too long a text")
    return text.replace(old, new)
