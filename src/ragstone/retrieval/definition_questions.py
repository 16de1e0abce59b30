"""Questions for the place where a name is defined: "where is Transport defined", "class Transport".

Their other words are in many passages and in no definition. So only the name is searched for.
"""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = r"(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::|->|#|\\)[A-Za-z_$][\w$]*)*)(?:\(\))?"
_WORD_OF_CODE: Final = r"(?:def|fn|func)"
_WORD_OF_CODE_AND_PROSE: Final = (
    r"(?:class|interface|trait|enum|struct|function|method|type|constant)"
)
_KIND: Final = rf"(?:{_WORD_OF_CODE}|{_WORD_OF_CODE_AND_PROSE})"
_DEFINED: Final = r"(?:defined|declared|implemented)"
_DEFINITION: Final = r"(?:definition|declaration|implementation)"
_QUESTIONS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"where(?: is|'s|’s) (?:the )?(?:{_KIND} )?{_NAME}(?: {_KIND})? {_DEFINED}",
        rf"(?:which|what) (?:file|module) (?:defines|declares|implements) (?:the )?(?:{_KIND} )?{_NAME}(?: {_KIND})?",
        rf"(?:(?:find|show)(?: me)? )?(?:the )?{_DEFINITION} of (?:the )?(?:{_KIND} )?{_NAME}(?: {_KIND})?",
        rf"{_NAME} {_DEFINITION}",
        rf"{_WORD_OF_CODE} {_NAME}",
    )
)
_KIND_AND_NAME: Final = re.compile(rf"{_WORD_OF_CODE_AND_PROSE} {_NAME}", re.IGNORECASE)
_SPELT_AS_CODE: Final = re.compile(r"[A-Z_$.]|::|->|\(\)")
"""A name of everyday letters after "class" may be prose, such as "class methods"."""


def asked_definition(query: str) -> str:
    """Return the name whose definition a query asks for, spelt as code; empty if it asks for something else."""
    text = " ".join(query.split()).rstrip("?. ")
    for pattern in _QUESTIONS:
        match = pattern.fullmatch(text)
        if match:
            return _spell_as_code(match["name"])
    match = _KIND_AND_NAME.fullmatch(text)
    if match and _SPELT_AS_CODE.search(match["name"]):
        return match["name"]
    return ""


def _spell_as_code(name: str) -> str:
    """Return the name with brackets if it could be an everyday word."""
    if _SPELT_AS_CODE.search(name):
        return name
    return f"{name}()"
