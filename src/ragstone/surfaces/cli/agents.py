"""`ragstone agents`: the agents of `agents.yaml`, their documents indexed, and what their prompts are told."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from ragstone.surfaces import present
from ragstone.surfaces.cli.folder import open_engine, watched
from ragstone.surfaces.cli.shell import emit, note, number, remark, safe, say, shared, table
from ragstone.surfaces.cli.sync import ledger
from ragstone.types import Agent

_SHOWN = 20


@click.group(invoke_without_command=True)
@shared
@click.pass_context
def agents(context: click.Context, folder: Path | None, as_json: bool) -> None:
    """List agents, index their documents, print what their prompts are given."""
    if context.invoked_subcommand is None:
        context.invoke(list_agents, folder=folder, as_json=as_json)


@agents.command("list")
@shared
def list_agents(folder: Path | None, as_json: bool) -> None:
    """List the agents that `agents.yaml` names."""
    with open_engine(folder) as engine:
        found = engine.agents()
    if as_json:
        emit({"success": True, "agents": [asdict(one) for one in found]})
    elif found:
        table([_row(one) for one in found], ("cyan", "", "dim"))
    else:
        say("No agents: `agents.yaml` in the folder, or beside your own settings, names them.")


@agents.command("ensure")
@click.argument("name")
@click.option("--no-embed", is_flag=True, help="Words only; vectors can follow later.")
@shared
def ensure(name: str, folder: Path | None, as_json: bool, no_embed: bool) -> int:
    """Make the index of the agent NAME match its files."""
    with open_engine(folder) as engine, watched() as progress:
        report = engine.ensure_index(name, embed=not no_embed, progress=progress)
    if as_json:
        emit({"success": report is None or report.ok, "agent": name, "changed": report is not None,
              "sync": present.sync_report(report) if report else None})  # fmt: skip
    elif report is None:
        say(f"{safe(name)}: nothing has changed.")
    else:
        ledger(report, vectors=not no_embed)
        remark(report.notes)
    return present.OK if report is None or report.ok else present.PARTIAL


@agents.command("prompt")
@click.argument("name")
@click.option("-b", "--budget", type=click.IntRange(min=1), help="Tokens at most; default: the agent's own.")
@click.option("--no-sync", is_flag=True, help="Do not bring the agent's index up to date first.")
@shared
def prompt(name: str, folder: Path | None, as_json: bool, budget: int | None, no_sync: bool) -> None:
    """Print what the prompt of the agent NAME is given of its documents."""
    with open_engine(folder) as engine:
        made = engine.agent_prompt(name, budget=budget)
        if made.tool and not no_sync:
            with watched() as progress:
                engine.ensure_index(name, progress=progress)
    if as_json:
        emit({"success": True, **asdict(made)})
        return
    if made.text:
        click.echo(made.text)
    remark(made.notes)
    tool = f", with the tool {made.tool}" if made.tool else f", {number(len(made.files), 'file')}"
    note(f"({made.strategy}{tool}, {made.tokens:,} of {made.budget:,} tokens)")
    for one in made.left_out[:_SHOWN]:
        note(f"(left out: {safe(one.uri)}: {safe(one.reason)})")
    if len(made.left_out) > _SHOWN:
        note(f"({len(made.left_out) - _SHOWN:,} more left out: --json lists all)")


def _row(one: Agent) -> tuple[str, ...]:
    if not one.sources:
        return safe(one.name), "no docs", ""
    how = f"rag, top_k {one.top_k}" if one.strategy == "rag" else f"preload, {one.budget:,} tokens"
    return safe(one.name), how, safe(", ".join(one.sources))
