"""PHP's string and path functions and a few others, as far as the evaluator supports them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from ragstone_code.evaluate.php_texts import sprintf, str_replace
from ragstone_code.evaluate.values import (
    Arguments,
    Array,
    CallSite,
    EnumCase,
    Instance,
    Lambda,
    Unknown,
    Value,
    display_text,
    first_known,
)

if TYPE_CHECKING:
    from ragstone_code.evaluate.evaluator import Evaluator
    from ragstone_code.evaluate.language import NativeFunction

_WORD_SEPARATOR: Final = re.compile(r"[\s_\-]+")
_NUMERIC: Final = re.compile(r"-?\d+(\.\d+)?")
_WHITESPACE: Final = " \t\n\r\0\x0b"


def _pure(function: Callable[..., Value]) -> NativeFunction:
    """Return a native function for a Python function of known values; unknown arguments make the result unknown."""

    def native(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
        values = [first_known(argument) for argument in arguments.positional]
        for value in values:
            if isinstance(value, Unknown):
                return Unknown(value.reason, _single_argument_text(arguments))
        if not arguments.complete or arguments.named:
            return Unknown(
                "the arguments are not known",
                _single_argument_text(arguments),
            )
        try:
            return function(*values)
        except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
            return Unknown("the arguments do not fit")

    return native


def _single_argument_text(arguments: Arguments) -> str:
    """Return the text of the only argument, so that `trim(config(…))` keeps a display text."""
    if len(arguments.positional) != 1:
        return ""
    return display_text(arguments.positional[0], "")


# ── texts ─────────────────────────────────────────────────────────────────────────────────────────


def _substr(text: str, start: int, length: int | None = None) -> str:
    begin = start
    if start < 0:
        begin = max(start + len(text), 0)
    if length is None:
        return text[begin:]
    if length < 0:
        return text[begin : len(text) + length]
    return text[begin : begin + length]


def _explode(separator: str, text: str, limit: int | None = None) -> Value:
    if limit is None:
        return Array(text.split(separator))
    return Array(text.split(separator, max(limit - 1, 0)))


def _trim(text: str, characters: str = _WHITESPACE) -> str:
    return text.strip(characters)


def _trim_left(text: str, characters: str = _WHITESPACE) -> str:
    return text.lstrip(characters)


def _trim_right(text: str, characters: str = _WHITESPACE) -> str:
    return text.rstrip(characters)


def _lower(text: Value) -> str:
    return display_text(text).lower()


def _upper(text: Value) -> str:
    return display_text(text).upper()


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _uncapitalize(text: str) -> str:
    return text[:1].lower() + text[1:]


def _capitalize_words(text: str) -> str:
    return re.sub(r"(^|\s)(\w)", lambda match: match[0].upper(), text)


def _length(text: Value) -> int:
    return len(display_text(text))


def _reverse(text: str) -> str:
    return text[::-1]


def _repeat(text: str, times: int) -> Value:
    if len(text) * times >= 10_000:
        return Unknown("too long")
    return text * times


def _pad(text: Value, size: int, fill: str = " ") -> str:
    return display_text(text).ljust(min(size, 1000), fill[:1])


def _contains(text: str, part: str) -> bool:
    return part in text


def _starts_with(text: str, part: str) -> bool:
    return text.startswith(part)


def _ends_with(text: str, part: str) -> bool:
    return text.endswith(part)


def _int_value(value: Value) -> int:
    return int(float(display_text(value) or 0))


def snake(text: str, separator: str = "_") -> str:
    """Return a name in snake case, as Laravel's `Str::snake` does."""
    if text.islower() and text.isalpha():
        return text
    joined = "".join(_capitalize(word) for word in text.split())
    return re.sub(r"(.)(?=[A-Z])", lambda match: match[1] + separator, joined).lower()


def studly(text: str) -> str:
    """Return a name with a capital at each word and no separators."""
    return "".join(_capitalize(word) for word in _WORD_SEPARATOR.split(text))


def _camel(text: str) -> str:
    return _uncapitalize(studly(text))


def _kebab(text: str) -> str:
    return snake(text, "-")


# ── types ─────────────────────────────────────────────────────────────────────────────────────────


def _is_string(value: Value) -> bool:
    return isinstance(value, str)


def _is_null(value: Value) -> bool:
    return value is None


def _is_array(value: Value) -> bool:
    return isinstance(value, Array)


def _is_bool(value: Value) -> bool:
    return isinstance(value, bool)


def _is_int(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_numeric(value: Value) -> bool:
    return bool(_NUMERIC.fullmatch(display_text(value)))


# ── paths and classes ─────────────────────────────────────────────────────────────────────────────


def _dirname(path: str, levels: int = 1) -> str:
    for _ in range(min(levels, 20)):
        path = posixpath.dirname(path)
    return path


def _basename(path: str, suffix: str = "") -> str:
    name = posixpath.basename(path.rstrip("/"))
    if suffix and name != suffix:
        return name.removesuffix(suffix)
    return name


def _real_path(path: str) -> str:
    if not path:
        return path
    return posixpath.normpath(path)


def _class_basename(value: Value) -> Value:
    if isinstance(value, Instance):
        name = value.name
    elif isinstance(value, EnumCase):
        name = value.owner
    else:
        name = display_text(value)
    return name.replace("\\", "/").rpartition("/")[2]


def _file_exists(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    path = first_known(arguments.at(0))
    if not isinstance(path, str):
        return Unknown("the path is not known")
    relative_path = posixpath.normpath(path).lstrip("/")
    if evaluator.world.has(relative_path):
        return True
    return Unknown(f"whether {relative_path} exists is not known")


# ── constants and callables ───────────────────────────────────────────────────────────────────────


def _define(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    name = first_known(arguments.at(0))
    if isinstance(name, str):
        evaluator.constants[name] = arguments.at(1)
    return True


def _optional(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    return arguments.at(0)


def _tap(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    if arguments.has(1):
        evaluator.call(arguments.at(1), [arguments.at(0)], site)
    return arguments.at(0)


def _with(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    if arguments.has(1):
        return evaluator.call(arguments.at(1), [arguments.at(0)], site)
    return arguments.at(0)


def _value(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    """Return the result of a closure, or any other value unchanged."""
    function = first_known(arguments.at(0))
    if isinstance(function, Lambda):
        return evaluator.call(function, arguments.positional[1:], site)
    return arguments.at(0)


def _call_user_func(
    arguments: Arguments,
    site: CallSite,
    evaluator: Evaluator,
) -> Value:
    return evaluator.call(arguments.at(0), arguments.positional[1:], site)


def _call_user_func_array(
    arguments: Arguments,
    site: CallSite,
    evaluator: Evaluator,
) -> Value:
    array = first_known(arguments.at(1))
    values: list[Value] = []
    if isinstance(array, Array):
        values = array.values
    return evaluator.call(arguments.at(0), values, site)


STRING_FUNCTIONS: Final[Mapping[str, NativeFunction]] = {
    "sprintf": sprintf,
    "define": _define,
    "file_exists": _file_exists,
    "is_file": _file_exists,
    "tap": _tap,
    "with": _with,
    "value": _value,
    "call_user_func": _call_user_func,
    "call_user_func_array": _call_user_func_array,
    "optional": _optional,
    "realpath": _pure(_real_path),
    "dirname": _pure(_dirname),
    "basename": _pure(_basename),
    "class_basename": _pure(_class_basename),
    "strtolower": _pure(_lower),
    "strtoupper": _pure(_upper),
    "mb_strtolower": _pure(_lower),
    "mb_strtoupper": _pure(_upper),
    "ucfirst": _pure(_capitalize),
    "lcfirst": _pure(_uncapitalize),
    "ucwords": _pure(_capitalize_words),
    "trim": _pure(_trim),
    "ltrim": _pure(_trim_left),
    "rtrim": _pure(_trim_right),
    "str_replace": _pure(str_replace),
    "substr": _pure(_substr),
    "mb_substr": _pure(_substr),
    "strlen": _pure(_length),
    "strrev": _pure(_reverse),
    "str_repeat": _pure(_repeat),
    "str_pad": _pure(_pad),
    "explode": _pure(_explode),
    "str_contains": _pure(_contains),
    "str_starts_with": _pure(_starts_with),
    "str_ends_with": _pure(_ends_with),
    "strval": _pure(display_text),
    "intval": _pure(_int_value),
    "is_string": _pure(_is_string),
    "is_null": _pure(_is_null),
    "is_array": _pure(_is_array),
    "is_bool": _pure(_is_bool),
    "is_int": _pure(_is_int),
    "is_numeric": _pure(_is_numeric),
    "snake_case": _pure(snake),
    "studly_case": _pure(studly),
    "camel_case": _pure(_camel),
    "kebab_case": _pure(_kebab),
}
