"""What else Django ties together: signals, the admin, commands, and Celery's tasks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ragstone.types import Node
from ragstone_code.django.models import Models, is_model
from ragstone_code.graph_builder import GraphBuilder, Location
from ragstone_code.program import Program
from ragstone_code.python.values import (
    BoundMember,
    CallResult,
    ClassValue,
    ExternalName,
    FunctionValue,
    Value,
    full_name,
)

SIGNAL: Final = ("django.dispatch.Signal", "django.dispatch.dispatcher.Signal")
TASKS: Final = ("celery.shared_task", "celery.task", "celery.app.shared_task", "celery.Celery.task", "celery.app.task")
SENDING: Final = frozenset(("delay", "apply_async", "delay_on_commit", "send_with_options", "enqueue"))


@dataclass
class Wiring:
    """Reads all of it."""

    program: Program
    builder: GraphBuilder
    models: Models

    def read(self) -> None:
        """Keep it."""
        self._ready()
        self.signals = dict(self._signals())
        self.tasks = {id(one): one for one in self.program.functions() if _is_task(one)}
        for one in self.tasks.values():
            self._task(one)
        for function in list(self.program.functions()):
            self._received(function)
            self._sent(function)
        for made in list(self.program.interpreter.objects):
            self._connected(made)
            self._registered(made)
        self._commands()

    def _ready(self) -> None:
        """Follow what apps do when they are ready: that is where signals are connected."""
        for one in self.program.classes():
            ready = one.attributes.get("ready")
            if isinstance(ready, FunctionValue) and "django.apps.AppConfig" in set(one.type_names()):
                self.program.call(ready, _object(one))

    # ── signals ───────────────────────────────────────────────────────────────────────────────────

    def _signals(self) -> Iterator[tuple[int, str]]:
        """Yield the project's own signals by identity, with their full names."""
        for module in self.program.modules():
            for name, value in module.names.items():
                if isinstance(value, CallResult) and value.callee in SIGNAL and value.uri == module.uri:
                    yield id(value), f"{module.name}.{name}"

    def _event(self, signal: Value) -> str:
        """Return the key of a signal's node."""
        full = self.signals.get(id(signal), "") or full_name(signal)
        if not full:
            return ""
        own = signal if isinstance(signal, CallResult) else None
        place = (own.uri, own.line, own.line) if own is not None else ("", 0, 0)
        key = self.builder.add_node(
            Node(f"event:{full}", "event", full.rpartition(".")[2], *place, "", "", "python", "django")
        )
        for name in (full, full.rpartition(".")[2]):
            self.builder.add_alias(name, key, "event", place[0])
        return key

    def _received(self, function: FunctionValue) -> None:
        for one in function.decorations:
            if isinstance(one.value, CallResult) and one.value.callee.endswith("dispatch.receiver"):
                given = one.value.argument(0, "signal")
                for signal in given if isinstance(given, list | tuple) else [given]:
                    self._heard(
                        function, signal, (one.value.kwargs.get("sender"), "receiver", (function.uri, one.line))
                    )

    def _connected(self, made: CallResult) -> None:
        function = made.argument(0, "receiver")
        if isinstance(function, BoundMember):
            function = function.function
        if not made.callee.endswith(".connect") or not isinstance(function, FunctionValue):
            return
        signal = made.on if made.method else ExternalName(made.callee.removesuffix(".connect"))
        if "signal" in made.callee.lower() or id(signal) in self.signals:
            self._heard(function, signal, (made.argument(1, "sender"), "connect", (made.uri, made.line)))

    def _heard(self, function: FunctionValue, signal: Value, more: tuple[Value, str, Location]) -> None:
        sender, how, place = more
        event = self._event(signal)
        if not event:
            return
        key = self.builder.add_function(function)
        model = self.models.of(sender) or (
            self.models.by_label.get(sender.lower()) if isinstance(sender, str) else None
        )
        named = model.full if model is not None else full_name(sender) or None
        self.builder.add_link(
            "LISTENS", (key, event), place, {"how": how, "name": named, "sender": named}, how="declared"
        )
        if model is not None:
            watched = self.builder.add_class(model, "model")
            self.builder.add_link("OBSERVED_BY", (watched, key), place, {"how": how, "name": event}, how="declared")

    def _sent(self, function: FunctionValue) -> None:
        """Keep which signals and tasks a function sends."""
        for call, value, name in self.program.calls_in(function):
            place = (function.uri, call.line)
            if name in ("send", "send_robust", "asend") and id(value) in self.signals:
                source = self.builder.add_function(function)
                self.builder.add_link("FIRES", (source, self._event(value)), place, how="declared")
            elif name in SENDING and isinstance(value, FunctionValue) and id(value) in self.tasks:
                ends = (self.builder.add_function(function), self.builder.add_function(value, "job"))
                self.builder.add_link("DISPATCHES", ends, place, {"how": name}, how="declared")

    # ── tasks, admin, commands ────────────────────────────────────────────────────────────────────

    def _task(self, one: FunctionValue) -> None:
        self._uses(one, self.builder.add_function(one, "job"))

    def _registered(self, made: CallResult) -> None:
        """Keep what the admin shows: by decorator, or by a call."""
        place = (made.uri, made.line)
        if made.callee.endswith("admin.register"):
            admins = [one for one in made.applied if isinstance(one, ClassValue)]
            models = made.args
        elif made.callee.endswith("admin.site.register"):
            given = made.argument(1, "admin_class")
            admins = [given] if isinstance(given, ClassValue) else []
            first = made.argument(0, "model_or_iterable")
            models = list(first) if isinstance(first, list | tuple) else [first]
        else:
            return
        for admin in admins:
            key = self.builder.add_class(admin, "admin")
            for model in models:
                if is_model(model):
                    ends = (key, self.builder.add_class(model, "model"))
                    self.builder.add_link("USES_MODEL", ends, place, {"how": "admin"}, how="declared")

    def _commands(self) -> None:
        for one in self.program.classes():
            folder, _, name = one.uri.rpartition("/")
            if one.definition.short == "Command" and folder.endswith("management/commands"):
                command = name.removesuffix(".py")
                key = self.builder.add_class(one, "command", command=command)
                self.builder.add_alias(command, key, "command", one.uri)
                handle = one.attributes.get("handle")
                if isinstance(handle, FunctionValue):
                    self._uses(handle, key)

    def _uses(self, function: FunctionValue, key: str) -> None:
        for value, line in self.program.names_in(function):
            if is_model(value):
                self.builder.add_link("USES_MODEL", (key, self.builder.add_class(value, "model")), (function.uri, line))


def _is_task(one: FunctionValue) -> bool:
    """Return whether a function is a task of Celery's, by what decorates it."""
    names = [full_name(each.value) for each in one.decorations]
    return any(name in TASKS or name.endswith("Celery.task") for name in names)


def _object(one: ClassValue) -> CallResult:
    """Return an object of a class whose making was not followed."""
    return CallResult(one.full, [], {}, one.uri, one.line, on=one)
