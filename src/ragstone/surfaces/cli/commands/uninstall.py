"""`ragstone uninstall`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from ragstone.surfaces.cli.agent_setup import (
    Answers,
    agent_arguments,
    finish,
    scope_of,
    setup_options,
)
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.install.agents import AGENTS, AgentClient, find_agents
from ragstone.surfaces.install.plan import InstallPlace, plan_removal


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone uninstall               # all agents, this project",
        "ragstone uninstall codex --user",
    ),
)
@agent_arguments
@setup_options
@common_options
def uninstall(
    folder: Path | None,
    as_json: bool,
    agents: tuple[str, ...],
    for_user: bool,
    dry_run: bool,
    yes: bool,
) -> int:
    """Undo `ragstone install`: remove the MCP server from the settings of agents.

    A file that was not edited since gets back the bytes it had before. The index stays.
    """
    scope = scope_of(folder, for_user=for_user)
    chosen = find_agents(agents) if agents else list(AGENTS)
    plan = plan_removal(chosen, scope)
    notes = []
    if not (plan.changes or plan.failures):
        notes = _describe_other_place(chosen, scope)
    answers = Answers(as_json=as_json, dry_run=dry_run, yes=yes)
    return finish(plan, answers, notes=notes, is_removal=True)


def _describe_other_place(agents: Sequence[AgentClient], scope: InstallPlace) -> list[str]:
    """Return a note if there is something to remove in the other place: the user's settings, or the project."""
    if not plan_removal(agents, replace(scope, for_user=not scope.for_user)).changes:
        return []
    if scope.for_user:
        return [f"`ragstone uninstall` without --user removes it from {scope.project}"]
    return ["`ragstone uninstall --user` removes it from the settings of the user"]
