"""Routes of FastAPI: their paths with the prefixes of their routers, and all dependencies in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.types import Json
from ragstone_code.fastapi.classes import attribute_names, constructor_argument
from ragstone_code.fastapi.schemas import add_schemas
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.python.values import (
    BoundMember,
    CallResult,
    ClassValue,
    FunctionValue,
    GenericType,
    UnknownValue,
    Value,
    full_name,
)
from ragstone_code.python_project import Program
from ragstone_code.route_definition import (
    Location,
    RouteDefinition,
    RouteGuard,
    guard_from_value,
)
from ragstone_code.sqlalchemy.models import is_mapped

ROUTERS: Final = ("fastapi.APIRouter", "fastapi.routing.APIRouter")
VERBS: Final = ("get", "post", "put", "patch", "delete", "options", "head", "trace")
DECORATORS: Final = (*VERBS, "api_route", "websocket", "route")
ADD_METHODS: Final = ("add_api_route", "add_api_websocket_route", "add_route")
DEPENDENCY_MARKERS: Final = ("Depends", "Security")
MAX_DEPTH: Final = 12
"""How deep routers may include other routers."""


@dataclass(frozen=True, slots=True)
class RouterContext:
    """The settings that a router passes on to its routes."""

    prefix: str = ""
    guards: tuple[RouteGuard, ...] = ()
    conditional: bool = False
    tags: tuple[str, ...] = ()
    depth: int = 0


@dataclass
class FastApiRouteReader:
    """Adds the routes of applications to a graph."""

    program: Program
    builder: GraphBuilder
    _expanded: set[str] = field(default_factory=set)
    """Functions whose own dependencies are in the graph already."""

    def read_app(self, app: CallResult, prefix: str = "") -> None:
        """Add the routes of an application and of applications mounted in it."""
        context = RouterContext(
            prefix,
            self._dependencies(app),
            app.conditional,
        )
        self._read_router(app, context)

    def _read_router(self, router: CallResult, context: RouterContext) -> None:
        if context.depth > MAX_DEPTH:
            return
        for call in router.calls:
            conditional = context.conditional or call.conditional
            call_context = replace(context, conditional=conditional)
            if call.method in DECORATORS:
                for function in call.applied:
                    self._add_route(call, function, call_context)
            elif call.method in ADD_METHODS:
                self._add_route(
                    call,
                    call.argument(1, "endpoint"),
                    call_context,
                )
            elif call.method == "include_router":
                self._include_router(call, call_context)
            elif call.method == "mount":
                self._mount(call, call_context)

    def _include_router(self, call: CallResult, context: RouterContext) -> None:
        router = call.argument(0, "router")
        if (
            isinstance(router, BoundMember)
            and router.name == "router"
            and isinstance(router.owner, CallResult)
        ):
            router = router.owner
        if not isinstance(router, CallResult):
            self._add_remark(call, f"what is included here is not known ({_reason(router)})")
            return
        call_prefix = self._path_text(call, call.kwargs.get("prefix", ""))
        router_prefix = self._path_text(router, router.kwargs.get("prefix", ""))
        call_tags = _strings(call.kwargs.get("tags"))
        router_tags = _strings(router.kwargs.get("tags"))
        inner = RouterContext(
            context.prefix + call_prefix + router_prefix,
            (*context.guards, *self._dependencies(call), *self._dependencies(router)),
            context.conditional or router.conditional,
            (*context.tags, *call_tags, *router_tags),
            context.depth + 1,
        )
        self._read_router(router, inner)

    def _mount(self, call: CallResult, context: RouterContext) -> None:
        app = call.argument(1, "app")
        path = self._path_text(call, call.argument(0, "path", ""))
        if isinstance(app, CallResult) and any(
            name.endswith("FastAPI") for name in app.type_names()
        ):
            self.read_app(app, context.prefix + path)
            return
        name = full_name(app) or "something"
        self._add_remark(
            call, f"{path or '/'}: what is mounted here, {name}, has no routes of its own"
        )

    def _add_route(
        self,
        call: CallResult,
        function: Value,
        context: RouterContext,
    ) -> None:
        path = context.prefix + self._path_text(
            call,
            call.argument(0, "path", ""),
        )
        handler = function.function if isinstance(function, BoundMember) else function
        guards = [*context.guards, *self._dependencies(call)]
        if isinstance(handler, FunctionValue):
            guards += self._class_dependencies(handler.owner)
            guards += self._parameter_dependencies(handler)
        route = RouteDefinition(
            methods=_methods(call),
            uri=path.lstrip("/"),
            name=_route_name(call, handler),
            handler=handler,
            place=(call.uri, call.line),
            guards=tuple(guards),
            conditional=context.conditional,
            attributes=_route_attributes(call, path, context),
        )
        self.builder.add_route(route)
        if isinstance(handler, FunctionValue):
            self._add_uses(handler, call)

    def _add_uses(self, handler: FunctionValue, call: CallResult) -> None:
        """Add links to the schemas and models that a handler uses."""
        key = self.builder.add_function(handler)
        add_schemas(self.program, self.builder, key, handler, call)
        for value, line in self.program.names_in(handler):
            if isinstance(value, ClassValue) and is_mapped(value):
                model = self.builder.add_class(value, "model")
                self.builder.add_link(
                    "USES_MODEL",
                    (key, model),
                    (handler.uri, line),
                )

    # ── dependencies ─────────────────────────────────────────────────────────────────────────

    def _dependencies(self, call: CallResult) -> tuple[RouteGuard, ...]:
        """Return the guards in the argument `dependencies` of a call, after those that its own class adds."""
        dependencies = [
            *_values(constructor_argument(self.program, call, "dependencies")),
            *_values(call.kwargs.get("dependencies")),
        ]
        guards: list[RouteGuard] = []
        for dependency in dependencies:
            guards.extend(self._dependency_guards(dependency, (call.uri, call.line)))
        return tuple(guards)

    def _class_dependencies(self, owner: ClassValue | None) -> Iterator[RouteGuard]:
        """Yield the guards in the attributes of a class whose methods are handlers, and of its parents."""
        if owner is None:
            return
        for name in attribute_names(owner):
            located = owner.find(name)
            if located:
                place = (located[0].uri, located[0].lines.get(name, located[0].line))
                yield from self._dependency_guards(located[1], place)

    def _parameter_dependencies(self, function: FunctionValue) -> Iterator[RouteGuard]:
        """Yield the guards that a function's parameters depend on, in order."""
        for parameter in function.definition.parameters:
            default = self.program.value_of(parameter.default, function.scope)
            annotation = self.program.evaluate(parameter.annotation, function.scope)
            line = function.line
            if parameter.annotation is not None:
                line = parameter.annotation.line
            elif parameter.default is not None:
                line = parameter.default.line
            parameter_type = annotation
            dependencies = [default]
            if isinstance(annotation, GenericType) and annotation.arguments:
                parameter_type = annotation.arguments[0]
                dependencies += annotation.arguments[1:]
            for dependency in dependencies:
                yield from self._dependency_guards(
                    dependency,
                    (function.uri, line),
                    parameter_type,
                )

    def _dependency_guards(
        self,
        dependency: Value,
        place: Location,
        parameter_type: Value = None,
    ) -> Iterator[RouteGuard]:
        """Yield the guard of `Depends(…)` or `Security(…)`, then add the dependencies of that guard."""
        if not isinstance(dependency, CallResult):
            return
        if dependency.callee.rpartition(".")[2] not in DEPENDENCY_MARKERS:
            return
        target = dependency.argument(0, "dependency", parameter_type)
        if dependency.uri:
            place = (dependency.uri, dependency.line)
        if not full_name(target):
            self.builder.add_remark(
                place, f"a dependency that is not known ({_reason(target)})"
            )
            return
        guard = guard_from_value(
            target,
            place,
            conditional=dependency.conditional,
        )
        scopes = _strings(dependency.kwargs.get("scopes"))
        yield replace(guard, parameters=(*guard.parameters, *scopes))
        self._add_nested_dependencies(target)

    def _add_nested_dependencies(self, target: Value) -> None:
        """Add the dependencies that a dependency itself has, once."""
        function = target.function if isinstance(target, BoundMember) else target
        if isinstance(target, ClassValue):
            constructor = target.find("__init__")
            function = constructor[1] if constructor else None
        if not isinstance(function, FunctionValue) or function.full in self._expanded:
            return
        self._expanded.add(function.full)
        outer = guard_from_value(target, (function.uri, function.line))
        for order, guard in enumerate(self._parameter_dependencies(function)):
            self.builder.add_guard(f"middleware:{outer.full}", guard, order)

    # ── unknown values ───────────────────────────────────────────────────────────────────────

    def _path_text(self, call: CallResult, value: Value) -> str:
        """Return a part of a path; an unknown part becomes `{?}`, with a remark."""
        if isinstance(value, str):
            return value
        if value is None:
            return ""
        self._add_remark(call, f"a piece of the path is not known ({_reason(value)})")
        return "/{?}"

    def _add_remark(self, call: CallResult, text: str) -> None:
        self.builder.add_remark((call.uri, call.line), text)


def _route_name(call: CallResult, handler: Value) -> str | None:
    """Return the name of a route: the argument `name`, otherwise the name of the handler."""
    name = call.kwargs.get("name")
    if name:
        return name if isinstance(name, str) else None
    return handler.definition.name if isinstance(handler, FunctionValue) else None


def _methods(call: CallResult) -> tuple[str, ...]:
    if call.method in VERBS:
        return (call.method.upper(),)
    if "websocket" in call.method:
        return ("WEBSOCKET",)
    methods = _strings(call.kwargs.get("methods"))
    if not methods:
        return ("GET",)
    return tuple(method.upper() for method in methods)


def _route_attributes(
    call: CallResult,
    path: str,
    context: RouterContext,
) -> dict[str, Json]:
    call_tags = _strings(call.kwargs.get("tags"))
    tags = dict.fromkeys((*context.tags, *call_tags))
    attributes: dict[str, Json] = {
        "pattern": path,
        "tags": list(tags),
        "conditional": context.conditional,
    }
    status = call.kwargs.get("status_code")
    if isinstance(status, int):
        attributes["status_code"] = status
    return attributes


def _strings(value: Value) -> tuple[str, ...]:
    """Return the strings in a list; nothing if the value is no list."""
    if not isinstance(value, list | tuple):
        return ()
    return tuple(item for item in value if isinstance(item, str))


def _values(value: Value) -> list[Value]:
    """Return the items of a list; nothing if the value is no list."""
    return list(value) if isinstance(value, list | tuple) else []


def _reason(value: Value) -> str:
    """Return the reason why a value is unknown."""
    if isinstance(value, UnknownValue):
        return value.reason
    return full_name(value) or "computed"
