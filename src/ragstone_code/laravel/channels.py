"""Broadcast channels that clients can subscribe to: `Broadcast::channel`, and the code that authorises them."""

from __future__ import annotations

from collections.abc import Iterable

from ragstone.types import Alias, Graph, Json, Link, Node
from ragstone_code import program_tree
from ragstone_code.laravel.app import App
from ragstone_code.laravel.code_bodies import LocatedCall
from ragstone_code.laravel.syntax import (
    SyntaxNode,
    argument_at,
    called_name,
    class_of,
    receiver,
    text_of,
)


def read_channels(app: App, calls: Iterable[LocatedCall]) -> Graph:
    """Return the channels with their patterns, and links to the classes that authorise them."""
    nodes: dict[str, Node] = {}
    links: list[Link] = []
    for located in calls:
        pattern = _channel_pattern(located)
        if not pattern:
            continue
        authoriser = argument_at(located.call, 1)
        class_name = class_of(authoriser, located.body.owner)
        attributes: dict[str, Json] = {
            "by": class_name or "Closure",
            "models": list(_closure_models(authoriser)),
        }
        key = f"channel:{pattern}"
        nodes[key] = Node(
            key,
            "channel",
            pattern,
            located.uri,
            located.line,
            language="php",
            framework="laravel",
            attributes=attributes,
        )
        if class_name:
            target = _authoriser_key(app, class_name)
            links.append(Link("HANDLED_BY", key, target, located.uri, located.line))
    aliases = [Alias(node.name, key, "channel", node.uri) for key, node in nodes.items()]
    return Graph(
        nodes=tuple(nodes.values()),
        links=tuple(links),
        aliases=tuple(aliases),
    )


def _channel_pattern(located: LocatedCall) -> str:
    """Return the pattern of `Broadcast::channel(pattern, …)`; empty for any other call."""
    owner = receiver(located.call)
    if called_name(located.call) != "channel" or not isinstance(owner, program_tree.ClassName):
        return ""
    if owner.name.rpartition("\\")[2] != "Broadcast":
        return ""
    return text_of(argument_at(located.call, 0), located.body.owner) or ""


def _authoriser_key(app: App, class_name: str) -> str:
    """Return the key of a channel class's `join` method, or of the class if it has none."""
    join = app.find_method(class_name, "join")
    if join:
        app_class, method = join
        return f"method:{app_class.name}::{method.name}"
    return f"class:{app.declared_name(class_name)}"


def _closure_models(authoriser: SyntaxNode) -> list[str]:
    """Return the class names among the parameter types of a closure."""
    if not isinstance(authoriser, program_tree.Closure):
        return []
    names: list[str] = []
    for parameter in authoriser.function.parameters:
        if parameter.type:
            names += [name for name in parameter.type.names if not name.islower()]
    return names
