"""`ragstone bus`: the tool `search_documents` on a ZeroMQ bus."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.errors import InputError, MissingExtra
from ragstone.surfaces.cli.folder import bring_up_to_date, open_engine
from ragstone.surfaces.cli.shell import emit, note, remark, safe, shared
from ragstone.surfaces.tools import documents_tool


@click.command()
@click.option(
    "--bind",
    nargs=2,
    metavar="REQUESTS RESULTS",
    help="The two addresses to listen on; default: this machine's ports 5570 and 5571.",
)
@click.option("--connect", nargs=2, metavar="REQUESTS RESULTS", help="The two addresses of a broker to connect to.")
@click.option(
    "--public", is_flag=True, help="Let --bind take an address that other machines reach; nothing asks who they are."
)
@click.option("--schema", is_flag=True, help="Print the tool's schema as JSON and end.")
@click.option("-y", "--yes", is_flag=True, help="Index the folder without asking, whatever it is.")
@shared
def bus(
    folder: Path | None,
    as_json: bool,
    bind: tuple[str, str] | None,
    connect: tuple[str, str] | None,
    public: bool,
    schema: bool,
    yes: bool,
) -> None:
    """Answer `tool.request.search_documents` on a ZeroMQ bus until it is stopped."""
    with open_engine(folder) as engine:
        if schema:
            emit(documents_tool(engine).openai())
            return
        if as_json:
            raise InputError("`ragstone bus` speaks on the bus", hint="--json goes with --schema")
        if bind and connect:
            raise InputError("--bind and --connect are two ways", hint="give one of them")
        try:
            from ragstone.surfaces.bus import REQUESTS, RESULTS, Line, Station  # an extra: not everybody has it
        except ModuleNotFoundError as error:
            raise MissingExtra("a bus needs the package pyzmq", hint="pip install 'ragstone[bus]'") from error
        requests, results = bind or connect or (REQUESTS, RESULTS)
        line = Line(requests, results, bind=not connect, public=public)
        line.check()
        _, amiss = bring_up_to_date(engine, yes=yes)
        remark(amiss)
        station = Station(engine, line)
        note(f"search_documents answers {safe(line.requests)} on {safe(line.results)} (Ctrl-C ends it)")
        try:
            station.run()
        finally:
            station.close()
