"""Sessions of a browser: a key is exchanged for a cookie once."""

from __future__ import annotations

from fastapi import Request, Response

from ragstone.access.sessions import SESSION_SECONDS
from ragstone.errors import Conflict
from ragstone.surfaces.rest.authorised_route import AuthorisedCall, Call, needs
from ragstone.surfaces.rest.replies import reply
from ragstone.surfaces.rest.router import create_router
from ragstone.surfaces.rest.state import SESSION_COOKIE

router = create_router("access", "/api/rag/session")


@router.post("")
@needs("read")
def open_session(call: AuthorisedCall, request: Request) -> Response:
    """Set the cookie of a session of the key; requests that change something also send `X-CSRF-Token`."""
    if call.identity.is_local:
        raise Conflict("without keys no session is needed", hint="call the routes directly")
    cookie, session = call.server.sessions.open(call.identity.key_id)
    response = reply({"csrf_token": session.csrf_token, "seconds": SESSION_SECONDS})
    _set_cookie(request, response, cookie)
    return response


@router.get("")
@needs("read")
def show_session(call: AuthorisedCall, request: Request) -> Response:
    """Return the project and scopes of the caller, and the token for requests that change something."""
    session = call.server.sessions.find(request.cookies.get(SESSION_COOKIE, ""))
    return reply(
        {
            "project_id": call.project,
            "scopes": sorted(call.identity.scopes),
            "csrf_token": session.csrf_token if session else None,
        }
    )


@router.delete("")
@needs("read")
def close_session(call: AuthorisedCall, request: Request) -> Response:
    """End the session of the cookie."""
    call.server.sessions.close(request.cookies.get(SESSION_COOKIE, ""))
    response = reply({})
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="strict")
    return response


def open_browser_session(call: Call, request: Request, response: Response, key_id: str) -> None:
    """Set the cookie of a new session of a key that the caller has just made."""
    cookie, _ = call.server.sessions.open(key_id)
    _set_cookie(request, response, cookie)


def _set_cookie(request: Request, response: Response, cookie: str) -> None:
    response.set_cookie(
        SESSION_COOKIE,
        cookie,
        max_age=SESSION_SECONDS,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
