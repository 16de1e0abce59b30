"""Remarks on structured files that do not parse. Their text is indexed anyway, cut by lines or by indentation."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Final

from ragstone.read.kinds import is_json

_MAX_CHARACTERS: Final = 300_000
"""A longer YAML or TOML file is not checked: its parsers read about a megabyte in a second."""
_LINE: Final = re.compile(r"at line ([0-9]+)")


def describe_syntax_error(language: str, text: str) -> str:
    """Return a remark if the text does not parse in its language; empty if it does, or the language is another."""
    check = _CHECKS.get(language)
    if check is None or not text.strip():
        return ""
    return check(text)


def _check_json(text: str) -> str:
    return "" if is_json(text) else "no sound JSON: cut by lines"


def _check_yaml(text: str) -> str:
    if len(text) > _MAX_CHARACTERS:
        return ""
    # PyYAML loads here: few processes that read files meet a YAML file.
    from ragstone.config.yaml_file import find_yaml_error

    line = find_yaml_error(text)
    if line is None:
        return ""
    return f"no sound YAML:{_place(line)} cut by its indentation"


def _place(line: int) -> str:
    return f" line {line};" if line else ""


def _check_toml(text: str) -> str:
    if len(text) > _MAX_CHARACTERS:
        return ""
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        line = _LINE.search(str(error))
        return f"no sound TOML:{_place(int(line[1]) if line else 0)} cut by its tables"
    return ""


_CHECKS: Final[Mapping[str, Callable[[str], str]]] = {
    "json": _check_json,
    "yaml": _check_yaml,
    "toml": _check_toml,
}
