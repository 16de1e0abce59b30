"""Routers of Django's REST framework: the routes that registering a set of views makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ragstone_code.django.models import Models
from ragstone_code.django.patterns import simplified
from ragstone_code.graph_builder import Location
from ragstone_code.program import Program
from ragstone_code.python.values import BoundMember, CallResult, ClassValue, ExternalName, FunctionValue, Value

DEFAULT: Final = frozenset(
    ("rest_framework.routers.DefaultRouter", "rest_framework_nested.routers.NestedDefaultRouter")
)
NESTED: Final = frozenset(
    ("rest_framework_nested.routers.NestedSimpleRouter", "rest_framework_nested.routers.NestedDefaultRouter")
)
ROUTERS: Final = (
    DEFAULT | NESTED | {"rest_framework.routers.SimpleRouter", "rest_framework_nested.routers.SimpleRouter"}
)
LIST: Final = (("get", "list"), ("post", "create"))
DETAIL: Final = (("get", "retrieve"), ("put", "update"), ("patch", "partial_update"), ("delete", "destroy"))
MIXINS: Final = {
    "ModelViewSet": ("list", "create", "retrieve", "update", "partial_update", "destroy"),
    "ReadOnlyModelViewSet": ("list", "retrieve"),
    "ListModelMixin": ("list",),
    "CreateModelMixin": ("create",),
    "RetrieveModelMixin": ("retrieve",),
    "UpdateModelMixin": ("update", "partial_update"),
    "DestroyModelMixin": ("destroy",),
}
"""Actions that come with what the framework has."""


@dataclass(frozen=True, slots=True)
class Registered:
    """One pattern a router makes: which method of the view each verb calls."""

    pattern: str
    uri: str
    name: str
    view: Value
    place: Location
    actions: dict[str, str] = field(default_factory=dict)
    conditional: bool = False


def registered(program: Program, router: CallResult, models: Models) -> Iterator[Registered]:
    """Yield the patterns of a router, in its order; those with a format behind them are left out."""
    slash = "" if router.argument(-1, "trailing_slash") is False else "/"
    before = _before(router)
    for call in _registrations(program, router):
        prefix, view = call.argument(0, "prefix"), call.argument(1, "viewset")
        if not isinstance(prefix, str) or not isinstance(view, ClassValue):
            continue
        told = call.argument(2, "basename") or call.kwargs.get("base_name")
        base = told if isinstance(told, str) else _basename(view, models)
        for tail, name, actions in _patterns(view, slash):
            whole = f"^{before}{prefix}{tail}$" if prefix or before else f"^{tail.lstrip('/')}$"
            place = (call.uri, call.line)
            yield Registered(whole, simplified(whole), f"{base}-{name}", view, place, actions, call.conditional)
    if DEFAULT & set(router.type_names()) and not NESTED & set(router.type_names()):
        root = ExternalName("rest_framework.routers.APIRootView")
        yield Registered("", "", "api-root", root, (router.uri, router.line), {"get": "get"}, router.conditional)


def _registrations(program: Program, router: CallResult, depth: int = 0) -> Iterator[CallResult]:
    """Yield what is registered, also through the registry of another router."""
    for one in program.interpreter.objects:
        if one.method == "register" and one.on is router:
            yield one
        extends = one.method == "extend" and isinstance(one.on, BoundMember) and one.on.name == "registry"
        other = one.args[0] if one.args else None
        if (
            extends
            and one.on.owner is router
            and isinstance(other, BoundMember)
            and isinstance(other.owner, CallResult)
            and depth < 5
        ):
            yield from _registrations(program, other.owner, depth + 1)


def _before(router: CallResult) -> str:
    """Return what a nested router's patterns begin with: its parent's prefix and key."""
    if not NESTED & set(router.type_names()):
        return ""
    parent, prefix = router.argument(0, "parent_router"), router.argument(1, "parent_prefix")
    lookup = router.argument(2, "lookup", "nested_1")
    outer = _before(parent) if isinstance(parent, CallResult) else ""
    return f"{outer}{prefix}/(?P<{lookup}_pk>[^/.]+)/" if isinstance(prefix, str) else outer


def _basename(view: ClassValue, models: Models) -> str:
    """Return the name of the model a set of views is about."""
    found = view.find("queryset")
    model = models.of(found[1]) if found else None
    return model.definition.short.lower() if model is not None else view.definition.short.lower()


def _patterns(view: ClassValue, slash: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield (what follows the prefix, name, actions): the list, its actions, one, and the actions of one."""
    known = actions_of(view)
    lookup = f"/(?P<{_lookup(view)}>{_text(view, 'lookup_value_regex', '[^/.]+')})"
    extra = list(_extra(view))
    yield from _those(LIST, known, slash, "list")
    yield from ((f"/{path}{slash}", name, called) for detail, path, name, called in extra if not detail)
    yield from _those(DETAIL, known, f"{lookup}{slash}", "detail")
    yield from ((f"{lookup}/{path}{slash}", name, called) for detail, path, name, called in extra if detail)


def _those(
    wanted: tuple[tuple[str, str], ...], known: set[str], tail: str, name: str
) -> Iterator[tuple[str, str, dict[str, str]]]:
    actions = {verb: action for verb, action in wanted if action in known}
    if actions:
        yield tail, name, actions


def actions_of(view: ClassValue) -> set[str]:
    """Return the standard actions a set of views has."""
    found = {name for _, name in (*LIST, *DETAIL) if (own := view.find(name)) and isinstance(own[1], FunctionValue)}
    for name in view.type_names():
        if name.startswith("rest_framework"):
            found |= set(MIXINS.get(name.rpartition(".")[2], ()))
    return found


def _extra(view: ClassValue) -> Iterator[tuple[bool, str, str, dict[str, str]]]:
    """Yield the actions a view adds: whether each is of one, its path, its name, and which verbs call it."""
    seen: set[str] = set()
    for level in view.lineage():
        for name, value in level.attributes.items() if isinstance(level, ClassValue) else ():
            if not isinstance(value, FunctionValue) or name in seen:
                continue
            seen.add(name)
            for one in value.decorations:
                if isinstance(one.value, CallResult) and one.value.callee.endswith(
                    ("decorators.action", "detail_route", "list_route")
                ):
                    yield _action(name, one.value)


def _action(name: str, made: CallResult) -> tuple[bool, str, str, dict[str, str]]:
    detail = made.callee.endswith("detail_route") or made.argument(1, "detail") is True
    methods = made.argument(0, "methods")
    verbs = [one.lower() for one in methods if isinstance(one, str)] if isinstance(methods, list | tuple) else ["get"]
    path, label = made.kwargs.get("url_path"), made.kwargs.get("url_name")
    url_path = path if isinstance(path, str) else name
    url_name = label if isinstance(label, str) else name.replace("_", "-")
    return detail, url_path, url_name, dict.fromkeys(verbs, name)


def _lookup(view: ClassValue) -> str:
    return _text(view, "lookup_url_kwarg", "") or _text(view, "lookup_field", "pk")


def _text(view: ClassValue, name: str, default: str) -> str:
    found = view.find(name)
    return found[1] if found and isinstance(found[1], str) else default
