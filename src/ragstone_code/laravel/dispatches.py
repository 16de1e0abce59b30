"""What is sent off and from where: events, jobs, notifications and mails, by the calls that send them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ragstone.code import tree
from ragstone.types import Alias, Confidence, Graph, Link, Node, Unresolved
from ragstone_code.laravel.app import App, class_aliases
from ragstone_code.laravel.code_bodies import LocatedCall
from ragstone_code.laravel.kinds import is_model, kind_of
from ragstone_code.laravel.syntax import (
    SyntaxNode,
    argument_at,
    array_entries,
    call_chain,
    called_name,
    class_of,
    receiver,
    text_of,
)

FACADES: Final = "Illuminate\\Support\\Facades\\"
STATIC: Final = frozenset(
    ("dispatch", "dispatchif", "dispatchunless", "dispatchsync", "dispatchnow", "dispatchafterresponse", "withchain",
     "broadcast")
)  # fmt: skip
"""Static calls on what is sent itself."""
SENT: Final = {"event": "FIRES", "job": "DISPATCHES", "notification": "DISPATCHES", "mail": "DISPATCHES"}
FIRING: Final = frozenset(("event", "fire", "until", "broadcast", "broadcast_if", "broadcast_unless"))
"""Calls whose argument is an event whatever its class says."""
DISPATCHING: Final = frozenset(
    ("dispatch", "dispatchsync", "dispatchnow", "dispatchafterresponse", "dispatchtoqueue", "dispatchif",
     "dispatchunless", "dispatch_sync", "dispatch_now", "withchain")
)  # fmt: skip
"""Calls whose argument is sent where its class is one that can be."""
QUEUEING: Final = frozenset(("push", "pushon", "later", "lateron", "bulk", "chain", "batch", "add", "prependtochain",
                             "appendtochain"))  # fmt: skip
"""Calls that other things have too: they send jobs where a written type says what they are called on."""
LETTERS: Final = frozenset(("notify", "notifynow", "send", "sendnow", "queue", "queueon", "later", "lateron", "bulk"))
TAKING: Final = FIRING | DISPATCHING | QUEUEING | LETTERS
OF_EVENTS: Final = ("Illuminate\\Contracts\\Events\\", "Illuminate\\Events\\")
OF_JOBS: Final = (
    "Illuminate\\Contracts\\Bus\\",
    "Illuminate\\Contracts\\Queue\\",
    "Illuminate\\Bus\\",
    "Illuminate\\Queue\\",
)


def sent(app: App, sites: Sequence[LocatedCall], heard: frozenset[str]) -> Graph:
    """Return what sends events, jobs, notifications and mails; `heard` are the events that something listens to."""
    links: dict[tuple[str, str, str, int], Link] = {}
    for link in (*_of_models(app), *(link for site in sites for link in _links(app, site, heard))):
        links.setdefault((link.kind, link.source, link.target, link.line), link)
    nodes = tuple(_nodes(app, links.values()))
    unknown = tuple(one for site in sites for one in _computed(site))
    return Graph(nodes, tuple(links.values()), class_aliases(nodes) + _named(nodes), unknown)


def _computed(site: LocatedCall) -> Iterator[Unresolved]:
    """Yield what is sent and made of a class that is only known when it runs: `event(new $class)`."""
    name = called_name(site.call).lower()
    if name not in FIRING | DISPATCHING | LETTERS:
        return
    for argument in site.call.arguments:
        root, _ = call_chain(argument.value)
        if isinstance(root, tree.New) and isinstance(root.of, tree.Variable):
            kind = "FIRES" if name in FIRING else "DISPATCHES"
            yield Unresolved(
                kind, site.body.key, called_name(site.call), f"new ${root.of.name.lstrip('$')}", site.uri, site.line,
                "the class is only known when it runs",
            )  # fmt: skip


def _of_models(app: App) -> Iterator[Link]:
    """Yield the events that models fire by themselves: `$dispatchesEvents`."""
    for known in app.classes.values():
        for one in known.definition.properties:
            if one.name.lstrip("$") != "dispatchesEvents" or not is_model(app, known.name):
                continue
            for entry in array_entries(one.default):
                event = class_of(entry.value, known.name)
                if event:
                    yield Link(
                        "FIRES", f"class:{known.name}", f"class:{app.declared_name(event)}", known.uri,
                        getattr(entry.value, "line", one.line),
                        attributes={"what": "event", "by": "dispatchesEvents", "on": text_of(entry.key) or ""},
                    )  # fmt: skip


def _links(app: App, site: LocatedCall, heard: frozenset[str]) -> Iterator[Link]:
    """Yield what one call sends."""
    name = called_name(site.call).lower()
    if name in STATIC:
        own = class_of(receiver(site.call), site.body.owner)
        kind, sure = _sort(app, own, name, heard=heard)
        if own and kind in SENT and _is_class_call(site.call):
            yield _link(app, site, own, kind, sure)
            yield from _links_of(app, site, name, heard) if name == "withchain" else ()
            return
    if name in TAKING:
        yield from _links_of(app, site, name, heard)


def _links_of(app: App, site: LocatedCall, name: str, heard: frozenset[str]) -> Iterator[Link]:
    """Yield what a call is given to send."""
    at = receiver(site.call)
    through = _through(app, site, at)
    for own in _arguments(site, site.call):
        kind, sure = _sort(app, own, name, heard=heard, through=through)
        if kind in SENT:
            yield _link(app, site, own, kind, sure)
    if name in ("event", "dispatch", "fire", "until") and (at is None or through == "event"):
        text = text_of(argument_at(site.call, 0))
        if text and "\\" not in text and text.strip() and (at is not None or name == "event"):
            yield Link("FIRES", site.body.key, f"event:{text}", site.uri, site.line, "declared", site.conditional)


def _is_class_call(call: tree.Call) -> bool:
    """Return whether it is called on a class, or on `(new X)`."""
    return isinstance(call.function, tree.Static) or isinstance(receiver(call), tree.New)


def _arguments(site: LocatedCall, call: tree.Call) -> Iterator[str]:
    """Yield the classes of what a call is given, lists and variables looked into."""
    for argument in call.arguments:
        value: SyntaxNode = argument.value
        if isinstance(value, tree.Closure):
            continue
        found = site.body.classes_of(value)
        if not found and isinstance(value, tree.Static):
            found = tuple(name for name in (class_of(value, site.body.owner),) if name)
        if not found and isinstance(value, tree.Collected):
            found = tuple(name for one in array_entries(value) if (name := class_of(one.value, site.body.owner)))
        yield from found


def _through(app: App, site: LocatedCall, at: SyntaxNode | None) -> str:
    """Return what the receiver is a sender of, by a written type: event or job; nothing where none says so."""
    root = call_chain(at)[0] if at is not None else None
    name = class_of(root, site.body.owner)
    if not name and isinstance(root, tree.Variable) and root.name.lstrip("$") != "this":
        name = next(iter(site.body.variable_types.get(root.name.lstrip("$"), ())), "")
    name = name or app.field_type(site.body.owner, at)
    short = name.removeprefix(FACADES)
    if short == "Event" or name.startswith(OF_EVENTS):
        return "event"
    if short in ("Bus", "Queue") or name.startswith(OF_JOBS):
        return "job"
    return "job" if app.find_class(name) and kind_of(app, name) == "job" else ""


def _sort(app: App, own: str, name: str, *, heard: frozenset[str], through: str = "") -> tuple[str, Confidence]:
    """Return what is sent, by the class and by the call, and how that is known; nothing where it is not sent."""
    if not own:
        return "", "declared"
    kind = kind_of(app, own) if app.find_class(own) else ""
    if own.lower() in heard and kind not in ("job", "mail", "notification"):
        kind = "event"
    if kind in ("notification", "mail"):
        fits = name in LETTERS
    elif kind == "event":
        fits = name in FIRING | DISPATCHING
    elif kind == "job":
        fits = name in DISPATCHING or (through == "job" and name in QUEUEING)
    else:
        return _unknown(app, own, name, through)
    return (kind if fits else ""), "declared"


def _unknown(app: App, own: str, name: str, through: str) -> tuple[str, Confidence]:
    """Return what a class that says nothing of itself is sent as, by the call alone."""
    if name in FIRING or (through == "event" and name in DISPATCHING):
        return "event", "declared"
    if name in ("dispatch_sync", "dispatch_now") or (through == "job" and name in DISPATCHING | QUEUEING):
        return "job", "declared"
    if name in STATIC and not app.find_class(own) and "\\Events\\" in own:
        return "event", "heuristic"
    return "", "declared"


def _link(app: App, site: LocatedCall, own: str, kind: str, sure: Confidence) -> Link:
    """Return the link of one thing that is sent."""
    return Link(
        SENT[kind], site.body.key, f"class:{app.declared_name(own)}", site.uri, site.line, sure, site.conditional,
        attributes={"what": kind, "by": called_name(site.call)},
    )  # fmt: skip


def _nodes(app: App, links: Iterable[Link]) -> Iterator[Node]:
    """Yield the nodes of what is sent."""
    seen: set[str] = set()
    for link in links:
        if link.target in seen:
            continue
        seen.add(link.target)
        if link.target.startswith("event:"):
            yield Node(link.target, "event", link.target[6:], language="php", framework="laravel")
        else:
            yield app.class_node(link.target[6:], str(link.attributes.get("what", "event")))


def _named(nodes: Iterable[Node]) -> tuple[Alias, ...]:
    """Return the names of events that are plain strings."""
    return tuple(Alias(node.name, node.key, "event", node.uri) for node in nodes if node.key.startswith("event:"))
