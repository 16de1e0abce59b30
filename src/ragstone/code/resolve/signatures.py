"""The return type in a function's signature."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ragstone.code.resolve.brackets import find_closing_bracket, split_outside_brackets

_RETURN_SIGNS: Final = {
    "php": ":",
    "typescript": ":",
    "tsx": ":",
    "kotlin": ":",
    "python": "->",
    "rust": "->",
    "swift": "->",
}
"""The sign before a return type that follows the parameters."""
_TYPE_BEFORE_NAME: Final = ("java", "csharp", "c", "cpp")
_MODIFIERS: Final = re.compile(
    r"^(?:(?:public|private|protected|internal|static|final|abstract|override|virtual|async|sealed|synchronized|native|"
    r"inline|extern|constexpr|partial|unsafe|new|default|explicit|friend|readonly)\b|<[^<>]*>|@\w+(?:\([^()]*\))?|"
    r"\[[^\[\]]*\])\s*"
)
_ASYNC: Final = re.compile(r"\basync\b")
_TYPE_END: Final = re.compile(r"\s(?:where|\{|=>|=)")


class ReturnType(NamedTuple):
    """The type that a signature returns."""

    text: str
    """Empty if the signature has no return type."""
    is_async: bool
    """Whether a caller has to await the value."""


_NO_RETURN_TYPE: Final = ReturnType("", False)


def return_type(signature: str, name: str, language: str) -> ReturnType:
    """Return the return type in the signature of a function with this name."""
    call = max(signature.find(f"{name}("), signature.find(f"{name} ("))
    opening = signature.find("(", call)
    name_start = signature.find(name)
    if opening < 0 or name_start < 0:
        return _NO_RETURN_TYPE
    if language == "go":
        return _go_return_type(signature, name)
    is_async = _ASYNC.search(signature[:name_start]) is not None
    if language in _TYPE_BEFORE_NAME:
        return ReturnType(_without_modifiers(signature[:name_start]), is_async)
    end = find_closing_bracket(signature, opening)
    if end < 0:
        return ReturnType("", is_async)
    rest = signature[end + 1 :].strip()
    if language == "swift" and rest.startswith("async"):
        is_async = True
    return ReturnType(_type_after_sign(rest, language), is_async)


def _type_after_sign(rest: str, language: str) -> str:
    """Return the type in the text behind the parameters, or an empty text."""
    sign = _RETURN_SIGNS.get(language)
    if sign is None or sign not in rest:
        return ""
    before, _, text = rest.partition(sign)
    if before and language != "swift":  # Swift writes `throws` and `async` before the sign.
        return ""
    return _TYPE_END.split(text.strip())[0].strip()


def _go_return_type(signature: str, name: str) -> ReturnType:
    """Return the first return type of a Go function."""
    opening = signature.find("(", signature.find(f"{name}("))
    end = find_closing_bracket(signature, opening)
    if end <= 0:
        return _NO_RETURN_TYPE
    rest = signature[end + 1 :].strip()
    if rest.startswith("("):
        rest = split_outside_brackets(rest[1:-1], ",")[0].strip()
    return ReturnType(rest, False)


def _without_modifiers(text: str) -> str:
    text = text.strip()
    while (shorter := _MODIFIERS.sub("", text)) != text:
        text = shorter
    return text.strip()
