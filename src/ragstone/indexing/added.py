"""Checks the added files of collections again: changed files are read, files that are gone are removed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ragstone.errors import ReadError
from ragstone.indexing.collection import folder_source
from ragstone.indexing.ledger import merge_reports
from ragstone.indexing.reconcile import Reconciler
from ragstone.read import BINARY
from ragstone.read.file_types import explain_refusal
from ragstone.sources.added_files import (
    ADDED,
    AddedFile,
    AddedFiles,
    canonical_path,
    file_uri,
    require_file,
)
from ragstone.types import Metadata, Skip

if TYPE_CHECKING:
    from ragstone.config import Settings
    from ragstone.indexing.collection import IndexedCollection
    from ragstone.types import SyncReport


_NOT_TEXT: Final = "it is binary, not text (convert it to text first)"


def added_source(settings: Settings, files: Iterable[AddedFile]) -> AddedFiles:
    """Return added files as a source, with the limits of the settings."""
    folder = folder_source(settings)
    return AddedFiles(files, limits=folder.limits, never=folder.own_files())


@dataclass(frozen=True, slots=True)
class AddPlan:
    """The files to add, the failures so far, and the path that the caller gave for each uri."""

    files: list[AddedFile] = field(default_factory=list)
    failed: list[Skip] = field(default_factory=list)
    paths: dict[str, str] = field(default_factory=dict)

    def failures(self, report: SyncReport) -> list[Skip]:
        """Return the files of a report that gave no document, by the paths that the caller gave."""
        failures = []
        for skip in (*report.failed, *report.skipped):
            reason = _NOT_TEXT if skip.reason == BINARY else skip.reason
            failures.append(Skip(self.paths.get(skip.uri, skip.uri), reason))
        return failures


def plan_files(
    paths: Sequence[str], settings: Settings, uri: str | None, metadata: Metadata
) -> AddPlan:
    """Return the files at these paths; a path that is no file, or of a refused type, is a failure."""
    plan = AddPlan()
    for path in paths:
        name = uri or file_uri(path, settings.base)
        try:
            require_file(path)
            _refuse_type(name, ocr=settings.ocr is not None)
        except ReadError as error:
            plan.failed.append(Skip(path, str(error)))
            continue
        plan.files.append(AddedFile(name, canonical_path(path), metadata=metadata))
        plan.paths[name] = path
    return plan


def _refuse_type(uri: str, *, ocr: bool) -> None:
    """Raise `ReadError` if no reader takes files with this name; the file is not opened."""
    reason = explain_refusal(uri, ocr=ocr)
    if reason is not None:
        hint = "convert it to a format that is read, such as PDF or text"
        raise ReadError(reason, hint=hint, reason="unsupported")


def stored_added_files(
    collection: IndexedCollection, uris: Sequence[str] | None = None
) -> list[AddedFile]:
    """Return the added files of a collection; only those of some uris, if they are given."""
    if collection.has_foreign_files:
        return []
    store, key = collection.components.store, collection.key
    files = []
    for uri in store.known_files(key, ADDED, uris=uris):
        document = store.document(key, uri)
        file = AddedFile.from_metadata(uri, document.metadata) if document else None
        if file is not None:
            files.append(file)
    return files


def recheck_added(
    collection: IndexedCollection, uris: Sequence[str] | None = None, *, full: bool = False
) -> SyncReport | None:
    """Make the added documents match their files and return the ledger; None if there are none."""
    files = stored_added_files(collection, uris)
    if not files:
        return None
    source = added_source(collection.settings, files)
    return Reconciler(collection.writer(), source, full=full).run().report


def with_other_collections(
    report: SyncReport,
    collections: Iterable[IndexedCollection],
    *,
    full: bool,
    embed: bool | float,
) -> SyncReport:
    """Check the added files of other collections, make vectors, and return the report with their counts."""
    reports = [report]
    for collection in collections:
        added = recheck_added(collection, full=full)
        if added is not None and added.has_changes:
            added = collection.embed(added, embed)
        if added is not None:
            reports.append(added)
    merged = merge_reports(reports) or report
    return replace(merged, fingerprint=report.fingerprint, graph=report.graph)


def with_added(report: SyncReport, collection: IndexedCollection, *, full: bool) -> SyncReport:
    """Check the added files of a collection, and return the report of its folder with their counts."""
    added = recheck_added(collection, full=full)
    if added is None:
        return report
    merged = merge_reports([report, added]) or report
    return replace(merged, fingerprint=report.fingerprint, graph=report.graph)


def gone_notes(report: SyncReport) -> tuple[str, ...]:
    """Return a note for each added file that is gone."""
    gone = set(report.gone)
    return tuple(f"{skip.uri}: {skip.reason}" for skip in report.remarks if skip.uri in gone)
