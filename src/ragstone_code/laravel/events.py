"""Graph of events and listeners: registered listeners and listeners of Laravel's event discovery."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from ragstone.types import Alias, Graph, Json, Link, Node
from ragstone_code.laravel.app import App, class_aliases
from ragstone_code.laravel.class_kinds import PROVIDERS
from ragstone_code.laravel.code_bodies import LocatedCall
from ragstone_code.laravel.discovery import ListenerRegistration, discover_listeners
from ragstone_code.laravel.listeners import ListenerCollector

QUEUED: Final = frozenset(("illuminate\\contracts\\queue\\shouldqueue",))
REGISTRY_KEY: Final = "registry:events"


def read_listeners(app: App, calls: Iterable[LocatedCall]) -> tuple[Graph, frozenset[str]]:
    """Return the graph of events and listeners, and the names of the events in lower case."""
    calls = tuple(calls)
    collector = ListenerCollector(app)
    for app_class in app.classes.values():
        if app_class.definition.kind == "class" and app.is_a(app_class.name, PROVIDERS):
            collector.read_provider(app_class)
    for located in calls:
        collector.read_call(located)
    folders, discovered = discover_listeners(app, calls)
    collector.places += [f"{folder}/" for folder in folders]
    collector.add_discovered(discovered)
    return _build_graph(collector), collector.event_names()


def _build_graph(collector: ListenerCollector) -> Graph:
    """Return nodes and links; if a pair is registered twice, the first registration counts."""
    app = collector.app
    nodes: dict[str, Node] = {}
    links: dict[tuple[str, str, str], Link] = {}
    for registration in collector.registrations:
        event = _event_node(app, registration.event)
        listener = _listener_node(app, registration)
        nodes.setdefault(event.key, event)
        nodes.setdefault(listener.key, listener)
        method = registration.method or _default_method(app, registration.listener)
        link = _listens_link(
            registration,
            listener.key,
            event.key,
            method,
            len(links),
        )
        links.setdefault((listener.key, event.key, method), link)
    handler_links = dict.fromkeys(_handler_link(app, link) for link in links.values())
    aliases = list(class_aliases(tuple(nodes.values())))
    for key, node in nodes.items():
        if key.startswith("event:"):
            aliases.append(Alias(node.name, key, "event", node.uri))
    return Graph(
        nodes=(*nodes.values(), _registry_node(collector.places)),
        links=(*links.values(), *(Link("HANDLED_BY", *ends) for ends in handler_links if ends)),
        aliases=tuple(aliases),
    )


def _listens_link(
    registration: ListenerRegistration,
    listener_key: str,
    event_key: str,
    method: str,
    order: int,
) -> Link:
    attributes: dict[str, Json] = {"how": registration.how, "method": method}
    if registration.registered:
        attributes["registered"] = registration.registered
    return Link(
        "LISTENS",
        listener_key,
        event_key,
        registration.uri,
        registration.line,
        registration.confidence,
        registration.conditional,
        order=order,
        attributes=attributes,
    )


def _registry_node(places: list[str]) -> Node:
    """Return a node with the places that register listeners, so that the answer "none" can name them."""
    uri, line = _first_line(places)
    return Node(
        REGISTRY_KEY,
        "registry",
        "events",
        uri,
        line,
        framework="laravel",
        attributes={"places": list(dict.fromkeys(places))},
    )


def _first_line(places: list[str]) -> tuple[str, int]:
    """Return file and line of the first place that has a line."""
    for place in places:
        uri, _, line = place.rpartition(":")
        if line.isdigit():
            return uri, int(line)
    return "", 0


def _event_node(app: App, name: str) -> Node:
    """Return the node of an event: a class, or a name that is only a string."""
    is_class = "\\" in name or app.find_class(name) is not None
    if is_class and ":" not in name:
        return app.class_node(app.declared_name(name), "event")
    return Node(
        f"event:{name}",
        "event",
        name,
        language="php",
        framework="laravel",
    )


def _listener_node(app: App, registration: ListenerRegistration) -> Node:
    """Return the node of a listener: a class, or a closure that is named by its place."""
    name = registration.listener
    if name == f"{registration.uri}:{registration.line}":
        return Node(
            f"listener:{name}",
            "listener",
            "closure",
            registration.uri,
            registration.line,
            framework="laravel",
        )
    node = app.class_node(name, "listener")
    listener_class = app.find_class(name)
    if listener_class is None:
        return node
    is_queued = app.is_a(listener_class.name, QUEUED)
    return replace(node, attributes={"queued": is_queued})


def _default_method(app: App, listener: str) -> str:
    """Return the method that handles an event if the registration names none."""
    if app.find_class(listener) is None or app.find_method(listener, "handle"):
        return "handle"
    return "__invoke" if app.find_method(listener, "__invoke") else "handle"


def _handler_link(app: App, link: Link) -> tuple[str, str, str, int] | None:
    """Return the listener, its handling method, and file and line of the method; None if it is not in the project."""
    if not link.source.startswith("class:"):
        return None
    name = link.source.removeprefix("class:")
    method = app.find_method(name, str(link.attributes["method"]))
    if method is None:
        return None
    declaring_class, function = method
    target = f"method:{declaring_class.name}::{function.name}"
    return link.source, target, declaring_class.uri, function.line
