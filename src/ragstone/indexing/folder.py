"""The folder of an engine as a source, built from the settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.read.file_types import explain_refusal
from ragstone.read.formats import SUFFIXES
from ragstone.sources.folder.limits import FileLimits
from ragstone.sources.folder.source import FolderSource
from ragstone.store.home import database_files

if TYPE_CHECKING:
    from ragstone.config import Settings


def folder_source(
    settings: Settings,
    paths: Sequence[str | Path] | None = None,
    *,
    changed: Sequence[str] | None = None,
) -> FolderSource:
    """Return the files of the configured folder, those at some paths, or those that changed."""
    rules = settings.sources
    return FolderSource(
        settings.base,
        include=rules.include,
        exclude=rules.exclude,
        limits=FileLimits(
            rules.max_file_bytes, rules.max_files, rules.max_document_bytes, SUFFIXES
        ),
        refuse=explain_refusal,
        git=rules.git,
        secret_files=rules.secret_files,
        never_open=database_files(settings.home),
        home=settings.home,
        only=paths,
        changed=changed,
    )
