"""The first page: the state of the index, its use over time, and the button that syncs it."""

from __future__ import annotations

from typing import Final, Literal

from fastapi import Response
from starlette.responses import RedirectResponse

from ragstone.errors import Conflict, NotFound
from ragstone.indexing.events import SEARCH_COMPLETED
from ragstone.surfaces.rest.authorised_route import needs
from ragstone.surfaces.rest.replies import JsonReply
from ragstone.surfaces.rest.state import PROJECT_COOKIE
from ragstone.surfaces.web import plots
from ragstone.surfaces.web.file_states import describe_sources
from ragstone.surfaces.web.page import AuthorisedPage, NavItem, PageCall, page_router
from ragstone.surfaces.web.start_jobs import running_sync, start_sync
from ragstone.types import FolderLedger, ProjectOverview

NAV: Final = NavItem("Home", "/", "home", "h")
_MAX_SEARCHES: Final = 50_000
_SHOWN_FILES: Final = 8
router = page_router()


@router.get("/")
@needs("read")
def show_home(page: AuthorisedPage) -> Response:
    """Show the counts of the index, its collections, its vectors and its use."""
    index = page.engine.status()
    return page.render(
        "home.html",
        index=index,
        made_of=describe_sources(index.sources),
        searches=page.engine.admin.stats(count_tokens=False),
        projects=_projects(page),
        sync_note=page.server.sync.note if page.has_folder else "",
        job=running_sync(page),
    )


@router.post("/overview/project")
@needs("read")
def open_project(page: AuthorisedPage, name: str) -> Response:
    """Show another project of this server from now on; a key belongs to one project."""
    if name not in [project.name for project in _projects(page)]:
        raise NotFound(f"there is no project {name!r}", hint="reload the page")
    response = page.toast(f"This is the project {name}.", location="/")
    cookie = name.encode("utf-8", "replace").hex()
    response.set_cookie(PROJECT_COOKIE, cookie, httponly=True, samesite="strict")
    return response


@router.get("/overview/folder")
@needs("read")
def show_folder(page: AuthorisedPage) -> Response:
    """Show how the folder differs from the index; it takes a moment, so the page asks for it later."""
    return page.render(
        "home_folder.html",
        ledger=_compare_folder(page),
        shown=_SHOWN_FILES,
        has_projects=len(_projects(page)) > 1,
        collection=page.engine.settings.rag.vector_store.collection_name,
    )


@router.get("/overview/plots/{name}")
@needs("read")
def show_plot(page: AuthorisedPage, name: Literal["searches", "latency", "sizes"]) -> Response:
    """Return the data of a plot."""
    admin = page.engine.admin
    if name == "sizes":
        return JsonReply(plots.plot_sizes(admin.sizes.points()))
    records = admin.log.last(_MAX_SEARCHES, [SEARCH_COMPLETED])
    draw = plots.plot_searches if name == "searches" else plots.plot_latency
    return JsonReply(draw(records))


@router.post("/overview/sync")
@needs("write")
def sync_folder(page: AuthorisedPage, full: bool = False) -> Response:
    """Start a sync and show its progress; one that runs already is shown."""
    running = running_sync(page)
    if running is not None and full:
        raise Conflict("a sync is running", hint="re-index when it is over")
    return page.render("home_job.html", job=running or start_sync(page, full=full))


@router.get("/dashboard/{project}")
@needs("read")
def redirect_dashboard(page: AuthorisedPage, project: str) -> Response:
    """Lead addresses of older dashboards to the first page of their project."""
    return RedirectResponse("/", 303)


def _projects(page: PageCall) -> list[ProjectOverview]:
    """Return all projects of the store for the user of this machine; others see their own one only."""
    return page.engine.admin.projects() if page.identity.is_local else []


def _compare_folder(page: PageCall) -> FolderLedger | None:
    """Return the ledger of the folder; None if the project has no folder or it was never indexed."""
    admin = page.engine.admin
    if not page.has_folder or not page.engine.exists or not admin.follows_folder():
        return None
    return admin.compare_folder()
