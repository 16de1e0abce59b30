"""Django's views: what serves a route, with which methods, behind what, and the models and forms it has to do with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ragstone.types import Json
from ragstone_code.django.guards import guards, methods_of, view_of
from ragstone_code.django.models import Models, is_model
from ragstone_code.graph_builder import GraphBuilder, Location, RouteDefinition
from ragstone_code.program import Program, own_methods
from ragstone_code.python.values import CallResult, ClassValue, FunctionValue, Value

FORMS: Final = frozenset(
    (
        "django.forms.Form", "django.forms.ModelForm", "django.forms.BaseForm", "django.forms.models.ModelForm",
        "django.forms.forms.Form", "rest_framework.serializers.Serializer",
        "rest_framework.serializers.ModelSerializer",
        "rest_framework.serializers.HyperlinkedModelSerializer", "rest_framework.serializers.BaseSerializer",
        "rest_framework.serializers.ListSerializer",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class View:
    """A view at a path."""

    given: Value
    uri: str
    name: str | None
    place: Location
    pattern: str
    conditional: bool = False
    wrapped: tuple[Value, ...] = ()
    urlconf: str = ""
    actions: dict[str, str] = field(default_factory=dict)


@dataclass
class Views:
    """Makes routes of views."""

    program: Program
    builder: GraphBuilder
    models: Models
    _known: set[str] = field(default_factory=set)

    def route(self, view: View) -> None:
        """Keep a route; a set of views gives one for each of its actions."""
        handler = view_of(view.given)
        mapped = view.actions or _mapped(view.given)
        if mapped and isinstance(handler, ClassValue):
            for verb, action in mapped.items():
                self._route(view, handler, ((verb.upper(),), action))
        else:
            self._route(view, handler, (methods_of(handler, view.given), ""))
        if isinstance(handler, ClassValue):
            self._class(handler, view)
        elif isinstance(handler, FunctionValue):
            self._uses(handler, self.builder.add_function(handler))

    def _route(self, view: View, handler: Value, served: tuple[tuple[str, ...], str]) -> None:
        verbs, action = served
        attributes: dict[str, Json] = {
            "pattern": view.pattern,
            "conditional": view.conditional,
            "urlconf": view.urlconf,
        }
        found = tuple(guards(view.given, handler, action, self.models.settings))
        route = RouteDefinition(
            verbs, view.uri, view.name, handler, view.place, action, found, view.conditional, attributes
        )
        self.builder.add_route(route)

    # ── what a view has to do with ────────────────────────────────────────────────────────────────

    def _class(self, one: ClassValue, view: View) -> None:
        """Keep the models, forms and serializers of a class of views; what `as_view` is given counts too."""
        given = view.given if isinstance(view.given, CallResult) and view.given.method == "as_view" else None
        key = self.builder.add_class(one, "controller")
        own = [self.builder.add_function(function, "controller_method") for function in own_methods(one)]
        for name in ("model", "queryset", "form_class", "serializer_class"):
            found = one.find(name)
            value, owner = (found[1], found[0]) if found else (None, one)
            line = (owner.uri, owner.lines.get(name, owner.line))
            if given is not None and name in given.kwargs:
                value, line = given.kwargs[name], (given.uri, given.line)
            self._named(value, name, line, [key, *own])
        for level in one.lineage():
            if isinstance(level, ClassValue):
                for function in own_methods(level):
                    self._uses(function, self.builder.add_function(function, "controller_method"), key)

    def _named(self, value: Value, name: str, place: Location, sources: list[str]) -> None:
        model = self.models.of(value)
        for source in sources:
            if model is not None:
                target = self.builder.add_class(model, "model")
                self.builder.add_link("USES_MODEL", (source, target), place, {"name": name}, how="declared")
            elif is_form(value):
                self._form(value, place, source)

    def _uses(self, function: FunctionValue, *sources: str) -> None:
        """Keep the models and forms a function names."""
        for value, line in self.program.names_in(function):
            for source in sources:
                if is_model(value):
                    target = self.builder.add_class(value, "model")
                    self.builder.add_link("USES_MODEL", (source, target), (function.uri, line))
                elif is_form(value):
                    self._form(value, (function.uri, line), source)

    def _form(self, value: ClassValue, place: Location, source: str) -> None:
        serializer = any(name.startswith("rest_framework") for name in value.type_names())
        target = self.builder.add_class(value, "resource" if serializer else "request")
        self.builder.add_link("VALIDATED_BY", (source, target), place)
        if serializer:
            self.builder.add_link("RETURNS", (source, target), place)
        for model, line in self._meta(value):
            self.builder.add_link("USES_MODEL", (target, self.builder.add_class(model, "model")), (value.uri, line))

    def _meta(self, value: ClassValue) -> Iterator[tuple[ClassValue, int]]:
        meta = value.find("Meta")
        found = meta[1].find("model") if meta and isinstance(meta[1], ClassValue) else None
        model = self.models.of(found[1]) if found else None
        if model is not None and meta is not None and found is not None:
            yield model, found[0].lines.get("model", value.line)


def is_form(value: Value) -> bool:
    """Return whether a class is a form or a serializer of the project."""
    return isinstance(value, ClassValue) and bool(FORMS & set(value.type_names()))


def _mapped(given: Value) -> dict[str, str]:
    """Return the actions that `as_view({"get": "list"})` maps."""
    if isinstance(given, CallResult) and given.method == "as_view" and given.args and isinstance(given.args[0], dict):
        return {str(verb): str(action) for verb, action in given.args[0].items()}
    return {}
