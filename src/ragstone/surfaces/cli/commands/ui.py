"""`ragstone ui`."""

from __future__ import annotations

import json
import sys
import webbrowser
from pathlib import Path

import click

from ragstone.engine import DEFAULT_PROJECT
from ragstone.engine.workspace import load_settings
from ragstone.surfaces.cli.help import ExampleCommand, setting_default
from ragstone.surfaces.cli.options import common_options, project_name
from ragstone.surfaces.cli.output import print_line
from ragstone.surfaces.cli.paths import project_folder
from ragstone.surfaces.cli.server import run_server
from ragstone.surfaces.server.running_server import find_server


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone ui",
        "ragstone ui --no-browser",
    ),
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    show_default=setting_default("server.port"),
    help="The port of a new server; without it a free one if the default is taken.",
)
@click.option("--no-browser", is_flag=True, help="Print the address; open no browser.")
@common_options
def ui(folder: Path | None, as_json: bool, port: int | None, no_browser: bool) -> None:
    """Open the dashboard in a browser.

    A server that runs for the folder is used. Otherwise one is started, and Ctrl-C stops it.
    With --json the first line is an object with the address.
    """
    root = project_folder(folder)
    project = project_name() or DEFAULT_PROJECT
    running = find_server(load_settings(root, None).home, project)

    def show(address: str) -> None:
        _print_address(address, project, as_json=as_json, started=not running)
        if not no_browser and not webbrowser.open(address):
            print_line("No browser was found; open the address yourself.")

    if running:
        show(running)
        return
    settings: dict[str, object] = {} if port is None else {"server.port": port}
    run_server(root, project, settings, any_port=port is None, on_ready=show)


def _print_address(address: str, project: str, *, as_json: bool, started: bool) -> None:
    if as_json:
        data = {"success": True, "url": address, "project": project, "started": started}
        sys.stdout.write(json.dumps(data) + "\n")
    elif started:
        print_line(f"The dashboard is at {address} (stop with Ctrl-C).")
    else:
        print_line(f"The dashboard is at {address}.")
    sys.stdout.flush()
