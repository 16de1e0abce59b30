"""Guards of Django's views (decorators, wrappers, mixins, permissions), and the HTTP methods of views."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ragstone_code.django.settings import DjangoSettings
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
from ragstone_code.route_definition import Location, RouteGuard, guard_from_value

_MAX_WRAPPERS: Final = 10
_GUARD_LISTS: Final = ("authentication_classes", "permission_classes")
"""Attributes of REST framework views that list guards, in the order of their checks."""
_GUARD_LIST_DECORATORS: Final = (*_GUARD_LISTS, "throttle_classes")
_OTHER_DECORATORS: Final = frozenset(
    (
        "api_view",
        "require_http_methods",
        "require_GET",
        "require_POST",
        "require_safe",
        "action",
        "wraps",
        "property",
        "staticmethod",
        "classmethod",
        "receiver",
        "register",
        "schema",
        "extend_schema",
        "swagger_auto_schema",
    )
)
"""Decorators that do not restrict access."""
_AUTH_MIXINS: Final = "django.contrib.auth.mixins."
_VERBS: Final = ("get", "post", "put", "patch", "delete")
_GET: Final = ("GET",)
_FORM: Final = ("GET", "POST")
_GENERIC_VIEW_METHODS: Final = {
    "TemplateView": _GET,
    "ListView": _GET,
    "DetailView": _GET,
    "RedirectView": _GET,
    "ArchiveIndexView": _GET,
    "YearArchiveView": _GET,
    "MonthArchiveView": _GET,
    "DayArchiveView": _GET,
    "DateDetailView": _GET,
    "FormView": _FORM,
    "CreateView": _FORM,
    "UpdateView": _FORM,
    "DeleteView": _FORM,
    "LoginView": _FORM,
    "PasswordChangeView": _FORM,
    "PasswordResetView": _FORM,
    "ListAPIView": _GET,
    "RetrieveAPIView": _GET,
    "CreateAPIView": ("POST",),
    "DestroyAPIView": ("DELETE",),
    "UpdateAPIView": ("PUT", "PATCH"),
    "ListCreateAPIView": _FORM,
    "RetrieveUpdateAPIView": ("GET", "PUT", "PATCH"),
    "RetrieveDestroyAPIView": ("GET", "DELETE"),
    "RetrieveUpdateDestroyAPIView": ("GET", "PUT", "PATCH", "DELETE"),
}


# ── handlers ──────────────────────────────────────────────────────────────────────────────────────


def unwrap_view(view: Value) -> Value:
    """Return the function or class inside the wrappers of a view."""
    for _ in range(_MAX_WRAPPERS):
        if isinstance(view, BoundMember) and view.function is not None:
            return view.function
        if not isinstance(view, CallResult):
            return view
        if view.method == "as_view":
            view = view.on
        elif view.callee.endswith(".as_view"):
            return ExternalName(view.callee.removesuffix(".as_view"))
        elif isinstance(view.on, ClassValue) and not view.method:
            return view.on
        else:
            inner = _wrapped_view(view)
            if inner is None:
                return view
            view = inner
    return view


def _wrapped_view(wrapper: CallResult) -> Value:
    """Return the argument that a wrapper wraps: a value of the project, else an external name."""
    for argument in wrapper.args:
        if isinstance(argument, FunctionValue | ClassValue | CallResult | BoundMember):
            return argument
    for argument in wrapper.args:
        if isinstance(argument, ExternalName):
            return argument
    return None


def _wrappers(view: Value) -> Iterator[CallResult]:
    """Yield the wrappers of a view in a URL pattern, outermost first."""
    for _ in range(_MAX_WRAPPERS):
        if (
            not isinstance(view, CallResult)
            or view.callee.endswith("as_view")
            or isinstance(view.on, ClassValue)
        ):
            return
        inner = _wrapped_view(view)
        if inner is None:
            return
        yield view
        view = inner


# ── guards ────────────────────────────────────────────────────────────────────────────────────────


def find_guards(
    view: Value,
    handler: Value,
    action: str,
    settings: DjangoSettings,
) -> Iterator[RouteGuard]:
    """Yield the guards of a view in the order in which they check a request."""
    for wrapper in _wrappers(view):
        yield guard_from_value(wrapper, (wrapper.uri, wrapper.line))
    if isinstance(handler, FunctionValue):
        yield from _decorator_guards(handler.decorations, handler.uri)
    elif isinstance(handler, ClassValue):
        yield from _class_guards(handler, action, settings)


def _class_guards(
    view: ClassValue,
    action: str,
    settings: DjangoSettings,
) -> Iterator[RouteGuard]:
    yield from _decorator_guards(view.decorations, view.uri)
    yield from _mixin_guards(view)
    if any(name.startswith("rest_framework") for name in view.type_names()):
        yield from _rest_guards(view, action, settings)
    for name in ("dispatch", action):
        method = _find_method(view, name)
        if method is not None:
            yield from _decorator_guards(method.decorations, method.uri)


def _find_method(view: ClassValue, name: str) -> FunctionValue | None:
    if not name:
        return None
    located = view.find(name)
    if located and isinstance(located[1], FunctionValue):
        return located[1]
    return None


def _mixin_guards(view: ClassValue) -> Iterator[RouteGuard]:
    """Yield the access mixins of Django that a view inherits from."""
    for ancestor in view.lineage():
        name = full_name(ancestor)
        if not isinstance(ancestor, ExternalName) or not name.startswith(_AUTH_MIXINS):
            continue
        parameters: tuple[str, ...] = ()
        if name.endswith("PermissionRequiredMixin"):
            parameters = _required_permissions(view)
        yield RouteGuard(
            name.rpartition(".")[2],
            name,
            view.uri,
            view.line,
            parameters,
            ancestor,
        )


def _required_permissions(view: ClassValue) -> tuple[str, ...]:
    located = view.find("permission_required")
    if located is None:
        return ()
    permissions = located[1]
    if isinstance(permissions, str):
        return (permissions,)
    if isinstance(permissions, list | tuple):
        return tuple(permission for permission in permissions if isinstance(permission, str))
    return ()


def _rest_guards(
    view: ClassValue,
    action: str,
    settings: DjangoSettings,
) -> Iterator[RouteGuard]:
    """Yield REST framework guards: those of the action, else of the view, else of the settings."""
    for name in _GUARD_LISTS:
        decorator = _action_decorator(view, action, name)
        located = view.find(name)
        if decorator is not None:
            yield from _listed_guards(
                decorator.kwargs[name],
                (decorator.uri, decorator.line),
            )
        elif located is not None:
            owner, classes = located
            yield from _listed_guards(
                classes,
                (owner.uri, owner.lines.get(name, owner.line)),
            )
        else:
            yield from _default_guards(name, settings)


def _action_decorator(view: ClassValue, action: str, keyword: str) -> CallResult | None:
    """Return the decorator of an action that passes a keyword argument."""
    method = _find_method(view, action)
    if method is None:
        return None
    for decoration in method.decorations:
        if isinstance(decoration.value, CallResult) and keyword in decoration.value.kwargs:
            return decoration.value
    return None


def _default_guards(name: str, settings: DjangoSettings) -> Iterator[RouteGuard]:
    rest_settings = settings.get("REST_FRAMEWORK")
    if not isinstance(rest_settings, dict):
        return
    classes = rest_settings.get(f"DEFAULT_{name.upper()}")
    if not isinstance(classes, list | tuple):
        return
    uri = settings.modules[0].uri
    for class_name in classes:
        if isinstance(class_name, str):
            value = settings.program.interpreter.resolve(class_name, uri)
            yield guard_from_value(value, (uri, 0))


def _listed_guards(values: Value, location: Location) -> Iterator[RouteGuard]:
    if not isinstance(values, list | tuple):
        return
    for value in values:
        if full_name(value):
            yield guard_from_value(value, location)


def _decorator_guards(decorations: list[Decoration], uri: str) -> Iterator[RouteGuard]:
    for decoration in decorations:
        value = decoration.value
        location = (uri, decoration.line)
        short_name = full_name(value).rpartition(".")[2]
        argument: Value = None
        if isinstance(value, CallResult):
            argument = next(iter(value.args), None)
        if short_name == "method_decorator" and argument is not None:
            yield from _listed_guards(_as_list(argument), location)
        elif isinstance(value, CallResult) and short_name in _GUARD_LIST_DECORATORS:
            yield from _listed_guards(argument, location)
        elif (
            short_name
            and short_name not in _OTHER_DECORATORS
            and not isinstance(value, BoundMember)
        ):
            yield guard_from_value(value, location)


def _as_list(value: Value) -> list[Value]:
    if isinstance(value, list | tuple):
        return list(value)
    return [value]


# ── HTTP methods ──────────────────────────────────────────────────────────────────────────────────


def find_methods(handler: Value) -> tuple[str, ...]:
    """Return the HTTP methods that a view accepts; none if it accepts any."""
    if isinstance(handler, FunctionValue):
        return _declared_methods(handler.decorations)
    if not isinstance(handler, ClassValue):
        return _generic_methods([full_name(handler)])
    methods = [verb.upper() for verb in _VERBS if _find_method(handler, verb)]
    methods.extend(_generic_methods(list(handler.type_names())))
    allowed = handler.find("http_method_names")
    if allowed is None or not isinstance(allowed[1], list | tuple):
        return tuple(dict.fromkeys(methods))
    allowed_methods = _upper_names(allowed[1])
    if not methods:
        return allowed_methods
    return tuple(method for method in allowed_methods if method in methods)


def _upper_names(names: list[Value] | tuple[Value, ...]) -> tuple[str, ...]:
    return tuple(name.upper() for name in names if isinstance(name, str))


def _generic_methods(type_names: list[str]) -> tuple[str, ...]:
    """Return the HTTP methods of Django's generic views among some types."""
    methods: dict[str, None] = {}
    for name in type_names:
        if name.startswith(("django.", "rest_framework.")):
            for method in _GENERIC_VIEW_METHODS.get(name.rpartition(".")[2], ()):
                methods[method] = None
    return tuple(methods)


def _declared_methods(decorations: list[Decoration]) -> tuple[str, ...]:
    """Return the HTTP methods of `api_view`, `require_http_methods`, `require_GET` and similar decorators."""
    for decoration in decorations:
        short_name = full_name(decoration.value).rpartition(".")[2]
        if short_name in ("require_GET", "require_safe"):
            return ("GET",)
        if short_name == "require_POST":
            return ("POST",)
        if short_name in ("api_view", "require_http_methods"):
            return _method_list(decoration.value)
    return ()


def _method_list(decorator: Value) -> tuple[str, ...]:
    if isinstance(decorator, CallResult) and decorator.args:
        names = decorator.args[0]
        if isinstance(names, list | tuple):
            return _upper_names(names)
    return ("GET",)
