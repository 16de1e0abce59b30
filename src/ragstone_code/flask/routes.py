"""Routes of Flask: URL rules with the prefixes of their blueprints, endpoints with the blueprints' names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ragstone_code.flask.rules import (
    FORMS,
    UrlRule,
    method_rules,
    namespace_rules,
    restful_rules,
    url_rules,
    view_guards,
)
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.python.values import (
    CallResult,
    ClassValue,
    ExternalName,
    FunctionValue,
    UnknownValue,
    Value,
    full_name,
)
from ragstone_code.python_project import Program
from ragstone_code.route_definition import RouteDefinition, RouteGuard, guard_from_value
from ragstone_code.sqlalchemy.models import is_mapped

APPS: Final = ("flask.Flask", "flask.app.Flask")
BLUEPRINTS: Final = frozenset(("flask.Blueprint", "flask.blueprints.Blueprint"))
RESTFUL_APIS: Final = ("flask_restful.Api", "flask_restx.Api")
APP_HOOKS: Final = ("before_request",)
BLUEPRINT_HOOKS: Final = ("before_app_request",)
"""Hooks of a blueprint that run before every request of the application."""
VIEW_METHODS: Final = ("get", "post", "put", "patch", "delete", "dispatch_request")
PARAMETER: Final = re.compile(r"<(?:[^<>:]+:)?([^<>]+)>")
MAX_DEPTH: Final = 12
"""How deep blueprints may contain other blueprints."""


@dataclass(frozen=True, slots=True)
class BlueprintContext:
    """The settings that an application or blueprint passes on to its routes."""

    prefix: str | None = None
    names: str = ""
    guards: tuple[RouteGuard, ...] = ()
    conditional: bool = False
    depth: int = 0


@dataclass
class FlaskRouteReader:
    """Adds the routes of one application to a graph."""

    program: Program
    builder: GraphBuilder
    app: CallResult

    def read(self) -> None:
        """Add all routes of the application."""
        guards = tuple(self._application_guards(self.app, APP_HOOKS, set()))
        context = BlueprintContext(guards=guards, conditional=self.app.conditional)
        self._add_static_route(self.app, context)
        self._add_owner(self.app, context)

    def _application_guards(
        self,
        owner: CallResult,
        hooks: tuple[str, ...],
        seen: set[int],
    ) -> Iterator[RouteGuard]:
        """Yield the functions that run before every request: of the application, then of its blueprints."""
        if id(owner) in seen:
            return
        seen.add(id(owner))
        for call in owner.calls:
            if call.method in hooks:
                yield from self._hook_guards(call)
            if call.method == "register_blueprint":
                blueprint = call.argument(0, "blueprint")
                if isinstance(blueprint, CallResult):
                    yield from self._application_guards(
                        blueprint,
                        BLUEPRINT_HOOKS,
                        seen,
                    )

    def _hook_guards(self, call: CallResult) -> Iterator[RouteGuard]:
        for function in (*call.args, *call.applied):
            if isinstance(function, FunctionValue | ExternalName):
                place = (call.uri, call.line)
                yield guard_from_value(
                    function,
                    place,
                    conditional=call.conditional,
                )

    def _add_owner(self, owner: CallResult, context: BlueprintContext) -> None:
        """Add the blueprints, rules and Flask-RESTful resources of an application or blueprint."""
        if context.depth > MAX_DEPTH:
            return
        for call in owner.calls:
            if call.method == "register_blueprint":
                self._add_blueprint(call, context)
        for rule in url_rules(owner):
            self._add_rules(rule, context)
        for api in self.program.objects_of(*RESTFUL_APIS):
            if _is_api_of(api, owner):
                for rule in (*restful_rules(api), *namespace_rules(api)):
                    self._add_rules(rule, context)

    def _add_blueprint(self, call: CallResult, context: BlueprintContext) -> None:
        place = (call.uri, call.line)
        blueprint = call.argument(0, "blueprint")
        if not isinstance(blueprint, CallResult):
            remark = f"the blueprint registered here is not known ({_reason(blueprint)})"
            self.builder.add_remark(place, remark)
            return
        own_prefix = call.kwargs.get("url_prefix")
        if own_prefix is None and "url_prefix" in blueprint.kwargs:
            own_prefix = blueprint.argument(5, "url_prefix")
        name = call.kwargs.get("name") or blueprint.argument(0, "name", "")
        names = context.names
        if isinstance(name, str):
            names = f"{context.names}.{name}".lstrip(".")
        prefix = self._join_prefix(context.prefix, own_prefix, call)
        guards = list(context.guards)
        for blueprint_call in blueprint.calls:
            if blueprint_call.method == "before_request":
                guards.extend(self._hook_guards(blueprint_call))
        inner = BlueprintContext(
            prefix,
            names,
            tuple(guards),
            context.conditional or call.conditional,
            context.depth + 1,
        )
        self._add_static_route(blueprint, inner)
        self._add_owner(blueprint, inner)

    def _join_prefix(
        self,
        outer: str | None,
        own: Value,
        call: CallResult,
    ) -> str | None:
        """Return two prefixes as one; an unknown prefix becomes `{?}`, with a remark."""
        if own is None:
            return outer
        if isinstance(own, str):
            inner = own
        else:
            self.builder.add_remark(
                (call.uri, call.line), f"the prefix is not known ({_reason(own)})"
            )
            inner = "/{?}"
        if outer is None:
            return inner
        return f"{outer.rstrip('/')}/{inner.lstrip('/')}"

    def _add_static_route(self, owner: CallResult, context: BlueprintContext) -> None:
        """Add the route of static files: every application has one, a blueprint only if it names a folder."""
        is_blueprint = bool(BLUEPRINTS & set(owner.type_names()))
        default_folder = None if is_blueprint else "static"
        folder = owner.kwargs.get("static_folder", default_folder)
        if not isinstance(folder, str):
            return
        path = owner.kwargs.get("static_url_path")
        if not isinstance(path, str):
            path = "/" + folder.rstrip("/").rpartition("/")[2]
        rule = UrlRule(
            f"{path.rstrip('/')}/<path:filename>",
            "static",
            ExternalName("flask.Flask.send_static_file"),
            ("GET",),
            (owner.uri, owner.line),
        )
        self._add_rule(rule, context)

    def _add_rules(self, rule: UrlRule, context: BlueprintContext) -> None:
        """Add a rule, or one rule for each HTTP method if their guards differ."""
        for part in method_rules(rule):
            self._add_rule(part, context)

    def _add_rule(self, rule: UrlRule, context: BlueprintContext) -> None:
        if not isinstance(rule.rule, str):
            self.builder.add_remark(rule.place, f"the rule is not known ({_reason(rule.rule)})")
            return
        path = rule.rule
        if context.prefix is not None:
            path = context.prefix
            if rule.rule:
                path = f"{context.prefix.rstrip('/')}/{rule.rule.lstrip('/')}"
        conditional = context.conditional or rule.conditional
        route = RouteDefinition(
            methods=rule.methods,
            uri=PARAMETER.sub(r"{\1}", path).lstrip("/"),
            name=f"{context.names}.{rule.endpoint}".lstrip("."),
            handler=rule.handler,
            place=rule.place,
            guards=(*context.guards, *view_guards(rule.view), *view_guards(rule.handler)),
            conditional=conditional,
            attributes={"pattern": path, "conditional": conditional},
        )
        self.builder.add_route(route)
        for function in _view_functions(rule.handler):
            self._add_uses(function)

    def _add_uses(self, function: FunctionValue) -> None:
        """Add links to the models and forms that a view names."""
        kind = "controller_method" if function.owner is not None else ""
        key = self.builder.add_function(function, kind)
        for value, line in self.program.names_in(function):
            if not isinstance(value, ClassValue):
                continue
            place = (function.uri, line)
            if is_mapped(value):
                model = self.builder.add_class(value, "model")
                self.builder.add_link("USES_MODEL", (key, model), place)
            elif FORMS & set(value.type_names()):
                form = self.builder.add_class(value, "request")
                self.builder.add_link("VALIDATED_BY", (key, form), place)


def _is_api_of(api: CallResult, owner: CallResult) -> bool:
    """Return whether a Flask-RESTful API belongs to an application: by its constructor or by `init_app`."""
    if api.argument(0, "app") is owner:
        return True
    return any(
        call.method == "init_app" and call.argument(0, "app") is owner for call in api.calls
    )


def _view_functions(handler: Value) -> Iterator[FunctionValue]:
    """Yield the functions of a view: the function itself, or the HTTP methods of a class."""
    if isinstance(handler, FunctionValue):
        yield handler
    elif isinstance(handler, ClassValue):
        for name in VIEW_METHODS:
            method = handler.find(name)
            if method and isinstance(method[1], FunctionValue):
                yield method[1]


def _reason(value: Value) -> str:
    """Return the reason why a value is unknown."""
    if isinstance(value, UnknownValue):
        return value.reason
    return full_name(value) or "computed"
