"""Registrations of event listeners: in `$listen`, `$subscribe`, `Event::listen` and subscriber classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ragstone_code import program_tree
from ragstone_code.laravel.app import App, AppClass
from ragstone_code.laravel.code_bodies import CodeBody, LocatedCall, method_body
from ragstone_code.laravel.discovery import ListenerRegistration
from ragstone_code.laravel.evaluated_listeners import EvaluatedListener, evaluate_listeners
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
)

FACADES: Final = frozenset(("event", "illuminate\\support\\facades\\event"))
DISPATCHERS: Final = frozenset(
    ("illuminate\\contracts\\events\\dispatcher", "illuminate\\events\\dispatcher")
)


@dataclass(frozen=True, slots=True)
class RegistrationMethod:
    """How a listener is registered, and the place that registers its subscriber."""

    how: str = "listen"
    registered: str = ""


_LISTEN: Final = RegistrationMethod()


@dataclass
class ListenerCollector:
    """Collects the listeners of an application and the places that register them."""

    app: App
    registrations: list[ListenerRegistration] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    _evaluated: dict[tuple[str, str], list[EvaluatedListener]] = field(default_factory=dict)

    def event_names(self) -> frozenset[str]:
        """Return the names of all events with listeners, in lower case."""
        return frozenset(registration.event.lower() for registration in self.registrations)

    def add_discovered(self, registrations: list[ListenerRegistration]) -> None:
        """Add listeners of event discovery that are not registered already."""
        existing = {_pair(registration) for registration in self.registrations}
        for registration in registrations:
            if _pair(registration) not in existing:
                self.registrations.append(registration)

    # ── service providers ────────────────────────────────────────────────────────────────────

    def read_provider(self, provider: AppClass) -> None:
        """Add the listeners in `$listen`, `$subscribe` and `listens()` of a service provider."""
        for declaration in provider.definition.properties:
            name = declaration.name.lstrip("$")
            if name not in ("listen", "subscribe"):
                continue
            self.places.append(f"{provider.uri}:{declaration.line}")
            if name == "listen":
                self._read_listener_array(provider, declaration.default)
                continue
            for value in array_values(declaration.default):
                line = _line_of(value, declaration.line)
                subscriber = class_of(value, provider.name)
                self._read_subscriber(subscriber, f"{provider.uri}:{line}")
        method = provider.definition.method("listens")
        if method is not None:
            for value in returned_values(method):
                self._read_listener_array(provider, value)

    def _read_listener_array(self, provider: AppClass, array: SyntaxNode) -> None:
        body = CodeBody(provider.uri, provider.name)
        for event, listeners, line in _events_in(array, provider.name):
            located = LocatedCall(body, _call_at(line), False)
            for listener in _split_listeners(listeners):
                self._add(event, listener, located)

    # ── calls ────────────────────────────────────────────────────────────────────────────────

    def read_call(self, located: LocatedCall) -> None:
        """Add the listeners of one call of `listen` or `subscribe`."""
        name = called_name(located.call)
        if name not in ("listen", "subscribe") or not self._is_dispatcher_call(located):
            return
        self.places.append(f"{located.uri}:{located.line}")
        if name == "subscribe":
            for value in array_values(argument_at(located.call, 0)):
                line = _line_of(value, located.line)
                subscriber = class_of(value, located.body.owner)
                self._read_subscriber(subscriber, f"{located.uri}:{line}")
        elif not _is_in_subscriber(located.body):
            self._read_listen_call(located)

    def _is_dispatcher_call(self, located: LocatedCall) -> bool:
        """Return whether a call goes to the event dispatcher: the facade, or a value with the dispatcher's type."""
        called_on = receiver(located.call)
        if called_on is None:
            root = None
        else:
            root, _ = call_chain(called_on)
        body = located.body
        if isinstance(root, program_tree.ClassName):
            return root.name.lower() in FACADES
        if isinstance(root, program_tree.Variable):
            name = root.name.lstrip("$")
            types = body.variable_types.get(name, ())
            if any(type_name.lower() in DISPATCHERS for type_name in types):
                return True
            return _is_in_subscriber(body) and name != "this"
        if isinstance(root, program_tree.Subscript):
            return text_of(root.key) == "events"
        return self.app.field_type(body.owner, root).lower() in DISPATCHERS

    def _read_listen_call(
        self, located: LocatedCall, method: RegistrationMethod = _LISTEN
    ) -> None:
        """Add the listener of one `listen(…)`; a closure without an event name takes it from its parameter type."""
        events = argument_at(located.call, 0, "events")
        listener = argument_at(located.call, 1, "listener")
        if listener is None:
            for event_type in _parameter_types(events):
                if event_type:
                    self._add(event_type, events, located, method)
            return
        for event in array_values(events):
            name = text_of(event, located.body.owner)
            if name and _is_written(listener, located.body.owner):
                self._add(name, listener, located, method)
            elif not self._add_evaluated(located, method):
                place = f"{located.uri}:{located.line}"
                unknown = f"a listener of {name}" if name else "the event that is listened to"
                self.app.remarks.append(f"{place}: {unknown} is not written out")

    def _add_evaluated(self, located: LocatedCall, method: RegistrationMethod) -> bool:
        """Add the listeners that one call registers with computed names; return whether there are any."""
        body = located.body
        key = (body.uri, body.key)
        if key not in self._evaluated:
            self._evaluated[key] = evaluate_listeners(self.app.world, body)
        listeners = [
            listener for listener in self._evaluated[key] if listener.site.line == located.line
        ]
        for listener in listeners:
            registration = ListenerRegistration(
                self.app.declared_name(listener.event),
                self.app.declared_name(listener.listener),
                listener.method,
                located.uri,
                located.line,
                method.how,
                method.registered,
                located.conditional,
            )
            self.registrations.append(registration)
        return bool(listeners)

    # ── subscribers ──────────────────────────────────────────────────────────────────────────

    def _read_subscriber(self, name: str, registered: str) -> None:
        """Add the listeners of a subscriber class: the `listen` calls and the array of its `subscribe` method."""
        subscribe_method = self.app.find_method(name, "subscribe") if name else None
        if subscribe_method is None:
            return
        declaring_class, function = subscribe_method
        method = RegistrationMethod("subscribe", registered)
        body = method_body(
            declaring_class,
            function,
            self.app.declared_name(name),
        )
        for call, conditional in body.calls:
            located = LocatedCall(body, call, conditional)
            if called_name(call) == "listen" and self._is_dispatcher_call(located):
                self._read_listen_call(located, method)
        for value in returned_values(function):
            for event, listeners, line in _events_in(value, body.owner):
                located = LocatedCall(body, _call_at(line), False)
                for listener in _split_listeners(listeners):
                    self._add(
                        event,
                        _qualify_method(listener, body.owner, line),
                        located,
                        method,
                    )

    def _add(
        self,
        event: str,
        listener: SyntaxNode,
        located: LocatedCall,
        method: RegistrationMethod = _LISTEN,
    ) -> None:
        """Add one listener of an event; add a remark if the listener is unknown."""
        place = f"{located.uri}:{located.line}"
        name, handler = _listener_name(listener, located)
        if not name:
            self.app.remarks.append(f"{place}: a listener of {event} is not written out")
            return
        registration = ListenerRegistration(
            event,
            self.app.declared_name(name),
            handler,
            located.uri,
            located.line,
            method.how,
            method.registered,
            located.conditional,
        )
        self.registrations.append(registration)


def _pair(registration: ListenerRegistration) -> tuple[str, str]:
    return registration.event.lower(), registration.listener.lower()


# ── reading of arrays and listeners ──────────────────────────────────────────────────────────


def _call_at(line: int) -> program_tree.Call:
    """Return an empty call on a line, for listeners that an array registers."""
    return program_tree.Call(program_tree.FunctionName("", line), (), line)


def _line_of(value: SyntaxNode, default: int) -> int:
    """Return the line of a value, or the default if it has none."""
    return getattr(value, "line", 0) or default


def _is_in_subscriber(body: CodeBody) -> bool:
    """Return whether code is in a method `subscribe`."""
    return body.function is not None and body.function.name == "subscribe"


def _events_in(array: SyntaxNode, owner: str) -> Iterator[tuple[str, SyntaxNode, int]]:
    """Yield the keys of an array as events, each with its value and line."""
    for entry in array_entries(array):
        if entry.key is None:
            continue
        name = text_of(entry.key, owner)
        if name:
            line = _line_of(entry.key, _line_of(entry.value, 0))
            yield name, entry.value, line


def _split_listeners(value: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield the listeners in an array entry: a single listener, or each listener of a list."""
    if isinstance(value, program_tree.Collected) and not _is_callable_array(value):
        for entry in value.entries:
            yield entry.value
    elif value is not None:
        yield value


def _is_written(listener: SyntaxNode, owner: str) -> bool:
    """Return whether a listener is spelled out: a class, a text, a callable array or a closure."""
    if isinstance(listener, program_tree.Closure) or _is_queueable_closure(listener):
        return True
    return _is_callable_array(listener) or bool(text_of(listener, owner))


def _is_callable_array(value: SyntaxNode) -> bool:
    """Return whether an array is a class and the name of its method: `[Listener::class, 'method']`."""
    if not isinstance(value, program_tree.Collected):
        return False
    values = array_values(value)
    if len(values) != 2:
        return False
    target, method = values
    if not isinstance(method, program_tree.Literal):
        return False
    return isinstance(target, program_tree.Variable) or bool(class_of(target, "self"))


def _listener_name(listener: SyntaxNode, located: LocatedCall) -> tuple[str, str]:
    """Return the class and the method of a listener; a closure is named by its place."""
    owner = located.body.owner
    if isinstance(listener, program_tree.Collected) and _is_callable_array(listener):
        first, second = array_values(listener)
        name = class_of(first, owner)
        if not name and isinstance(first, program_tree.Variable):
            name = owner
        return name, str(second.value)
    if isinstance(listener, program_tree.Closure) or _is_queueable_closure(listener):
        return f"{located.uri}:{located.line}", ""
    name, _, method = (text_of(listener, owner) or "").partition("@")
    return name, method


def _qualify_method(listener: SyntaxNode, owner: str, line: int) -> SyntaxNode:
    """Return a listener of a subscriber; a bare method name becomes `Subscriber@method`."""
    name = text_of(listener, owner)
    if name is None or "\\" in name or "@" in name:
        return listener
    return program_tree.Literal(f"{owner}@{name}", line)


def _is_queueable_closure(value: SyntaxNode) -> bool:
    """Return whether a value is `queueable(function …)`."""
    _, calls = call_chain(value)
    return bool(calls) and called_name(calls[0]) == "queueable"


def _parameter_types(value: SyntaxNode) -> tuple[str, ...]:
    """Return the types of the first parameter of a closure, or of the closure in a chain's first call."""
    candidates = [value]
    _, calls = call_chain(value)
    if calls:
        candidates += [argument.value for argument in calls[0].arguments]
    closures = [
        candidate for candidate in candidates if isinstance(candidate, program_tree.Closure)
    ]
    if not closures or not closures[0].function.parameters:
        return ()
    parameter = closures[0].function.parameters[0]
    return tuple(parameter.type.names) if parameter.type else ()
