"""The rules of a language that the evaluator takes as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ragstone_code.evaluate.values import Arguments, CallSite, Key, Value

if TYPE_CHECKING:
    from ragstone_code.evaluate.evaluator import Evaluator

NativeFunction: TypeAlias = "Callable[[Arguments, CallSite, Evaluator], Value]"


@dataclass(frozen=True, slots=True)
class Language:
    """Conversions, operators and built-in functions of a language."""

    truth: Callable[[Value], bool | None]
    """Returns whether a value counts as true, or None if that is unknown."""
    absent: Callable[[Value], bool | None]
    """Returns whether `a ?? b` evaluates to b, or None if that is unknown."""
    key: Callable[[Value], Key]
    """Returns the array key of a value."""
    operators: Mapping[str, Callable[[Value, Value], Value]]
    """Operators on two known values."""
    functions: Mapping[str, NativeFunction]
    """Built-in functions by name in lower case."""
