"""Groups of routes: a node for each `Route::group(…)` with a closure, and the text about it."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.types import Json, Node
from ragstone_code.descriptions import Description
from ragstone_code.laravel.graph_index import GraphIndex
from ragstone_code.laravel.link_names import list_entries
from ragstone_code.laravel.route_keys import joined_methods
from ragstone_code.laravel.routing.route_records import LaravelRoute
from ragstone_code.laravel.routing.router import RouteGroup, RouterState
from ragstone_code.laravel.sentences import lines, sentence, words

GROUP: str = "route_group"


def group_nodes(state: RouterState) -> Iterator[Node]:
    """Yield a node for each group that still has routes; a group in a loop is one node."""
    keys: set[str] = set()
    for group in state.groups:
        routes = [state.routes[name] for name in group.routes if name in state.routes]
        key = f"{GROUP}:{group.site.uri}:{group.site.line}"
        if routes and key not in keys:
            keys.add(key)
            yield _group_node(key, group, routes)


def _group_node(key: str, group: RouteGroup, routes: list[LaravelRoute]) -> Node:
    attributes = group.attributes
    middleware: list[Json] = list(dict.fromkeys(entry.text for entry in attributes.middleware))
    titles: list[Json] = [f"{joined_methods(route.methods)} {route.uri}" for route in routes]
    name = attributes.prefix or attributes.name or attributes.domain or ""
    return Node(
        key=key,
        kind=GROUP,
        name=name or f"{group.site.uri}:{group.site.line}",
        uri=group.site.uri,
        line=group.site.line,
        language="php",
        framework="laravel",
        attributes={
            "prefix": attributes.prefix,
            "name": attributes.name,
            "domain": attributes.domain,
            "middleware": middleware,
            "routes": titles,
        },
    )


def describe_group(index: GraphIndex, node: Node) -> Description:
    """Return the title and text of a group: its prefix, name, middleware and routes."""
    attributes = node.attributes
    prefix = str(attributes.get("prefix") or "")
    name = attributes.get("name")
    title = f"Route group {prefix or node.name}"
    text = lines(
        f"{title} in {node.place}.",
        sentence("Name prefix", (f"“{name}”" if name else "",)),
        sentence("Domain", (str(attributes.get("domain") or ""),)),
        sentence("Middleware", list_entries(node, "middleware")),
        sentence("Routes", list_entries(node, "routes")),
    )
    return Description(title, text, words(prefix, node.name))
