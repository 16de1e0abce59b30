"""Listeners that code registers with computed names, for example in a loop over a list of events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ragstone_code import program_tree
from ragstone_code.evaluate import (
    PHP,
    Arguments,
    Array,
    CallSite,
    ClassRef,
    Evaluator,
    Instance,
    Lambda,
    Recorder,
    Stubs,
    Unknown,
    Value,
    first_known,
)
from ragstone_code.laravel.code_bodies import CodeBody
from ragstone_code.project_files import World

DISPATCHER_CLASSES: Final = (
    "event",
    "illuminate\\support\\facades\\event",
    "illuminate\\contracts\\events\\dispatcher",
    "illuminate\\events\\dispatcher",
)


@dataclass(frozen=True, slots=True)
class EvaluatedListener:
    """An event and its listener, with the call that registers it."""

    event: str
    listener: str
    method: str
    site: CallSite


@dataclass
class DispatcherRecorder(Recorder):
    """Stands for the event dispatcher and records its `listen` calls."""

    listeners: list[EvaluatedListener] = field(default_factory=list)

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Record a `listen` call; every other call returns an unknown value."""
        if name == "listen":
            listener, method = _listener_name(arguments.at(1, "listener"), site)
            for event in _texts(arguments.at(0, "events")):
                if listener:
                    self.listeners.append(EvaluatedListener(event, listener, method, site))
        return Unknown(f"{name}() of the dispatcher is not followed")


def evaluate_listeners(world: World, body: CodeBody) -> list[EvaluatedListener]:
    """Return the listeners that a method registers, with the values that its variables have."""
    function = body.function
    if function is None or not body.owner:
        return []
    recorder = DispatcherRecorder()
    evaluator = Evaluator(
        world, PHP, Stubs(classes=dict.fromkeys(DISPATCHER_CLASSES, recorder))
    )
    arguments = [_argument(parameter, recorder) for parameter in function.parameters]
    evaluator.call_method(
        evaluator.make(body.owner), function.name, arguments, CallSite(body.uri, function.line)
    )
    return recorder.listeners


def _argument(parameter: program_tree.Parameter, recorder: DispatcherRecorder) -> Value:
    """Return the recorder for a parameter that can be the dispatcher: it has that type or none."""
    names = [name.lower() for name in parameter.type.names] if parameter.type else []
    if not names or any(name in DISPATCHER_CLASSES for name in names):
        return recorder
    return Unknown(f"${parameter.name} is not known")


def _texts(value: Value) -> list[str]:
    """Return the names of events in a value: one name, a class, or an array of them."""
    known = first_known(value)
    if isinstance(known, Array):
        texts: list[str] = []
        for item in known.items.values():
            texts += _texts(item)
        return texts
    if isinstance(known, ClassRef):
        return [known.name]
    return [known.lstrip("\\")] if isinstance(known, str) and known else []


def _listener_name(value: Value, site: CallSite) -> tuple[str, str]:
    """Return the class and the method of a listener; a closure is named by its place."""
    known = first_known(value)
    if isinstance(known, Lambda):
        return f"{site.uri}:{site.line}", ""
    if isinstance(known, Array):
        target, method = (*known.items.values(), None, None)[:2]
        name, _ = _listener_name(target, site)
        return name, method if isinstance(method, str) else ""
    if isinstance(known, (Instance, ClassRef)):
        return known.name, ""
    if not isinstance(known, str):
        return "", ""
    name, _, method_name = known.lstrip("\\").partition("@")
    return name, method_name
