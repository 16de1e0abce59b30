"""`ragstone install`."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.surfaces.cli.agent_setup import (
    Answers,
    agent_arguments,
    choose_agents,
    describe_path_of_machine,
    finish,
    installed_command,
    scope_of,
    setup_options,
)
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.install.plan import plan_install


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone install                      # all agents that are found, this project",
        "ragstone install claude-code cursor   # these two",
        "ragstone install codex --user         # for all projects",
        "ragstone install --dry-run            # only show the changes",
    ),
)
@agent_arguments
@click.option(
    "--command",
    metavar="COMMAND",
    help='The command that starts Ragstone, such as "uvx ragstone"; default: this one.',
)
@click.option(
    "--no-instructions",
    is_flag=True,
    help="Write no text that tells the agent when to use which tool.",
)
@setup_options
@common_options
def install(
    folder: Path | None,
    as_json: bool,
    agents: tuple[str, ...],
    command: str | None,
    no_instructions: bool,
    for_user: bool,
    dry_run: bool,
    yes: bool,
) -> int:
    """Connect your agents: add the MCP server to their settings.

    Without a name, every agent that is found here is set up. The changes are shown first; comments in the files stay.
    """
    scope = scope_of(folder, for_user=for_user)
    chosen = choose_agents(agents, scope)
    words = installed_command(command)
    plan = plan_install(chosen, scope, words, instructions=not no_instructions)
    notes = []
    if command is None:
        notes = describe_path_of_machine(words, scope, plan)
    return finish(plan, Answers(as_json=as_json, dry_run=dry_run, yes=yes), notes=notes)
