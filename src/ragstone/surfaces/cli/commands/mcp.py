"""`ragstone mcp`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from ragstone.errors import InputError
from ragstone.surfaces.cli.engine import choose_project
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options
from ragstone.surfaces.cli.output import print_json
from ragstone.surfaces.cli.paths import project_folder
from ragstone.surfaces.tools import ALL_TOOLS, CODE_TOOLS, DEFAULT_TOOLS


@click.command(
    cls=ExampleCommand,
    examples=(
        "claude mcp add ragstone -- ragstone mcp",
        "ragstone mcp -C ~/notes",
        "ragstone mcp --tools all --list-tools",
    ),
)
@click.option(
    "--tools",
    "tool_set",
    type=click.Choice(["default", "all"]),
    default="default",
    show_default=True,
    help="The tools to offer: a small set for coding agents, or every tool.",
)
@click.option("--list-tools", is_flag=True, help="Print the tools as JSON and exit.")
@common_options
def mcp(
    folder: Path | None,
    as_json: bool,
    list_tools: bool,
    tool_set: Literal["default", "all"],
) -> None:
    """Serve an agent's tools over stdio (Model Context Protocol).

    In a client's settings: command `ragstone`, arguments `mcp -C /path/to/project`.
    """
    tools = ALL_TOOLS if tool_set == "all" else DEFAULT_TOOLS
    if list_tools:
        listed = [*tools, *(tool for tool in CODE_TOOLS if tool not in tools)]
        print_json({"tools": [tool.mcp() for tool in listed]})
        return
    if as_json:
        raise InputError(
            "`ragstone mcp` uses stdout for its protocol", hint="--json goes with --list-tools"
        )
    from ragstone.surfaces.mcp import serve  # the MCP package takes seconds to load

    root = project_folder(folder)
    serve(root, project=choose_project(root), tools=tools)
