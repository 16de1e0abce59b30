"""Events, jobs, notifications and mails that are sent, and the calls that send them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.types import Alias, Confidence, Graph, Link, Node, Unresolved
from ragstone_code import program_tree
from ragstone_code.laravel.app import App, class_aliases
from ragstone_code.laravel.class_kinds import is_model, kind_of
from ragstone_code.laravel.class_values import created_class
from ragstone_code.laravel.code_bodies import LocatedCall
from ragstone_code.laravel.dispatch_wrappers import (
    DispatchWrapper,
    find_wrappers,
    wrapped_calls,
)
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
LINK_KINDS: Final = {
    "event": "FIRES",
    "job": "DISPATCHES",
    "notification": "DISPATCHES",
    "mail": "DISPATCHES",
}
"""The kind of link for each kind of message."""
STATIC_CALLS: Final = frozenset(
    (
        "dispatch",
        "dispatchif",
        "dispatchunless",
        "dispatchsync",
        "dispatchnow",
        "dispatchafterresponse",
        "withchain",
        "broadcast",
    )
)
"""Static methods of a message class that send it."""
EVENT_CALLS: Final = frozenset(
    ("event", "fire", "until", "broadcast", "broadcast_if", "broadcast_unless")
)
"""Calls whose argument is an event, whatever its class looks like."""
DISPATCH_CALLS: Final = frozenset(
    (
        "dispatch",
        "dispatchsync",
        "dispatchnow",
        "dispatchafterresponse",
        "dispatchtoqueue",
        "dispatchif",
        "dispatchunless",
        "dispatch_sync",
        "dispatch_now",
        "withchain",
    )
)
"""Calls that send their argument if its class is an event or a job."""
BUS_CALLS: Final = frozenset(("dispatchsync", "dispatchnow"))
"""Methods that only a bus has."""
QUEUE_CALLS: Final = frozenset(
    (
        "push",
        "pushon",
        "later",
        "lateron",
        "bulk",
        "chain",
        "batch",
        "add",
        "prependtochain",
        "appendtochain",
    )
)
"""Calls with common names: they send jobs only if a declared type says that the receiver is a queue or a bus."""
MESSAGE_CALLS: Final = frozenset(
    (
        "notify",
        "notifynow",
        "send",
        "sendnow",
        "queue",
        "queueon",
        "later",
        "lateron",
        "bulk",
    )
)
"""Calls that send a notification or a mail."""
SENDING_CALLS: Final = EVENT_CALLS | DISPATCH_CALLS | QUEUE_CALLS | MESSAGE_CALLS
EVENT_NAMESPACES: Final = ("Illuminate\\Contracts\\Events\\", "Illuminate\\Events\\")
JOB_NAMESPACES: Final = (
    "Illuminate\\Contracts\\Bus\\",
    "Illuminate\\Contracts\\Queue\\",
    "Illuminate\\Bus\\",
    "Illuminate\\Queue\\",
)


def read_dispatches(
    app: App, calls: Sequence[LocatedCall], heard_events: frozenset[str]
) -> Graph:
    """Return links from code to the messages it sends; `heard_events` are the events that have a listener."""
    reader = _DispatchReader(app, heard_events)
    links: dict[tuple[str, str, str, int], Link] = {}
    unresolved: list[Unresolved] = []
    for link in _model_event_links(app):
        links.setdefault((link.kind, link.source, link.target, link.line), link)
    for located in calls:
        for link in reader.read_call(located):
            links.setdefault((link.kind, link.source, link.target, link.line), link)
        unresolved += _computed_classes(located)
    wrappers = find_wrappers(calls, EVENT_CALLS | DISPATCH_CALLS)
    for located, wrapper in wrapped_calls(app, wrappers):
        for link in reader.read_wrapped_call(located, wrapper):
            links.setdefault((link.kind, link.source, link.target, link.line), link)
    nodes = tuple(_target_nodes(app, links.values()))
    aliases = class_aliases(nodes) + _string_event_aliases(nodes)
    return Graph(
        nodes,
        tuple(links.values()),
        aliases,
        tuple(unresolved),
    )


def _computed_classes(located: LocatedCall) -> Iterator[Unresolved]:
    """Yield the messages whose class is a variable: `event(new $class)`."""
    written_name = called_name(located.call)
    name = written_name.lower()
    if name not in EVENT_CALLS | DISPATCH_CALLS | MESSAGE_CALLS:
        return
    kind = "FIRES" if name in EVENT_CALLS else "DISPATCHES"
    for argument in located.call.arguments:
        start, _ = call_chain(argument.value)
        if isinstance(start, program_tree.New) and isinstance(start.of, program_tree.Variable):
            variable = start.of.name.lstrip("$")
            yield Unresolved(
                kind,
                located.body.key,
                written_name,
                f"new ${variable}",
                located.uri,
                located.line,
                "the class is only known when it runs",
            )


def _model_event_links(app: App) -> Iterator[Link]:
    """Yield the events that models fire through their `$dispatchesEvents`."""
    for app_class in app.classes.values():
        for declared in app_class.definition.properties:
            if declared.name.lstrip("$") != "dispatchesEvents" or not is_model(
                app, app_class.name
            ):
                continue
            for entry in array_entries(declared.default):
                event = class_of(entry.value, app_class.name)
                if not event:
                    continue
                yield Link(
                    "FIRES",
                    f"class:{app_class.name}",
                    f"class:{app.declared_name(event)}",
                    app_class.uri,
                    getattr(entry.value, "line", declared.line),
                    attributes={
                        "what": "event",
                        "by": "dispatchesEvents",
                        "on": text_of(entry.key) or "",
                    },
                )


@dataclass(frozen=True)
class _DispatchReader:
    """Finds the messages that a call sends."""

    app: App
    heard_events: frozenset[str]

    def read_call(self, located: LocatedCall) -> Iterator[Link]:
        """Yield a link for each message that a call sends."""
        name = called_name(located.call).lower()
        if name in STATIC_CALLS:
            own = class_of(receiver(located.call), located.body.owner)
            kind, confidence = self._message_kind(own, name)
            if kind in LINK_KINDS and _is_class_call(located.call):
                yield self._link(located, own, kind, confidence)
                if name == "withchain":
                    yield from self._argument_links(located, name)
                return
        if name in SENDING_CALLS:
            yield from self._argument_links(located, name)

    def read_wrapped_call(
        self, located: LocatedCall, wrapper: DispatchWrapper
    ) -> Iterator[Link]:
        """Yield a link for each message that a call sends through a function of the application."""
        name = called_name(wrapper.inner.call).lower()
        sender = self._sender_kind(wrapper.inner)
        for class_name in self._argument_classes(located):
            kind, confidence = self._message_kind(class_name, name, sender)
            if kind in LINK_KINDS:
                yield self._link(located, class_name, kind, confidence)

    def _argument_links(self, located: LocatedCall, name: str) -> Iterator[Link]:
        """Yield a link for each message among the arguments of a call."""
        sender = self._sender_kind(located)
        for class_name in self._argument_classes(located):
            kind, confidence = self._message_kind(class_name, name, sender)
            if kind in LINK_KINDS:
                yield self._link(located, class_name, kind, confidence)
        event = _string_event(located.call, name, sender)
        if event:
            yield Link(
                "FIRES",
                located.body.key,
                f"event:{event}",
                located.uri,
                located.line,
                "declared",
                located.conditional,
            )

    def _argument_classes(self, located: LocatedCall) -> Iterator[str]:
        """Yield the classes of a call's arguments, also through arrays, variables and static factories."""
        for argument in located.call.arguments:
            if isinstance(argument.value, program_tree.Closure):
                continue
            names = located.body.classes_of(argument.value)
            if not names:
                names = self._written_classes(argument.value, located.body.owner)
            yield from (name for name in names if name)

    def _written_classes(self, value: SyntaxNode, owner: str) -> tuple[str, ...]:
        """Return the classes that an argument names: `X::class`, an array of them, or `X::make()`."""
        if isinstance(value, program_tree.Static):
            return (class_of(value, owner),)
        if isinstance(value, program_tree.Collected):
            return tuple(class_of(entry.value, owner) for entry in array_entries(value))
        return (created_class(self.app, value, owner),)

    def _sender_kind(self, located: LocatedCall) -> str:
        """Return `event` or `job` if the receiver's declared type sends such messages, else ''."""
        owner = receiver(located.call)
        start = call_chain(owner)[0] if owner is not None else None
        name = class_of(start, located.body.owner)
        if not name and isinstance(start, program_tree.Variable):
            variable = start.name.lstrip("$")
            if variable != "this":
                name = next(iter(located.body.variable_types.get(variable, ())), "")
        name = name or self.app.field_type(located.body.owner, owner)
        facade = name.removeprefix(FACADES)
        if facade == "Event" or name.startswith(EVENT_NAMESPACES):
            return "event"
        if facade in ("Bus", "Queue") or name.startswith(JOB_NAMESPACES):
            return "job"
        is_own_job = self.app.find_class(name) and kind_of(self.app, name) == "job"
        return "job" if is_own_job else ""

    def _message_kind(
        self, class_name: str, call: str, sender: str = ""
    ) -> tuple[str, Confidence]:
        """Return which kind of message a call sends, and how that is known; '' if it sends none."""
        if not class_name or is_model(self.app, class_name):  # a model can only be a payload
            return "", "declared"
        kind = kind_of(self.app, class_name) if self.app.find_class(class_name) else ""
        if class_name.lower() in self.heard_events and kind not in (
            "job",
            "mail",
            "notification",
        ):
            kind = "event"
        if kind in ("notification", "mail"):
            is_sent = call in MESSAGE_CALLS
        elif kind == "event":
            is_sent = call in EVENT_CALLS | DISPATCH_CALLS
        elif kind == "job":
            is_sent = call in DISPATCH_CALLS or (sender == "job" and call in QUEUE_CALLS)
        else:
            return self._kind_by_call(class_name, call, sender)
        return (kind if is_sent else ""), "declared"

    def _kind_by_call(self, class_name: str, call: str, sender: str) -> tuple[str, Confidence]:
        """Return the kind of message for a class that does not show its kind, by the call alone."""
        is_own = self.app.find_class(class_name) is not None
        if call in EVENT_CALLS or (sender == "event" and call in DISPATCH_CALLS):
            return "event", "declared"
        if call in ("dispatch_sync", "dispatch_now"):
            return "job", "declared"
        if sender == "job" and call in DISPATCH_CALLS | QUEUE_CALLS:
            return "job", "declared"
        if is_own and call in BUS_CALLS:
            return "job", "convention"
        if not is_own and call in STATIC_CALLS and "\\Events\\" in class_name:
            return "event", "heuristic"
        return "", "declared"

    def _link(
        self, located: LocatedCall, class_name: str, kind: str, confidence: Confidence
    ) -> Link:
        """Return the link to one message."""
        return Link(
            LINK_KINDS[kind],
            located.body.key,
            f"class:{self.app.declared_name(class_name)}",
            located.uri,
            located.line,
            confidence,
            located.conditional,
            attributes={"what": kind, "by": called_name(located.call)},
        )


def _is_class_call(call: program_tree.Call) -> bool:
    """Return whether a method is called on a class or on `(new X)`."""
    return isinstance(call.function, program_tree.Static) or isinstance(
        receiver(call), program_tree.New
    )


def _string_event(call: program_tree.Call, name: str, sender: str) -> str:
    """Return the name of an event that is a plain string: `event('user.login')`; '' if there is none."""
    owner = receiver(call)
    if owner is None:
        fires_string = name == "event"
    else:
        fires_string = sender == "event" and name in ("event", "dispatch", "fire", "until")
    text = text_of(argument_at(call, 0)) if fires_string else None
    if not text or "\\" in text or not text.strip():
        return ""
    return text


def _target_nodes(app: App, links: Iterable[Link]) -> Iterator[Node]:
    """Yield a node for each message that a link leads to."""
    seen: set[str] = set()
    for link in links:
        if link.target in seen:
            continue
        seen.add(link.target)
        kind, _, name = link.target.partition(":")
        if kind == "event":
            yield Node(link.target, "event", name, language="php", framework="laravel")
        else:
            yield app.class_node(name, str(link.attributes.get("what", "event")))


def _string_event_aliases(nodes: Iterable[Node]) -> tuple[Alias, ...]:
    """Return the names of events that are plain strings."""
    events = (node for node in nodes if node.key.startswith("event:"))
    return tuple(Alias(node.name, node.key, "event", node.uri) for node in events)
