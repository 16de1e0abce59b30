"""Django's views: their routes, and the models, forms and serializers that they use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ragstone_code.django.guards import find_guards, find_methods, unwrap_view
from ragstone_code.django.model_classes import is_model
from ragstone_code.django.models import DjangoModels
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.python.values import CallResult, ClassValue, FunctionValue, Value
from ragstone_code.python_project import Program, own_methods
from ragstone_code.route_definition import Location, RouteDefinition

_FORM_CLASSES: Final = frozenset(
    (
        "django.forms.Form",
        "django.forms.ModelForm",
        "django.forms.BaseForm",
        "django.forms.models.ModelForm",
        "django.forms.forms.Form",
        "rest_framework.serializers.Serializer",
        "rest_framework.serializers.ModelSerializer",
        "rest_framework.serializers.HyperlinkedModelSerializer",
        "rest_framework.serializers.BaseSerializer",
        "rest_framework.serializers.ListSerializer",
    )
)


@dataclass(frozen=True, slots=True)
class UrlView:
    """A view at a URL."""

    view: Value
    """The value in the URL pattern, with its wrappers."""
    uri: str
    name: str | None
    place: Location
    pattern: str
    conditional: bool = False
    urlconf: str = ""
    actions: dict[str, str] = field(default_factory=dict)
    """The action of a view set for each HTTP method."""


class ViewRoutes:
    """Adds routes for views to a graph."""

    def __init__(
        self,
        program: Program,
        builder: GraphBuilder,
        models: DjangoModels,
    ) -> None:
        self.program = program
        self.builder = builder
        self.models = models

    def add_view(self, url_view: UrlView) -> None:
        """Add the route of a view; a view set gets one route per action."""
        handler = unwrap_view(url_view.view)
        actions = url_view.actions or _mapped_actions(url_view.view)
        if actions and isinstance(handler, ClassValue):
            for verb, action in actions.items():
                self._add_route(url_view, handler, (verb.upper(),), action)
        else:
            self._add_route(url_view, handler, find_methods(handler), "")
        if isinstance(handler, ClassValue):
            self._link_class(handler, url_view.view)
        elif isinstance(handler, FunctionValue):
            self._link_names(handler, [self.builder.add_function(handler)])

    def _add_route(
        self,
        url_view: UrlView,
        handler: Value,
        methods: tuple[str, ...],
        action: str,
    ) -> None:
        guards = find_guards(url_view.view, handler, action, self.models.settings)
        route = RouteDefinition(
            methods,
            url_view.uri,
            url_view.name,
            handler,
            url_view.place,
            action,
            tuple(guards),
            url_view.conditional,
            {
                "pattern": url_view.pattern,
                "conditional": url_view.conditional,
                "urlconf": url_view.urlconf,
            },
        )
        self.builder.add_route(route)

    # ── models and forms ──────────────────────────────────────────────────────────────────────────

    def _link_class(self, view_class: ClassValue, view: Value) -> None:
        """Link a view class and its methods to its models, forms and serializers."""
        key = self.builder.add_class(view_class, "controller")
        sources = [key]
        for function in own_methods(view_class):
            sources.append(self.builder.add_function(function, "controller_method"))
        for name in ("model", "queryset", "form_class", "serializer_class"):
            value, location = _view_option(view_class, view, name)
            self._link_option(value, name, location, sources)
        for ancestor in view_class.lineage():
            if isinstance(ancestor, ClassValue):
                for function in own_methods(ancestor):
                    function_key = self.builder.add_function(
                        function,
                        "controller_method",
                    )
                    self._link_names(function, [function_key, key])

    def _link_option(
        self,
        value: Value,
        name: str,
        location: Location,
        sources: list[str],
    ) -> None:
        model = self.models.model_of(value)
        for source in sources:
            if model is not None:
                ends = (source, self.builder.add_class(model, "model"))
                self.builder.add_link(
                    "USES_MODEL",
                    ends,
                    location,
                    {"name": name},
                    how="declared",
                )
            elif is_form(value):
                self._link_form(value, location, source)

    def _link_names(self, function: FunctionValue, sources: list[str]) -> None:
        """Link sources to the models and forms that a function body names."""
        for value, line in self.program.names_in(function):
            location = (function.uri, line)
            for source in sources:
                if is_model(value):
                    ends = (source, self.builder.add_class(value, "model"))
                    self.builder.add_link("USES_MODEL", ends, location)
                elif is_form(value):
                    self._link_form(value, location, source)

    def _link_form(self, form: ClassValue, location: Location, source: str) -> None:
        is_serializer = any(name.startswith("rest_framework") for name in form.type_names())
        kind = "request"
        if is_serializer:
            kind = "resource"
        form_key = self.builder.add_class(form, kind)
        self.builder.add_link("VALIDATED_BY", (source, form_key), location)
        if is_serializer:
            self.builder.add_link("RETURNS", (source, form_key), location)
        self._link_form_model(form, form_key)

    def _link_form_model(self, form: ClassValue, form_key: str) -> None:
        """Link a form to the model of its Meta class."""
        meta = form.find("Meta")
        if meta is None or not isinstance(meta[1], ClassValue):
            return
        option = meta[1].find("model")
        if option is None:
            return
        model = self.models.model_of(option[1])
        if model is not None:
            line = option[0].lines.get("model", form.line)
            ends = (form_key, self.builder.add_class(model, "model"))
            self.builder.add_link("USES_MODEL", ends, (form.uri, line))


def _view_option(
    view_class: ClassValue,
    view: Value,
    name: str,
) -> tuple[Value, Location]:
    """Return an option of a view class and its location; an argument of `as_view` takes precedence."""
    if isinstance(view, CallResult) and view.method == "as_view" and name in view.kwargs:
        return view.kwargs[name], (view.uri, view.line)
    owner, value = view_class.find(name) or (view_class, None)
    return value, (owner.uri, owner.lines.get(name, owner.line))


def is_form(value: Value) -> bool:
    """Return whether a value is a form class or a serializer class of the project."""
    return isinstance(value, ClassValue) and not _FORM_CLASSES.isdisjoint(value.type_names())


def _mapped_actions(view: Value) -> dict[str, str]:
    """Return the actions of `as_view({"get": "list"})`."""
    if not isinstance(view, CallResult) or view.method != "as_view" or not view.args:
        return {}
    actions = view.args[0]
    if not isinstance(actions, dict):
        return {}
    return {str(verb): str(action) for verb, action in actions.items()}
