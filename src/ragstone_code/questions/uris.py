"""The URIs of routes as questions write them: with values, with parameters, with or without the host."""

from __future__ import annotations

import re


def normalise_uri(uri: str) -> str:
    """Return a URI with empty parameters: `/api/songs/{song:slug?}` and `api/songs/<int:song>` → `api/songs/{}`."""
    return re.sub(r"\{[^}]*\}|<[^>\s]+>", "{}", uri).strip("/") or "/"


def uri_forms(uri: str) -> tuple[str, ...]:
    """Return the spellings of a URI, also with one more parameter."""
    path = re.sub(r"^https?://[^/]+", "", uri).split("#")[0]
    plain = normalise_uri(path)
    forms = (
        plain,
        uri.strip("/") or "/",
        f"{plain}/{{}}",
        f"{plain}{{}}",
    )
    return tuple(dict.fromkeys(forms))
