"""Completion on Tab: the script for a shell, and the values that it asks for.

The script runs `ragstone` again with the words typed so far; click finds the option or argument to complete.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem, get_completion_class, shell_complete

from ragstone.config.environment import COMPLETION_VARIABLE
from ragstone.errors import RagstoneError
from ragstone.surfaces.present.failures import BUG

SHELLS: Final = ("bash", "zsh", "fish")
_PROGRAM: Final = "ragstone"

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def completion_script(commands: click.Command, shell: str) -> str:
    """Return the script that a shell loads."""
    completion_class = get_completion_class(shell)
    if completion_class is None:
        raise ValueError(f"no completion for {shell}")
    return completion_class(commands, {}, _PROGRAM, COMPLETION_VARIABLE).source()


def answer_completion(commands: click.Command, request: str) -> int:
    """Print the completions for the words in the environment, and return the exit code."""
    try:
        return shell_complete(commands, {}, _PROGRAM, COMPLETION_VARIABLE, request)
    except Exception:  # noqa: BLE001 - an error message would land in the line that the user types
        return BUG


def complete_paths(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Let the shell complete a path."""
    return [CompletionItem(incomplete, type="file")]


def complete_with(list_values: Callable[[Path | None], list[str]]) -> Completer:
    """Return a completer for the values that a function lists for a folder; no value if it fails."""

    def complete(
        context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        try:
            values = list_values(context.params.get("folder"))
        except (RagstoneError, OSError):
            return []
        return [CompletionItem(value) for value in values if value.startswith(incomplete)]

    return complete
