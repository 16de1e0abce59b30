"""Help texts: a command whose `--help` ends with examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ragstone.config.settings import Settings


class ExampleCommand(click.Command):
    """A command with examples."""

    def __init__(self, *, examples: Sequence[str] = (), **options: Any) -> None:
        super().__init__(**options)
        self.examples = tuple(examples)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        _write_examples(formatter, self.examples)
        super().format_epilog(ctx, formatter)


class ExampleGroup(click.Group):
    """A command with subcommands and examples."""

    command_class = ExampleCommand

    def __init__(self, *, examples: Sequence[str] = (), **options: Any) -> None:
        super().__init__(**options)
        self.examples = tuple(examples)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        _write_examples(formatter, self.examples)
        super().format_epilog(ctx, formatter)


def setting_default(key: str) -> str:
    """Return the text that `--help` shows for an option whose default is a setting."""
    return f"{Settings().value(key)}, setting {key}"


def _write_examples(formatter: click.HelpFormatter, examples: Sequence[str]) -> None:
    if not examples:
        return
    with formatter.section("Examples"):
        for example in examples:
            formatter.write(f"{'':{formatter.current_indent}}{example}\n")
