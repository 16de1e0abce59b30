"""What differs between languages, as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ragstone_code.evaluate.values import Arguments, CallSite, Key, Value

if TYPE_CHECKING:
    from ragstone_code.evaluate.frame import Frame
    from ragstone_code.evaluate.machine import Evaluator

NativeFunction: TypeAlias = "Callable[[Arguments, CallSite, Evaluator], Value]"
NativeMethod: TypeAlias = "Callable[[Value, Arguments, CallSite, Evaluator], Value]"


@dataclass(frozen=True, slots=True)
class Language:
    """The rules of one language."""

    name: str
    truth: Callable[[Value], bool | None]
    """Whether a value counts as true; None where that is not known."""
    absent: Callable[[Value], bool | None]
    """Whether `a ?? b`, `a or b` goes on to b."""
    key: Callable[[Value], Key]
    """The key an array keeps a value under."""
    operators: Mapping[str, Callable[[Value, Value], Value]]
    """Those of two known values."""
    copies: bool
    """Whether an array that is assigned or passed is one of its own."""
    folds: bool = False
    """Whether names of functions and classes are the same in any case."""
    functions: Mapping[str, NativeFunction] = field(default_factory=dict)
    """By name, in lower case where the language does not tell case apart."""
    methods: Mapping[str, NativeMethod] = field(default_factory=dict)
    """Of plain values and arrays."""
    resolve: Callable[[str, Frame, Evaluator], Value] | None = None
    """What a bare name is that no variable has: builtins, imports, what a module defines."""
    separator: str = "."
    """Between the parts of a full name."""
    this: str = "this"
    """The variable an object is called inside its methods; empty where it is the first parameter."""
