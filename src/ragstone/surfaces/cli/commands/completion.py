"""`ragstone completion`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ragstone.surfaces.cli.completion import SHELLS, completion_script
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_json


@click.command(
    cls=ExampleCommand,
    examples=(
        "echo 'eval \"$(ragstone completion bash)\"' >> ~/.bashrc",
        "echo 'eval \"$(ragstone completion zsh)\"' >> ~/.zshrc      # after the line with compinit",
        "ragstone completion fish > ~/.config/fish/completions/ragstone.fish",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
@common_options
@click.pass_context
def completion(context: click.Context, shell: str, folder: Path | None, as_json: bool) -> None:
    """Print a script for SHELL that completes commands, options and values on Tab.

    It needs bash 4.4 or newer, zsh, or fish. Open a new shell after it is installed.
    """
    script = completion_script(context.find_root().command, shell)
    if as_json:
        print_json({"success": True, "shell": shell, "script": script})
    else:
        sys.stdout.write(script)
