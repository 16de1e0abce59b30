"""Flask's routes: rules below the prefixes of their blueprints, endpoints with their names before them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ragstone_code.flask.rules import FORMS, Rule, decorating, resources, rules
from ragstone_code.graph_builder import GraphBuilder, RouteDefinition, RouteGuard, guard_from_value
from ragstone_code.program import Program
from ragstone_code.python.values import (
    CallResult,
    ClassValue,
    ExternalName,
    FunctionValue,
    UnknownValue,
    Value,
    full_name,
)
from ragstone_code.sqlalchemy.models import is_mapped

APPS: Final = ("flask.Flask", "flask.app.Flask")
BLUEPRINTS: Final = frozenset(("flask.Blueprint", "flask.blueprints.Blueprint"))
APIS: Final = ("flask_restful.Api", "flask_restx.Api")
BEFORE: Final = ("before_request", "before_app_request")
PARAMETER: Final = re.compile(r"<(?:[^<>:]+:)?([^<>]+)>")
DEEPEST: Final = 12
"""Blueprints in blueprints."""


@dataclass(frozen=True, slots=True)
class Under:
    """What a blueprint is registered with, on all that it stands in."""

    prefix: str | None = None
    names: str = ""
    guards: tuple[RouteGuard, ...] = ()
    conditional: bool = False
    depth: int = 0


@dataclass
class Reading:
    """The routes of one application."""

    program: Program
    builder: GraphBuilder
    app: CallResult

    def read(self) -> None:
        """Keep all of them."""
        everywhere = tuple(self._everywhere(self.app, BEFORE[:1], set()))
        under = Under(guards=everywhere, conditional=self.app.conditional)
        self._static(self.app, under)
        self._owned(self.app, under)

    def _everywhere(self, owner: CallResult, names: tuple[str, ...], seen: set[int]) -> Iterator[RouteGuard]:
        """Yield what runs before every request: the application's, then what its blueprints add for all."""
        if id(owner) in seen:
            return
        seen.add(id(owner))
        for call in owner.calls:
            if call.method in names:
                yield from self._before(call)
            inner = call.argument(0, "blueprint") if call.method == "register_blueprint" else None
            if isinstance(inner, CallResult):
                yield from self._everywhere(inner, BEFORE[1:], seen)

    def _before(self, call: CallResult) -> Iterator[RouteGuard]:
        for function in [*call.args, *call.applied]:
            if isinstance(function, FunctionValue | ExternalName):
                yield guard_from_value(function, (call.uri, call.line), conditional=call.conditional)

    def _owned(self, owner: CallResult, under: Under) -> None:
        if under.depth > DEEPEST:
            return
        for call in owner.calls:
            if call.method == "register_blueprint":
                self._blueprint(call, under)
        for rule in rules(owner):
            self._rule(rule, under)
        for api in self.program.objects_of(*APIS):
            given = api.argument(0, "app")
            later = [call for call in api.calls if call.method == "init_app" and call.argument(0, "app") is owner]
            if given is owner or later:
                for rule in resources(api):
                    self._rule(rule, under)

    def _blueprint(self, call: CallResult, under: Under) -> None:
        blueprint = call.argument(0, "blueprint")
        if not isinstance(blueprint, CallResult):
            self.builder.add_remark(
                (call.uri, call.line), f"the blueprint registered here is not known ({_reason(blueprint)})"
            )
            return
        told = call.kwargs.get("url_prefix")
        own = (
            told
            if told is not None
            else blueprint.argument(5, "url_prefix")
            if "url_prefix" in blueprint.kwargs
            else None
        )
        prefix = self._joined(under.prefix, own, call)
        name = call.kwargs.get("name") or blueprint.argument(0, "name", "")
        names = f"{under.names}.{name}".lstrip(".") if isinstance(name, str) else under.names
        guards = tuple(
            guard for each in blueprint.calls if each.method == "before_request" for guard in self._before(each)
        )
        below = Under(prefix, names, (*under.guards, *guards), under.conditional or call.conditional, under.depth + 1)
        self._static(blueprint, below)
        self._owned(blueprint, below)

    def _joined(self, outer: str | None, own: Value, call: CallResult) -> str | None:
        if own is not None and not isinstance(own, str):
            self.builder.add_remark((call.uri, call.line), f"the prefix is not known ({_reason(own)})")
            own = "/{?}"
        if outer is not None and own is not None:
            return f"{outer.rstrip('/')}/{own.lstrip('/')}"
        return own if own is not None else outer

    def _static(self, owner: CallResult, under: Under) -> None:
        """Keep the route of static files: every application has one, a blueprint where it says so."""
        blueprint = bool(BLUEPRINTS & set(owner.type_names()))
        folder = owner.kwargs.get("static_folder", None if blueprint else "static")
        url = owner.kwargs.get("static_url_path")
        if not isinstance(folder, str):
            return
        path = url if isinstance(url, str) else f"/{folder.rstrip('/').rpartition('/')[2]}"
        rule = Rule(
            f"{path.rstrip('/')}/<path:filename>",
            "static",
            ExternalName("flask.Flask.send_static_file"),
            ("GET",),
            (owner.uri, owner.line),
        )
        self._rule(rule, under)

    def _rule(self, rule: Rule, under: Under) -> None:
        if not isinstance(rule.rule, str):
            self.builder.add_remark(rule.place, f"the rule is not known ({_reason(rule.rule)})")
            return
        path = rule.rule
        if under.prefix is not None:
            path = f"{under.prefix.rstrip('/')}/{rule.rule.lstrip('/')}" if rule.rule else under.prefix
        decorations = tuple(decorating(rule.handler))
        route = RouteDefinition(
            methods=rule.methods,
            uri=PARAMETER.sub(r"{\1}", path).lstrip("/"),
            name=f"{under.names}.{rule.endpoint}".lstrip("."),
            handler=rule.handler,
            place=rule.place,
            guards=(*under.guards, *decorations),
            conditional=under.conditional or rule.conditional,
            attributes={"pattern": path, "conditional": under.conditional or rule.conditional},
        )
        self.builder.add_route(route)
        for function in self._functions(rule.handler):
            self._uses(function)

    def _functions(self, handler: Value) -> Iterator[FunctionValue]:
        if isinstance(handler, FunctionValue):
            yield handler
        elif isinstance(handler, ClassValue):
            for name in ("get", "post", "put", "patch", "delete", "dispatch_request"):
                found = handler.find(name)
                if found and isinstance(found[1], FunctionValue):
                    yield found[1]

    def _uses(self, function: FunctionValue) -> None:
        """Keep the models and forms a view names."""
        key = self.builder.add_function(function, "controller_method" if function.owner is not None else "")
        for value, line in self.program.names_in(function):
            if not isinstance(value, ClassValue):
                continue
            if is_mapped(value):
                self.builder.add_link("USES_MODEL", (key, self.builder.add_class(value, "model")), (function.uri, line))
            elif FORMS & set(value.type_names()):
                self.builder.add_link(
                    "VALIDATED_BY", (key, self.builder.add_class(value, "request")), (function.uri, line)
                )


def _reason(value: Value) -> str:
    return value.reason if isinstance(value, UnknownValue) else full_name(value) or "computed"
