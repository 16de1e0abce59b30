"""Node keys of routes, and the parts of a route that several modules read."""

from __future__ import annotations

import re
from typing import Final

from ragstone_code.laravel.routing.route_records import LaravelRoute

_PARAMETER: Final = re.compile(r"\{(\w+)\??\}")
_METHOD_COUNT: Final = 7
"""Number of HTTP methods of a route that `Route::any` registers."""


def route_key(methods: tuple[str, ...], uri: str, domain: str = "") -> str:
    """Return the node key of a route."""
    path = uri
    if domain:
        path = domain + "/" + uri.lstrip("/")
    return f"route:{joined_methods(methods)} {path}"


def without_head(methods: tuple[str, ...]) -> list[str]:
    """Return HTTP methods without the HEAD that Laravel adds to GET."""
    return [method for method in methods if method != "HEAD" or "GET" not in methods]


def joined_methods(methods: tuple[str, ...]) -> str:
    """Return HTTP methods as text: `GET|POST`, or `ANY` for all of them."""
    if len(methods) == _METHOD_COUNT:
        return "ANY"
    return "|".join(without_head(methods))


def key_of(route: LaravelRoute) -> str:
    """Return the node key of a registered route."""
    return route_key(route.methods, route.uri, route.domain)


def route_parameters(route: LaravelRoute) -> list[str]:
    """Return the names of the parameters in a route's domain and path."""
    return _PARAMETER.findall(f"{route.domain}/{route.uri}")


def split_action(action: str) -> tuple[str, str]:
    """Return class and method of an action; two empty strings for a closure."""
    if action == "Closure":
        return "", ""
    controller, at, method = action.partition("@")
    return controller, method if at else "__invoke"
