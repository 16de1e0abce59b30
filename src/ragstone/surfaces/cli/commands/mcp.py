"""`ragstone mcp`."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.engine import DEFAULT_PROJECT
from ragstone.errors import InputError
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options, project_name
from ragstone.surfaces.cli.output import print_json
from ragstone.surfaces.cli.paths import project_folder
from ragstone.surfaces.code_tools import CODE_TOOLS
from ragstone.surfaces.tools import DEFAULT_TOOLS


@click.command(
    cls=ExampleCommand,
    examples=(
        "claude mcp add ragstone -- ragstone mcp",
        "ragstone mcp -C ~/notes",
        "ragstone mcp --list-tools",
    ),
)
@click.option("--list-tools", is_flag=True, help="Print the tools as JSON and exit.")
@common_options
def mcp(folder: Path | None, as_json: bool, list_tools: bool) -> None:
    """Serve an agent's tools over stdio (Model Context Protocol).

    In a client's settings: command `ragstone`, arguments `mcp -C /path/to/project`.
    """
    if list_tools:
        print_json({"tools": [tool.mcp() for tool in (*DEFAULT_TOOLS, *CODE_TOOLS)]})
        return
    if as_json:
        raise InputError(
            "`ragstone mcp` uses stdout for its protocol", hint="--json goes with --list-tools"
        )
    from ragstone.surfaces.mcp import serve  # the MCP package takes seconds to load

    serve(project_folder(folder), project=project_name() or DEFAULT_PROJECT)
