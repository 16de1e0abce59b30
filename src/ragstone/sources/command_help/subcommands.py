"""The subcommands in a help text, as click, argparse, cobra, clap, git, npm, man and others list them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_MAX_LINES: Final = 20_000
_NAME: Final = r"[a-z0-9](?:[a-z0-9_.:+-]{0,38}[a-z0-9_+])?"
# Headings of lists of commands: "Commands:", "Available Commands:", "CORE COMMANDS", "The commands are:",
# "Basic Commands (Beginner):", "These are common Git commands used in various situations:", "subcommands:".
_COMMANDS_HEADING: Final = re.compile(
    r"\b(?:sub-?)?(?:commands|actions|verbs|subcommand)\b", re.IGNORECASE
)
_OTHER_HEADING: Final = re.compile(
    r"\b(?:options?|flags?|arguments?|topics?|examples?|usage|see)\b", re.IGNORECASE
)
_HEADING: Final = re.compile(r"(?P<indent> {0,3})(?P<words>\S.{0,100}?)(?P<end>:?)")
# "build, b   Compile", "app*  Docker App", "auth:  Log in", "list - list packages", "list-units [PATTERN...]  List".
_ENTRY: Final = re.compile(
    rf"(?P<name>{_NAME})\*?(?:, ?{_NAME})*"
    r"(?:(?::)?\s{2,}\S.*| [-–] \S.*|:? *| [\[<({A-Z-][^ ].*)"
)
_CHOICES: Final = re.compile(r"\{([^{}]{1,20000})\}")
_SUBPARSERS: Final = re.compile(r"\{([^{}]{1,20000})\}\s+\.\.\.")
_COMMAS: Final = re.compile(rf"{_NAME}(?:, *{_NAME})+,?|{_NAME},")
_COLUMNS: Final = re.compile(rf"{_NAME}(?: {{2,}}{_NAME}){{2,}}")


def list_subcommands(text: str) -> list[str]:
    """Return the names of the commands in a help text, in its order, each once."""
    names = list(_names_in_lists(text))
    for choices in _SUBPARSERS.findall(text):
        names += _split_names(choices)
    unique = dict.fromkeys(names)
    unique.pop("help", None)
    return [name for name in unique if not name.isdigit()]


def _names_in_lists(text: str) -> Iterator[str]:
    """Yield the entries of lists under headings about commands; all entries of a list have one indentation."""
    is_inside = False
    list_indent: int | None = None
    for line in text.split("\n")[:_MAX_LINES]:
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        if _is_heading(line, indent, list_indent):
            is_inside = _is_about_commands(line)
            list_indent = None
        elif is_inside:
            names = _names_in_line(line.strip(), indent)
            if names and list_indent in (None, indent):
                list_indent = indent
                yield from names


def _is_heading(line: str, indent: int, list_indent: int | None) -> bool:
    is_in_list = list_indent is not None and indent >= list_indent
    match = _HEADING.fullmatch(line)
    if match is None or is_in_list:
        return False
    if match["end"] == ":":
        return True
    words = match["words"]
    if indent or words.endswith((".", ",")):
        return indent == 0 and _is_in_capitals(words)
    # Git's longer lists have headings without a colon.
    return _is_in_capitals(words) or _COMMANDS_HEADING.search(words) is not None


def _is_in_capitals(words: str) -> bool:
    return words.isupper() and len(words) > 3


def _is_about_commands(heading: str) -> bool:
    words = heading.partition("(")[0]
    if _OTHER_HEADING.search(words):
        return False
    return _COMMANDS_HEADING.search(words) is not None


def _names_in_line(line: str, indent: int) -> list[str]:
    """Return the names in a line of a list: one with its description, or several."""
    choices = _CHOICES.match(line)
    if choices:
        return _split_names(choices[1])
    if _COMMAS.fullmatch(line):
        return _split_names(line)
    if _COLUMNS.fullmatch(line):
        return line.split()
    entry = _ENTRY.fullmatch(line)
    if entry is None or indent == 0:
        return []
    return [entry["name"]]


def _split_names(names: str) -> list[str]:
    parts = [part.strip() for part in names.split(",")]
    return [part for part in parts if re.fullmatch(_NAME, part)]
