"""What the running framework says of its routes: `php artisan route:list --json`, taken in as `runtime` evidence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from ragstone.errors import InputError
from ragstone.types import Alias, Graph, Json, Link, Node
from ragstone_code.laravel.routes import route_key, split_action

LISTING = "artisan route:list"
"""What stands for a file where only the listing tells of a route."""


class BadRouteList(InputError):
    """A listing of routes that is none."""


def import_route_list(text: str, graph: Graph) -> Graph:
    """Return a graph with what the listing says: its links as `runtime`, and routes that only the listing has.

    A route that both have keeps its place in the files. A route of the files that the listing does not have stays,
    with a remark: it may be registered under a condition only.
    """
    rows = {_row_key(row): row for row in _rows(text)}
    known = {node.key for node in graph.nodes if node.kind == "route"}
    sure = tuple(
        replace(link, confidence="runtime", conditional=False) if _told(link, rows) else link for link in graph.links
    )
    nodes = tuple(_confirmed(node, rows) for node in graph.nodes)
    new = [(key, row) for key, row in rows.items() if key not in known]
    missing = sorted(known - set(rows))
    return Graph(
        nodes + tuple(_node(key, row) for key, row in new),
        sure + tuple(link for key, row in new for link in _links(key, row)),
        graph.aliases + tuple(alias for key, row in new for alias in _aliases(key, row)),
        graph.unresolved,
        graph.rendered,
        graph.remarks + tuple(f"{key.removeprefix('route:')} is not in the listing of routes" for key in missing),
    )


def _rows(text: str) -> Iterator[dict[str, Json]]:
    """Yield the rows of a listing."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise BadRouteList("The listing of routes is no JSON.", hint="Run `php artisan route:list --json`.") from error
    if not isinstance(data, list):
        raise BadRouteList("The listing of routes is no list.", hint="Run `php artisan route:list --json`.")
    yield from (row for row in data if isinstance(row, dict) and isinstance(row.get("uri"), str))


def _row_key(row: dict[str, Json]) -> str:
    """Return the key of the route a row is about."""
    methods = tuple(str(row.get("method") or "GET").split("|"))
    return route_key(methods, str(row["uri"]), str(row.get("domain") or ""))


def _words(row: dict[str, Json]) -> list[str]:
    """Return the middleware of a row: a list, or lines of text in older versions."""
    told = row.get("middleware")
    if isinstance(told, str):
        return [one for one in told.split("\n") if one]
    return [str(one) for one in told] if isinstance(told, list) else []


def _told(link: Link, rows: dict[str, dict[str, Json]]) -> bool:
    """Return whether a row says what a link says."""
    row = rows.get(link.source)
    if row is None or link.kind != "HANDLED_BY":
        return False
    controller, method = split_action(str(row.get("action") or "Closure").lstrip("\\"))
    return link.target.lower() in (f"method:{controller}::{method}".lower(), f"class:{controller}".lower())


def _confirmed(node: Node, rows: dict[str, dict[str, Json]]) -> Node:
    """Return a route with what the listing adds: the middleware as it is resolved when it runs."""
    row = rows.get(node.key)
    if row is None:
        return node
    more: dict[str, Json] = {"runtime": True, "runtime_middleware": list(_words(row)), "conditional": False}
    return replace(node, attributes={**node.attributes, **more})


def _node(key: str, row: dict[str, Json]) -> Node:
    """Return a route that only the listing has."""
    action = str(row.get("action") or "Closure").lstrip("\\")
    controller, method = split_action(action)
    methods = str(row.get("method") or "GET").split("|")
    attributes: dict[str, Json] = {
        "methods": [one for one in methods if one != "HEAD" or "GET" not in methods], "uri": row["uri"],
        "name": row.get("name"), "action": action, "controller": controller or None, "method": method or None,
        "middleware": list(_words(row)), "domain": row.get("domain"), "runtime": True,
    }  # fmt: skip
    name = row.get("name")
    return Node(
        key, "route", name if isinstance(name, str) and name else key.removeprefix("route:"),
        signature=key.removeprefix("route:"), language="php", framework="laravel", attributes=attributes,
    )  # fmt: skip


def _aliases(key: str, row: dict[str, Json]) -> Iterator[Alias]:
    """Yield what people call a route that only the listing has."""
    name = row.get("name")
    if isinstance(name, str) and name:
        yield Alias(name, key, "route_name", LISTING)
    verbs, _, path = key.removeprefix("route:").partition(" ")
    plain = re.sub(r"\{[^}]*\}", "{}", path)
    yield Alias(plain, key, "uri", LISTING)
    for verb in verbs.split("|"):
        yield Alias(f"{verb} {plain}", key, "uri", LISTING)


def _links(key: str, row: dict[str, Json]) -> Iterator[Link]:
    """Yield the links of a route that only the listing has."""
    controller, method = split_action(str(row.get("action") or "Closure").lstrip("\\"))
    if controller:
        yield Link("HANDLED_BY", key, f"method:{controller}::{method}", LISTING, 0, "runtime")
    for order, word in enumerate(_words(row)):
        name, _, parameters = word.partition(":")
        attributes: dict[str, Json] = {"written": word, "parameters": parameters, "excluded": False}
        yield Link("GUARDED_BY", key, f"middleware:{name}", LISTING, 0, "runtime", order=order, attributes=attributes)
