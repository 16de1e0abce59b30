"""Import of `php artisan route:list --json`: the routes of the running application, as `runtime` evidence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from ragstone.errors import InputError
from ragstone.types import Alias, Graph, Json, Link, Node
from ragstone_code.laravel.route_keys import route_key, split_action

LISTING_URI: Final = "artisan route:list"
"""Used in place of a file for routes that only the listing has."""
_HINT: Final = "Run `php artisan route:list --json`."


class BadRouteList(InputError):
    """The text is not a route listing."""


@dataclass(frozen=True, slots=True)
class ListedRoute:
    """One row of the listing."""

    row: dict[str, Json]

    @property
    def methods(self) -> list[str]:
        """Return the HTTP methods."""
        return str(self.row.get("method") or "GET").split("|")

    @property
    def key(self) -> str:
        """Return the key of the route's node."""
        return route_key(
            tuple(self.methods),
            str(self.row["uri"]),
            str(self.row.get("domain") or ""),
        )

    @property
    def name(self) -> str:
        """Return the route's name; empty if it has none."""
        name = self.row.get("name")
        return name if isinstance(name, str) else ""

    @property
    def action(self) -> str:
        """Return `Controller@method`, or `Closure`."""
        return str(self.row.get("action") or "Closure").lstrip("\\")

    @property
    def middleware(self) -> list[str]:
        """Return the middleware; older Laravel versions list it as lines of one text."""
        middleware = self.row.get("middleware")
        if isinstance(middleware, str):
            return [line for line in middleware.split("\n") if line]
        if isinstance(middleware, list):
            return [str(word) for word in middleware]
        return []

    def confirms(self, link: Link) -> bool:
        """Return whether the row says the same as a `HANDLED_BY` link."""
        controller, method = split_action(self.action)
        targets = (f"method:{controller}::{method}", f"class:{controller}")
        return link.kind == "HANDLED_BY" and link.target.lower() in (
            target.lower() for target in targets
        )


def import_route_list(text: str, graph: Graph) -> Graph:
    """Return the graph with the listing applied: confirmed links become `runtime`, missing routes are added.

    A route that both have keeps its place in the files. A route that the listing does not have stays, with a
    remark, because it may be registered only under a condition.
    """
    rows = {row.key: row for row in _read_rows(text)}
    own_keys = {node.key for node in graph.nodes if node.kind == "route"}
    nodes = [_confirm_node(node, rows.get(node.key)) for node in graph.nodes]
    links = [_confirm_link(link, rows.get(link.source)) for link in graph.links]
    aliases = list(graph.aliases)
    for key, row in rows.items():
        if key not in own_keys:
            nodes.append(_listed_node(key, row))
            links += _listed_links(key, row)
            aliases += _listed_aliases(key, row)
    missing = sorted(own_keys - set(rows))
    remarks = [
        f"{key.removeprefix('route:')} is not in the listing of routes" for key in missing
    ]
    return Graph(
        tuple(nodes),
        tuple(links),
        tuple(aliases),
        graph.unresolved,
        graph.rendered,
        graph.remarks + tuple(remarks),
    )


def _read_rows(text: str) -> Iterator[ListedRoute]:
    """Yield the rows of a listing; raise `BadRouteList` if the text is none."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise BadRouteList("The listing of routes is no JSON.", hint=_HINT) from error
    if not isinstance(data, list):
        raise BadRouteList("The listing of routes is no list.", hint=_HINT)
    for row in data:
        if isinstance(row, dict) and isinstance(row.get("uri"), str):
            yield ListedRoute(row)


def _confirm_link(link: Link, row: ListedRoute | None) -> Link:
    """Return a link as `runtime` evidence if its route's row confirms it."""
    if row is None or not row.confirms(link):
        return link
    return replace(link, confidence="runtime", conditional=False)


def _confirm_node(node: Node, row: ListedRoute | None) -> Node:
    """Return a route with the resolved middleware of its row."""
    if row is None:
        return node
    confirmed: dict[str, Json] = {
        "runtime": True,
        "runtime_middleware": list(row.middleware),
        "conditional": False,
    }
    return replace(node, attributes={**node.attributes, **confirmed})


def _listed_node(key: str, row: ListedRoute) -> Node:
    """Return the node of a route that only the listing has."""
    controller, method = split_action(row.action)
    methods = row.methods
    attributes: dict[str, Json] = {
        "methods": [verb for verb in methods if verb != "HEAD" or "GET" not in methods],
        "uri": row.row["uri"],
        "name": row.row.get("name"),
        "action": row.action,
        "controller": controller or None,
        "method": method or None,
        "middleware": list(row.middleware),
        "domain": row.row.get("domain"),
        "runtime": True,
    }
    signature = key.removeprefix("route:")
    return Node(
        key,
        "route",
        row.name or signature,
        signature=signature,
        language="php",
        framework="laravel",
        attributes=attributes,
    )


def _listed_aliases(key: str, row: ListedRoute) -> Iterator[Alias]:
    """Yield the aliases of a route that only the listing has."""
    if row.name:
        yield Alias(row.name, key, "route_name", LISTING_URI)
    verbs, _, path = key.removeprefix("route:").partition(" ")
    plain = re.sub(r"\{[^}]*\}", "{}", path)
    yield Alias(plain, key, "uri", LISTING_URI)
    for verb in verbs.split("|"):
        yield Alias(
            f"{verb} {plain}",
            key,
            "uri",
            LISTING_URI,
        )


def _listed_links(key: str, row: ListedRoute) -> Iterator[Link]:
    """Yield the links of a route that only the listing has."""
    controller, method = split_action(row.action)
    if controller:
        target = f"method:{controller}::{method}"
        yield Link("HANDLED_BY", key, target, LISTING_URI, 0, "runtime")
    for order, word in enumerate(row.middleware):
        name, _, parameters = word.partition(":")
        attributes: dict[str, Json] = {
            "written": word,
            "parameters": parameters,
            "excluded": False,
        }
        yield Link(
            "GUARDED_BY",
            key,
            f"middleware:{name}",
            LISTING_URI,
            0,
            "runtime",
            order=order,
            attributes=attributes,
        )
