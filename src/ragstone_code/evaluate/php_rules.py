"""PHP's conversions and operators."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from ragstone_code.evaluate.budget import MAX_NUMBER
from ragstone_code.evaluate.language import Language
from ragstone_code.evaluate.php_arrays import ARRAY_FUNCTIONS
from ragstone_code.evaluate.php_strings import STRING_FUNCTIONS
from ragstone_code.evaluate.values import (
    Array,
    ClassRef,
    Instance,
    Key,
    Lambda,
    Recorder,
    Unknown,
    Value,
    display_text,
    is_identical,
)

_INTEGER_KEY: Final = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_NUMBER_PREFIX: Final = re.compile(r"\s*-?\d+(\.\d+)?")
_NUMBER: Final = re.compile(r"\s*-?\d+(\.\d+)?\s*")

Number: TypeAlias = int | float
Operator: TypeAlias = Callable[[Value, Value], Value]


def truth(value: Value) -> bool | None:
    """Return whether PHP treats a value as true, or None if that is unknown."""
    if isinstance(value, Unknown | Recorder):
        return None
    if isinstance(value, Array):
        if len(value) == 0 and not value.complete:
            return None
        return len(value) > 0
    return value not in (None, False, 0, 0.0, "", "0")


def absent(value: Value) -> bool | None:
    """Return whether `??` evaluates its right side: only if the value is null."""
    if isinstance(value, Unknown):
        return None
    return value is None


def key_of(value: Value) -> Key:
    """Return the array key of a value; PHP converts texts that are integers."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        if abs(value) < 2**63:
            return int(value)
        return display_text(value)
    if isinstance(value, str) and _INTEGER_KEY.fullmatch(value) and value != "-0":
        return int(value)
    if isinstance(value, int | str):
        return value
    return display_text(value)


def _number(value: Value) -> Number:
    """Return a value converted to a number; a text counts by its leading digits."""
    if isinstance(value, bool | int | float):
        return value
    if not isinstance(value, str):
        return 0
    match = _NUMBER_PREFIX.match(value)
    if match is None:
        return 0
    has_fraction = bool(match[1])
    if has_fraction:
        return float(match[0])
    return int(match[0])


def _integer(value: Value) -> int:
    return int(_number(value))


def _equal(left: Value, right: Value) -> Value:
    """Return `left == right`: PHP compares booleans by truth and numeric texts by number."""
    if isinstance(left, bool | None) or isinstance(right, bool | None):
        left_truth = truth(left)
        right_truth = truth(right)
        if left_truth is None or right_truth is None:
            return Unknown("== is not known")
        return left_truth == right_truth
    if isinstance(left, str) and isinstance(right, int | float):
        return _text_equals_number(left, right)
    if isinstance(right, str) and isinstance(left, int | float):
        return _text_equals_number(right, left)
    return left == right


def _text_equals_number(text: str, number: Number) -> bool:
    if _NUMBER.fullmatch(text):
        return _number(text) == number
    return text == display_text(number)


def _not_equal(left: Value, right: Value) -> Value:
    result = _equal(left, right)
    if isinstance(result, Unknown):
        return result
    return not result


def _not_identical(left: Value, right: Value) -> Value:
    return not is_identical(left, right)


def _add(left: Value, right: Value) -> Value:
    """Return `left + right`; for arrays, the left array with the missing keys of the right one."""
    if isinstance(left, Array) and isinstance(right, Array):
        union = left.copy()
        for key, value in right.items.items():
            if key not in union.items:
                union.set(key, value)
        union.complete = left.complete and right.complete
        return union
    return _limited(_number(left) + _number(right))


def _limited(number: Number) -> Value:
    if isinstance(number, float) or abs(number) < MAX_NUMBER:
        return number
    return Unknown("the number is too large")


def _subtract(left: Value, right: Value) -> Value:
    """Return `left - right`, or `-left` if there is no right side."""
    if right is None:
        return _limited(-_number(left))
    return _limited(_number(left) - _number(right))


def _multiply(left: Value, right: Value) -> Value:
    return _limited(_number(left) * _number(right))


def _divide(left: Value, right: Value) -> Value:
    divisor = _number(right)
    if not divisor:
        return Unknown("it is divided by nothing")
    quotient = _number(left) / divisor
    if quotient.is_integer() and abs(quotient) < 2**53:
        return int(quotient)
    return quotient


def _modulo(left: Value, right: Value) -> Value:
    divisor = _number(right)
    if not divisor:
        return Unknown("divided by nothing")
    return _number(left) % divisor


def _bitwise_or(left: Value, right: Value) -> Value:
    return _integer(left) | _integer(right)


def _bitwise_and(left: Value, right: Value) -> Value:
    return _integer(left) & _integer(right)


def _comparison(compare: Callable[[Number, Number], bool]) -> Operator:
    """Return an operator that compares two values as numbers."""
    return lambda left, right: compare(_number(left), _number(right))


def _cast_bool(value: Value, _: Value) -> Value:
    value_truth = truth(value)
    if value_truth is None:
        return Unknown("it is not known")
    return value_truth


def _cast_array(value: Value, _: Value) -> Value:
    if isinstance(value, Array):
        return value
    if value is None:
        return Array()
    return Array([value])


def _instance_of(left: Value, right: Value) -> Value:
    if not isinstance(right, ClassRef):
        return Unknown("the class is not known")
    if isinstance(left, Lambda):
        return right.name.lower() == "closure"
    if isinstance(left, Instance):
        if left.name.lower() == right.name.lower():
            return True
        return Unknown("what it extends is not looked at")
    if isinstance(left, Recorder):
        return Unknown("it is not known what it is")
    return False


_OPERATORS: Final[Mapping[str, Operator]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "%": _modulo,
    "==": _equal,
    "!=": _not_equal,
    "<>": _not_equal,
    "===": is_identical,
    "!==": _not_identical,
    "<": _comparison(operator.lt),
    ">": _comparison(operator.gt),
    "<=": _comparison(operator.le),
    ">=": _comparison(operator.ge),
    "|": _bitwise_or,
    "&": _bitwise_and,
    "instanceof": _instance_of,
    "(string)": lambda value, _: display_text(value),
    "(int)": lambda value, _: _integer(value),
    "(integer)": lambda value, _: _integer(value),
    "(float)": lambda value, _: float(_number(value)),
    "(bool)": _cast_bool,
    "(boolean)": _cast_bool,
    "(array)": _cast_array,
    "(object)": lambda value, _: value,
}

PHP: Final = Language(
    truth=truth,
    absent=absent,
    key=key_of,
    operators=_OPERATORS,
    functions={**STRING_FUNCTIONS, **ARRAY_FUNCTIONS},
)
