"""The first page: the state of the index."""

from __future__ import annotations

from typing import Final

from fastapi import Response
from starlette.responses import RedirectResponse

from ragstone.surfaces.rest.route import needs
from ragstone.surfaces.web.page import AuthorisedPage, NavItem, page_router

NAV: Final = NavItem("Home", "/", "home", "h")
router = page_router()


@router.get("/")
@needs("read")
def show_home(page: AuthorisedPage) -> Response:
    """Show the counts of the index and its collections."""
    return page.render("home.html", index=page.engine.status())


@router.get("/dashboard/{project}")
@needs("read")
def redirect_dashboard(page: AuthorisedPage, project: str) -> Response:
    """Lead addresses of older dashboards to the first page of their project."""
    return RedirectResponse("/", 303)
