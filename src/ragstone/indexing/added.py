"""Checks the added files of collections again: changed files are read, files that are gone are removed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ragstone.errors import ReadError
from ragstone.indexing.collection import folder_source
from ragstone.indexing.reconcile import Reconciler
from ragstone.read import BINARY
from ragstone.read.file_formats import explain_refusal
from ragstone.sources.added_files import (
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


def recheck_added(
    collection: IndexedCollection, files: Iterable[AddedFile], *, full: bool = False
) -> SyncReport:
    """Make the documents of added files match the files, and return the ledger."""
    source = added_source(collection.settings, files)
    return Reconciler(collection.writer(), source, full=full).run().report


def gone_notes(report: SyncReport) -> tuple[str, ...]:
    """Return a note for each added file that is gone."""
    gone = set(report.gone)
    return tuple(f"{skip.uri}: {skip.reason}" for skip in report.remarks if skip.uri in gone)
