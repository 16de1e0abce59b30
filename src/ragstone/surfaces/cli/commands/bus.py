"""`ragstone bus`."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.errors import InputError, MissingExtra
from ragstone.surfaces.cli.engine import open_engine, update_index
from ragstone.surfaces.cli.help import ExampleCommand
from ragstone.surfaces.cli.options import common_options, yes_option
from ragstone.surfaces.cli.output import print_json, print_note, print_notes, printable
from ragstone.surfaces.tools import documents_tool


@click.command(
    cls=ExampleCommand,
    examples=(
        "ragstone bus",
        "ragstone bus --bind tcp://127.0.0.1:6001 tcp://127.0.0.1:6002",
        "ragstone bus --schema",
    ),
)
@click.option(
    "--bind",
    nargs=2,
    metavar="REQUESTS RESULTS",
    help="The two addresses to listen on; default: ports 5570 and 5571 of this machine.",
)
@click.option(
    "--connect", nargs=2, metavar="REQUESTS RESULTS", help="The two addresses of a broker."
)
@click.option(
    "--public",
    is_flag=True,
    help="Allow --bind to an address that other machines reach; anyone may search.",
)
@click.option("--schema", is_flag=True, help="Print the tool's schema as JSON and exit.")
@yes_option
@common_options
def bus(
    folder: Path | None,
    as_json: bool,
    bind: tuple[str, str] | None,
    connect: tuple[str, str] | None,
    public: bool,
    schema: bool,
    yes: bool,
) -> None:
    """Serve the tool `search_documents` on a ZeroMQ bus until Ctrl-C."""
    with open_engine(folder) as engine:
        if schema:
            print_json(documents_tool(engine).openai())
            return
        if as_json:
            raise InputError(
                "`ragstone bus` answers on the bus", hint="--json goes with --schema"
            )
        if bind and connect:
            raise InputError("--bind and --connect exclude each other", hint="give one of them")
        try:
            # The bus needs an extra package, its schema does not.
            from ragstone.surfaces.message_bus import REQUESTS, RESULTS, BusAddresses, BusServer
        except ModuleNotFoundError as error:
            raise MissingExtra(
                "a bus needs the package pyzmq", hint="pip install 'ragstone[bus]'"
            ) from error
        requests, results = bind or connect or (REQUESTS, RESULTS)
        addresses = BusAddresses(requests, results, bind=not connect, public=public)
        addresses.check()
        print_notes(update_index(engine, yes=yes))
        server = BusServer(engine, addresses)
        print_note(
            f"search_documents: requests on {printable(requests)}, results on {printable(results)}; Ctrl-C ends it"
        )
        try:
            server.run()
        finally:
            server.close()
