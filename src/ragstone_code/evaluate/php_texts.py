"""PHP's functions on texts and paths, and a few others, as far as they are followed."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

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
    from ragstone_code.evaluate.language import NativeFunction
    from ragstone_code.evaluate.machine import Evaluator

_DIRECTIVE: Final = re.compile(r"%(?:(\d+)\$)?([-+0]|'.)*(\d+)?(?:\.(\d+))?([%bcdeEfFgGosuxX])")


def _pure(function: Callable[..., Value]) -> NativeFunction:
    """Return a function of texts and numbers as one the evaluator calls; what is not known makes its result unknown."""

    def own(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        values = [first_known(one) for one in given.positional]
        unknown = next((one for one in values if isinstance(one, Unknown)), None)
        if unknown is not None or not given.complete or given.named:
            return Unknown(unknown.reason if unknown else "the arguments are not known", _whole(given))
        try:
            return function(*values)
        except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
            return Unknown("the arguments do not fit")

    return own


def _whole(given: Arguments) -> str:
    """Return the one text argument, shown, so that `trim(config(…))` can still be written."""
    return display_text(given.positional[0], "") if len(given.positional) == 1 else ""


def sprintf(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    """Return a formatted text; a part that is not known is shown in its place."""
    form = first_known(given.at(0))
    if not isinstance(form, str):
        return Unknown("the format is not known")
    left = list(given.positional[1:])
    missing: list[str] = []

    def put(found: re.Match[str]) -> str:
        if found[5] == "%":
            return "%"
        value = left[int(found[1]) - 1] if found[1] and int(found[1]) <= len(left) else None
        if not found[1]:
            value = next(rest, None)
        if isinstance(value, Unknown) and not isinstance(first_known(value), str | int):
            missing.append(value.reason)
        text = display_text(value)
        fill = "0" if "%0" in found[0] else " "
        return text.rjust(int(found[3]), fill) if found[3] and int(found[3]) < 200 else text

    rest = iter(left)
    text = _DIRECTIVE.sub(put, form)
    return Unknown(missing[0], text) if missing else text


def _replaced(search: Value, put: Value, text: str) -> Value:
    if isinstance(search, Array):
        puts = put.values if isinstance(put, Array) else [put] * len(search)
        for position, one in enumerate(search.values):
            text = text.replace(display_text(one), display_text(puts[position]) if position < len(puts) else "")
        return text
    return text.replace(display_text(search), display_text(put))


def _substr(text: str, start: int, length: int | None = None) -> str:
    begin = max(start + len(text), 0) if start < 0 else start
    if length is None:
        return text[begin:]
    return text[begin : begin + length] if length >= 0 else text[begin : len(text) + length]


def _explode(mark: str, text: str, limit: int | None = None) -> Value:
    return Array(text.split(mark) if limit is None else text.split(mark, max(limit - 1, 0)))


def _stripped(sides: str) -> Callable[..., str]:
    def strip(text: str, marks: str = " \t\n\r\0\x0b") -> str:
        return {"both": text.strip, "left": text.lstrip, "right": text.rstrip}[sides](marks)

    return strip


def words(text: str) -> list[str]:
    """Return the words of a name in any of the usual spellings."""
    return [one for one in re.split(r"[\s_\-]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)) if one]


def snake(text: str, mark: str = "_") -> str:
    """Return a name in lower case with marks between its words, as Laravel's `Str::snake` does."""
    if text.islower() and text.isalpha():
        return text
    joined = re.sub(r"\s+", "", " ".join(one[:1].upper() + one[1:] for one in text.split()))
    return re.sub(r"(.)(?=[A-Z])", lambda found: found[1] + mark, joined).lower()


def studly(text: str) -> str:
    """Return a name with a capital at each word and nothing between."""
    return "".join(one[:1].upper() + one[1:] for one in re.split(r"[\s_\-]+", text))


def _dirname(path: str, levels: int = 1) -> str:
    for _ in range(min(levels, 20)):
        path = posixpath.dirname(path)
    return path


def _basename(path: str, suffix: str = "") -> str:
    name = posixpath.basename(path.rstrip("/"))
    return name.removesuffix(suffix) if suffix and name != suffix else name


def _class_basename(value: Value) -> Value:
    name = (
        value.name
        if isinstance(value, Instance)
        else value.owner
        if isinstance(value, EnumCase)
        else display_text(value)
    )
    return name.replace("\\", "/").rpartition("/")[2]


def _define(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    name = first_known(given.at(0))
    if isinstance(name, str):
        machine.constants[name] = given.at(1)
    return True


def _file_exists(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    path = first_known(given.at(0))
    if not isinstance(path, str):
        return Unknown("the path is not known")
    plain = posixpath.normpath(path).lstrip("/")
    return True if machine.world.has(plain) else Unknown(f"whether {plain} exists is not known")


def _first(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    return given.at(0)


def _tap(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    if given.has(1):
        machine.call(given.at(1), [given.at(0)], site)
    return given.at(0)


def _with(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    return machine.call(given.at(1), [given.at(0)], site) if given.has(1) else given.at(0)


def _resolved(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    """Return `value($x)`: what a closure gives, else the value itself."""
    first = first_known(given.at(0))
    return machine.call(first, given.positional[1:], site) if isinstance(first, Lambda) else given.at(0)


def _called(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    return machine.call(given.at(0), given.positional[1:], site)


def _called_with(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    inner = first_known(given.at(1))
    return machine.call(given.at(0), inner.values if isinstance(inner, Array) else [], site)


def _real_path(path: str) -> str:
    return posixpath.normpath(path) if path else path


TEXTS: Final[Mapping[str, NativeFunction]] = {
    "sprintf": sprintf,
    "define": _define,
    "file_exists": _file_exists,
    "is_file": _file_exists,
    "tap": _tap,
    "with": _with,
    "value": _resolved,
    "call_user_func": _called,
    "call_user_func_array": _called_with,
    "optional": _first,
    "realpath": _pure(_real_path),
    "dirname": _pure(_dirname),
    "basename": _pure(_basename),
    "class_basename": _pure(_class_basename),
    "strtolower": _pure(lambda text: str.lower(display_text(text))),
    "strtoupper": _pure(lambda text: display_text(text).upper()),
    "mb_strtolower": _pure(lambda text: display_text(text).lower()),
    "mb_strtoupper": _pure(lambda text: display_text(text).upper()),
    "ucfirst": _pure(lambda text: text[:1].upper() + text[1:]),
    "lcfirst": _pure(lambda t: t[:1].lower() + t[1:]),
    "ucwords": _pure(lambda text: re.sub(r"(^|\s)(\w)", lambda found: found[0].upper(), text)),
    "trim": _pure(_stripped("both")),
    "ltrim": _pure(_stripped("left")),
    "rtrim": _pure(_stripped("right")),
    "str_replace": _pure(_replaced),
    "substr": _pure(_substr),
    "mb_substr": _pure(_substr),
    "strlen": _pure(lambda text: len(display_text(text))),
    "strrev": _pure(lambda text: text[::-1]),
    "str_repeat": _pure(lambda text, times: text * times if len(text) * times < 10_000 else Unknown("too long")),
    "str_pad": _pure(lambda text, size, fill=" ": display_text(text).ljust(min(size, 1000), fill[:1])),
    "explode": _pure(_explode),
    "str_contains": _pure(lambda text, part: part in text),
    "str_starts_with": _pure(lambda text, part: text.startswith(part)),
    "str_ends_with": _pure(lambda text, part: text.endswith(part)),
    "strval": _pure(display_text),
    "intval": _pure(lambda value: int(float(display_text(value) or 0))),
    "is_string": _pure(lambda value: isinstance(value, str)),
    "is_null": _pure(lambda value: value is None),
    "is_array": _pure(lambda value: isinstance(value, Array)),
    "is_bool": _pure(lambda v: isinstance(v, bool)),
    "is_int": _pure(lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "is_numeric": _pure(lambda value: bool(re.fullmatch(r"-?\d+(\.\d+)?", display_text(value)))),
    "snake_case": _pure(snake),
    "studly_case": _pure(studly),
    "camel_case": _pure(lambda text: studly(text)[:1].lower() + studly(text)[1:]),
    "kebab_case": _pure(lambda text: snake(text, "-")),
}
