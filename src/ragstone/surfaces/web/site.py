"""All pages of the dashboard: the one list, and how they become a part of the server's app."""

from __future__ import annotations

from typing import Final, Protocol

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.exceptions import HTTPException

from ragstone.surfaces.rest.authorised_route import needs
from ragstone.surfaces.rest.replies import answer_failure
from ragstone.surfaces.web.page import NavItem, page_failure, page_router
from ragstone.surfaces.web.pages import (
    collections,
    documents,
    events,
    graph,
    home,
    memory,
    search,
    settings,
)
from ragstone.surfaces.web.static_files import PREFIX, answer_static_file


class PageModule(Protocol):
    """A module of `pages`: its routes, and its entry of the navigation, if it has one."""

    router: APIRouter

    @property
    def NAV(self) -> NavItem | None:
        """Return the entry of the navigation."""


PAGES: Final[tuple[PageModule, ...]] = (
    home,
    collections,
    documents,
    search,
    graph,
    memory,
    events,
    settings,
)
"""Every page of the dashboard, in the order of the navigation. A new page is a row here."""

_FOR_PROGRAMS: Final = ("/api/", "/mcp")
router = page_router()


@router.get(PREFIX + "/{version}/{name:path}")
@needs("public")
async def static_file(version: str, name: str) -> Response:
    """Return a script, a style or a picture."""
    return answer_static_file(version, name)


def add_pages(app: FastAPI) -> None:
    """Add the pages and their files to the app of a server."""
    app.state.nav = [page.NAV for page in PAGES if page.NAV is not None]
    for routes in (router, *(page.router for page in PAGES)):
        app.router.routes += routes.routes
    app.add_exception_handler(HTTPException, _answer_http_failure)


async def _answer_http_failure(request: Request, error: Exception) -> Response:
    """Return a page for an address that does not exist, if a person asks; programs get JSON."""
    is_person = (
        "text/html" in request.headers.get("accept", "") or "hx-request" in request.headers
    )
    if is_person and not request.url.path.startswith(_FOR_PROGRAMS):
        return await page_failure(request, error)
    return await answer_failure(request, error)
