"""Definitions in languages without a grammar, found by the keyword that starts their line."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_KEYWORDS: Final = {
    "clojure": r"\((?:defn-?|def|defmacro|defmulti|defmethod|defprotocol|defrecord|deftype|ns)",
    "dart": "class|mixin|enum|extension|typedef",
    "elixir": "defmodule|defp?|defmacrop?|defprotocol|defimpl|defguardp?",
    "erlang": r"-(?:module|record|type|callback)\(",
    "fsharp": "let(?: rec| inline)?|type|module|member \\w+\\.|and",
    "haskell": "data|newtype|type|class",
    "graphql": "type|input|interface|enum|union|scalar|query|mutation|fragment|directive @",
    "groovy": "class|interface|trait|enum|def",
    "julia": "function|macro|struct|mutable struct|abstract type|module|const",
    "lisp": r"\((?:defun|defmacro|defvar|defcustom|defclass|defgeneric|define|defmethod)",
    "nim": "proc|func|method|template|macro|iterator|type",
    "objectivec": "@interface|@implementation|@protocol",
    "ocaml": "let(?: rec)?|type|module(?: type)?|class|and",
    "pascal": "procedure|function|constructor|destructor|class function|class procedure",
    "perl": "sub|package",
    "powershell": "function|filter|class|enum",
    "protobuf": "message|service|enum|rpc",
    "r": "",
    "scala": "(?:case )?(?:class|object)|trait|enum|def|type",
    "shell": "",
    "solidity": "contract|interface|library|function|event|modifier|struct|enum|error",
    "sql": r"create(?:\s+or\s+replace)?(?:\s+(?:temp|temporary|unique|materialized))?"
    r"\s+(?:table|view|function|procedure|trigger|index|type|schema|sequence)(?:\s+if\s+not\s+exists)?",
    "vb": "class|module|sub|function|property|interface|enum|structure",
    "zig": "fn|const|test",
}
"""Language → the keywords before a name; modifiers such as `public` may stand before them."""
_MODIFIERS: Final = r"(?:(?:public|private|protected|internal|export|static|abstract|final|sealed|override|async|pub|local)\s+)*"
_NAME: Final = r"[\"'`\[]?(?P<name>[\w$.:!?*+<>=/-]*\w[\w!?*'-]*)"
_PATTERNS: Final = {
    "r": r"^(?P<name>[\w.]+)\s*(?:<-|=)\s*function\b",
    "shell": r"^[ \t]*(?:function\s+|(?=[\w.:-]+\s*\(\)))(?P<name>[\w.:-]+)",
}
"""Languages whose definitions do not begin with a keyword."""
_MAX_NAMES: Final = 12
"""Names of one piece: more are data, not definitions."""


def defined_names(text: str, language: str) -> list[str]:
    """Return the names that a piece of code defines, in their order; none if the language is unknown."""
    pattern = _pattern_of(language)
    if pattern is None:
        return []
    names = [match["name"].rstrip("*") for match in pattern.finditer(text)]
    return list(dict.fromkeys(names))[:_MAX_NAMES]


@cache
def _pattern_of(language: str) -> re.Pattern[str] | None:
    if language not in _KEYWORDS:
        return None
    if language in _PATTERNS:
        return re.compile(_PATTERNS[language], re.MULTILINE)
    keywords = _KEYWORDS[language]
    flags = (
        re.MULTILINE | re.IGNORECASE if language in ("sql", "pascal", "vb") else re.MULTILINE
    )
    return re.compile(rf"^[ \t]*{_MODIFIERS}(?:{keywords})(?:(?<!\w)|\s+){_NAME}", flags)
