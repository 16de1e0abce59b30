"""Every command, option, variable and setting that a hint names exists."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click

from ragstone.config.settings import setting_keys
from ragstone.surfaces.cli.app import COMMANDS, commands

SRC = Path(__file__).resolve().parent.parent / "src"
COMMAND = re.compile(r"`ragstone ([^`]+)`|\bragstone (?!again)([a-z-]+(?: --[a-z-]+)*)")
QUOTED = re.compile(r"`ragstone [a-z][^`\n]*`")
VARIABLE = re.compile(r"\bRAGSTONE_[A-Z_]+\b")
OPTION = re.compile(r"(?<![\w`-])--[a-z][a-z-]+")
PLACEHOLDER = "X"
OTHER_VARIABLES = {"RAGSTONE_CONFIG"}
OPTIONS_OF_OTHERS = {"--cached", "--upgrade"}
"""Of git and pip."""


def texts_of(node: ast.expr) -> Iterator[str]:
    """Yield the texts in an expression; the values of an f-string become a placeholder."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = [
            part.value if isinstance(part, ast.Constant) else PLACEHOLDER
            for part in node.values
        ]
        yield "".join(map(str, parts))
    elif isinstance(node, ast.IfExp):
        yield from texts_of(node.body)
        yield from texts_of(node.orelse)
    elif isinstance(node, ast.BinOp):
        yield "".join([*texts_of(node.left), *texts_of(node.right)])


def hints_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of every hint in a module: arguments and constants of that name."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        values: list[ast.expr] = []
        if isinstance(node, ast.keyword) and node.arg == "hint":
            values = [node.value]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            values = [node.value for name in names if "hint" in name.lower()]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if "hint" in node.target.id.lower() and node.value is not None:
                values = [node.value]
        for value in values:
            for text in texts_of(value):
                yield f"{path.relative_to(SRC)}:{value.lineno}", text


@cache
def hints() -> list[tuple[str, str]]:
    return [hint for path in sorted(SRC.rglob("*.py")) for hint in hints_of(path)]


def wrong_commands(text: str) -> Iterator[str]:
    """Yield the commands in a text that do not exist, and the options that a command does not have."""
    for match in COMMAND.finditer(text):
        words = shlex.split(match[1] or match[2])
        if words[0] not in COMMANDS:
            yield f"ragstone {words[0]}"
            continue
        group: click.Command | None = commands.get_command(click.Context(commands), words[0])
        assert group is not None
        if isinstance(group, click.Group) and words[1:] and words[1] in group.commands:
            group = group.commands[words[1]]
        known = {name for parameter in group.params for name in parameter.opts}
        for option in words[1:]:
            if option.startswith("--") and option.partition("=")[0] not in known:
                yield f"ragstone {words[0]} {option}"


@cache
def known_options() -> frozenset[str]:
    """Return the options of all commands."""
    names: set[str] = set()
    pending: list[click.Command] = [commands]
    context = click.Context(commands)
    pending += [found for name in COMMANDS if (found := commands.get_command(context, name))]
    while pending:
        command = pending.pop()
        for parameter in command.params:
            names.update(parameter.opts)
        if isinstance(command, click.Group) and command is not commands:
            pending += command.commands.values()
    return frozenset(names)


def test_there_are_hints_to_check() -> None:
    assert len(hints()) > 300
    assert list(wrong_commands("run `ragstone snyc`")) == ["ragstone snyc"]
    assert list(wrong_commands("run `ragstone sync --fulll`")) == ["ragstone sync --fulll"]


def test_every_command_in_a_hint_exists_with_its_options() -> None:
    wrong = [(place, bad) for place, text in hints() for bad in wrong_commands(text)]
    assert wrong == []


def test_every_command_in_backticks_of_any_text_exists() -> None:
    wrong = []
    for path in sorted(SRC.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            for command in QUOTED.findall(node.value):
                wrong += [(str(path.relative_to(SRC)), bad) for bad in wrong_commands(command)]
    assert wrong == []


def test_every_option_in_a_hint_is_an_option_of_a_command() -> None:
    wrong = []
    for place, text in hints():
        for option in OPTION.findall(text):
            if option not in known_options() | OPTIONS_OF_OTHERS:
                wrong.append((place, option))
    assert wrong == []


def test_every_variable_in_a_hint_is_read() -> None:
    known = {name for key in setting_keys().values() for name in (key.variable, *key.variables)}
    wrong = []
    for place, text in hints():
        for variable in VARIABLE.findall(text):
            start = variable.removesuffix(PLACEHOLDER)
            is_known = variable in known | OTHER_VARIABLES
            if start != variable:  # the end of the name is known only at run time
                is_known = any(name.startswith(start) for name in known)
            if not is_known:
                wrong.append((place, variable))
    assert wrong == []
