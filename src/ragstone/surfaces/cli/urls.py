"""The urls among the arguments of `ragstone add`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

from ragstone.engine import Engine
from ragstone.errors import AccessError, InputError, ReadError
from ragstone.sources.web.urls import parse_url, scheme_of
from ragstone.surfaces.cli.output import print_error
from ragstone.types import AddReport, Skip


@dataclass(slots=True)
class PageResults:
    """The reports of stored pages, and the pages that failed."""

    reports: list[AddReport] = field(default_factory=list)
    failed: list[Skip] = field(default_factory=list)


def is_url(argument: str) -> bool:
    """Return whether an argument is a url and not a path."""
    return bool(scheme_of(argument))


def check_urls(urls: Sequence[str], *, name: str | None, metadata: Sequence[str]) -> None:
    """Raise `InputError` for an invalid url before any page is fetched."""
    if urls and (name is not None or metadata):
        raise InputError(
            "--name and --metadata go with files", hint="a page is stored under its url"
        )
    for url in urls:
        parse_url(url)


def add_pages(
    engine: Engine, urls: Sequence[str], collection: str | None, *, raise_failure: bool
) -> PageResults:
    """Fetch and store pages; a failed page is reported, or raised if `raise_failure` is set."""
    results = PageResults()
    for url in dict.fromkeys(urls):
        try:
            results.reports.append(engine.external.add_page(url, collection=collection))
        except (AccessError, InputError, ReadError) as error:
            if raise_failure:
                raise
            results.failed.append(Skip(url, str(error)))
            print_error(f"{url}: {error}")
    return results


def merge_reports(reports: Sequence[AddReport]) -> AddReport:
    """Return reports on one collection as one; the last report has the current count of pending texts."""
    notes = chain.from_iterable(report.notes for report in reports)
    return AddReport(
        documents=sum(report.documents for report in reports),
        chunks_added=sum(report.chunks_added for report in reports),
        chunks_skipped=sum(report.chunks_skipped for report in reports),
        embedded=sum(report.embedded for report in reports),
        pending=reports[-1].pending,
        per_document=tuple(chain.from_iterable(report.per_document for report in reports)),
        notes=tuple(dict.fromkeys(notes)),
        remarks=tuple(chain.from_iterable(report.remarks for report in reports)),
        failed=tuple(chain.from_iterable(report.failed for report in reports)),
    )
