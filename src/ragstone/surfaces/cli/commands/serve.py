"""`ragstone serve`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from ragstone.config.settings import Settings
from ragstone.engine import DEFAULT_PROJECT
from ragstone.surfaces.cli.help import ExampleCommand, setting_default
from ragstone.surfaces.cli.options import common_options, project_name
from ragstone.surfaces.cli.output import print_line
from ragstone.surfaces.cli.paths import project_folder
from ragstone.surfaces.cli.server import run_server


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone serve",
        "ragstone serve --port 8400 --no-sync",
        "ragstone serve --workers 4",
    ),
)
@click.option(
    "--host",
    show_default=setting_default("server.host"),
    help="The address to listen on.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    show_default=setting_default("server.port"),
    help=f"The port: {Settings().server.port} if you name none; 0 takes a free one.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    show_default=setting_default("server.workers"),
    help="Processes that answer requests.",
)
@click.option("--no-sync", is_flag=True, help="Do not keep the index up to date.")
@common_options
def serve(
    folder: Path | None,
    as_json: bool,
    host: str | None,
    port: int | None,
    workers: int | None,
    no_sync: bool,
) -> None:
    """Serve the index over HTTP until Ctrl-C: the dashboard at /, REST under /api/rag, MCP under /mcp.

    \b
    POST /api/rag/search, /context, /retrieve    ask the whole project
    GET, POST /api/rag/collections               collections; documents and files below each
    POST /api/rag/sync                           sync the folder, as a job
    POST /api/rag/memory/SESSION/add, /search    conversations
    GET /api/rag/status, /events/stream          the index, and events as they happen
    GET /health, /metrics, /openapi.json         the server, and every route
    /mcp, /mcp/all                               the MCP server: few tools, or all

    With --json the first line is an object with the address.
    """
    given = {"server.host": host, "server.port": port, "server.workers": workers}
    settings = {name: value for name, value in given.items() if value is not None}
    project = project_name() or DEFAULT_PROJECT

    def print_address(address: str) -> None:
        if as_json:
            data = {"success": True, "url": address, "project": project}
            sys.stdout.write(json.dumps(data) + "\n")
        else:
            print_line(f"Serving {address} (stop with Ctrl-C).")
        sys.stdout.flush()

    run_server(
        project_folder(folder), project, settings, sync=not no_sync, on_ready=print_address
    )
