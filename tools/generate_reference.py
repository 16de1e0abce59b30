"""Write the pages in docs/reference from the code; with --check, only report whether they are up to date."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

import click

from ragstone import config, registry
from ragstone.surfaces.cli.app import COMMAND_GROUPS, commands
from ragstone.surfaces.cli.commands.init import format_toml
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.present.failures import EXIT_CODES, FAILURE_CODES

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
NOTICE = "<!-- Written by tools/generate_reference.py: change the code, then run `make reference`. -->\n"
SECTIONS = {
    "rag": "the engine, and how documents are split",
    "rag.vector_store": "the store",
    "sources": "the files to index",
    "embed": "how texts become vectors",
    "rerank": "the model of `rerank=…`",
    "search": "how answers are found and ranked",
    "code": "the code graph",
    "store": "the database file",
    "web": "web pages",
    "ask": "the language model of `ragstone ask`",
    "documents": "the description of the tool `search_documents`",
    "events": "the event log",
    "server": "the server of `ragstone serve`",
}
VALUE_NAMES = {"integer": "N", "integer range": "N", "float": "X"}


def settings_page() -> str:
    """Return the page of all settings."""
    lines = [
        NOTICE,
        "# Settings\n",
        "The first of these with a value counts: an argument, a `RAGSTONE_*` variable, the project's `ragstone.toml`,",
        "your user file, the default. [The guide](../guides/configuration.md) explains how they work together.\n",
    ]
    for section, rows in groupby(config.describe(), key=lambda row: row.key.rpartition(".")[0]):
        lines.append(f"## `[{section}]`: {SECTIONS[section]}\n")
        lines += ["| setting | default | meaning | environment |", "|---|---|---|---|"]
        for row in rows:
            name = row.key.rpartition(".")[2]
            default = "not set" if row.default is None else f"`{format_toml(row.default)}`"
            variables = ", ".join(f"`{variable}`" for variable in row.variables)
            lines.append(f"| `{name}` | {default} | {row.doc} | {variables} |")
        lines.append("")
    return "\n".join(lines)


def parts_page() -> str:
    """Return the page of all built-in parts."""
    lines = [
        NOTICE,
        "# Parts by name\n",
        "The built-in parts. A package adds its own with an entry point in the group `ragstone.<kind>`.",
        "[The guide](../guides/plugins.md) shows how parts are chosen and called.\n",
        "| kind | name | aliases | description |",
        "|---|---|---|---|",
    ]
    for part in registry.BUILT_IN:
        aliases = ", ".join(f"`{alias}`" for alias in part.aliases)
        lines.append(f"| {part.group} | `{part.name}` | {aliases} | {part.doc} |")
    return "\n".join([*lines, ""])


def commands_page() -> str:
    """Return the page of all commands, their options and their exit codes."""
    leaves = list(leaf_commands(commands, "ragstone"))
    common_names = set.intersection(
        *({option.name for option in command_options(leaf)} for _, leaf in leaves)
    )
    common = [option for option in command_options(leaves[0][1]) if option.name in common_names]
    lines = [
        NOTICE,
        "# Commands\n",
        "`ragstone COMMAND --help` prints the same. Answers go to stdout, notes and errors to stderr.",
        "The [exit code](#exit-codes) tells success from failure. Every command takes:\n",
        *option_table(common),
    ]
    for title, names in COMMAND_GROUPS.items():
        lines.append(f"## {title}\n")
        for path, command in leaves:
            if path.split()[1] in names:
                lines += command_section(path, command, common_names)
    return "\n".join([*lines, *exit_code_tables()])


def command_section(path: str, command: click.Command, common_names: set[str]) -> list[str]:
    """Return the part of the page about one command."""
    options = [option for option in command_options(command) if option.name not in common_names]
    lines = [
        f"### `{path}`\n",
        f"    {usage_line(path, command, has_options=bool(options))}\n",
        *help_paragraphs(command),
    ]
    if isinstance(command, ExampleCommand):
        lines += ["```sh", *command.examples, "```", ""]
    if options:
        lines += option_table(options)
    return lines


def leaf_commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """Yield every command without subcommands, with its full name."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        subcommand = command.get_command(context, name)
        if subcommand is not None:
            yield from leaf_commands(subcommand, f"{path} {name}")


def command_options(command: click.Command) -> list[click.Option]:
    """Return the options of a command."""
    return [parameter for parameter in command.params if isinstance(parameter, click.Option)]


def usage_line(path: str, command: click.Command, *, has_options: bool) -> str:
    """Return the usage of a command."""
    words = [path]
    if has_options:
        words.append("[OPTIONS]")
    for argument in command.params:
        if isinstance(argument, click.Argument):
            words.append(argument.make_metavar(click.Context(command)))
    return " ".join(words)


def help_paragraphs(command: click.Command) -> list[str]:
    """Return the paragraphs of the help text."""
    paragraphs = (command.help or "").split("\n\n")
    return [" ".join(paragraph.split()) + "\n" for paragraph in paragraphs]


def option_table(options: list[click.Option]) -> list[str]:
    """Return the rows that explain options."""
    rows = [
        f"| {option_spelling(option)} | {option.help} | {option_default(option)} |"
        for option in options
    ]
    return ["| option | meaning | default |", "|---|---|---|", *rows, ""]


def option_default(option: click.Option) -> str:
    """Return the default as `--help` shows it; empty if there is none."""
    context = click.Context(click.Command("any"), show_default=True)
    default = str(option.get_help_extra(context).get("default", ""))
    return default.removeprefix("(").removesuffix(")")


def option_spelling(option: click.Option) -> str:
    """Return an option with its value: `-k N`, `--top-k N`."""
    value = ""
    if isinstance(option.type, click.Choice):
        value = " " + "\\|".join(str(choice) for choice in option.type.choices)
    elif isinstance(option.type, click.Path):
        value = " " + (option.metavar or "PATH")
    elif not option.is_flag:
        value = " " + (option.metavar or VALUE_NAMES.get(option.type.name, "TEXT"))
    return ", ".join(f"`{name}{value}`" for name in option.opts)


def exit_code_tables() -> list[str]:
    """Return the tables of exit codes and of the errors behind them."""
    return [
        "## Exit codes\n",
        "| code | meaning |",
        "|---|---|",
        *(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()),
        "",
        "With `--json` a failure is also one object on stdout: `success` is false, `error` has `code`, `message`,",
        "`hint` and `retryable`. The errors of the library (`ragstone.errors`) have these exit codes:\n",
        "| error | `code` | exit code | meaning |",
        "|---|---|---|---|",
        *(
            f"| `{kind.__name__}` | `{kind.code}` | {row.exit} | {row.meaning} |"
            for kind, row in FAILURE_CODES.items()
        ),
        "",
    ]


def is_current(path: Path, text: str) -> bool:
    """Return whether a page on disk has this text."""
    return path.exists() and path.read_text(encoding="utf-8") == text


def write_pages(pages: Mapping[Path, str]) -> None:
    """Write pages to disk."""
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {path.name}")


def main() -> int:
    """Write or check the pages; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a page is out of date"
    )
    arguments = parser.parse_args()
    pages = {
        FOLDER / "config.md": settings_page(),
        FOLDER / "parts.md": parts_page(),
        FOLDER / "cli.md": commands_page(),
    }
    outdated = {path: text for path, text in pages.items() if not is_current(path, text)}
    if not arguments.check:
        write_pages(outdated)
        return 0
    for path in outdated:
        print(f"{path.name} is out of date: run `make reference`", file=sys.stderr)
    return 1 if outdated else 0


if __name__ == "__main__":
    sys.exit(main())
