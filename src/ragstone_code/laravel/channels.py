"""Channels that clients may listen on: `Broadcast::channel`, and who decides."""

from __future__ import annotations

from collections.abc import Iterable

from ragstone.code import tree
from ragstone.types import Alias, Graph, Json, Link, Node
from ragstone_code.laravel.app import App
from ragstone_code.laravel.code_bodies import LocatedCall
from ragstone_code.laravel.syntax import SyntaxNode, argument_at, called_name, class_of, receiver, text_of


def channels(app: App, sites: Iterable[LocatedCall]) -> Graph:
    """Return the channels with their patterns, and the class or the models each is decided by."""
    nodes: dict[str, Node] = {}
    links: list[Link] = []
    for site in sites:
        at = receiver(site.call)
        if called_name(site.call) != "channel" or not isinstance(at, tree.ClassName):
            continue
        pattern = text_of(argument_at(site.call, 0), site.body.owner)
        if at.name.rpartition("\\")[2] != "Broadcast" or not pattern:
            continue
        by = argument_at(site.call, 1)
        name = class_of(by, site.body.owner)
        attributes: dict[str, Json] = {"by": name or "Closure", "models": list(_models(by))}
        key = f"channel:{pattern}"
        nodes[key] = Node(
            key, "channel", pattern, site.uri, site.line, language="php", framework="laravel", attributes=attributes
        )
        if name:
            method = app.find_method(name, "join")
            target = f"method:{method[0].name}::{method[1].name}" if method else f"class:{app.declared_name(name)}"
            links.append(Link("HANDLED_BY", key, target, site.uri, site.line))
    named = tuple(Alias(node.name, key, "channel", node.uri) for key, node in nodes.items())
    return Graph(nodes=tuple(nodes.values()), links=tuple(links), aliases=named)


def _models(by: SyntaxNode) -> list[str]:
    """Return the classes that a closure takes."""
    if not isinstance(by, tree.Closure):
        return []
    return [name for one in by.function.parameters if one.type for name in one.type.names if not name.islower()]
