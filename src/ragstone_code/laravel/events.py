"""What listens to what: `$listen`, `$subscribe`, `Event::listen`, and listeners that are found by their types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ragstone.code import tree
from ragstone.types import Alias, Graph, Json, Link, Node
from ragstone_code.laravel.app import App, AppClass, class_aliases
from ragstone_code.laravel.code_bodies import CodeBody, LocatedCall, method_body
from ragstone_code.laravel.discovery import ListenerRegistration, discover_listeners
from ragstone_code.laravel.kinds import PROVIDERS
from ragstone_code.laravel.syntax import (
    SyntaxNode,
    argument_at,
    array_entries,
    array_values,
    call_chain,
    called_name,
    class_of,
    receiver,
    returned_values,
    text_of,
)  # fmt: skip

FACADES = frozenset(("event", "illuminate\\support\\facades\\event"))
DISPATCHERS = frozenset(("illuminate\\contracts\\events\\dispatcher", "illuminate\\events\\dispatcher"))
PLACE = "registry:events"
LISTEN = ("listen", "")
"""How a listener is registered, and by what where that is elsewhere."""


@dataclass
class _Looked:
    """What was found, and where it was looked for."""

    app: App
    heard: list[ListenerRegistration] = field(default_factory=list)
    places: list[str] = field(default_factory=list)


def read_listeners(app: App, sites: Iterable[LocatedCall]) -> tuple[Graph, frozenset[str]]:
    """Return listeners, events and their links, and the names of the events in lower case."""
    looked = _Looked(app)
    sites = tuple(sites)
    for known in app.classes.values():
        if app.is_a(known.name, PROVIDERS) and known.definition.kind == "class":
            _provider(looked, known)
    for site in sites:
        _registered(looked, site)
    folders, found = discover_listeners(app, sites)
    looked.places += [f"{folder}/" for folder in folders]
    already = {(one.event.lower(), one.listener.lower()) for one in looked.heard}
    looked.heard += [one for one in found if (one.event.lower(), one.listener.lower()) not in already]
    return _graph(looked), frozenset(one.event.lower() for one in looked.heard)


def _provider(looked: _Looked, known: AppClass) -> None:
    """Take in the arrays of a provider."""
    for one in known.definition.properties:
        if one.name.lstrip("$") == "listen":
            looked.places.append(f"{known.uri}:{one.line}")
            for event, value, line in _pairs(one.default, known.name):
                for listener in _listeners(value):
                    looked.heard += _one(
                        looked.app, event, listener, LocatedCall(CodeBody(known.uri, known.name), _at(line), False)
                    )
        elif one.name.lstrip("$") == "subscribe":
            looked.places.append(f"{known.uri}:{one.line}")
            for value in array_values(one.default):
                _subscriber(looked, class_of(value, known.name), f"{known.uri}:{_line(value, one.line)}")
    method = known.definition.method("listens")
    for value in returned_values(method) if method else ():
        for event, listeners, line in _pairs(value, known.name):
            for listener in _listeners(listeners):
                looked.heard += _one(
                    looked.app, event, listener, LocatedCall(CodeBody(known.uri, known.name), _at(line), False)
                )


def _at(line: int) -> tree.Call:
    """Return a call that stands for a line."""
    return tree.Call(tree.FunctionName("", line), (), line)


def _line(value: SyntaxNode, otherwise: int) -> int:
    """Return the line of a value."""
    return getattr(value, "line", 0) or otherwise


def _pairs(value: SyntaxNode, owner: str) -> Iterator[tuple[str, SyntaxNode, int]]:
    """Yield the keys of an array as events, each with its value and line."""
    for entry in array_entries(value):
        name = text_of(entry.key, owner) if entry.key is not None else None
        if name:
            yield name, entry.value, _line(entry.key, _line(entry.value, 0))


def _listeners(value: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield the listeners of an entry: one, several, or a class and its method."""
    if isinstance(value, tree.Collected) and not _callable(value):
        yield from (entry.value for entry in value.entries)
    elif value is not None:
        yield value


def _callable(value: SyntaxNode) -> bool:
    """Return whether an array is a class and the name of its method."""
    written = array_values(value) if isinstance(value, tree.Collected) else ()
    if len(written) != 2 or not isinstance(written[1], tree.Literal):
        return False
    return bool(class_of(written[0], "self")) or isinstance(written[0], tree.Variable)


def _one(
    app: App, event: str, listener: SyntaxNode, site: LocatedCall, said: tuple[str, str] = LISTEN
) -> list[ListenerRegistration]:
    """Return a listener of an event; nothing where it is not written."""
    owner = site.body.owner
    method = ""
    if isinstance(listener, tree.Collected) and _callable(listener):
        first, second = array_values(listener)
        name, method = class_of(first, owner) or (owner if isinstance(first, tree.Variable) else ""), str(second.value)
    elif isinstance(listener, tree.Closure) or _queueable(listener):
        name = f"{site.uri}:{site.line}"
    else:
        name, _, method = (text_of(listener, owner) or "").partition("@")
    if not name:
        app.remarks.append(f"{site.uri}:{site.line}: a listener of {event} is not written out")
        return []
    return [ListenerRegistration(event, app.declared_name(name), method, site.uri, site.line, *said, site.conditional)]


def _queueable(value: SyntaxNode) -> bool:
    """Return whether it is `queueable(function …)`."""
    _, calls = call_chain(value)
    return bool(calls) and called_name(calls[0]) == "queueable"


def _registered(looked: _Looked, site: LocatedCall) -> None:
    """Take in one call of `listen` or `subscribe`."""
    name = called_name(site.call)
    if name not in ("listen", "subscribe") or not _is_events(looked.app, site):
        return
    looked.places.append(f"{site.uri}:{site.line}")
    if name == "subscribe":
        for value in array_values(argument_at(site.call, 0)):
            _subscriber(looked, class_of(value, site.body.owner), f"{site.uri}:{_line(value, site.line)}")
    elif site.body.function is None or site.body.function.name != "subscribe":
        looked.heard += _listened(looked.app, site)


def _listened(app: App, site: LocatedCall, said: tuple[str, str] = LISTEN) -> list[ListenerRegistration]:
    """Return what one `listen(…)` registers; a closure alone says its events by its types."""
    first, second = argument_at(site.call, 0, "events"), argument_at(site.call, 1, "listener")
    if second is None:
        typed = [name for name in _typed(first) if name]
        return [one for name in typed for one in _one(app, name, first, site, said)]
    found: list[ListenerRegistration] = []
    for event in array_values(first):
        name = text_of(event, site.body.owner)
        if name:
            found += _one(app, name, second, site, said)
        elif not isinstance(event, tree.Variable):
            app.remarks.append(f"{site.uri}:{site.line}: the event that is listened to is not written out")
    return found


def _typed(value: SyntaxNode) -> Iterator[str]:
    """Yield the classes of a closure's first parameter."""
    closure = next((part for part in (value, *_given_to(value)) if isinstance(part, tree.Closure)), None)
    first = next(iter(closure.function.parameters), None) if closure else None
    if first and first.type:
        yield from first.type.names


def _given_to(value: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield what the first call of a chain is given."""
    _, calls = call_chain(value)
    if calls:
        yield from (argument.value for argument in calls[0].arguments)


def _is_events(app: App, site: LocatedCall) -> bool:
    """Return whether a call is one of the event dispatcher's: the facade, or a variable or field that is typed so."""
    at = receiver(site.call)
    root, _ = call_chain(at) if at is not None else (None, ())
    if isinstance(root, tree.ClassName):
        return root.name.lower() in FACADES
    if isinstance(root, tree.Variable):
        types = site.body.variable_types.get(root.name.lstrip("$"), ())
        subscribing = site.body.function is not None and site.body.function.name == "subscribe"
        return any(name.lower() in DISPATCHERS for name in types) or (subscribing and root.name.lstrip("$") != "this")
    if isinstance(root, tree.Subscript):
        return text_of(root.key) == "events"
    return app.field_type(site.body.owner, root).lower() in DISPATCHERS


def _subscriber(looked: _Looked, name: str, registered: str) -> None:
    """Take in what a subscriber says it listens to."""
    found = looked.app.find_method(name, "subscribe") if name else None
    if found is None:
        return
    known, function = found
    scope = method_body(known, function, looked.app.declared_name(name))
    for call, depends in scope.calls:
        site = LocatedCall(scope, call, depends)
        if called_name(call) == "listen" and _is_events(looked.app, site):
            looked.heard += _listened(looked.app, site, ("subscribe", registered))
    for value in returned_values(function):
        for event, listeners, line in _pairs(value, scope.owner):
            for listener in _listeners(listeners):
                site = LocatedCall(scope, _at(line), False)
                named = text_of(listener, scope.owner)
                own = named is not None and "\\" not in named and "@" not in named
                whole = tree.Literal(f"{scope.owner}@{named}", line) if own else listener
                looked.heard += _one(looked.app, event, whole, site, ("subscribe", registered))


# ── what comes of it ──────────────────────────────────────────────────────────────────────────────


def _graph(looked: _Looked) -> Graph:
    """Return the nodes and links; of a pair that is registered twice, the first counts."""
    app = looked.app
    nodes: dict[str, Node] = {}
    links: dict[tuple[str, str, str], Link] = {}
    for one in looked.heard:
        event = _event(app, one.event)
        listener = _listener(app, one)
        nodes.setdefault(event.key, event)
        nodes.setdefault(listener.key, listener)
        method = one.method or _default(app, one.listener)
        attributes: dict[str, Json] = {"how": one.how, "method": method}
        if one.registered:
            attributes["registered"] = one.registered
        links.setdefault(
            (listener.key, event.key, method),
            Link("LISTENS", listener.key, event.key, one.uri, one.line, one.confidence, one.conditional,
                 order=len(links), attributes=attributes),
        )  # fmt: skip
    handled = dict.fromkeys(_placed(app, link) for link in links.values())
    registry = Node(PLACE, "registry", "events", *_first(looked.places), framework="laravel",
                    attributes={"places": list(dict.fromkeys(looked.places))})  # fmt: skip
    named = tuple(Alias(node.name, key, "event", node.uri) for key, node in nodes.items() if key.startswith("event:"))
    return Graph(
        nodes=(*nodes.values(), registry),
        links=(*links.values(), *(Link("HANDLED_BY", *one) for one in handled if one)),
        aliases=class_aliases(tuple(nodes.values())) + named,
    )


def _first(places: list[str]) -> tuple[str, int]:
    """Return the file and line of the first place that has a line."""
    for place in places:
        uri, _, line = place.rpartition(":")
        if line.isdigit():
            return uri, int(line)
    return "", 0


def _event(app: App, name: str) -> Node:
    """Return the node of an event: a class, or a name that is only a string."""
    if "\\" in name or app.find_class(name):
        return app.class_node(app.declared_name(name), "event") if ":" not in name else Node(
            f"event:{name}", "event", name, language="php", framework="laravel"
        )  # fmt: skip
    return Node(f"event:{name}", "event", name, language="php", framework="laravel")


def _listener(app: App, one: ListenerRegistration) -> Node:
    """Return the node of a listener: a class, or a closure by its place."""
    if one.listener == f"{one.uri}:{one.line}":
        return Node(f"listener:{one.listener}", "listener", "closure", one.uri, one.line, framework="laravel")
    node = app.class_node(one.listener, "listener")
    known = app.find_class(one.listener)
    queued = known is not None and app.is_a(known.name, frozenset(("illuminate\\contracts\\queue\\shouldqueue",)))
    return replace(node, attributes={"queued": queued}) if known else node


def _default(app: App, listener: str) -> str:
    """Return the method that handles an event where none is written."""
    known = app.find_class(listener)
    return (
        "__invoke"
        if known and not app.find_method(listener, "handle") and app.find_method(listener, "__invoke")
        else "handle"
    )


def _placed(app: App, link: Link) -> tuple[str, str, str, int] | None:
    """Return a listener, the method that does its work and where that is; None where it is not the application's."""
    name, method = link.source.removeprefix("class:"), str(link.attributes["method"])
    found = app.find_method(name, method) if link.source.startswith("class:") else None
    if found is None:
        return None
    return link.source, f"method:{found[0].name}::{found[1].name}", found[0].uri, found[1].line
