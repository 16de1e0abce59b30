"""URL rules that one Flask application or blueprint registers: endpoint, view and methods of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from ragstone_code.python.values import (
    BoundMember,
    CallResult,
    ClassValue,
    FunctionValue,
    Value,
    full_name,
)
from ragstone_code.route_definition import Location, RouteGuard, guard_from_value

VERBS: Final = ("get", "post", "put", "patch", "delete")
IMPLICIT_METHODS: Final = ("HEAD", "OPTIONS")
"""HTTP methods that Flask adds to every rule."""
FORMS: Final = frozenset(
    (
        "flask_wtf.FlaskForm",
        "flask_wtf.Form",
        "wtforms.Form",
        "wtforms.form.Form",
        "marshmallow.Schema",
    )
)
REGISTERING_METHODS: Final = frozenset(
    (
        *VERBS,
        "route",
        "add_url_rule",
        "endpoint",
        "before_request",
        "before_app_request",
    )
)
DOCUMENTING_METHODS: Final = frozenset(
    "doc expect marshal_with marshal_list_with response param produces hide deprecated header".split()
)
"""Decorators of a Flask-RESTX API that describe a view and guard nothing."""
PLAIN_DECORATORS: Final = frozenset(
    (
        "staticmethod",
        "classmethod",
        "property",
        "abc.abstractmethod",
        "functools.wraps",
        "override",
    )
)
"""Decorators that guard nothing."""
MAX_WRAPPERS: Final = 8
"""How many calls may wrap a view."""


@dataclass(frozen=True, slots=True)
class UrlRule:
    """One URL rule, without the prefixes of the blueprints around it."""

    rule: Value
    endpoint: str
    handler: Value
    methods: tuple[str, ...]
    place: Location
    conditional: bool = False
    view: ClassValue | None = None
    """The class of a method that is the handler."""


def url_rules(owner: CallResult) -> Iterator[UrlRule]:
    """Yield the URL rules of an application or blueprint, in order."""
    for call in owner.calls:
        if call.method == "route" or call.method in VERBS:
            for view in call.applied:
                yield _url_rule(call, view, call.kwargs.get("endpoint"))
        elif call.method == "add_url_rule":
            yield _url_rule(
                call,
                call.argument(2, "view_func"),
                call.argument(1, "endpoint"),
            )


def _url_rule(call: CallResult, view: Value, endpoint: Value) -> UrlRule:
    handler = unwrap_view(view)
    name = endpoint if isinstance(endpoint, str) else _default_endpoint(view)
    return UrlRule(
        call.argument(0, "rule"),
        name,
        handler,
        _methods(call, handler),
        (call.uri, call.line),
        call.conditional,
    )


def unwrap_view(view: Value) -> Value:
    """Return the function or class of a view without the calls that wrap it."""
    for _ in range(MAX_WRAPPERS):
        if isinstance(view, BoundMember) and view.function is not None:
            return view.function
        if not isinstance(view, CallResult):
            return view
        if view.method == "as_view":
            return view.on
        inner = _first_callable(view)
        if inner is None:
            return view
        view = inner
    return view


def _first_callable(call: CallResult) -> Value:
    """Return the first argument of a call that may be a view; None if there is none."""
    for argument in call.args:
        if isinstance(argument, FunctionValue | ClassValue | CallResult | BoundMember):
            return argument
    return None


def _default_endpoint(view: Value) -> str:
    """Return the endpoint of a view without an explicit one: the function's name, or the name in `as_view`."""
    if isinstance(view, CallResult) and view.method == "as_view":
        name = view.argument(0, "name")
        return name if isinstance(name, str) else _short_name(view.on)
    handler = unwrap_view(view)
    if isinstance(handler, FunctionValue):
        return handler.definition.name
    return _short_name(handler)


def _short_name(value: Value) -> str:
    return full_name(value).rpartition(".")[2]


def _methods(call: CallResult, handler: Value) -> tuple[str, ...]:
    """Return the HTTP methods of a rule, without HEAD and OPTIONS; GET if none are named."""
    if call.method in VERBS:
        return (call.method.upper(),)
    methods = call.kwargs.get("methods")
    if methods is None and isinstance(handler, ClassValue):
        methods = _class_methods(handler)
    if not isinstance(methods, list | tuple):
        return ("GET",)
    names = [method.upper() for method in methods if isinstance(method, str)]
    return tuple(name for name in names if name not in IMPLICIT_METHODS) or ("GET",)


def _class_methods(view: ClassValue) -> Value:
    """Return the HTTP methods of a class-based view: its attribute `methods`, otherwise its methods' names."""
    declared = view.find("methods")
    if declared:
        return declared[1]
    return [verb.upper() for verb in VERBS if view.find(verb)]


def restful_rules(api: CallResult) -> Iterator[UrlRule]:
    """Yield the rules that a Flask-RESTful API registers."""
    prefix = api.argument(1, "prefix", "")
    for call in api.calls:
        resource = call.argument(0, "resource")
        if call.method != "add_resource" or not isinstance(resource, ClassValue):
            continue
        endpoint = call.kwargs.get("endpoint")
        if not isinstance(endpoint, str):
            endpoint = resource.definition.short.lower()
        for url in call.args[1:]:
            rule = url
            if isinstance(prefix, str) and isinstance(url, str):
                rule = prefix + url
            yield UrlRule(
                rule,
                endpoint,
                resource,
                _methods(call, resource),
                (call.uri, call.line),
                call.conditional,
            )


def method_rules(rule: UrlRule) -> Iterator[UrlRule]:
    """Yield one rule for each HTTP method of a class whose methods have decorators; otherwise the rule itself."""
    view = rule.handler
    if not isinstance(view, ClassValue):
        yield rule
        return
    functions = {method: _http_method(view, method) for method in rule.methods}
    if not any(any(view_guards(function)) for function in functions.values()):
        yield rule
        return
    for method, function in functions.items():
        yield replace(rule, methods=(method,), handler=function or view, view=view)


def _http_method(view: ClassValue, method: str) -> FunctionValue | None:
    """Return the function of a class that serves an HTTP method."""
    located = view.find(method.lower())
    if located and isinstance(located[1], FunctionValue):
        return located[1]
    return None


def namespace_rules(api: CallResult) -> Iterator[UrlRule]:
    """Yield the rules of a Flask-RESTX API: of its own decorator `route`, and of its namespaces."""
    prefix = _text(api.argument(1, "prefix"))
    yield from _decorated_resources(api, prefix, "")
    for call in api.calls:
        if call.method == "add_namespace":
            namespace, path = call.argument(0, "ns"), call.argument(1, "path")
        elif call.method == "namespace":
            namespace, path = call, None
        else:
            continue
        if isinstance(namespace, CallResult):
            name = _text(namespace.argument(0, "name"))
            own_path = _text(path) or _text(namespace.kwargs.get("path")) or f"/{name}"
            yield from _decorated_resources(namespace, prefix + own_path, name)


def _decorated_resources(owner: CallResult, prefix: str, namespace: str) -> Iterator[UrlRule]:
    """Yield the rules of the resources that `route` of an API or a namespace decorates."""
    for call in owner.calls:
        resources = call.applied if call.method == "route" else []
        for resource in resources:
            if isinstance(resource, ClassValue):
                yield from _resource_rules(call, resource, prefix, namespace)


def _resource_rules(
    call: CallResult, resource: ClassValue, prefix: str, namespace: str
) -> Iterator[UrlRule]:
    """Yield a rule for each URL of a decorated resource."""
    endpoint = f"{namespace}_{resource.definition.short.lower()}".lstrip("_")
    for url in call.args:
        yield UrlRule(
            prefix + url if isinstance(url, str) else url,
            endpoint,
            resource,
            _methods(call, resource),
            (call.uri, call.line),
            call.conditional,
        )


def _text(value: Value) -> str:
    """Return a value if it is a text, otherwise an empty text."""
    return value if isinstance(value, str) else ""


def view_guards(handler: Value) -> Iterator[RouteGuard]:
    """Yield the guards of a view: its decorators that register nothing, or the `decorators` of a class."""
    if isinstance(handler, ClassValue):
        yield from _class_guards(handler)
    elif isinstance(handler, FunctionValue):
        for decoration in handler.decorations:
            value = decoration.value
            name = full_name(value)
            if name and name not in PLAIN_DECORATORS and not _is_registration(value):
                guard = guard_from_value(value, (handler.uri, decoration.line))
                yield replace(guard, name=decoration.written or guard.name)


def _class_guards(view: ClassValue) -> Iterator[RouteGuard]:
    declared = view.find("decorators")
    decorators = declared[1] if declared else None
    if not isinstance(decorators, list | tuple):
        return
    place = (view.uri, view.lines.get("decorators", view.line))
    for decorator in reversed(decorators):
        yield guard_from_value(decorator, place)


def _is_registration(value: Value) -> bool:
    """Return whether a decorator registers a view: `app.route(…)` and similar."""
    if isinstance(value, CallResult):
        return value.method in REGISTERING_METHODS | DOCUMENTING_METHODS
    return (
        isinstance(value, BoundMember)
        and value.name in REGISTERING_METHODS | DOCUMENTING_METHODS
    )
