"""Settings with their origin and help, written back to the project file; keys and the plan of a shared server."""

from __future__ import annotations

import time
from typing import Annotated, Final

from fastapi import Form, Query, Response

from ragstone.config.project_file import write_setting
from ragstone.errors import Conflict
from ragstone.surfaces.rest.route import needs
from ragstone.surfaces.web.page import AuthorisedPage, NavItem, page_router
from ragstone.surfaces.web.settings_view import group_by_section, view_settings

NAV: Final = NavItem("Settings", "/settings", "settings", ",")
_DAY: Final = 86_400
router = page_router()
Text = Annotated[str, Form(max_length=10_000)]


@router.get("/settings")
@needs("read")
def show_settings(
    page: AuthorisedPage, q: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """List the settings, and the keys of the project for those who may change them."""
    keys = page.engine.admin.keys
    return page.render(
        "settings.html",
        sections=group_by_section(view_settings(page.engine.settings, page.engine.status(), q)),
        query=q,
        can_change=page.can_administer and page.has_folder,
        keys=keys.list() if page.can_administer else [],
        plan=keys.plan(),
        usage=keys.usage(),
        now=time.time(),
    )


@router.post("/settings")
@needs("admin")
def change_setting(page: AuthorisedPage, name: Text, value: Text = "") -> Response:
    """Write a setting into the project file."""
    if not page.has_folder:
        raise Conflict("this project has no folder", hint="settings are files of the folder")
    path = write_setting(page.engine.settings.root, name, value)
    return page.toast(
        f"Wrote {name} to {path.name}. Restart the server to use it.", location="/settings"
    )


@router.post("/settings/keys")
@needs("admin")
def create_key(
    page: AuthorisedPage,
    name: Annotated[str, Form(max_length=200)] = "",
    scope: Annotated[str, Form(pattern="^(read|write|admin)$")] = "write",
    days: Annotated[str, Form(max_length=6, pattern="^[0-9]*$")] = "",
) -> Response:
    """Make a key and show its token, this once."""
    scopes = ("read", "write", "admin")
    allowed = scopes[: scopes.index(scope) + 1]
    expires_at = time.time() + int(days) * _DAY if days else None
    new = page.engine.admin.keys.create(name, scopes=allowed, expires_at=expires_at)
    return page.render("settings_key.html", token=new.token, key=new.key)


@router.delete("/settings/keys/{key_id}")
@needs("admin")
def revoke_key(page: AuthorisedPage, key_id: str) -> Response:
    """Revoke a key; it ends at once."""
    page.engine.admin.keys.revoke(key_id)
    return page.toast("Revoked the key.", location="/settings")
