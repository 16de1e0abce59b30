"""What is asked about events and jobs: who listens, who fires, where from."""

from __future__ import annotations

from ragstone.types import Json, Link, Node
from ragstone_code.questions.asking import (
    Asked,
    Part,
    at,
    called,
    ends,
    folder,
    full_name,
    listed,
    looked,
    place_of,
    places,
)


def listeners(asked: Asked) -> Part:
    """Return what listens to an event."""
    links = asked.links([asked.node.key], "LISTENS", back=True)
    names = list(dict.fromkeys(full_name(link.source) for link in links))
    classes = asked.nodes(f"class:{name}" for name in names)
    facts: dict[str, Json] = {"listeners": list(names), "how": _how(links)}
    if not names:
        where = _registries(asked)
        said = f"Nothing listens to {_titled(asked.node)}; looked in {listed(where, 5) or 'all files'}."
        return Part(facts, said, place_of(asked.node), [asked.node], negative=True, looked_in=where)
    told = [f"{name}{at(classes[f'class:{name}']) if f'class:{name}' in classes else ''}" for name in names]
    said = f"{_titled(asked.node)} is handled by {listed(told, 30)} ({links[0].uri}:{links[0].line})."
    own = [place for node in classes.values() for place in place_of(node)]
    handlers = [place for node in asked.nodes(_handlers(links)).values() for place in place_of(node)]
    evidence = [*places(links), *own, *handlers, *place_of(asked.node)]
    return Part(facts, said, evidence, [*classes.values(), asked.node])


def _handlers(links: list[Link]) -> list[str]:
    return [f"method:{full_name(link.source)}::{link.attributes.get('method') or 'handle'}" for link in links]


def events(asked: Asked) -> Part:
    """Return the events that a listener or a subscriber hears."""
    own = full_name(asked.node.key)
    methods = [
        node.key
        for node in (asked.store.graph.nodes(asked.scope, uris=[asked.node.uri], limit=5000) if asked.node.uri else [])
        if node.key.startswith(f"method:{own}::")
    ]
    links = asked.links([asked.node.key, *methods], "LISTENS")
    names: list[str] = list(dict.fromkeys(called(link.target) for link in links))
    facts: dict[str, Json] = {"subscribes": list(names), "events": list(names), "how": _how(links)}
    if not names:
        where = looked([*_registries(asked), asked.node.uri])
        said = f"{own} listens to no event; looked in {listed(where, 5) or 'all files'}."
        return Part(facts, said, place_of(asked.node), [asked.node], negative=True, looked_in=where)
    said = f"{own}{at(asked.node)} hears {listed(names, 30)} ({links[0].uri}:{links[0].line})."
    nodes = asked.nodes(link.target for link in links)
    return Part(facts, said, [*places(links), *place_of(asked.node)], [asked.node, *nodes.values()])


def dispatched(asked: Asked) -> Part:
    """Return from where an event is fired, or a job is dispatched."""
    links = asked.links([asked.node.key], "FIRES", "DISPATCHES", back=True)
    spots = places(links)
    facts: dict[str, Json] = {"dispatched_from": [f"{uri}:{line}" for uri, line in spots]}
    what = "fired" if asked.node.kind == "event" or asked.intent.name == "event_dispatch" else "dispatched"
    if not spots:
        said = f"{_titled(asked.node)} is {what} nowhere that is written down; looked in all calls of all files."
        where = ["all calls of all files"]
        return Part(facts, said, place_of(asked.node), [asked.node], negative=True, looked_in=where)
    told = [f"{called(link.source)} ({link.uri}:{link.line})" for link in links]
    said = f"{_titled(asked.node)} is {what} from {listed(list(dict.fromkeys(told)), 30)}."
    nodes = asked.nodes(link.source for link in links)
    return Part(facts, said, [*spots, *place_of(asked.node)], [*nodes.values(), asked.node])


def callers(asked: Asked) -> Part:
    """Return what calls a method or function; what no written type decides is told apart."""
    walked = asked.walk()
    links = [path.links[-1] for path in walked]
    name = called(asked.node.key)
    maybe = asked.store.graph.unresolved(asked.scope, name=asked.node.name, limit=200)
    facts: dict[str, Json] = {
        "called_from": [f"{uri}:{line}" for uri, line in places(links)],
        "callers": list(dict.fromkeys(called(link.source) for link in links)),
        "unresolved": [f"{one.uri}:{one.line}" for one in maybe if one.kind in ("call", "CALLS")],
    }
    undecided = f"; {len(maybe)} calls of that name have no written receiver type" if maybe else ""
    if not links:
        said = f"No call of {name} is written with its type{undecided}."
        where = ["all calls of all files"]
        return Part(facts, said, place_of(asked.node), [asked.node], negative=True, looked_in=where)
    told = list(dict.fromkeys(f"{called(link.source)} ({link.uri}:{link.line})" for link in links))
    said = f"{name} is called from {listed(told, 30)}{undecided}."
    return Part(facts, said, [*places(links), *place_of(asked.node)], [*ends(walked), asked.node], walked)


def callees(asked: Asked) -> Part:
    """Return what a method or function calls, as far as types are written."""
    return _listing(asked, "calls", "calls")


def subclasses(asked: Asked) -> Part:
    """Return what extends, implements or uses a class, interface or trait."""
    return _listing(asked, "classes", "is extended, implemented or used by")


def configured(asked: Asked) -> Part:
    """Return what a configuration key is used by."""
    links = asked.links([asked.node.key], "CONFIGURED_BY", back=True)
    users = list(dict.fromkeys(called(link.source) for link in links))
    facts: dict[str, Json] = {"used_by": list(users)}
    used = f", used by {listed(users, 20)}" if users else ""
    said = f"{called(asked.node.key)} is configured in {asked.node.place or 'no file'}{used}."
    return Part(facts, said, [*place_of(asked.node), *places(links)], [asked.node])


def changes(asked: Asked) -> Part:
    """Return the recorded runs and commits that changed something."""
    keys = [asked.node.key, *([f"file:{asked.node.uri}"] if asked.node.uri else [])]
    links = asked.links(keys, "CHANGED", back=True)
    nodes = asked.nodes(link.source for link in links)
    told = [node.doc or node.name for node in nodes.values()]
    facts: dict[str, Json] = {"changes": [called(key) for key in nodes]}
    if not nodes:
        said = f"No recorded run changed {called(asked.node.key)}; looked in the recorded runs."
        return Part(facts, said, place_of(asked.node), negative=True, looked_in=["the recorded runs"])
    said = f"{called(asked.node.key)} was changed by {listed(told, 20)}."
    return Part(facts, said, [*places(links), *place_of(asked.node)], list(nodes.values()))


def middleware_class(asked: Asked) -> Part:
    """Return the class behind the name of a middleware."""
    links = asked.links([asked.node.key], "HANDLED_BY")
    if not links:
        said = f"{called(asked.node.key)} is a middleware of the framework's own; no class of the project is behind it."
        where = ["bootstrap/app.php", "app/Http/Kernel.php"]
        return Part({"class": None}, said, place_of(asked.node), [asked.node], negative=True, looked_in=where)
    found = asked.nodes(link.target for link in links)
    name = full_name(links[0].target)
    facts: dict[str, Json] = {"class": name, "aliases": {called(link.source): full_name(link.target) for link in links}}
    node = found.get(links[0].target)
    said = (
        f"{called(asked.node.key)} is {name}{at(node) if node else ''}, registered in {links[0].uri}:{links[0].line}."
    )
    evidence = [*places(links), *(place for one in found.values() for place in place_of(one))]
    return Part(facts, said, evidence, [*found.values(), asked.node])


def _listing(asked: Asked, fact: str, verb: str) -> Part:
    walked = asked.walk()
    links = [path.links[-1] for path in walked]
    found = ends(walked)
    facts: dict[str, Json] = {fact: [called(node.key) for node in found]}
    name = called(asked.node.key)
    if not found:
        said = f"{name} {verb} nothing that is written down; looked in all files."
        return Part(facts, said, place_of(asked.node), [asked.node], negative=True, looked_in=["all files"])
    told = [f"{called(node.key)}{at(node)}" for node in found]
    said = f"{name} {verb} {listed(told, 30)}."
    return Part(facts, said, [*places(links), *place_of(asked.node)], [*found, asked.node], walked)


def _registries(asked: Asked) -> list[str]:
    """Return where listeners are registered: providers of events, and the folders that are discovered."""
    providers = [node.uri for node in asked.kind("provider") if "Event" in node.name]
    return looked([*providers, *sorted({folder(node.uri) for node in asked.kind("listener")})])


def _how(links: list[Link]) -> Json:
    return str(links[0].attributes.get("how") or "") or None if links else None


def _titled(node: Node) -> str:
    return called(node.key)
