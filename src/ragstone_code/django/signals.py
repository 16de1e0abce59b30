"""Django's signals and Celery's tasks: senders, receivers and dispatches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ragstone.types import Json, Node
from ragstone_code.django.model_classes import is_model
from ragstone_code.django.models import DjangoModels
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.python.values import (
    BoundMember,
    CallResult,
    ClassValue,
    ExternalName,
    FunctionValue,
    Value,
    full_name,
)
from ragstone_code.python_project import Program
from ragstone_code.route_definition import Location

_SIGNAL_CLASSES: Final = ("django.dispatch.Signal", "django.dispatch.dispatcher.Signal")
_SEND_METHODS: Final = ("send", "send_robust", "asend")
_TASK_DECORATORS: Final = (
    "celery.shared_task",
    "celery.task",
    "celery.app.shared_task",
    "celery.Celery.task",
    "celery.app.task",
)
_DISPATCH_METHODS: Final = frozenset(
    ("delay", "apply_async", "delay_on_commit", "send_with_options", "enqueue")
)


class SignalReader:
    """Adds signals, their receivers and senders, and tasks to a graph."""

    def __init__(
        self,
        program: Program,
        builder: GraphBuilder,
        models: DjangoModels,
    ) -> None:
        self.program = program
        self.builder = builder
        self.models = models
        self._signals: dict[int, str] = {}
        """Full names of the project's signals by object identity."""
        self._tasks: set[int] = set()
        """Identities of the task functions."""

    def read(self) -> None:
        """Add all signals and tasks."""
        self._call_ready_methods()
        self._signals = dict(self._find_signals())
        for function in self.program.functions():
            if _is_task(function):
                self._tasks.add(id(function))
                link_models(
                    self.program,
                    self.builder,
                    function,
                    self.builder.add_function(function, "job"),
                )
        for function in list(self.program.functions()):
            self._add_decorated_receiver(function)
            self._add_sent_messages(function)
        for call in list(self.program.interpreter.objects):
            self._add_connected_receiver(call)

    def _call_ready_methods(self) -> None:
        """Call the `ready` methods of the apps, because they connect signals."""
        for class_value in self.program.classes():
            ready = class_value.attributes.get("ready")
            if isinstance(ready, FunctionValue) and "django.apps.AppConfig" in set(
                class_value.type_names()
            ):
                app_config = CallResult(
                    class_value.full,
                    [],
                    {},
                    class_value.uri,
                    class_value.line,
                    on=class_value,
                )
                self.program.call(ready, app_config)

    def _find_signals(self) -> Iterator[tuple[int, str]]:
        """Yield the identity and the full name of the project's signals."""
        for module in self.program.modules():
            for name, value in module.names.items():
                if (
                    isinstance(value, CallResult)
                    and value.callee in _SIGNAL_CLASSES
                    and value.uri == module.uri
                ):
                    yield id(value), f"{module.name}.{name}"

    def _add_signal(self, signal: Value) -> str:
        """Add the node of a signal and return its key; an empty key if the signal is unknown."""
        full = self._signals.get(id(signal), "") or full_name(signal)
        if not full:
            return ""
        uri, line = "", 0
        if isinstance(signal, CallResult):
            uri = signal.uri
            line = signal.line
        short_name = full.rpartition(".")[2]
        node = Node(
            f"event:{full}",
            "event",
            short_name,
            uri,
            line,
            line,
            language="python",
            framework="django",
        )
        key = self.builder.add_node(node)
        for name in (full, short_name):
            self.builder.add_alias(name, key, "event", uri)
        return key

    # ── receivers ─────────────────────────────────────────────────────────────────────────────────

    def _add_decorated_receiver(self, function: FunctionValue) -> None:
        """Add the signals of a function's `receiver` decorators."""
        for decoration in function.decorations:
            decorator = decoration.value
            if not isinstance(decorator, CallResult) or not decorator.callee.endswith(
                "dispatch.receiver"
            ):
                continue
            signals = decorator.argument(0, "signal")
            if not isinstance(signals, list | tuple):
                signals = [signals]
            for signal in signals:
                location = (function.uri, decoration.line)
                self._add_receiver(
                    function,
                    signal,
                    decorator.kwargs.get("sender"),
                    "receiver",
                    location,
                )

    def _add_connected_receiver(self, call: CallResult) -> None:
        """Add the receiver of a `signal.connect(receiver)` call."""
        receiver = call.argument(0, "receiver")
        if isinstance(receiver, BoundMember):
            receiver = receiver.function
        if not call.callee.endswith(".connect") or not isinstance(receiver, FunctionValue):
            return
        signal: Value = ExternalName(call.callee.removesuffix(".connect"))
        if call.method:
            signal = call.on
        if "signal" in call.callee.lower() or id(signal) in self._signals:
            sender = call.argument(1, "sender")
            self._add_receiver(
                receiver,
                signal,
                sender,
                "connect",
                (call.uri, call.line),
            )

    def _add_receiver(
        self,
        function: FunctionValue,
        signal: Value,
        sender: Value,
        how: str,
        location: Location,
    ) -> None:
        signal_key = self._add_signal(signal)
        if not signal_key:
            return
        function_key = self.builder.add_function(function)
        model = self._sending_model(sender)
        sender_name = full_name(sender) or None
        if model is not None:
            sender_name = model.full
        attributes: dict[str, Json] = {"how": how, "name": sender_name, "sender": sender_name}
        self.builder.add_link(
            "LISTENS",
            (function_key, signal_key),
            location,
            attributes,
            how="declared",
        )
        if model is not None:
            ends = (self.builder.add_class(model, "model"), function_key)
            self.builder.add_link(
                "OBSERVED_BY",
                ends,
                location,
                {"how": how, "name": signal_key},
                how="declared",
            )

    def _sending_model(self, sender: Value) -> ClassValue | None:
        if isinstance(sender, str):
            return self.models.by_label.get(sender.lower())
        return self.models.model_of(sender)

    # ── senders ───────────────────────────────────────────────────────────────────────────────────

    def _add_sent_messages(self, function: FunctionValue) -> None:
        """Add the signals that a function sends and the tasks that it dispatches."""
        for call, target, method in self.program.calls_in(function):
            location = (function.uri, call.line)
            if method in _SEND_METHODS and id(target) in self._signals:
                ends = (self.builder.add_function(function), self._add_signal(target))
                self.builder.add_link("FIRES", ends, location, how="declared")
            elif (
                method in _DISPATCH_METHODS
                and isinstance(target, FunctionValue)
                and id(target) in self._tasks
            ):
                ends = (
                    self.builder.add_function(function),
                    self.builder.add_function(target, "job"),
                )
                self.builder.add_link(
                    "DISPATCHES",
                    ends,
                    location,
                    {"how": method},
                    how="declared",
                )


def _is_task(function: FunctionValue) -> bool:
    """Return whether a decorator makes a function a Celery task."""
    for decoration in function.decorations:
        name = full_name(decoration.value)
        if name in _TASK_DECORATORS or name.endswith("Celery.task"):
            return True
    return False


def link_models(
    program: Program,
    builder: GraphBuilder,
    function: FunctionValue,
    key: str,
) -> None:
    """Link a node to the models that a function body names."""
    for value, line in program.names_in(function):
        if is_model(value):
            ends = (key, builder.add_class(value, "model"))
            builder.add_link("USES_MODEL", ends, (function.uri, line))
