"""Routes that answer with pages: the same keys and scopes as REST, and failures that people can read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse

from ragstone.access.identity import KeyScope
from ragstone.errors import RagstoneError, Unauthenticated
from ragstone.surfaces.present.failures import failure_codes
from ragstone.surfaces.rest.authorised_route import Call, ScopedRoute
from ragstone.surfaces.rest.replies import answer_failure
from ragstone.surfaces.rest.state import ServerState, check_page_token
from ragstone.surfaces.web.formats import format_sentence
from ragstone.surfaces.web.headers import PAGE_HEADERS
from ragstone.surfaces.web.templates import render_template

THEME_COOKIE: Final = "ragstone_theme"
_THEMES: Final = ("light", "dark")
_BUG: Final = RagstoneError("a bug in Ragstone", hint="see the server's log")
ToastKind = Literal["ok", "error"]


@dataclass(frozen=True, slots=True)
class NavItem:
    """An entry of the navigation: its words, its address, its icon, and the key after `g` that opens it."""

    label: str
    path: str
    icon: str
    key: str


class PageRoute(ScopedRoute):
    """A route of the dashboard. Without a key it shows the login form; a change needs the token of the page."""

    async def authorize_request(self, request: Request, scope: KeyScope) -> None:
        """Authorise like REST. The user of this machine has no cookie, so the token is checked here."""
        await super().authorize_request(request, scope)
        if request.state.identity.is_local:
            server: ServerState = request.app.state.server
            check_page_token(server.sessions.local, request.headers, request.method)

    async def answer_failure(self, request: Request, error: Exception) -> Response:
        """Return a page, or a message for the script of a page."""
        return await page_failure(request, error)


class PageCall(Call):
    """One authorised request for a page."""

    def __init__(self, request: Request) -> None:
        """Take a request that `PageRoute` has authorised."""
        super().__init__(request)
        self.request = request

    def render(
        self,
        template: str,
        *,
        status: int = 200,
        headers: dict[str, str] | None = None,
        **values: object,
    ) -> Response:
        """Return a template as a page, or as a part of one for htmx."""
        session = self.server.session_of(self.request.headers)
        return render_page(
            self.request,
            template,
            status=status,
            headers=headers,
            call=self,
            csrf_token=(session or self.server.sessions.local).csrf_token,
            **values,
        )

    def toast(
        self,
        message: str,
        *,
        kind: ToastKind = "ok",
        location: str = "",
        reload: bool = False,
        event: str = "",
    ) -> Response:
        """Return an answer for htmx: a short message. Before, the browser goes to a location or loads the page again.

        The scripts of the page get the event.
        """
        headers = toast_header(
            message, kind=kind, is_later=bool(location) or reload, event=event
        )
        if location:
            headers["hx-redirect"] = location
        if reload:
            headers["hx-refresh"] = "true"
        return HTMLResponse(b"", headers={**PAGE_HEADERS, **headers})

    @property
    def is_part(self) -> bool:
        """Return whether htmx asks for a part of the page."""
        return "hx-request" in self.request.headers and "hx-boosted" not in self.request.headers

    @property
    def can_write(self) -> bool:
        """Return whether the caller may change documents."""
        return self.identity.allows("write")

    @property
    def can_administer(self) -> bool:
        """Return whether the caller may change keys and settings."""
        return self.identity.allows("admin")


async def page_call(request: Request) -> PageCall:
    """Return the call of a request, for the endpoints."""
    return PageCall(request)


AuthorisedPage = Annotated[PageCall, Depends(page_call)]


def page_router() -> APIRouter:
    """Return a router for pages; they are not a part of the REST interface."""
    return APIRouter(route_class=PageRoute, include_in_schema=False)


def render_page(
    request: Request,
    template: str,
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    **values: object,
) -> Response:
    """Return a template as an answer with the headers of pages."""
    theme = request.cookies.get(THEME_COOKIE, "")
    values.setdefault("call", None)
    values.setdefault("csrf_token", "")
    body = render_template(
        template,
        nav=request.app.state.nav,
        path=request.url.path,
        theme=theme if theme in _THEMES else "auto",
        **values,
    )
    return HTMLResponse(body, status, headers={**PAGE_HEADERS, **(headers or {})})


async def page_failure(request: Request, error: Exception) -> Response:
    """Return a failure as a page; htmx gets a short message, and another script gets JSON."""
    plain = await answer_failure(request, error)
    if "application/json" in request.headers.get("accept", ""):
        return plain
    if not isinstance(error, RagstoneError):
        error = _BUG if plain.status_code >= 500 else _describe(plain)
    headers = {
        name: plain.headers[name]
        for name in ("www-authenticate", "retry-after")
        if name in plain.headers
    }
    status = plain.status_code
    is_login = isinstance(error, Unauthenticated)
    if "hx-request" in request.headers:
        headers.update({"hx-refresh": "true"} if is_login else error_toast(error))
        return HTMLResponse(b"", status, headers={**PAGE_HEADERS, **headers})
    if is_login:
        return render_page(request, "login.html", status=status, headers=headers, error=error)
    call = await _caller(request)
    if call is None:
        return render_page(
            request, "failure.html", status=status, headers=headers, error=error, code=status
        )
    return call.render("failure.html", status=status, headers=headers, error=error, code=status)


async def _caller(request: Request) -> PageCall | None:
    """Return the call of a request that failed, None if the caller is unknown; an unknown address has no route."""
    if not hasattr(request.state, "identity"):
        server: ServerState = request.app.state.server
        try:
            request.state.identity = await run_in_threadpool(server.identify, request.headers)
        except RagstoneError:  # the failure that is shown matters more
            return None
    if request.state.identity is None:
        return None
    return PageCall(request)


def toast_header(
    message: str,
    *,
    kind: ToastKind = "ok",
    hint: str = "",
    is_later: bool = False,
    event: str = "",
) -> dict[str, str]:
    """Return the header that lets a page show a short message, or with `is_later` the next page."""
    toast = {"message": message, "hint": hint, "kind": kind, "later": is_later}
    events = {"toast": toast, **({event: True} if event else {})}
    return {"hx-trigger": json.dumps(events)}


def error_toast(error: RagstoneError) -> dict[str, str]:
    """Return the header that lets a page show why a request failed."""
    message, hint = format_sentence(error.message), format_sentence(error.hint)
    return toast_header(message, kind="error", hint=hint)


def status_of(error: RagstoneError) -> int:
    """Return the HTTP status of a failure that a page shows itself."""
    return failure_codes(error).http


def _describe(plain: Response) -> RagstoneError:
    """Return a failure that the framework found, such as a wrong query, as an error with its hint."""
    detail = json.loads(bytes(plain.body))["error"]
    return RagstoneError(detail["message"], hint="check the address, or go to Home")
