"""Write docs/reference and the marked numbers in the guides from the code; with --check, only compare them.

A number in a guide that the code has too is marked: `1,000<!-- ragstone.engine.arguments:MAX_TOP_K -->`.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import groupby, pairwise
from pathlib import Path

import click

from ragstone import config, registry
from ragstone.retrieval.ranking import parameters
from ragstone.surfaces.cli.app import COMMAND_GROUPS, commands
from ragstone.surfaces.cli.commands.init import format_toml
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.present.failures import EXIT_CODES, FAILURE_CODES

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"
GUIDES = ROOT / "docs" / "guides"
SOURCE = ROOT / "src" / "ragstone"
RANKING = SOURCE / "retrieval" / "ranking" / "parameters.py"
NUMBER = re.compile(r"[\d.,]*\d(?P<mark><!-- (?P<module>ragstone[\w.]*):(?P<name>[A-Z_]+) -->)")
NOTICE = "<!-- Written by tools/generate_reference.py: change the code, then run `make reference`. -->\n"
SECTIONS = {
    "rag": "the engine, and how documents are split",
    "chunk": "the size of chunks in tokens",
    "rag.vector_store": "the store",
    "sources": "the files to index",
    "read": "how files become text",
    "embed": "how texts become vectors",
    "rerank": "the model of `rerank=…`",
    "search": "how answers are found and ranked",
    "code": "the code graph",
    "store": "the database file",
    "web": "web pages",
    "ask": "the language model of `ragstone ask`",
    "documents": "the description of the tool `search_documents`",
    "events": "the event log",
    "access": "keys and plans of a server",
    "plans": "limits of projects, if `access.plans` is on",
    "server": "the server of `ragstone serve`",
    "mcp": "other MCP servers",
}
KEEP_LINES = "\b\n"
"""The mark of click before a paragraph whose lines stay as they are."""
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


def ranking_page() -> str:
    """Return the page of the numbers that decide the order of hits, from their module's source."""
    module = ast.parse(RANKING.read_text(encoding="utf-8"))
    lines = [
        NOTICE,
        "# Numbers of ranking\n",
        "The order of hits depends on these numbers. They are not settings: they were chosen on data, and their module,",
        f"`{RANKING.relative_to(SOURCE).as_posix()}`, gives the figures. [Searching](../guides/searching.md) explains the",
        "steps.\n",
        "| number | value | meaning |",
        "|---|---|---|",
    ]
    bodies = [
        module.body,
        *(node.body for node in module.body if isinstance(node, ast.ClassDef)),
    ]
    for body in bodies:
        lines += described_numbers(body)
    return "\n".join([*lines, ""])


def described_numbers(body: list[ast.stmt]) -> Iterator[str]:
    """Yield a row for each assignment with a description: its names, its value, the first sentence about it."""
    for statement, following in pairwise(body):
        if not isinstance(statement, ast.Assign | ast.AnnAssign):
            continue
        if not (isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)):
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        names = ast.unparse(target).strip("()")
        description = " ".join(str(following.value.value).split())
        sentence = re.split(r"(?<=[.:;]) ", description)[0].rstrip(".:;")
        yield f"| `{names}` | {number_value(names)} | {sentence} |"


def number_value(names: str) -> str:
    """Return the values that a name of the module has, or a field of its dataclass of numbers."""
    values = []
    for name in names.split(", "):
        holder = parameters if hasattr(parameters, name) else parameters.RANKING_PARAMETERS
        value = getattr(holder, name)
        if isinstance(value, dict):
            value = ", ".join(f"{key} {number}" for key, number in value.items())
        values.append(str(value))
    return ", ".join(values)


def with_numbers_of_the_code(page: str) -> str:
    """Return a page in which every number before a mark `<!-- module:NAME -->` is the one in the code."""
    return NUMBER.sub(lambda match: number_of(match) + match["mark"], page)


def number_of(match: re.Match[str]) -> str:
    """Return the number that a mark names, written like the one on the page."""
    value = getattr(import_module(match["module"]), match["name"])
    return f"{value:,g}" if isinstance(value, float) else f"{value:,}"


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
    """Return the paragraphs of the help text; one whose lines click keeps as they are is a block."""
    paragraphs = []
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith(KEEP_LINES):
            lines = paragraph.removeprefix(KEEP_LINES).strip("\n")
            paragraphs.append(f"```text\n{lines}\n```\n")
        else:
            paragraphs.append(" ".join(paragraph.split()) + "\n")
    return paragraphs


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
        FOLDER / "ranking.md": ranking_page(),
    }
    for guide in sorted(GUIDES.glob("*.md")):
        pages[guide] = with_numbers_of_the_code(guide.read_text(encoding="utf-8"))
    outdated = {path: text for path, text in pages.items() if not is_current(path, text)}
    if not arguments.check:
        write_pages(outdated)
        return 0
    for path in outdated:
        print(f"{path.name} is out of date: run `make reference`", file=sys.stderr)
    return 1 if outdated else 0


if __name__ == "__main__":
    sys.exit(main())
