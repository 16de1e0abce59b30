"""What stands before Django's views: decorators, wrappers, mixins and permissions, in order; and their methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ragstone_code.django.settings import Settings
from ragstone_code.graph_builder import RouteGuard, guard_from_value
from ragstone_code.python.values import (
    BoundMember,
    CallResult,
    ClassValue,
    Decoration,
    ExternalName,
    FunctionValue,
    Value,
    full_name,
)

LISTING: Final = ("permission_classes", "authentication_classes", "throttle_classes")
SILENT: Final = frozenset(
    ("api_view", "require_http_methods", "require_GET", "require_POST", "require_safe", "action", "wraps", "property",
     "staticmethod", "classmethod", "receiver", "register", "schema", "extend_schema", "swagger_auto_schema")
)  # fmt: skip
"""Decorators that say something else than who may pass."""
VERBS: Final = ("get", "post", "put", "patch", "delete")
GENERIC: Final = {
    "TemplateView": ("GET",), "ListView": ("GET",), "DetailView": ("GET",), "RedirectView": ("GET",),
    "ArchiveIndexView": ("GET",), "YearArchiveView": ("GET",), "MonthArchiveView": ("GET",),
    "DayArchiveView": ("GET",), "DateDetailView": ("GET",), "FormView": ("GET", "POST"), "CreateView": ("GET", "POST"),
    "UpdateView": ("GET", "POST"), "DeleteView": ("GET", "POST"), "LoginView": ("GET", "POST"),
    "PasswordChangeView": ("GET", "POST"), "PasswordResetView": ("GET", "POST"),
    "ListAPIView": ("GET",), "RetrieveAPIView": ("GET",), "CreateAPIView": ("POST",), "DestroyAPIView": ("DELETE",),
    "UpdateAPIView": ("PUT", "PATCH"), "ListCreateAPIView": ("GET", "POST"),
    "RetrieveUpdateAPIView": ("GET", "PUT", "PATCH"), "RetrieveDestroyAPIView": ("GET", "DELETE"),
    "RetrieveUpdateDestroyAPIView": ("GET", "PUT", "PATCH", "DELETE"),
}  # fmt: skip


def view_of(given: Value) -> Value:
    """Return the function or class behind a view, whatever it is wrapped in."""
    for _ in range(10):
        if isinstance(given, BoundMember) and given.function is not None:
            return given.function
        if not isinstance(given, CallResult):
            return given
        if given.method == "as_view":
            given = given.on
        elif given.callee.endswith(".as_view"):
            return ExternalName(given.callee.removesuffix(".as_view"))
        elif isinstance(given.on, ClassValue) and not given.method:
            return given.on
        else:
            inner = _inner(given)
            if inner is None:
                return given
            given = inner
    return given


def _inner(given: CallResult) -> Value:
    """Return what a wrapper was put on: something of the project's, else what another package has."""
    own = next(
        (one for one in given.args if isinstance(one, FunctionValue | ClassValue | CallResult | BoundMember)), None
    )
    return own if own is not None else next((one for one in given.args if isinstance(one, ExternalName)), None)


def wrappers(given: Value) -> Iterator[CallResult]:
    """Yield what a view is wrapped in where its path is written, the outermost first."""
    for _ in range(10):
        if not isinstance(given, CallResult) or given.callee.endswith("as_view") or isinstance(given.on, ClassValue):
            return
        inner = _inner(given)
        if inner is None:
            return
        yield given
        given = inner


def guards(given: Value, handler: Value, action: str, settings: Settings) -> Iterator[RouteGuard]:
    """Yield what guards a view, the first to be asked first."""
    for one in wrappers(given):
        yield guard_from_value(one, (one.uri, one.line))
    if isinstance(handler, FunctionValue):
        yield from _decorators(handler.decorations, handler.uri)
    elif isinstance(handler, ClassValue):
        yield from _of_class(handler, action, settings)


def _of_class(one: ClassValue, action: str, settings: Settings) -> Iterator[RouteGuard]:
    yield from _decorators(one.decorations, one.uri)
    for level in one.lineage():
        name = full_name(level)
        if isinstance(level, ExternalName) and name.startswith("django.contrib.auth.mixins."):
            told = one.find("permission_required")
            named = told[1] if told else ()
            words = (
                (named,)
                if isinstance(named, str)
                else tuple(x for x in named if isinstance(x, str))
                if isinstance(named, list | tuple)
                else ()
            )
            wanted = words if name.endswith("PermissionRequiredMixin") else ()
            yield RouteGuard(name.rpartition(".")[2], name, one.uri, one.line, wanted, level)
    yield from _listed(one, action, settings)
    for name in ("dispatch", action):
        found = one.find(name) if name else None
        if found and isinstance(found[1], FunctionValue):
            yield from _decorators(found[1].decorations, found[1].uri)


def _listed(one: ClassValue, action: str, settings: Settings) -> Iterator[RouteGuard]:
    """Yield permissions and authentication as the REST framework has them: the action's, the view's, the settings'."""
    if not any(name.startswith("rest_framework") for name in one.type_names()):
        return
    own = one.find(action) if action else None
    told = (
        [each.value for each in own[1].decorations if isinstance(each.value, CallResult)]
        if own and isinstance(own[1], FunctionValue)
        else []
    )
    for name in reversed(LISTING[:2]):
        extra = next((made for made in told if name in made.kwargs), None)
        found = one.find(name)
        if extra is not None:
            yield from _each(extra.kwargs[name], (extra.uri, extra.line))
        elif found is not None:
            yield from _each(found[1], (found[0].uri, found[0].lines.get(name, found[0].line)))
        else:
            yield from _default(name, settings)


def _default(name: str, settings: Settings) -> Iterator[RouteGuard]:
    given = settings.get("REST_FRAMEWORK")
    listed = given.get(f"DEFAULT_{name.upper()}") if isinstance(given, dict) else None
    for one in listed if isinstance(listed, list | tuple) else ():
        if isinstance(one, str):
            value = settings.program.interpreter.resolve(one, settings.modules[0].uri)
            yield guard_from_value(value, (settings.modules[0].uri, 0))


def _each(value: Value, place: tuple[str, int]) -> Iterator[RouteGuard]:
    for one in value if isinstance(value, list | tuple) else ():
        if full_name(one):
            yield guard_from_value(one, place)


def _decorators(decorations: list[Decoration], uri: str) -> Iterator[RouteGuard]:
    for one in decorations:
        value = one.value
        short = full_name(value).rpartition(".")[2]
        if isinstance(value, CallResult) and short == "method_decorator" and value.args:
            listed = value.args[0] if isinstance(value.args[0], list | tuple) else [value.args[0]]
            yield from (guard_from_value(each, (uri, one.line)) for each in listed if full_name(each))
        elif isinstance(value, CallResult) and short in LISTING:
            yield from _each(value.args[0] if value.args else None, (uri, one.line))
        elif full_name(value) and short not in SILENT and not isinstance(value, BoundMember):
            yield guard_from_value(value, (uri, one.line))


def methods_of(handler: Value, given: Value) -> tuple[str, ...]:
    """Return the methods a view answers; nothing where it takes any."""
    if isinstance(handler, FunctionValue):
        return _told(handler.decorations)
    names = list(handler.type_names()) if isinstance(handler, ClassValue) else [full_name(handler)]
    found: list[str] = []
    if isinstance(handler, ClassValue):
        found = [verb.upper() for verb in VERBS if (own := handler.find(verb)) and isinstance(own[1], FunctionValue)]
    for name in names:
        outside = name.startswith(("django.", "rest_framework."))
        found.extend(GENERIC.get(name.rpartition(".")[2], ()) if outside else ())
    allowed = handler.find("http_method_names") if isinstance(handler, ClassValue) else None
    if allowed and isinstance(allowed[1], list | tuple):
        kept = [one.upper() for one in allowed[1] if isinstance(one, str)]
        return tuple(one for one in kept if not found or one in found)
    return tuple(dict.fromkeys(found))


def _told(decorations: list[Decoration]) -> tuple[str, ...]:
    for one in decorations:
        short = full_name(one.value).rpartition(".")[2]
        given = one.value.args[0] if isinstance(one.value, CallResult) and one.value.args else None
        if short in ("api_view", "require_http_methods"):
            return (
                tuple(x.upper() for x in given if isinstance(x, str)) if isinstance(given, list | tuple) else ("GET",)
            )
        if short in ("require_GET", "require_safe", "require_POST"):
            return ("POST",) if short == "require_POST" else ("GET",)
    return ()
