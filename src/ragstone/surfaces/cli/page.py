"""The addresses among what `ragstone add` is given: looked at before anything happens, then fetched one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ragstone.engine import Engine
from ragstone.errors import AccessError, InputError, ReadError
from ragstone.sources.web.urls import parse_url, scheme_of
from ragstone.surfaces.cli.shell import complain
from ragstone.types import AddReport, Skip


@dataclass(slots=True)
class Pages:
    """What became of the pages: those stored, and those that could not be."""

    reports: list[AddReport] = field(default_factory=list)
    failed: list[Skip] = field(default_factory=list)


def together(reports: Sequence[AddReport]) -> AddReport:
    """Return several reports on one collection as one; the last one knows what is still to come."""
    return AddReport(
        documents=sum(one.documents for one in reports),
        chunks_added=sum(one.chunks_added for one in reports),
        chunks_skipped=sum(one.chunks_skipped for one in reports),
        embedded=sum(one.embedded for one in reports),
        pending=reports[-1].pending,
        per_document=tuple(result for one in reports for result in one.per_document),
        notes=tuple(dict.fromkeys(note for one in reports for note in one.notes)),
        remarks=tuple(remark for one in reports for remark in one.remarks),
    )


def is_address(given: str) -> bool:
    """Return whether something is written like an address and not like a path."""
    return bool(scheme_of(given))


def check_addresses(urls: Sequence[str], *, name: str | None, metadata: Sequence[str]) -> None:
    """Raise `InputError` for an address that is none, before any is fetched."""
    if urls and (name is not None or metadata):
        raise InputError("--name and --metadata go with files", hint="a page is stored under its address")
    for url in urls:
        parse_url(url)


def add_pages(engine: Engine, urls: Sequence[str], collection: str | None, *, alone: bool) -> Pages:
    """Return what became of each page; one that fails ends nothing, unless it is all that was asked for."""
    pages = Pages()
    for url in dict.fromkeys(urls):
        try:
            pages.reports.append(engine.add_page(url, collection=collection))
        except (AccessError, InputError, ReadError) as error:
            if alone and len(urls) == 1:
                raise
            pages.failed.append(Skip(url, str(error)))
            complain(f"{url}: {error}")
    return pages
