"""Help texts: groups, examples that can be run, defaults, and the help command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from ragstone import __version__
from ragstone.surfaces.cli.app import COMMAND_GROUPS, COMMANDS, commands
from ragstone.surfaces.cli.help import ExampleCommand, ExampleGroup

Command = Callable[..., Any]


def described(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command below a group with its words."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield (*path, name), child
            yield from described(child, (*path, name))


ALL_COMMANDS = list(described(commands))


def ragstone_arguments(example: str) -> list[str]:
    """Return the arguments of `ragstone` in an example, which may be a part of a pipe."""
    words = shlex.split(example.replace("|", " | ").replace(">", " > "), comments=True)
    start = max(index for index, word in enumerate(words) if word == "ragstone") + 1
    end = next(
        (index for index in range(start, len(words)) if words[index] in "|>"), len(words)
    )
    return words[start:end]


COMMANDS_OF_THE_CONTRACT = (
    "init sync search context ask add sources remove remember recall watch serve mcp status doctor explain reembed "
    "export import eval bench config keys capture"
).split()


@pytest.mark.parametrize("name", COMMANDS_OF_THE_CONTRACT)
def test_every_command_of_the_contract_is_there_and_has_json(quick: Command, name: str) -> None:
    helped = quick(name, "--help")
    assert helped.code == 0
    assert "--json" in helped.out


def test_the_help_lists_every_command_once_in_its_group(quick: Command) -> None:
    out = quick("--help").out
    titles = ["Search and ask", "Index", "Memory", "Code", "Serve", "Maintain"]
    assert list(COMMAND_GROUPS) == titles
    assert re.findall(r"^([A-Z][a-z ]+):$", out, re.MULTILINE)[-6:] == titles
    listed = re.findall(r"^  ([a-z-]+)  ", out, re.MULTILINE)
    assert [name for name in listed if name in COMMANDS] == list(COMMANDS)


@pytest.mark.parametrize(("path", "command"), ALL_COMMANDS, ids=lambda value: str(value))
def test_every_command_shows_examples_that_its_parser_accepts(
    path: tuple[str, ...],
    command: click.Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("routes.json", "run.json"):
        (tmp_path / name).touch()
    assert isinstance(command, ExampleCommand | ExampleGroup)
    root = click.Context(commands, help_option_names=["-h", "--help"])
    context = click.Context(command, info_name=" ".join(path), parent=root)
    assert "Examples:" in command.get_help(context)
    for example in command.examples:
        if "$(" in example:
            continue
        arguments = ragstone_arguments(example)
        if path == ("mcp",) or arguments[: len(path)] == list(path):
            given = arguments[len(path) :]
        else:
            assert path == ("search",), example  # `ragstone "question"`
            given = arguments
        if isinstance(command, ExampleGroup) and given:
            assert given[0] in command.list_commands(context), example
            continue
        command.make_context(path[-1], given, parent=root).close()


def test_help_shows_defaults_also_those_of_settings(quick: Command) -> None:
    out = quick("search", "--help").out
    assert re.search(r"--top-k.*\[default: \(5,\s+setting\s+search.top_k\)\]", out, re.DOTALL)
    assert re.search(r"--budget.*\[default: 1500\]", quick("context", "-h").out, re.DOTALL)


@pytest.mark.parametrize(("path", "command"), ALL_COMMANDS, ids=lambda value: str(value))
def test_every_default_that_an_option_has_is_shown(
    path: tuple[str, ...], command: click.Command
) -> None:
    root = click.Context(commands, **commands.context_settings)
    context = click.Context(command, info_name=" ".join(path), parent=root)
    for option in command.params:
        if isinstance(option, click.Option) and isinstance(option.default, int | float | str):
            is_off = option.default is False or option.default == ""
            assert is_off or option.get_help_extra(context).get("default"), option.name


def test_the_help_of_keys_says_that_the_server_stays_closed(quick: Command) -> None:
    out = " ".join(quick("keys", "--help").out.split())
    assert "also after the last one is revoked" in out
    assert "`ragstone keys create --scope admin`" in out


def test_the_help_command_prints_the_help_of_any_command(quick: Command) -> None:
    assert quick("help").out == quick("--help").out
    assert quick("help", "search").out == quick("search", "--help").out
    assert quick("help", "sessions", "export").out == quick("sessions", "export", "-h").out
    ran = quick("help", "serch")
    assert (ran.code, "'serch'" in ran.err) == (2, True)


def test_both_version_flags_print_the_version(quick: Command) -> None:
    for flag in ("-V", "--version"):
        assert quick(flag).out == f"ragstone, version {__version__}\n"


def test_the_guides_are_listed_and_printed(quick: Command) -> None:
    titles = quick("help", "topics", "--json").json["topics"]
    assert titles["searching"] == "Searching"
    assert titles["reference/config"] == "Settings"
    assert re.search(r"^searching +Searching$", quick("help", "topics").out, re.MULTILINE)
    for words in (("searching",), ("guides/searching",), ("docs/guides/searching.md",)):
        assert quick("help", *words).out.startswith("# Searching\n")
    assert quick("help", "connect", "agents").out.startswith("# Connect your agents\n")


def test_a_command_comes_before_the_guide_of_the_same_name(quick: Command) -> None:
    ran = quick("help", "context")
    assert ran.out.startswith("Usage: ragstone context ")
    assert "(`ragstone help guides/context` prints the guide)" in ran.err
    assert quick("help", "guides/context").out.startswith("# Context for a prompt\n")


def test_an_unknown_topic_is_refused(quick: Command) -> None:
    ran = quick("help", "nothing")
    assert ran.code == 2
    assert "there is no command and no topic 'nothing'" in ran.err
