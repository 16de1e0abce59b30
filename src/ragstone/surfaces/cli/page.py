"""The addresses among what `ragstone add` is given: looked at before anything happens, then fetched one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ragstone.engine import Engine
from ragstone.errors import AccessError, InputError, ReadError
from ragstone.sources.urls import parse, scheme_of
from ragstone.surfaces.cli.shell import complain
from ragstone.types import AddReport, PutResult, Skip


@dataclass(slots=True)
class Pages:
    """What became of the pages: those stored, and those that could not be."""

    stored: list[PutResult] = field(default_factory=list)
    failed: list[Skip] = field(default_factory=list)
    remarks: list[Skip] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    embedded: int = 0
    pending: int = 0

    def joined(self, report: AddReport) -> AddReport:
        """Return the report on files with the pages in it."""
        return replace(
            report,
            documents=report.documents + len(self.stored),
            chunks_added=report.chunks_added + sum(one.added for one in self.stored),
            chunks_skipped=report.chunks_skipped + sum(one.kept for one in self.stored),
            embedded=report.embedded + self.embedded,
            pending=max(report.pending, self.pending),
            per_document=(*report.per_document, *self.stored),
            notes=tuple(dict.fromkeys((*report.notes, *self.notes))),
        )


def is_address(given: str) -> bool:
    """Return whether something is written like an address and not like a path."""
    return bool(scheme_of(given))


def check_addresses(urls: Sequence[str], *, name: str | None, metadata: Sequence[str]) -> None:
    """Raise `InputError` for an address that is none, before any is fetched."""
    if urls and (name is not None or metadata):
        raise InputError("--name and --metadata go with files", hint="a page is stored under its address")
    for url in urls:
        parse(url)


def add_pages(engine: Engine, urls: Sequence[str], collection: str | None, *, alone: bool) -> Pages:
    """Return what became of each page; one that fails ends nothing, unless it is all that was asked for."""
    pages = Pages()
    for url in dict.fromkeys(urls):
        try:
            report = engine.add_page(url, collection=collection)
        except (AccessError, InputError, ReadError) as error:
            if alone and len(urls) == 1:
                raise
            pages.failed.append(Skip(url, str(error)))
            complain(f"{url}: {error}")
            continue
        if report.found:
            pages.stored.append(PutResult(url, report.chunks_added, report.chunks_kept, 0))
        pages.remarks += report.remarks
        pages.notes += report.notes
        pages.embedded += report.embedded
        pages.pending = report.pending
    return pages
