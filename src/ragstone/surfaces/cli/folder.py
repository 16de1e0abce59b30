"""From where somebody stands to an engine that is fit to answer: which folder, may we, is it up to date."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone import config
from ragstone.engine import DEFAULT, Engine
from ragstone.errors import InputError, NotFound, StoreBusy, StoreDamaged, StoreError, StoreTooNew
from ragstone.sources.folder.roots import is_risky
from ragstone.surfaces.cli.place import project, root_of
from ragstone.surfaces.cli.progress import Bar
from ragstone.surfaces.cli.shell import Interrupted, note, number, safe

if TYPE_CHECKING:
    from ragstone.types import SyncReport

# A first search should answer soon: vectors get this long, `ragstone sync` makes the rest.
SECONDS_FOR_VECTORS: Final = 1.5
# An answer from what is stored, with a word about it, is worth more to a searcher than a long wait for another writer.
SECONDS_FOR_A_WRITER: Final = 1.0
_NO_LIMIT: Final = 1_000_000_000
# The sources of what somebody gave: by hand, by an address, by the name of a program.
_GIVEN: Final = ("", "web", "help")
STAYS: Final = "what was stored stays; run it again to go on from there"


def open_engine(folder: Path | None, *, following: bool = False, config: Mapping[str, Any] | None = None) -> Engine:
    """Return the engine of the named folder, or of the project around the current one."""
    # How many files are too many is asked about once, before the first sync, and never in the way later. A command that
    # ends at once has looked at the folder itself and follows nothing.
    ours = {"sources.max_files": _NO_LIMIT, "search.watch": "auto" if following else "off"}
    return Engine.open(root_of(folder), config={**ours, **(config or {})}, project=project() or DEFAULT)


def open_existing(folder: Path | None) -> Engine:
    """Return the engine of a folder that was indexed before, or raise `NotFound`."""
    engine = open_engine(folder)
    if not engine.exists:
        raise NotFound(f"{engine.folder} has no index", hint="`ragstone sync` makes one")
    return engine


def ask_first(engine: Engine, *, yes: bool) -> None:
    """Ask before a folder is first synced that nobody means by accident; where nobody can answer, refuse."""
    if yes or not engine.settings.rag.enabled or (engine.exists and engine.last_sync() is not None):
        return
    reason = is_risky(engine.folder)
    if reason is None:
        limit = config.load(engine.folder).sources.max_files
        if engine.source().count(limit) <= limit:
            return
        reason = f"it has more than {number(limit, 'file')}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError(
            f"{engine.folder} is not indexed without being asked to: {reason}",
            hint="--yes does it all the same, --folder names another one",
        )
    click.confirm(f"Index {safe(str(engine.folder))}? Careful: {reason}.", abort=True, err=True)


def run_sync(
    engine: Engine, paths: Sequence[str | Path] | None = None, *, embed: bool | float = True, **options: Any
) -> SyncReport:
    """Return the ledger of a sync, shown while it runs; a person who stops it is told what that means."""
    with watched() as progress:
        return engine.sync(paths, embed=embed, progress=progress, **options)


def bring_up_to_date(engine: Engine, *, yes: bool, vectors: bool = True) -> tuple[SyncReport | None, list[str]]:
    """Index a folder never seen, or what changed since; return the ledger, if there is one, and what is amiss.

    Who asks by words alone need not wait for vectors: the next one who asks by both does.
    """
    seen = engine.exists
    if not (seen and _only_given(engine)):
        ask_first(engine, yes=yes)
    if not seen and engine.settings.rag.enabled:
        note(f"indexing {safe(str(engine.folder))}")
    try:
        with watched() as progress:
            embed = vectors and SECONDS_FOR_VECTORS
            return engine.refresh(embed=embed, progress=progress, wait=SECONDS_FOR_A_WRITER), []
    except (StoreDamaged, StoreTooNew):
        raise
    except StoreError as error:
        if not seen:
            raise
        why = "another process is at it" if isinstance(error, StoreBusy) else error.message
        return None, [f"not brought up to date: {why}; answering from what is stored"]


def _only_given(engine: Engine) -> bool:
    """Return whether all that is stored was given by hand: then no search looks at the folder."""
    if engine.last_sync() is not None:
        return False
    stored = False
    for document in engine.sources():
        if document.source not in _GIVEN:
            return False
        stored = True
    return stored


@contextmanager
def watched() -> Iterator[Bar]:
    """Give what shows the progress of long work; a person who stops it is told what that means."""
    try:
        with Bar() as progress:
            yield progress
    except KeyboardInterrupt:
        raise Interrupted(STAYS) from None
