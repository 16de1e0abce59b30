"""The routes that reach a function or method: directly, or by calls of other code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragstone.code.impact import find_impact
from ragstone.types import Link, Node, Walked
from ragstone_code.questions.graph_query import (
    AnswerPart,
    GraphQuery,
    Place,
    join_names,
    place_text,
    places_of_links,
    places_of_nodes,
    plain_name,
)
from ragstone_code.questions.routes import find_leading_routes

_LINKS: Final = ("CALLS", "HANDLED_BY", "GUARDED_BY")
"""Kinds of links on the way from a route to the code that it runs."""
_MAX_WAYS: Final = 3
_MAX_ROUTES: Final = 30


def find_reaching_routes(query: GraphQuery) -> AnswerPart:
    """Return the routes that a function serves; if it serves none, those whose code ends up calling it."""
    part = find_leading_routes(query)
    if not part.negative:
        return part

    def links_to(keys: Sequence[str]) -> list[Link]:
        return query.links_to(keys, *_LINKS)

    impact = find_impact([query.node.key], links_to)
    affected = dict(impact.groups).get("route", ())
    reached = {route.key: route.links for route in affected}
    routes = list(query.nodes(reached).values())
    if not routes:
        return part
    routes.sort(key=lambda route: (len(reached[route.key]), route.key))
    names = [f"{plain_name(route.key)}{place_text(route)}" for route in routes]
    ways = [_way(reached[route.key]) for route in routes[:_MAX_WAYS]]
    walked = [_walked(query, reached[route.key]) for route in routes]
    return AnswerPart(
        {"routes": [plain_name(route.key) for route in routes]},
        f"{query.anchor.mention.name} is reached by {join_names(names, _MAX_ROUTES)}: {'; '.join(ways)}.",
        _places(routes, walked),
        routes,
        walked,
    )


def _walked(query: GraphQuery, links: Sequence[Link]) -> Walked:
    """Return the way from a function back to a route."""
    backwards = tuple(reversed(links))
    keys = [*(link.target for link in backwards), links[0].source]
    nodes = query.nodes(keys)
    return Walked(tuple(nodes[key] for key in keys), backwards)


def _way(links: Sequence[Link]) -> str:
    """Return the names on the way from a route to a function."""
    names = [plain_name(links[0].source), *(plain_name(link.target) for link in links)]
    return " → ".join(names)


def _places(routes: Sequence[Node], walked: Sequence[Walked]) -> list[Place]:
    """Return the places of routes, then those of the calls on the ways from them."""
    places = places_of_nodes(routes)
    for way in walked:
        places += places_of_links(reversed(way.links))
    return list(dict.fromkeys(places))
