"""Opening the engine of a folder and bringing its index up to date."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ragstone import config
from ragstone.engine import DEFAULT_PROJECT, Engine
from ragstone.errors import InputError, NotFound, ProviderError, StaleSpace
from ragstone.indexing.backfill import outage_note
from ragstone.indexing.components import has_shared_store
from ragstone.indexing.sync import Scan
from ragstone.sources.added_files import ADDED
from ragstone.sources.folder.roots import is_risky
from ragstone.surfaces.cli.failures import Interrupted
from ragstone.surfaces.cli.options import project_name
from ragstone.surfaces.cli.output import print_note, printable
from ragstone.surfaces.cli.paths import outer_project, project_folder
from ragstone.surfaces.cli.progress import ProgressDisplay
from ragstone.surfaces.present.index_notes import describe_home_in_cache
from ragstone.text.counts import plural

if TYPE_CHECKING:
    from ragstone.types import SyncReport

EMBED_SECONDS: Final = 1.5
"""A first search answers soon: it embeds for this long, a background process embeds the rest."""
WRITER_WAIT_SECONDS: Final = 1.0
"""If another process writes for longer, a search answers from the index as it is."""
RESUMABLE: Final = "what was stored stays; run it again to go on from there"
_NO_LIMIT: Final = 1_000_000_000
_SOURCES_OUTSIDE_FOLDER: Final = ("", ADDED, "web", "help")
"""Sources of documents added by hand, by url, or by `ragstone capture`."""


def open_engine(
    folder: Path | None,
    *,
    follow_changes: bool = False,
    settings: Mapping[str, object] | None = None,
) -> Engine:
    """Return the engine of the named folder, or of the project around the current folder."""
    # `confirm_first_sync` asks about many files once, so the limit must not stop a later sync. A command that ends
    # at once scans the folder itself and needs no watcher.
    overrides = {
        "sources.max_files": _NO_LIMIT,
        "search.watch": "auto" if follow_changes else "off",
        **(settings or {}),
    }
    root = project_folder(folder)
    engine = Engine.open(root, config=overrides, project=choose_project(root))
    if engine.settings.is_home_in_cache and not engine.exists:
        print_note(f"({printable(describe_home_in_cache(engine.home))})")
    if folder is not None and not engine.exists:
        _explain_separate_index(engine)
    return engine


def _explain_separate_index(engine: Engine) -> None:
    """After the command, say that it made an index inside a project that has one already."""
    outer = outer_project(engine.folder)
    if outer is None or engine.home.parent != engine.folder:
        return
    home = engine.home

    def explain() -> None:
        if home.exists():
            print_note(
                f"({printable(str(home.parent))} now has its own index and memory, apart from those of"
                f" {printable(str(outer))}; to undo this, remove {printable(str(home))})"
            )

    click.get_current_context().call_on_close(explain)


def describe_outer_memory(engine: Engine) -> list[str]:
    """Return a note about the conversations of the project around a folder with its own index; empty if there are none."""
    outer = outer_project(engine.folder)
    if outer is None or engine.home.parent != engine.folder:
        return []
    with Engine.open(outer, config={"search.watch": "off"}) as outer_engine:
        sessions = outer_engine.memory.sessions()
    if not sessions:
        return []
    count = plural(len(sessions), "conversation")
    return [f"the project around it has {count}: `ragstone recall -C {outer}` shows them"]


def choose_project(root: Path) -> str:
    """Return the project of --project, or the default one.

    If several folders share a home, the first has the default project, and each other folder has a separate one.
    """
    name = project_name()
    if name is not None:
        return name
    with Engine.open(root, config={"search.watch": "off"}) as engine:
        is_shared = engine.settings.home_named and engine.enabled and engine.exists
        if not is_shared or not engine.admin.belongs_elsewhere():
            return DEFAULT_PROJECT
    real_root = os.path.realpath(root)
    digest = hashlib.sha256(os.fsencode(real_root)).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9.-]', '-', root.name)}-{digest}"


def open_indexed_engine(folder: Path | None) -> Engine:
    """Return the engine of a folder that has an index; raise `NotFound` if it has none."""
    engine = open_engine(folder)
    if not engine.exists:
        raise NotFound(f"{engine.folder} has no index", hint="`ragstone sync` makes one")
    return engine


def confirm_first_sync(engine: Engine, *, yes: bool) -> None:
    """Ask before the first sync of a folder that is risky or large; without a terminal raise `InputError`."""
    was_synced = engine.exists and engine.admin.last_sync() is not None
    if yes or was_synced or not engine.settings.rag.enabled:
        return
    risk = is_risky(engine.folder) or _describe_many_files(engine)
    if not risk:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError(
            f"{engine.folder} is not indexed without your consent: {risk}",
            hint="--yes indexes it, --folder names another folder",
        )
    click.confirm(
        f"Index {printable(str(engine.folder))}? Careful: {risk}.", abort=True, err=True
    )


def run_sync(
    engine: Engine,
    paths: Sequence[str | Path] | None = None,
    *,
    full: bool = False,
    collection: str | None = None,
    embed: bool | float = True,
) -> SyncReport:
    """Sync with a progress display and return the ledger."""
    with show_progress() as progress:
        return engine.sync(
            paths, full=full, collection=collection, embed=embed, progress=progress
        )


@contextmanager
def scan_policy(
    engine: Engine, *, no_sync: bool = False, yes: bool, embed: bool = True
) -> Iterator[Scan | None]:
    """Give the policy of an engine call that first indexes the changes in the folder; None with `no_sync`.

    Ask before the first sync of a risky folder, and show the progress until the caller is done.
    """
    is_indexed = engine.exists
    if _goes_without_sync(engine, no_sync=no_sync):
        yield None
        return
    if is_indexed and project_name() is not None:
        engine.admin.require_project()
    if not (is_indexed and has_only_added_documents(engine)):
        confirm_first_sync(engine, yes=yes)
    if not is_indexed and engine.settings.rag.enabled:
        print_note(f"indexing {printable(str(engine.folder))}")
    with show_progress() as progress:
        yield Scan(EMBED_SECONDS if embed else False, progress, WRITER_WAIT_SECONDS)
    if embed:
        engine.admin.embed_in_background()


def describe_missing_index(engine: Engine, *, no_sync: bool) -> str:
    """Return why there is no index and none is made, so that nothing is written; empty if there can be one."""
    components = engine.workspace.components
    is_elsewhere = components.in_memory or has_shared_store(components)
    if (
        engine.exists
        or not engine.enabled
        or is_elsewhere
        or components.remote.name is not None
    ):
        return ""
    if no_sync:
        return "this folder has no index yet"
    has_files = engine.admin.source().count(0) > 0
    return "" if has_files else "there are no files to index in this folder"


def require_index(engine: Engine, *, no_sync: bool) -> None:
    """Raise `NotFound` if there is no index and none is made."""
    missing = describe_missing_index(engine, no_sync=no_sync)
    if missing:
        raise NotFound(
            missing, hint="`ragstone sync` makes an index, `ragstone add` adds files"
        )


def update_index(
    engine: Engine, *, no_sync: bool = False, yes: bool, embed: bool = True
) -> tuple[str, ...]:
    """Index the changes in the folder, unless `no_sync` is set, and return the notes about it."""
    with scan_policy(engine, no_sync=no_sync, yes=yes, embed=embed) as policy:
        if policy is None:
            return ()
        return engine.admin.ensure_current(policy).notes


def complete_vectors(engine: Engine, report: SyncReport) -> SyncReport:
    """Make the missing vectors of all collections, and return the report with their counts."""
    embedded = report.embedded
    notes = list(report.notes)
    with show_progress() as progress:
        for collection in engine.admin.collections():
            try:
                embedded += engine.admin.embed(collection=collection.name, progress=progress)
            except StaleSpace as error:
                notes.append(str(error))
            except ProviderError as error:
                if not notes:
                    notes.append(outage_note(engine.settings, error))
    with_vector, texts = engine.admin.count_vectors()
    return replace(
        report,
        embedded=embedded,
        pending=texts - with_vector,
        notes=tuple(dict.fromkeys(notes)),
    )


@contextmanager
def show_progress() -> Iterator[ProgressDisplay]:
    """Give a progress display; Ctrl-C becomes `Interrupted`, which explains that the work can be resumed."""
    try:
        with ProgressDisplay() as progress:
            yield progress
    except KeyboardInterrupt:
        raise Interrupted(RESUMABLE) from None


def _describe_many_files(engine: Engine) -> str:
    """Return a warning if the folder has more files than the user's limit."""
    limit = config.load(engine.folder).sources.max_files
    if engine.admin.source().count(limit) <= limit:
        return ""
    return f"it has more than {plural(limit, 'file')}"


def _goes_without_sync(engine: Engine, *, no_sync: bool) -> bool:
    """Return whether no sync is wanted, or another server answers and this folder was never indexed."""
    is_remote = engine.workspace.components.remote.name is not None
    return no_sync or (is_remote and not engine.exists)


def has_only_added_documents(engine: Engine) -> bool:
    """Return whether the index has documents and none of them came from a sync of the folder."""
    if engine.admin.last_sync() is not None:
        return False
    sources = {document.source for document in engine.sources()}
    return bool(sources) and sources.issubset(_SOURCES_OUTSIDE_FOLDER)
