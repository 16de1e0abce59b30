"""FastAPI's routes: paths below the prefixes of the routers they are included by, with all dependencies in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.types import Json
from ragstone_code.fastapi.schemas import schemas
from ragstone_code.graph_builder import GraphBuilder, Location, RouteDefinition, RouteGuard, guard_from_value
from ragstone_code.program import Program
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
from ragstone_code.sqlalchemy.models import is_mapped

ROUTERS: Final = ("fastapi.APIRouter", "fastapi.routing.APIRouter")
VERBS: Final = ("get", "post", "put", "patch", "delete", "options", "head", "trace")
DEPENDS: Final = ("Depends", "Security")
DEEPEST: Final = 12
"""Routers in routers."""


@dataclass(frozen=True, slots=True)
class Under:
    """What a router hands down to its routes."""

    prefix: str = ""
    guards: tuple[RouteGuard, ...] = ()
    conditional: bool = False
    tags: tuple[str, ...] = ()
    depth: int = 0


@dataclass
class Reading:
    """An application's routes while they are read."""

    program: Program
    builder: GraphBuilder
    _known: set[str] = field(default_factory=set)

    def app(self, app: CallResult, prefix: str = "") -> None:
        """Keep the routes of an application, and of those mounted in it."""
        under = Under(prefix, self._dependencies(app), app.conditional)
        self._calls(app, under)

    def _calls(self, router: CallResult, under: Under) -> None:
        if under.depth > DEEPEST:
            return
        for call in router.calls:
            at = replace(under, conditional=under.conditional or call.conditional)
            if call.method in (*VERBS, "api_route", "websocket", "route"):
                for function in call.applied:
                    self._route(call, function, at)
            elif call.method in ("add_api_route", "add_api_websocket_route", "add_route"):
                self._route(call, call.argument(1, "endpoint"), at)
            elif call.method == "include_router":
                self._include(call, at)
            elif call.method == "mount":
                self._mount(call, at)

    def _include(self, call: CallResult, under: Under) -> None:
        router = call.argument(0, "router")
        if isinstance(router, BoundMember) and router.name == "router" and isinstance(router.owner, CallResult):
            router = router.owner
        if not isinstance(router, CallResult):
            self._say(call, f"what is included here is not known ({_reason(router)})")
            return
        prefix = self._text(call, call.kwargs.get("prefix", "")) + self._text(router, router.kwargs.get("prefix", ""))
        guards = (*under.guards, *self._dependencies(call), *self._dependencies(router))
        tags = (*under.tags, *_texts(call.kwargs.get("tags")), *_texts(router.kwargs.get("tags")))
        below = Under(under.prefix + prefix, guards, under.conditional or router.conditional, tags, under.depth + 1)
        self._calls(router, below)

    def _mount(self, call: CallResult, under: Under) -> None:
        app = call.argument(1, "app")
        path = self._text(call, call.argument(0, "path", ""))
        if isinstance(app, CallResult) and any(kind.endswith("FastAPI") for kind in app.type_names()):
            self.app(app, under.prefix + path)
        else:
            self._say(
                call, f"{path or '/'}: what is mounted here, {full_name(app) or 'something'}, has no routes of its own"
            )

    def _route(self, call: CallResult, function: Value, under: Under) -> None:
        path = under.prefix + self._text(call, call.argument(0, "path", ""))
        handler = function.function if isinstance(function, BoundMember) else function
        name = call.kwargs.get("name") or (handler.definition.name if isinstance(handler, FunctionValue) else None)
        own = (*self._dependencies(call), *(self._asked(handler) if isinstance(handler, FunctionValue) else ()))
        route = RouteDefinition(
            methods=_methods(call),
            uri=path.lstrip("/"),
            name=name if isinstance(name, str) else None,
            handler=handler,
            place=(call.uri, call.line),
            guards=(*under.guards, *own),
            conditional=under.conditional,
            attributes=_attributes(call, path, under),
        )
        self.builder.add_route(route)
        if isinstance(handler, FunctionValue):
            self._uses(handler, call)

    def _uses(self, handler: FunctionValue, call: CallResult) -> None:
        """Keep the schemas and models a function has to do with."""
        key = self.builder.add_function(handler)
        schemas(self.program, self.builder, (key, handler, call))
        for value, line in self.program.names_in(handler):
            if isinstance(value, ClassValue) and is_mapped(value):
                self.builder.add_link("USES_MODEL", (key, self.builder.add_class(value, "model")), (handler.uri, line))

    # ── dependencies ──────────────────────────────────────────────────────────────────────────────

    def _dependencies(self, call: CallResult) -> tuple[RouteGuard, ...]:
        given = call.kwargs.get("dependencies")
        listed = given if isinstance(given, list | tuple) else []
        return tuple(guard for one in listed for guard in self._guard(one, (call.uri, call.line)))

    def _asked(self, function: FunctionValue) -> Iterator[RouteGuard]:
        """Yield what a function's parameters depend on, in their order."""
        for parameter in function.definition.parameters:
            default = self.program.interpreter.evaluate(parameter.default, function.scope)
            noted = self.program.evaluate(parameter.annotation, function.scope)
            line = next((x.line for x in (parameter.annotation, parameter.default) if x is not None), function.line)
            found = [default, *(noted.arguments[1:] if isinstance(noted, GenericType) else ())]
            kind = noted.arguments[0] if isinstance(noted, GenericType) and noted.arguments else noted
            for one in found:
                yield from self._guard(one, (function.uri, line), kind)

    def _guard(self, one: Value, place: Location, kind: Value = None) -> Iterator[RouteGuard]:
        if not isinstance(one, CallResult) or one.callee.rpartition(".")[2] not in DEPENDS:
            return
        behind = one.argument(0, "dependency", kind)
        where = (one.uri, one.line) if one.uri else place
        if not full_name(behind):
            self.builder.add_remark(where, f"a dependency that is not known ({_reason(behind)})")
            return
        scopes = _texts(one.kwargs.get("scopes"))
        made = guard_from_value(behind, where, conditional=one.conditional)
        yield replace(made, parameters=(*made.parameters, *scopes))
        self._needs(behind)

    def _needs(self, behind: Value) -> None:
        """Keep what a dependency itself depends on."""
        function = behind.function if isinstance(behind, BoundMember) else behind
        if isinstance(behind, ClassValue):
            found = behind.find("__init__")
            function = found[1] if found else None
        if isinstance(function, FunctionValue) and function.full not in self._known:
            self._known.add(function.full)
            own = guard_from_value(behind, (function.uri, function.line))
            for order, guard in enumerate(self._asked(function)):
                self.builder.add_guard(f"middleware:{own.full}", guard, order)

    # ── what may not be known ─────────────────────────────────────────────────────────────────────

    def _text(self, call: CallResult, value: Value) -> str:
        """Return a piece of a path; one that is not known is said and stands as `{?}`."""
        if isinstance(value, str):
            return value
        if value is None:
            return ""
        self._say(call, f"a piece of the path is not known ({_reason(value)})")
        return "/{?}"

    def _say(self, call: CallResult, said: str) -> None:
        self.builder.add_remark((call.uri, call.line), said)


def _methods(call: CallResult) -> tuple[str, ...]:
    if call.method in VERBS:
        return (call.method.upper(),)
    if "websocket" in call.method:
        return ("WEBSOCKET",)
    return tuple(one.upper() for one in _texts(call.kwargs.get("methods"))) or ("GET",)


def _attributes(call: CallResult, path: str, under: Under) -> dict[str, Json]:
    tags = (*under.tags, *_texts(call.kwargs.get("tags")))
    made: dict[str, Json] = {"pattern": path, "tags": list(dict.fromkeys(tags)), "conditional": under.conditional}
    status = call.kwargs.get("status_code")
    if isinstance(status, int):
        made["status_code"] = status
    return made


def _texts(value: Value) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list | tuple) else ()


def _reason(value: Value) -> str:
    return value.reason if isinstance(value, UnknownValue) else full_name(value) or "computed"
