"""Write the reference pages that the code itself knows best. `--check` only says whether they are up to date."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

import click

from ragstone import config, registry
from ragstone.surfaces.cli.app import commands
from ragstone.surfaces.present.failures import EXIT_CODES, FAILURE_CODES

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
NOTICE = "<!-- Written by tools/generate_reference.py: change the code, then run `make reference`. -->\n"
MEANINGS = {
    "rag": "the engine as a whole, and how documents are cut",
    "rag.vector_store": "where everything stays",
    "sources": "which files are looked at",
    "embed": "how text becomes vectors",
    "search": "how answers are found and ordered",
    "code": "what is made of programs",
    "store": "the file on disk",
    "web": "pages taken in by their addresses",
    "ask": "the language model of `ragstone ask`",
    "documents": "how the tool `search_documents` is described to a model",
    "events": "what is kept of what happened",
}


def settings_page() -> str:
    """Return the page of all settings."""
    lines = [
        NOTICE,
        "# Settings\n",
        "A value is taken from the first of these that has it: an argument, a `RAGSTONE_*` variable, the project's",
        "`ragstone.toml`, your own file, the default. How they go together: [the guide](../guides/configuration.md).\n",
    ]
    for section, rows in groupby(config.describe(), key=lambda row: row.key.rpartition(".")[0]):
        lines += [f"## `[{section}]`: {MEANINGS[section]}\n", "| setting | default | what it does | environment |"]
        lines += ["|---|---|---|---|"]
        lines += [
            f"| `{row.key.rpartition('.')[2]}` | {shown(row.default)} | {row.doc} | "
            + ", ".join(f"`{variable}`" for variable in row.variables)
            + " |"
            for row in rows
        ]
        lines.append("")
    return "\n".join(lines)


def parts_page() -> str:
    """Return the page of all parts that can be chosen by name."""
    lines = [
        NOTICE,
        "# Parts by name\n",
        "Parts that are built in. A package adds its own with an entry point in the group `ragstone.<kind>`; a plug-in",
        "cannot take a built-in name. Which kinds can be chosen, and how: [the guide](../guides/plugins.md).\n",
        "| kind | name | also | what it is |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {part.group} | `{part.name}` | {', '.join(f'`{alias}`' for alias in part.aliases)} | {part.doc} |"
        for part in registry.BUILT_IN
    ]
    return "\n".join([*lines, ""])


def commands_page() -> str:
    """Return the page of all commands, their options and their exit codes."""
    tree = list(leaves(commands, "ragstone"))
    everywhere = set.intersection(*({option.name or "" for option in options(command)} for _, command in tree))
    common = [option for option in options(tree[0][1]) if option.name in everywhere]
    lines = [
        NOTICE,
        "# Commands\n",
        "`ragstone COMMAND --help` says the same. Answers go to stdout, notes and errors to stderr. The [exit code]"
        "(#exit-codes) says\nhow it went. Every command takes:\n",
        *option_table(common),
    ]
    for path, command in tree:
        own = [option for option in options(command) if option.name not in everywhere]
        words = [usage(argument) for argument in command.params if isinstance(argument, click.Argument)]
        lines += [f"## `{path}`\n", f"    {' '.join([path, *(['[OPTIONS]'] if own else []), *words])}\n"]
        lines += [" ".join((command.help or "").split()) + "\n", *(option_table(own) if own else [])]
    return "\n".join([*lines, *exit_codes()])


def leaves(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """Yield every command that does something, by its full name."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        if below is not None:
            yield from leaves(below, f"{path} {name}")


def options(command: click.Command) -> list[click.Option]:
    """Return the options of a command."""
    return [one for one in command.params if isinstance(one, click.Option)]


def usage(argument: click.Argument) -> str:
    """Return an argument as a usage line shows it."""
    name = (argument.name or "").upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def option_table(shown_options: list[click.Option]) -> list[str]:
    """Return the rows that explain options."""
    rows = [f"| {spelling(option)} | {option.help} |" for option in shown_options]
    return ["| option | what it does |", "|---|---|", *rows, ""]


def spelling(option: click.Option) -> str:
    """Return how an option is written, with what it takes."""
    if option.is_flag:
        return ", ".join(f"`{name}`" for name in option.opts)
    if isinstance(option.type, click.Choice):
        value = "\\|".join(str(choice) for choice in option.type.choices)
    else:
        value = option.metavar or {"integer": "N", "float": "X", "integer range": "N"}.get(option.type.name, "TEXT")
        value = "PATH" if isinstance(option.type, click.Path) else value
    return ", ".join(f"`{name} {value}`" for name in option.opts)


def exit_codes() -> list[str]:
    """Return the tables of exit codes and of the errors behind them."""
    lines = ["## Exit codes\n", "| code | what it says |", "|---|---|"]
    lines += [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    lines += [
        "",
        "With `--json` a failure is also one object on stdout: `success` is false, `error` has `code`, `message`,",
    ]
    lines += [
        "`hint` and `retryable`. The errors of the library (`ragstone.errors`) leave the command with these codes:\n"
    ]
    lines += ["| error | `code` | exit code | when |", "|---|---|---|---|"]
    lines += [
        f"| `{kind.__name__}` | `{kind.code}` | {codes.exit} | {codes.meaning} |"
        for kind, codes in FAILURE_CODES.items()
    ]
    return [*lines, ""]


def shown(value: object) -> str:
    """Return a value as it would be written in TOML."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return "`[" + ", ".join(f'"{item}"' for item in value) + "]`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def stale(pages: Mapping[Path, str]) -> list[Path]:
    """Return the pages on disk that are not what the code says."""
    return [path for path, text in pages.items() if not path.exists() or path.read_text(encoding="utf-8") != text]


def main() -> int:
    """Write the pages, or check them; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    asked = parser.parse_args()
    pages = {
        FOLDER / "config.md": settings_page(),
        FOLDER / "parts.md": parts_page(),
        FOLDER / "cli.md": commands_page(),
    }
    old = stale(pages)
    for path in old:
        if asked.check:
            print(f"{path.name} is out of date: run `make reference`", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(pages[path], encoding="utf-8", newline="\n")
            print(f"wrote {path.name}")
    return 1 if asked.check and old else 0


if __name__ == "__main__":
    sys.exit(main())
