"""Routers of Django REST framework: the URL patterns of registered view sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ragstone_code.django.models import DjangoModels
from ragstone_code.django.patterns import convert_regex
from ragstone_code.python.values import (
    BoundMember,
    CallResult,
    ClassValue,
    ExternalName,
    FunctionValue,
    Value,
)
from ragstone_code.python_project import Program
from ragstone_code.route_definition import Location

_DEFAULT_ROUTERS: Final = frozenset(
    (
        "rest_framework.routers.DefaultRouter",
        "rest_framework_nested.routers.NestedDefaultRouter",
    )
)
_NESTED_ROUTERS: Final = frozenset(
    (
        "rest_framework_nested.routers.NestedSimpleRouter",
        "rest_framework_nested.routers.NestedDefaultRouter",
    )
)
_SIMPLE_ROUTERS: Final = frozenset(
    ("rest_framework.routers.SimpleRouter", "rest_framework_nested.routers.SimpleRouter")
)
ROUTERS: Final = _DEFAULT_ROUTERS | _NESTED_ROUTERS | _SIMPLE_ROUTERS
_LIST_ACTIONS: Final = {"get": "list", "post": "create"}
_DETAIL_ACTIONS: Final = {
    "get": "retrieve",
    "put": "update",
    "patch": "partial_update",
    "delete": "destroy",
}
_INHERITED_ACTIONS: Final = {
    "ModelViewSet": ("list", "create", "retrieve", "update", "partial_update", "destroy"),
    "ReadOnlyModelViewSet": ("list", "retrieve"),
    "ListModelMixin": ("list",),
    "CreateModelMixin": ("create",),
    "RetrieveModelMixin": ("retrieve",),
    "UpdateModelMixin": ("update", "partial_update"),
    "DestroyModelMixin": ("destroy",),
}
"""Actions that the REST framework's classes provide."""
_ACTION_DECORATORS: Final = ("decorators.action", "detail_route", "list_route")
_MAX_REGISTRY_DEPTH: Final = 5

_Pattern: TypeAlias = tuple[str, str, dict[str, str]]
"""The pattern after the prefix, the name, and the action of each HTTP method."""


@dataclass(frozen=True, slots=True)
class RouterPattern:
    """One URL pattern of a router."""

    pattern: str
    uri: str
    name: str
    view: Value
    place: Location
    actions: dict[str, str] = field(default_factory=dict)
    """The action of the view set for each HTTP method."""
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class ExtraAction:
    """An action that a view set adds with a decorator."""

    is_detail: bool
    path: str
    name: str
    actions: dict[str, str]


def router_patterns(
    program: Program,
    router: CallResult,
    models: DjangoModels,
) -> Iterator[RouterPattern]:
    """Yield the URL patterns of a router in order, without those for format suffixes."""
    slash = "/"
    if router.argument(-1, "trailing_slash") is False:
        slash = ""
    outer_prefix = _nested_prefix(router)
    for call in _registrations(program, router):
        prefix = call.argument(0, "prefix")
        view = call.argument(1, "viewset")
        if not isinstance(prefix, str) or not isinstance(view, ClassValue):
            continue
        base_name = call.argument(2, "basename") or call.kwargs.get("base_name")
        if not isinstance(base_name, str):
            base_name = _default_base_name(view, models)
        for tail, name, actions in _view_set_patterns(view, slash):
            pattern = f"^{outer_prefix}{prefix}{tail}$"
            if not prefix and not outer_prefix:
                pattern = f"^{tail.lstrip('/')}$"
            yield RouterPattern(
                pattern,
                convert_regex(pattern),
                f"{base_name}-{name}",
                view,
                (call.uri, call.line),
                actions,
                call.conditional,
            )
    yield from _root_pattern(router)


def _root_pattern(router: CallResult) -> Iterator[RouterPattern]:
    """Yield the pattern of the API root, which a default router adds."""
    type_names = set(router.type_names())
    if type_names.isdisjoint(_DEFAULT_ROUTERS) or not type_names.isdisjoint(_NESTED_ROUTERS):
        return
    root_view = ExternalName("rest_framework.routers.APIRootView")
    location = (router.uri, router.line)
    yield RouterPattern(
        "",
        "",
        "api-root",
        root_view,
        location,
        {"get": "get"},
        router.conditional,
    )


def _registrations(
    program: Program,
    router: CallResult,
    depth: int = 0,
) -> Iterator[CallResult]:
    """Yield the `register` calls of a router and of routers whose registry it includes."""
    for call in program.interpreter.objects:
        if call.method == "register" and call.on is router:
            yield call
        elif call.method == "extend" and depth < _MAX_REGISTRY_DEPTH:
            other = _extending_router(call, router)
            if other is not None:
                yield from _registrations(program, other, depth + 1)


def _extending_router(call: CallResult, router: CallResult) -> CallResult | None:
    """Return the other router of `router.registry.extend(other.registry)`."""
    registry = call.on
    if (
        not isinstance(registry, BoundMember)
        or registry.name != "registry"
        or registry.owner is not router
    ):
        return None
    argument = next(iter(call.args), None)
    if isinstance(argument, BoundMember) and isinstance(argument.owner, CallResult):
        return argument.owner
    return None


def _nested_prefix(router: CallResult) -> str:
    """Return the prefix of a nested router's patterns: the prefix and key of its parents."""
    if _NESTED_ROUTERS.isdisjoint(router.type_names()):
        return ""
    outer = ""
    parent = router.argument(0, "parent_router")
    if isinstance(parent, CallResult):
        outer = _nested_prefix(parent)
    prefix = router.argument(1, "parent_prefix")
    if not isinstance(prefix, str):
        return outer
    lookup = router.argument(2, "lookup", "nested_1")
    return f"{outer}{prefix}/(?P<{lookup}_pk>[^/.]+)/"


def _default_base_name(view: ClassValue, models: DjangoModels) -> str:
    """Return the name of the view set's model, else of the view set."""
    located = view.find("queryset")
    if located:
        model = models.model_of(located[1])
        if model is not None:
            return model.definition.short.lower()
    return view.definition.short.lower()


def _view_set_patterns(view: ClassValue, slash: str) -> Iterator[_Pattern]:
    """Yield list patterns, then extra list actions, then detail patterns, then extra detail actions."""
    available = available_actions(view)
    value_pattern = _text_attribute(view, "lookup_value_regex", "[^/.]+")
    lookup = f"/(?P<{_lookup_name(view)}>{value_pattern})"
    extra_actions = list(_extra_actions(view))
    yield from _standard_pattern(_LIST_ACTIONS, available, slash, "list")
    for extra in extra_actions:
        if not extra.is_detail:
            yield f"/{extra.path}{slash}", extra.name, extra.actions
    yield from _standard_pattern(
        _DETAIL_ACTIONS,
        available,
        f"{lookup}{slash}",
        "detail",
    )
    for extra in extra_actions:
        if extra.is_detail:
            yield f"{lookup}/{extra.path}{slash}", extra.name, extra.actions


def _standard_pattern(
    actions: dict[str, str],
    available: set[str],
    tail: str,
    name: str,
) -> Iterator[_Pattern]:
    """Yield a pattern with the available actions, if there are any."""
    served = {verb: action for verb, action in actions.items() if action in available}
    if served:
        yield tail, name, served


def available_actions(view: ClassValue) -> set[str]:
    """Return the standard actions of a view set, own or inherited."""
    actions: set[str] = set()
    for action in (*_LIST_ACTIONS.values(), *_DETAIL_ACTIONS.values()):
        located = view.find(action)
        if located and isinstance(located[1], FunctionValue):
            actions.add(action)
    for name in view.type_names():
        if name.startswith("rest_framework"):
            actions.update(_INHERITED_ACTIONS.get(name.rpartition(".")[2], ()))
    return actions


def _extra_actions(view: ClassValue) -> Iterator[ExtraAction]:
    """Yield the actions that a view set and its ancestors add with decorators."""
    seen: set[str] = set()
    for ancestor in view.lineage():
        if not isinstance(ancestor, ClassValue):
            continue
        for name, value in ancestor.attributes.items():
            if isinstance(value, FunctionValue) and name not in seen:
                seen.add(name)
                yield from _decorated_actions(name, value)


def _decorated_actions(name: str, function: FunctionValue) -> Iterator[ExtraAction]:
    for decoration in function.decorations:
        decorator = decoration.value
        if isinstance(decorator, CallResult) and decorator.callee.endswith(_ACTION_DECORATORS):
            yield _build_action(name, decorator)


def _build_action(name: str, decorator: CallResult) -> ExtraAction:
    verbs = ["get"]
    methods = decorator.argument(0, "methods")
    if isinstance(methods, list | tuple):
        verbs = [method.lower() for method in methods if isinstance(method, str)]
    path = decorator.kwargs.get("url_path")
    if not isinstance(path, str):
        path = name
    url_name = decorator.kwargs.get("url_name")
    if not isinstance(url_name, str):
        url_name = name.replace("_", "-")
    is_detail = (
        decorator.callee.endswith("detail_route") or decorator.argument(1, "detail") is True
    )
    return ExtraAction(is_detail, path, url_name, dict.fromkeys(verbs, name))


def _lookup_name(view: ClassValue) -> str:
    return _text_attribute(
        view,
        "lookup_url_kwarg",
        "",
    ) or _text_attribute(view, "lookup_field", "pk")


def _text_attribute(view: ClassValue, name: str, default: str) -> str:
    located = view.find(name)
    if located and isinstance(located[1], str):
        return located[1]
    return default
