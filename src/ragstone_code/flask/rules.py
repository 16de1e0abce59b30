"""What one application or blueprint registers by itself: rules with their endpoint, view and methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ragstone_code.graph_builder import Location, RouteGuard, guard_from_value
from ragstone_code.python.values import BoundMember, CallResult, ClassValue, FunctionValue, Value, full_name

VERBS: Final = ("get", "post", "put", "patch", "delete")
FORMS: Final = frozenset(
    ("flask_wtf.FlaskForm", "flask_wtf.Form", "wtforms.Form", "wtforms.form.Form", "marshmallow.Schema")
)
REGISTERING: Final = frozenset((*VERBS, "route", "add_url_rule", "endpoint", "before_request", "before_app_request"))
PLAIN: Final = frozenset(
    ("staticmethod", "classmethod", "property", "abc.abstractmethod", "functools.wraps", "override")
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, before the prefixes of what it stands in."""

    rule: Value
    endpoint: str
    handler: Value
    methods: tuple[str, ...]
    place: Location
    conditional: bool = False


def rules(owner: CallResult) -> Iterator[Rule]:
    """Yield the rules of an application or blueprint, in their order."""
    for call in owner.calls:
        if call.method == "route" or call.method in VERBS:
            for view in call.applied:
                yield _rule(call, view, call.kwargs.get("endpoint"))
        elif call.method == "add_url_rule":
            yield _rule(call, call.argument(2, "view_func"), call.argument(1, "endpoint"))


def _rule(call: CallResult, view: Value, endpoint: Value) -> Rule:
    handler = view_of(view)
    name = endpoint if isinstance(endpoint, str) else _named(view)
    place = (call.uri, call.line)
    return Rule(call.argument(0, "rule"), name, handler, _methods(call, handler), place, call.conditional)


def view_of(view: Value) -> Value:
    """Return the function or class behind a view, whatever it is wrapped in."""
    for _ in range(8):
        if isinstance(view, BoundMember) and view.function is not None:
            return view.function
        if not isinstance(view, CallResult):
            break
        if view.method == "as_view":
            return view.on
        inner = next(
            (one for one in view.args if isinstance(one, FunctionValue | ClassValue | CallResult | BoundMember)), None
        )
        if inner is None:
            break
        view = inner
    return view


def _named(view: Value) -> str:
    """Return the endpoint a view has by itself: its function's name, or what `as_view` is given."""
    if isinstance(view, CallResult) and view.method == "as_view":
        given = view.argument(0, "name")
        return given if isinstance(given, str) else full_name(view.on).rpartition(".")[2]
    handler = view_of(view)
    return handler.definition.name if isinstance(handler, FunctionValue) else full_name(handler).rpartition(".")[2]


def _methods(call: CallResult, handler: Value) -> tuple[str, ...]:
    if call.method in VERBS:
        return (call.method.upper(),)
    told = call.kwargs.get("methods")
    if told is None and isinstance(handler, ClassValue):
        found = handler.find("methods")
        told = found[1] if found else [name.upper() for name in VERBS if handler.find(name)]
    listed = [one.upper() for one in told if isinstance(one, str)] if isinstance(told, list | tuple) else []
    return tuple(one for one in listed if one not in ("HEAD", "OPTIONS")) or ("GET",)


def resources(api: CallResult) -> Iterator[Rule]:
    """Yield the rules that Flask-RESTful registers."""
    prefix = api.argument(1, "prefix", "")
    for call in api.calls:
        resource = call.argument(0, "resource")
        if call.method != "add_resource" or not isinstance(resource, ClassValue):
            continue
        told = call.kwargs.get("endpoint")
        endpoint = told if isinstance(told, str) else resource.definition.short.lower()
        for url in call.args[1:]:
            rule = f"{prefix}{url}" if isinstance(prefix, str) and isinstance(url, str) else url
            yield Rule(rule, endpoint, resource, _methods(call, resource), (call.uri, call.line), call.conditional)


def decorating(handler: Value) -> Iterator[RouteGuard]:
    """Yield what stands before a view: its decorators that register nothing, a class's `decorators`."""
    if isinstance(handler, ClassValue):
        found = handler.find("decorators")
        listed = found[1] if found and isinstance(found[1], list | tuple) else ()
        for one in reversed(list(listed)):
            yield guard_from_value(one, (handler.uri, handler.lines.get("decorators", handler.line)))
        return
    for one in handler.decorations if isinstance(handler, FunctionValue) else ():
        value = one.value
        registers = isinstance(value, CallResult | BoundMember) and _method(value) in REGISTERING
        if not registers and full_name(value) and full_name(value) not in PLAIN:
            yield guard_from_value(value, (handler.uri, one.line))


def _method(value: CallResult | BoundMember) -> str:
    return value.method if isinstance(value, CallResult) else value.name
