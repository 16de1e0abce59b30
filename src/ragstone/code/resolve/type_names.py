"""The class names in a written type."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ragstone.code.resolve.brackets import split_outside_brackets

_NULL_TYPES: Final = frozenset(
    ("null", "None", "undefined", "nil", "void", "Null", "NULL", "false")
)
_WRAPPER: Final = re.compile(
    r"^(?:[\w.]+\.)?(?:Optional|Annotated|Final|ClassVar|Required|NotRequired|Readonly|Partial)\s*[\[<](?P<in>.*)[\]>]$",
    re.DOTALL,
)
_WRAPPER_LANGUAGES: Final = ("python", "typescript", "tsx")
_UNION_LANGUAGES: Final = ("python", "php", "typescript", "tsx", "javascript")
_GENERIC: Final = re.compile(r"^(?P<name>[\w.:\\$]+)\s*(?:<.*>|\[.+\])$", re.DOTALL)
_NAME: Final = re.compile(r"\\?[^\W\d]\w*(?:(?:\\|::|\.)\w+)*")
_SIGNS: Final = "?&*! \t\"'"
_MODIFIERS: Final = re.compile(
    r"^(?:(?:const|mut|dyn|impl|final|struct|readonly|static|ref|out|in|volatile|some|any)\s+)+"
)
_ARRAY: Final = re.compile(r"\[\s*\]$")


@lru_cache(maxsize=20_000)
def type_names(text: str, language: str) -> tuple[str, ...]:
    """Return the name of each part of a union; empty if a part is no name, such as an array or a function type."""
    names: list[str] = []
    for part in _union_parts(text, language):
        name = _bare_name(part, language)
        if name in _NULL_TYPES:
            continue
        if not _NAME.fullmatch(name):
            return ()
        names.append(name)
    return tuple(dict.fromkeys(names))


def _union_parts(text: str, language: str) -> list[str]:
    """Return the parts of a union; wrappers such as `Optional` are removed."""
    text = text.strip().strip("\"'")
    wrapper = _WRAPPER.match(text)
    if wrapper and language in _WRAPPER_LANGUAGES:
        inner = split_outside_brackets(wrapper["in"], ",")[0]
        return _union_parts(inner, language)
    if language not in _UNION_LANGUAGES:
        return [text]
    parts = split_outside_brackets(text, "|")
    if len(parts) == 1:
        return parts
    flat: list[str] = []
    for part in parts:
        flat.extend(_union_parts(part, language))
    return flat


def _bare_name(part: str, language: str) -> str:
    """Return a type without signs, modifiers and type arguments; arrays stay as they are."""
    part = part.strip(" \t\"'()")
    if _ARRAY.search(part):
        return part
    if language == "go":
        part = part.lstrip("*& ")
    elif language in ("c", "cpp"):
        part = part.replace("&", " ").replace("*", " ").strip()
        part = part.removesuffix(" const")
    else:
        part = part.strip(_SIGNS)
    part = _MODIFIERS.sub("", part).strip(_SIGNS)
    generic = _GENERIC.match(part)
    return generic["name"] if generic else part
