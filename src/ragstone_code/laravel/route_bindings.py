"""Route model binding: the models and enums that the parameters of a route are bound to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ragstone.types import Json, Link
from ragstone_code.evaluate import Lambda, Value, first_known
from ragstone_code.laravel.inflection import snake
from ragstone_code.laravel.route_keys import key_of, route_parameters, split_action
from ragstone_code.laravel.routing.controllers import ControllerLookup
from ragstone_code.laravel.routing.route_files import MountedRoutes
from ragstone_code.laravel.routing.route_records import LaravelRoute, ParameterBinder
from ragstone_code.laravel.syntax import argument_at, call_chain, called_name, text_of
from ragstone_code.program_tree import Call, ClassName, Expr, Function, Member, Return, Static

_FINDER: Final = re.compile(r"(?:findBy|firstBy|getBy|where)([A-Z]\w*?)(?:OrFail|OrNull)?")
"""Methods with a column in their name: `findBySlug`, `whereSlug`."""


def binding_links(
    route: LaravelRoute,
    app: MountedRoutes,
    controllers: ControllerLookup,
) -> Iterator[Link]:
    """Yield links to the models and enums that a route's parameters are bound to."""
    handler = _handler_function(route, controllers)
    for parameter in route_parameters(route):
        binder = app.router.state.binders.get(parameter)
        if binder is not None:
            yield from _explicit_binding(route, parameter, binder, controllers)
        elif handler is not None:
            function, uri = handler
            yield from _implicit_binding(
                route,
                parameter,
                function,
                uri,
                controllers,
            )


def _explicit_binding(
    route: LaravelRoute,
    parameter: str,
    binder: ParameterBinder,
    controllers: ControllerLookup,
) -> Iterator[Link]:
    """Yield the link of a parameter that `Route::model` or `Route::bind` binds."""
    model = binder.model or _returned_model(binder.closure, controllers)
    if model:
        column = route.binding_fields.get(parameter)
        if not column:
            column = _searched_column(binder.closure, controllers.route_key_of(model))
        attributes: dict[str, Json] = {
            "parameter": parameter,
            "field": column or None,
            "how": binder.how,
        }
        yield _binding_link(
            route,
            model,
            (binder.site.uri, binder.site.line),
            attributes,
        )


def _implicit_binding(
    route: LaravelRoute,
    parameter: str,
    function: Function,
    uri: str,
    controllers: ControllerLookup,
) -> Iterator[Link]:
    """Yield the link of a parameter that is bound by the type of the handler's parameter."""
    model = _parameter_model(function, parameter, controllers)
    if not model:
        return
    is_enum = controllers.is_enum(model)
    column = route.binding_fields.get(parameter)
    if not column and not is_enum:
        column = controllers.route_key_of(model)
    attributes: dict[str, Json] = {
        "parameter": parameter,
        "field": column or None,
        "how": "enum" if is_enum else "implicit",
    }
    yield _binding_link(route, model, (uri, function.line), attributes)


def _binding_link(
    route: LaravelRoute,
    model: str,
    place: tuple[str, int],
    attributes: dict[str, Json],
) -> Link:
    return Link(
        "BINDS",
        key_of(route),
        f"class:{model}",
        *place,
        "evaluated",
        route.site.conditional,
        attributes=attributes,
    )


def _handler_function(
    route: LaravelRoute, controllers: ControllerLookup
) -> tuple[Function, str] | None:
    """Return the function that handles a route and its file: a closure, or a method of a controller."""
    if route.closure is not None:
        return route.closure.function, route.closure.uri
    controller, method = split_action(route.action)
    action = controllers.find_action(controller, method) if controller else None
    if action is None:
        return None
    _, uri, function = action
    return function, uri


def _parameter_model(
    function: Function,
    name: str,
    controllers: ControllerLookup,
) -> str:
    """Return the model or enum that is the type of a function's parameter; an empty string if there is none."""
    for parameter in function.parameters:
        if name not in (parameter.name, snake(parameter.name)) or parameter.type is None:
            continue
        for type_name in parameter.type.names:
            if controllers.is_bindable(type_name) or controllers.is_enum(type_name):
                return type_name
    return ""


def _returned_model(closure: Value, controllers: ControllerLookup) -> str:
    """Return the model that a closure returns: by its return type, otherwise by the query in its return statement."""
    known_closure = first_known(closure)
    if not isinstance(known_closure, Lambda):
        return ""
    function = known_closure.function
    names = list(function.returns.names) if function.returns else []
    for statement in function.body.statements:
        if isinstance(statement, Return):
            names.append(_queried_class(statement.value))
    for name in names:
        if name and controllers.is_bindable(name):
            return name
    return ""


def _searched_column(closure: Value, key: str) -> str:
    """Return the column that a binding closure searches by; the key if there is no closure; empty if unknown."""
    known_closure = first_known(closure)
    if not isinstance(known_closure, Lambda):
        return key
    for statement in known_closure.function.body.statements:
        if isinstance(statement, Return):
            _, calls = call_chain(statement.value)
            columns = [_column_of_call(call) for call in calls]
            return next(filter(None, columns), "")
    return ""


def _column_of_call(call: Call) -> str:
    """Return the column of `where('slug', …)`, `whereSlug(…)`, `findBySlug(…)` or `find(…)`; empty for others."""
    name = called_name(call)
    if name in ("where", "firstWhere"):
        return text_of(argument_at(call, 0)) or ""
    if name in ("find", "findOrFail"):
        return "id"
    finder = _FINDER.fullmatch(name)
    return snake(finder[1]) if finder else ""


def _queried_class(expression: Expr | None) -> str:
    """Return the class at the start of a call chain: `Post` in `Post::where(…)->firstOrFail()`."""
    while isinstance(expression, Call | Member):
        expression = expression.function if isinstance(expression, Call) else expression.of
    if isinstance(expression, Static) and isinstance(expression.of, ClassName):
        return expression.of.name
    return ""
