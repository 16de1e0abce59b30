"""Settings with their origin and help, written back to the project file; keys and the plan of a shared server."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Form, Query, Response

from ragstone.config import Settings, load
from ragstone.config.setting_writer import write_setting
from ragstone.errors import ConfigError, Conflict, InputError
from ragstone.surfaces.present.reports import describe_money
from ragstone.surfaces.rest.authorised_route import needs
from ragstone.surfaces.rest.routes.session import open_browser_session
from ragstone.surfaces.web.page import AuthorisedPage, NavItem, PageCall, page_router
from ragstone.surfaces.web.settings_view import causes_work, group_by_section, view_settings
from ragstone.types import StoredKey

NAV: Final = NavItem("Settings", "/settings", "settings", ",")
_DAY: Final = 86_400
router = page_router()
Text = Annotated[str, Form(max_length=10_000)]


@dataclass(frozen=True, slots=True)
class KeyList:
    """The stored keys, newest first, with the times of their last use."""

    keys: list[StoredKey]
    last_admin: str
    """The id of the only key that may administer; empty if there are several."""
    uses: Mapping[str, float]
    now: float


@router.get("/settings")
@needs("read")
def show_settings(
    page: AuthorisedPage, q: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """List the settings, and the keys of the project for those who may change them."""
    admin = page.engine.admin
    in_use = page.engine.settings
    written, error = _written_settings(page)
    views = view_settings(written, in_use, page.engine.status(), q)
    return page.render(
        "settings.html",
        sections=group_by_section(views),
        error=error,
        query=q,
        can_change=page.can_administer and page.has_folder,
        plan=admin.keys.plan(),
        usage=admin.keys.usage(),
        stored=_list_keys(page),
    )


@router.post("/settings")
@needs("admin")
def change_setting(page: AuthorisedPage, name: Text, value: Text = "") -> Response:
    """Write a setting into the project file."""
    if not page.has_folder:
        raise Conflict("this project has no folder", hint="settings are files of the folder")
    try:
        path = write_setting(page.engine.settings.root, name, value)
    except ConfigError as error:
        raise InputError(error.message, hint=error.hint) from error
    done = f"Wrote {name} to" if value.strip() else f"Removed {name} from"
    written, _ = _written_settings(page)
    is_in_use = written.value(name) == page.engine.settings.value(name)
    further = "Restart the server to use it."
    if is_in_use:
        further = "The server uses this value."
    return page.toast(f"{done} {path.name}. {further}", reload=True)


@router.post("/settings/plan")
@needs("admin")
def plan_change(page: AuthorisedPage, name: Text, value: Text = "") -> Response:
    """Show how much a change of a setting costs, before it is written."""
    if not causes_work(name):
        raise InputError(f"a change of {name[:100]} causes no work", hint="save it")
    try:
        plan = page.engine.admin.plan(changes={name: value})
    except ConfigError as error:
        raise InputError(error.message, hint=error.hint) from error
    return page.render(
        "settings_plan.html", setting=name, value=value, plan=plan, money=describe_money(plan)
    )


@router.post("/settings/keys")
@needs("admin")
def create_key(
    page: AuthorisedPage,
    name: Annotated[str, Form(max_length=200)],
    scope: Annotated[str, Form(pattern="^(read|write|admin)$")] = "write",
    days: Annotated[str, Form(max_length=6, pattern="^[0-9]*$")] = "",
) -> Response:
    """Make a key and show its token, this once."""
    if not name.strip():
        raise InputError("the key has no name", hint="the name tells you later whose key it is")
    scopes = ("read", "write", "admin")
    allowed = scopes[: scopes.index(scope) + 1]
    expires_at = time.time() + int(days) * _DAY if days else None
    new = page.engine.admin.keys.create(name.strip(), scopes=allowed, expires_at=expires_at)
    is_first = page.identity.is_local
    response = page.render(
        "settings_key.html",
        token=new.token,
        key=new.key,
        is_first=is_first,
        stored=_list_keys(page),
    )
    if is_first:  # from now on this browser needs a key too
        open_browser_session(page, page.request, response, new.key.id)
    return response


@router.delete("/settings/keys/{key_id}")
@needs("admin")
def revoke_key(page: AuthorisedPage, key_id: str) -> Response:
    """Revoke a key; it ends at once."""
    key = page.engine.admin.keys.revoke(key_id)
    return page.toast(f"Revoked the key {key.name or key.id}.", reload=True)


def _list_keys(page: PageCall) -> KeyList:
    """Return the keys of the project; none for callers who may not change keys."""
    keys = []
    if page.can_administer:
        keys = page.engine.admin.keys.list()
    now = time.time()
    return KeyList(keys[::-1], _last_admin(keys, now), page.server.key_uses.times(), now)


def _written_settings(page: PageCall) -> tuple[Settings, ConfigError | None]:
    """Return the settings that the files have now; those in use if the files are wrong, with the reason."""
    in_use = page.engine.settings
    if not page.has_folder:
        return in_use, None
    try:
        return load(in_use.root), None
    except ConfigError as error:
        return in_use, error


def _last_admin(keys: Sequence[StoredKey], now: float) -> str:
    """Return the id of the only valid key that may administer; empty if there are several."""
    valid = [
        key.id
        for key in keys
        if "admin" in key.scopes
        and not key.revoked_at
        and not (key.expires_at and key.expires_at < now)
    ]
    return valid[0] if len(valid) == 1 else ""
