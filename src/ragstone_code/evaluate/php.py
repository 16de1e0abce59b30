"""PHP's rules for the evaluator."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from ragstone_code.evaluate.language import Language
from ragstone_code.evaluate.php_arrays import ARRAYS
from ragstone_code.evaluate.php_texts import TEXTS
from ragstone_code.evaluate.values import (
    Array,
    ClassRef,
    EnumCase,
    Instance,
    Key,
    Lambda,
    Recorder,
    Unknown,
    Value,
    display_text,
)

_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]{0,17})")


def truth(value: Value) -> bool | None:
    """Return whether PHP takes a value for true."""
    if isinstance(value, Unknown):
        return None
    if isinstance(value, Array):
        return True if len(value) else (False if value.complete else None)
    if isinstance(value, Lambda | Instance | Recorder | EnumCase | ClassRef):
        return True if not isinstance(value, Recorder) else None
    return value not in (None, False, 0, 0.0, "", "0")


def absent(value: Value) -> bool | None:
    """Return whether `??` goes on: for null alone."""
    return None if isinstance(value, Unknown) else value is None


def key_of(value: Value) -> Key:
    """Return the key PHP keeps a value under: numbers in texts become numbers."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return int(value) if abs(value) < 2**63 else display_text(value)
    if isinstance(value, str) and _NUMBER.fullmatch(value) and value != "-0":
        return int(value)
    if isinstance(value, int | str):
        return value
    return display_text(value)


def _number(value: Value) -> int | float:
    """Return a value as PHP counts with it."""
    if isinstance(value, bool | int | float):
        return value
    found = re.match(r"\s*-?\d+(\.\d+)?", value) if isinstance(value, str) else None
    if found is None:
        return 0
    return float(found[0]) if found[1] else int(found[0])


def _equal(left: Value, right: Value) -> Value:
    """Return `==`, which takes numbers and texts for each other, and truth where one side is a truth value."""
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        ours, theirs = truth(left), truth(right)
        return Unknown("== is not known") if ours is None or theirs is None else ours == theirs
    if isinstance(left, int | float) and isinstance(right, str):
        left, right = right, left
    if isinstance(left, str) and isinstance(right, int | float):
        return _number(left) == right if re.fullmatch(r"\s*-?\d+(\.\d+)?\s*", left) else left == display_text(right)
    return left == right


def _identical(left: Value, right: Value) -> bool:
    return left is right or (type(left) is type(right) and left == right)


def _added(left: Value, right: Value) -> Value:
    """Return `+`: of arrays, those of the left and what only the right has."""
    if isinstance(left, Array) and isinstance(right, Array):
        made = left.copy()
        for key, value in right.items.items():
            if key not in made.items:
                made.set(key, value)
        made.complete = left.complete and right.complete
        return made
    return _number(left) + _number(right)


def _divided(left: Value, right: Value) -> Value:
    by = _number(right)
    if not by:
        return Unknown("it is divided by nothing")
    result = _number(left) / by
    return int(result) if result.is_integer() and abs(result) < 2**53 else result


def _multiplied(left: Value, right: Value) -> Value:
    product = _number(left) * _number(right)
    return product if abs(product) < 2**63 else Unknown("the number is too large")


def _compared(test: Callable[[int | float, int | float], bool]) -> Callable[[Value, Value], Value]:
    """Return a comparison of numbers."""
    return lambda left, right: test(_number(left), _number(right))


def _cast_array(value: Value, _: Value) -> Value:
    if isinstance(value, Array):
        return value
    return Array() if value is None else Array([value])


def _instance_of(left: Value, right: Value) -> Value:
    if not isinstance(right, ClassRef):
        return Unknown("the class is not known")
    if isinstance(left, Lambda):
        return right.name.lower() == "closure"
    if isinstance(left, Instance):
        return True if left.name.lower() == right.name.lower() else Unknown("what it extends is not looked at")
    return Unknown("it is not known what it is") if isinstance(left, Recorder) else False


_OPERATORS: Final[Mapping[str, Callable[[Value, Value], Value]]] = {
    "+": _added,
    "-": lambda left, right: -_number(left) if right is None else _number(left) - _number(right),
    "*": _multiplied,
    "/": _divided,
    "%": lambda left, right: _number(left) % _number(right) if _number(right) else Unknown("divided by nothing"),
    "==": _equal,
    "!=": lambda left, right: found if isinstance(found := _equal(left, right), Unknown) else not found,
    "<>": lambda left, right: found if isinstance(found := _equal(left, right), Unknown) else not found,
    "===": _identical,
    "!==": lambda left, right: not _identical(left, right),
    "<": _compared(lambda left, right: left < right),
    ">": _compared(lambda left, right: left > right),
    "<=": _compared(lambda left, right: left <= right),
    ">=": _compared(lambda left, right: left >= right),
    "|": lambda left, right: int(_number(left)) | int(_number(right)),
    "&": lambda left, right: int(_number(left)) & int(_number(right)),
    "instanceof": _instance_of,
    "(string)": lambda value, _: display_text(value),
    "(int)": lambda value, _: int(_number(value)),
    "(integer)": lambda value, _: int(_number(value)),
    "(float)": lambda value, _: float(_number(value)),
    "(bool)": lambda value, _: Unknown("it is not known") if (found := truth(value)) is None else found,
    "(boolean)": lambda value, _: Unknown("it is not known") if (found := truth(value)) is None else found,
    "(array)": _cast_array,
    "(object)": lambda value, _: value,
}

PHP: Final = Language(
    name="php",
    truth=truth,
    absent=absent,
    key=key_of,
    operators=_OPERATORS,
    copies=True,
    folds=True,
    functions={**TEXTS, **ARRAYS},
    separator="\\",
)
