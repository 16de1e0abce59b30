"""Keys and usage of the caller's project."""

from __future__ import annotations

import time

from fastapi import Response

from ragstone.surfaces.present.access import key_json, usage_json
from ragstone.surfaces.rest.authorised_route import AuthorisedCall, needs
from ragstone.surfaces.rest.bodies import KeyBody
from ragstone.surfaces.rest.replies import reply
from ragstone.surfaces.rest.router import create_router

router = create_router("access", "/api/rag")
_DAY = 86_400


@router.post("/keys")
@needs("admin")
def create_key(call: AuthorisedCall, body: KeyBody) -> Response:
    """Make a key for the caller's project; its token is in this answer only."""
    expires_at = None
    if body.expires_in_days is not None:
        expires_at = time.time() + body.expires_in_days * _DAY
    new = call.engine.admin.keys.create(body.name, scopes=body.scopes, expires_at=expires_at)
    return reply({"key": key_json(new.key), "token": new.token})


@router.get("/keys")
@needs("admin")
def list_keys(call: AuthorisedCall) -> Response:
    """List the keys of the project, revoked ones included."""
    return reply({"keys": [key_json(key) for key in call.engine.admin.keys.list()]})


@router.delete("/keys/{key_id}")
@needs("admin")
def revoke_key(call: AuthorisedCall, key_id: str) -> Response:
    """Revoke a key; it ends at once."""
    return reply({"key": key_json(call.engine.admin.keys.revoke(key_id))})


@router.get("/usage")
@needs("read")
def usage(call: AuthorisedCall) -> Response:
    """Return how much the project stores, the limits of its plan, and its requests since the start."""
    keys = call.engine.admin.keys
    data = usage_json(keys.usage(), keys.plan())
    data["usage"]["requests"] = call.server.metrics.requests(call.project)
    return reply({"project_id": call.project, **data})
