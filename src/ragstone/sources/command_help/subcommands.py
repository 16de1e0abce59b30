"""Which commands a program has, by the help it gives: lists of click, argparse, cobra, clap, git, npm, man and more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_MOST_LINES: Final = 20_000
_NAME: Final = r"[a-z0-9](?:[a-z0-9_.:+-]{0,38}[a-z0-9_+])?"
# A heading speaks of commands: "Commands:", "Available Commands:", "CORE COMMANDS", "The commands are:",
# "Basic Commands (Beginner):", "These are common Git commands used in various situations:", "subcommands:".
_ABOUT_COMMANDS: Final = re.compile(r"\b(?:sub-?)?(?:commands|actions|verbs|subcommand)\b", re.IGNORECASE)
_NOT_COMMANDS: Final = re.compile(r"\b(?:options?|flags?|arguments?|topics?|examples?|usage|see)\b", re.IGNORECASE)
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
_USELESS: Final = frozenset({"help"})


def subcommands(text: str) -> list[str]:
    """Return the names of the commands that a help text lists, in its order, each once."""
    found = dict.fromkeys(_listed(text))
    for choices in _SUBPARSERS.findall(text):
        found |= dict.fromkeys(_split(choices))
    return [name for name in found if name not in _USELESS and not name.isdigit()]


def _listed(text: str) -> Iterator[str]:
    """Yield what stands in lists under headings that speak of commands."""
    inside = False
    indent: int | None = None
    for line in text.split("\n")[:_MOST_LINES]:
        if not line.strip():
            continue
        here = len(line) - len(line.lstrip())
        if _is_heading(line, here, indent if inside else None):
            inside, indent = _speaks_of_commands(line), None
        elif inside:
            names = _names(line.strip(), here)
            if names and (indent is None or here == indent):
                indent = here
                yield from names


def _is_heading(line: str, here: int, entries: int | None) -> bool:
    found = _HEADING.fullmatch(line)
    if found is None or (entries is not None and here >= entries):
        return False
    words = found["words"]
    shouted = words.isupper() and len(words) > 3
    # Without a colon, a line that begins at the margin and speaks of commands, as git's longer lists have it.
    bare = here == 0 and not words.endswith((".", ",")) and bool(_ABOUT_COMMANDS.search(words))
    return found["end"] == ":" or (shouted and here == 0) or bare


def _speaks_of_commands(line: str) -> bool:
    plain = line.partition("(")[0]
    return bool(_ABOUT_COMMANDS.search(plain)) and not _NOT_COMMANDS.search(plain)


def _names(line: str, here: int) -> list[str]:
    """Return the names that a line of a list gives: one with its description, or several."""
    if line.startswith("{") and (choices := _CHOICES.match(line)):
        return _split(choices[1])
    if _COMMAS.fullmatch(line):
        return _split(line)
    if _COLUMNS.fullmatch(line):
        return line.split()
    entry = _ENTRY.fullmatch(line) if here else None
    return [entry["name"]] if entry else []


def _split(names: str) -> list[str]:
    return [name for part in names.split(",") if re.fullmatch(_NAME, name := part.strip())]
