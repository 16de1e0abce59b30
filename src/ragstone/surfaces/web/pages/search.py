"""The search lab: try a query with different settings, see why a hit is there, copy a context."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final, Literal

from fastapi import Query, Response

from ragstone import registry
from ragstone.errors import ConfigError, InputError, RagstoneError
from ragstone.surfaces.rest.allowed_models import check_models
from ragstone.surfaces.rest.authorised_route import needs
from ragstone.surfaces.web.missing_file import explain_absence
from ragstone.surfaces.web.page import AuthorisedPage, NavItem, PageCall, page_router, status_of
from ragstone.surfaces.web.search_lab import (
    LabFilters,
    LabSearch,
    LabSettings,
    compare_ranks,
    read_filters,
    read_settings,
    read_valid_settings,
    run_search,
    search_options,
)

NAV: Final = NavItem("Search", "/search", "search", "s")
SECOND: Final = "b_"
"""The prefix of the parameters of the second search."""
router = page_router()

QueryText = Annotated[str, Query(max_length=10_000)]


@router.get("/search")
@needs("read")
def show_lab(page: AuthorisedPage, q: QueryText = "") -> Response:
    """Search with the settings in the address, once or twice, and show the hits."""
    params = page.request.query_params
    error: RagstoneError | None = None
    searches: list[LabSearch] = []
    try:
        settings = _read_all_settings(page)
        if q.strip():
            searches = _search(page, q, settings, read_filters(params))
    except RagstoneError as failure:
        error = failure
        settings = [
            read_valid_settings(params, page.engine.settings.search, prefix)
            for prefix in _prefixes(page)
        ]
    collections = page.engine.admin.collections()
    return page.render(
        "search.html",
        status=_status(page, error),
        query=q,
        settings=settings,
        typed=params,
        filters=read_filters(params),
        is_comparing="compare" in params,
        searches=searches,
        error=error,
        collections=collections,
        is_empty=not any(collection.documents for collection in collections),
        rerankers=registry.names("reranker"),
    )


@router.get("/search/context")
@needs("read")
def show_context(
    page: AuthorisedPage,
    q: QueryText = "",
    format: Literal["block", "markdown", "tool", "documents", "json"] = "block",
    budget: Annotated[int, Query(ge=50, le=1_000_000)] = 1500,
) -> Response:
    """Show the hits as a context for a prompt, with its number of tokens."""
    params = page.request.query_params
    settings = read_settings(params, page.engine.settings.search)
    with _chosen_models(page, [settings]):
        context = page.engine.context(
            q,
            budget,
            format=format,
            top_k=settings.top_k,
            **search_options(settings, read_filters(params)),
        )
    return page.render("search_context.html", context=context)


@router.get("/search/why")
@needs("read")
def show_absence(
    page: AuthorisedPage,
    q: QueryText = "",
    file: Annotated[str, Query(max_length=2000)] = "",
) -> Response:
    """Say why a file is not among the hits."""
    params = page.request.query_params
    settings = read_settings(params, page.engine.settings.search)
    filters = read_filters(params)
    with _chosen_models(page, [settings]):
        absence = explain_absence(page.engine, q, file.strip(), settings, filters)
    return page.render("search_why.html", absence=absence)


def _read_all_settings(page: PageCall) -> list[LabSettings]:
    """Return the settings of the first search, and of the second one if the page compares two."""
    params = page.request.query_params
    defaults = page.engine.settings.search
    return [read_settings(params, defaults, prefix) for prefix in _prefixes(page)]


def _prefixes(page: PageCall) -> list[str]:
    """Return the prefixes of the parameters of each search on the page."""
    if "compare" in page.request.query_params:
        return ["", SECOND]
    return [""]


def _search(
    page: PageCall, query: str, settings: list[LabSettings], filters: LabFilters
) -> list[LabSearch]:
    with _chosen_models(page, settings):
        searches = [run_search(page.engine, query, entry, filters) for entry in settings]
    if len(searches) == 2:
        searches = list(compare_ranks(*searches))
    return searches


@contextmanager
def _chosen_models(page: PageCall, settings: list[LabSettings]) -> Iterator[None]:
    """Check that the caller may choose the rerankers. One that cannot be used here is a wrong choice."""
    names = [entry.rerank or None for entry in settings]
    check_models(page, *names)
    try:
        yield
    except ConfigError as error:
        if not any(names):
            raise
        raise InputError(error.message, hint=error.hint) from error


def _status(page: PageCall, error: RagstoneError | None) -> int:
    """Return the status of the page. htmx shows only answers with 200, and the error is a part of the page."""
    return 200 if error is None or page.is_part else status_of(error)
