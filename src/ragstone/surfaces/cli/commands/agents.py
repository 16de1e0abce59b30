"""`ragstone agents`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Final

import click

from ragstone.surfaces.cli.engine import open_engine, show_progress
from ragstone.surfaces.cli.help import ExampleGroup
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import (
    print_json,
    print_line,
    print_note,
    print_notes,
    print_table,
    printable,
)
from ragstone.surfaces.cli.sync_report import print_ledger
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.failures import OK, completion_code
from ragstone.surfaces.present.reports import sync_report_json
from ragstone.text.counts import plural
from ragstone.types import Agent, AgentPrompt

_MAX_LEFT_OUT: Final = 20


@click.group(
    cls=ExampleGroup,
    invoke_without_command=True,
    examples=(
        "ragstone agents",
        "ragstone agents prompt support",
    ),
)
@common_options
@click.pass_context
def agents(context: click.Context, folder: Path | None, as_json: bool) -> None:
    """List agents, index their documents, print their prompts."""
    if context.invoked_subcommand is None:
        context.invoke(list_agents, folder=folder, as_json=as_json)


@agents.command("list", examples=("ragstone agents list",))
@common_options
def list_agents(folder: Path | None, as_json: bool) -> None:
    """List the agents of `agents.yaml`."""
    with open_engine(folder) as engine:
        listed = engine.agents.list()
    if as_json:
        print_json({"success": True, "agents": [asdict(agent) for agent in listed]})
    elif listed:
        print_table([_row(agent) for agent in listed], ("cyan", "", "dim"))
    else:
        print_line(
            "No agents: `agents.yaml` in this folder or next to your user settings names them."
        )


@agents.command("ensure", examples=("ragstone agents ensure support",))
@click.argument("name")
@click.option(
    "--no-embed", is_flag=True, help="Index words only; a later sync makes the vectors."
)
@common_options
def ensure_agent(name: str, folder: Path | None, as_json: bool, no_embed: bool) -> int:
    """Make the index of the agent NAME match its files."""
    with open_engine(folder) as engine, show_progress() as progress:
        report = engine.agents.ensure_index(name, embed=not no_embed, progress=progress)
    if report is None:
        if as_json:
            print_json({"success": True, "agent": name, "changed": False, "sync": None})
        else:
            print_line(f"{printable(name)}: nothing has changed.")
        return OK
    if as_json:
        data: Json = {
            "success": report.ok,
            "agent": name,
            "changed": True,
            "sync": sync_report_json(report),
        }
        print_json(data)
    else:
        print_ledger(report, embed=not no_embed)
        print_notes(report.notes)
    return completion_code(is_complete=report.ok)


@agents.command("prompt", examples=("ragstone agents prompt support --budget 2000",))
@click.argument("name")
@click.option(
    "-b",
    "--budget",
    type=click.IntRange(min=1),
    help="Tokens at most; default: the agent's own budget.",
)
@click.option(
    "--no-sync", is_flag=True, help="Do not bring the agent's index up to date first."
)
@common_options
def print_prompt(
    name: str, folder: Path | None, as_json: bool, budget: int | None, no_sync: bool
) -> None:
    """Print the part of the prompt that gives the agent NAME its documents."""
    with open_engine(folder) as engine:
        prompt = engine.agents.prompt(name, budget=budget)
        if prompt.tool and not no_sync:
            with show_progress() as progress:
                engine.agents.ensure_index(name, progress=progress)
    if as_json:
        print_json({"success": True, **asdict(prompt)})
        return
    if prompt.text:
        click.echo(prompt.text)
    print_notes(prompt.notes)
    _print_summary(prompt)


def _print_summary(prompt: AgentPrompt) -> None:
    content = (
        f"with the tool {prompt.tool}" if prompt.tool else plural(len(prompt.files), "file")
    )
    print_note(
        f"({prompt.strategy}, {content}, {prompt.tokens:,} of {plural(prompt.budget, 'token')})"
    )
    for skip in prompt.left_out[:_MAX_LEFT_OUT]:
        print_note(f"(left out: {printable(skip.uri)}: {printable(skip.reason)})")
    hidden = len(prompt.left_out) - _MAX_LEFT_OUT
    if hidden > 0:
        print_note(f"({hidden:,} more left out: --json lists all)")


def _row(agent: Agent) -> tuple[str, ...]:
    if not agent.sources:
        return printable(agent.name), "no docs", ""
    strategy = f"preload, {plural(agent.budget, 'token')}"
    if agent.strategy == "rag":
        strategy = f"rag, top_k {agent.top_k}"
    return printable(agent.name), strategy, printable(", ".join(agent.sources))
