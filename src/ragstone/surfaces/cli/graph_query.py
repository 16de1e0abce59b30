"""A question about the code graph from the command line: its options, and how nodes are printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from ragstone.engine import Engine
from ragstone.surfaces.cli.engine import open_engine, require_index, update_index
from ragstone.surfaces.cli.options import (
    add_options,
    collect_flags,
    collection_option,
    no_sync_option,
    yes_option,
)
from ragstone.surfaces.cli.output import print_line, print_notes, printable
from ragstone.surfaces.present.graph import explain_confidences
from ragstone.text.globs import matches_path
from ragstone.types import Confidence


def graph_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a question about the graph; the command gets them as one `GraphFlags`."""
    return add_options(
        collect_flags(command, GraphFlags),
        (
            click.option(
                "--path", "paths", multiple=True, metavar="GLOB", help="Only files that match."
            ),
            click.option(
                "--kind",
                "kinds",
                multiple=True,
                help="Only this kind: route, model, table, method …",
            ),
            collection_option(),
            no_sync_option,
            yes_option,
        ),
    )


@dataclass(frozen=True, slots=True)
class GraphFlags:
    """The values of `graph_options`."""

    paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    collection: str | None = None
    no_sync: bool = False
    yes: bool = False

    def matches_path(self, uri: str) -> bool:
        """Return whether --path allows a file."""
        if not self.paths:
            return True
        return any(matches_path(glob, uri) for glob in self.paths)

    def matches(self, uri: str, kind: str) -> bool:
        """Return whether --path and --kind allow an item."""
        return self.matches_path(uri) and self.matches_kind(kind)

    def matches_kind(self, kind: str) -> bool:
        """Return whether --kind allows a kind."""
        return not self.kinds or kind in self.kinds


@contextmanager
def open_graph_engine(folder: Path | None, flags: GraphFlags) -> Iterator[Engine]:
    """Give the engine of a folder whose index is up to date; notes are printed after the answer."""
    with open_engine(folder) as engine:
        require_index(engine, no_sync=flags.no_sync)
        notes = update_index(engine, no_sync=flags.no_sync, yes=flags.yes, embed=False)
        yield engine
        print_notes(notes)


def print_confidences(confidences: Iterable[Confidence]) -> None:
    """Print the meaning of these confidences, the surest first."""
    for confidence, meaning in explain_confidences(confidences).items():
        print_line((f"  {confidence}: {meaning}", "dim"))


def short_name(key: str) -> str:
    """Return a node's key without the namespace of its class."""
    kind, _, name = printable(key).partition(":")
    if kind in ("class", "method", "relation"):
        name = name.rpartition("\\")[2]
    if kind in ("class", "method"):
        return name
    return f"{kind} {name}"


def describe_kinds(kinds: Sequence[str]) -> str:
    """Return ` of kind …` for a message, or an empty text if all kinds are allowed."""
    if not kinds:
        return ""
    return f" of kind {printable(' or '.join(kinds))}"
