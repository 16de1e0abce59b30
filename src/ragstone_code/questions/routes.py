"""Answers about routes: their action, middleware, validation, models, bindings and resources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ragstone.text import query_terms, terms
from ragstone.types import Json, Link, Node
from ragstone_code.questions.graph_query import (
    AnswerPart,
    GraphQuery,
    class_name,
    class_text,
    join_names,
    last_links,
    last_nodes,
    link_place_text,
    place_of,
    place_text,
    places_of_links,
    places_of_nodes,
    plain_name,
    string_list,
)

_ASKS_FOR_CLASSES: Final = re.compile(r"\b(?:class(?:es)?|implement\w*|alias(?:es)?)\b")
_ASKS_FOR_BINDING: Final = re.compile(r"\bbinding\b|\breceiv|\bbound\b|\binject")


def find_action(query: GraphQuery) -> AnswerPart:
    """Return the code that serves a route."""
    route = query.node
    attributes = route.attributes
    walked = query.walk("method", ("HANDLED_BY",))
    code = walked[0].nodes[-1] if walked else None
    located = code if code and code.uri else route
    exists = attributes.get("method_exists")
    facts: dict[str, Json] = {
        "registered": True,
        "methods": attributes.get("methods", []),
        "uri": attributes.get("uri"),
        "name": attributes.get("name"),
        "controller": attributes.get("controller"),
        "method": attributes.get("method"),
        "method_exists": exists if isinstance(exists, bool) else None,
        "file": located.uri,
        "line": located.line,
    }
    if attributes.get("binding_fields"):
        facts["binding_fields"] = attributes["binding_fields"]
    evidence = place_of(route)
    nodes = [route]
    if code:
        evidence += place_of(code)
        nodes.append(code)
    evidence += _middleware_places(query, route)
    return AnswerPart(
        facts,
        _action_sentence(route, code),
        evidence,
        nodes,
        walked[:1],
    )


def _action_sentence(route: Node, code: Node | None) -> str:
    """Return the sentence about the code that serves a route."""
    title = _title(route)
    if route.attributes.get("method_exists") is False:
        controller, method = route.attributes.get("controller"), route.attributes.get("method")
        code_place = place_text(code) if code else ""
        missing = f"{controller} has no method {method}{code_place}"
        return f"{title} is registered{place_text(route)}, but {missing}."
    return f"{title} is served by {_action_name(route)}{place_text(code or route)}."


def _action_name(route: Node) -> str:
    """Return the name of a route's action, for a sentence."""
    controller, method = route.attributes.get("controller"), route.attributes.get("method")
    if route.language == "python":
        return str(route.attributes.get("action"))
    if not controller:
        return str(route.attributes.get("action") or "a closure").replace(
            "Closure", "a closure"
        )
    return f"{controller}@{method}" if method else str(controller)


def find_middleware(query: GraphQuery) -> AnswerPart:
    """Return the middleware of a route in order, and the excluded middleware."""
    route = query.node
    middleware = string_list(route.attributes.get("middleware", []))
    excluded = string_list(route.attributes.get("excluded", []))
    of_controller = string_list(route.attributes.get("controller_middleware", []))
    added = [word for word in of_controller if word not in middleware]
    walked = query.walk()
    facts: dict[str, Json] = {
        "middleware": list(middleware),
        "excluded": list(excluded),
        "uri": route.attributes.get("uri"),
    }
    passed = [word for word in middleware if word not in excluded]
    sentence = (
        f"{_title(route)} passes {join_names(passed) or 'no middleware'}{place_text(route)}."
    )
    if added:
        facts["controller_middleware"] = list(added)
        sentence += f" Its controller adds {join_names(added)}."
    if excluded:
        sentence += f" Taken out of it: {join_names(excluded)}."
    has_none = not passed and not added
    part = AnswerPart(
        facts,
        sentence,
        [*place_of(route), *places_of_links(last_links(walked))],
        [route, *last_nodes(walked)],
        walked,
        negative=has_none,
        looked_in=[route.uri] if has_none else [],
    )
    _add_middleware_classes(query, part, last_nodes(walked))
    return part


def _add_middleware_classes(
    query: GraphQuery, part: AnswerPart, middleware: Sequence[Node]
) -> None:
    """Add the classes behind the named middleware to the answer; all classes if the question asks for classes."""
    mentioned = {node.key for node in query.other_nodes() if node.key.startswith("middleware:")}
    if not mentioned and not _ASKS_FOR_CLASSES.search(query.text):
        return
    keys = mentioned or {node.key for node in middleware}
    links = query.links_from(sorted(keys), "HANDLED_BY")
    links = [link for link in links if class_name(link.target) != plain_name(link.source)]
    if not links:
        return
    classes: dict[str, Json] = {
        plain_name(link.source): class_name(link.target) for link in links
    }
    part.facts["aliases"] = classes
    texts = [f"{alias} is {target}" for alias, target in classes.items()]
    part.said += f" {'; '.join(texts)}."
    part.evidence += places_of_links(links)
    part.nodes += query.nodes(link.target for link in links).values()


def find_request(query: GraphQuery) -> AnswerPart:
    """Return the form request that validates a route's input."""
    walked = query.walk()
    requests = last_nodes(walked)
    method = _serving_method(query)
    if not requests:
        located = method or query.node
        sentence = f"No form request validates {_title(query.node)}; looked at the parameters of {located.place}."
        return AnswerPart(
            {"request": None},
            sentence,
            place_of(located),
            [query.node],
            negative=True,
            looked_in=[located.place],
        )
    first = requests[0]
    facts: dict[str, Json] = {
        "request": class_name(first.key),
        "file": first.uri,
        "line": first.line,
    }
    if len(requests) > 1:
        facts["requests"] = [class_name(request.key) for request in requests]
    names = join_names([class_text(request) for request in requests])
    sentence = f"{_title(query.node)} is validated by {names}."
    evidence = [*places_of_links(last_links(walked)), *places_of_nodes(requests)]
    if method:
        evidence += place_of(method)
    return AnswerPart(
        facts,
        sentence,
        evidence,
        [*requests, query.node],
        walked,
    )


def find_models(query: GraphQuery) -> AnswerPart:
    """Return the models and tables that a route's code receives and uses."""
    node = query.node
    binding_only = query.role == "route" and _ASKS_FOR_BINDING.search(query.text)
    walked = query.walk(via=("BINDS",) if binding_only else query.intent.via)
    models = last_nodes(walked)
    tables = {
        link.source: link
        for link in query.links_from([model.key for model in models], "MAPS_TO")
    }
    facts: dict[str, Json] = {
        "models": [_model_row(model, tables.get(model.key)) for model in models]
    }
    if query.role == "route":
        facts["controller"] = node.attributes.get("controller")
        facts["method"] = node.attributes.get("method")
    code = _serving_method(query)
    if not models:
        located = code or node
        sentence = (
            f"{_title(node)} touches no model that is written down; looked in {located.place}."
        )
        places = place_of(located)
        return AnswerPart(
            facts,
            sentence,
            places,
            [node],
            negative=True,
            looked_in=[located.place],
        )
    texts = [_model_text(model, tables.get(model.key)) for model in models]
    sentence = f"{_title(node)} touches {join_names(texts)}."
    evidence = place_of(code) if code else []
    evidence += [
        *places_of_nodes(models),
        *place_of(node),
        *places_of_links(tables.values()),
        *places_of_links(last_links(walked)),
    ]
    return AnswerPart(facts, sentence, evidence, [*models, node], walked)


def _model_row(model: Node, table_link: Link | None) -> dict[str, Json]:
    """Return the facts of a model and its table."""
    return {
        "model": class_name(model.key),
        "table": plain_name(table_link.target) if table_link else None,
    }


def _model_text(model: Node, table_link: Link | None) -> str:
    """Return a model and its table, for a sentence."""
    table = f", table {plain_name(table_link.target)}" if table_link else ""
    return f"{class_name(model.key)}{table}{place_text(model)}"


def find_binding(query: GraphQuery) -> AnswerPart:
    """Return the column by which each parameter of a route is looked up."""
    route = query.node
    links = query.links_from([route.key], "BINDS")
    columns: dict[str, Json] = {}
    for link in links:
        parameter = link.attributes.get("parameter")
        if parameter:
            columns[str(parameter)] = link.attributes.get("field") or _unknown_column(link)
    written = route.attributes.get("binding_fields")
    if isinstance(written, dict):
        columns |= written
    facts: dict[str, Json] = {"binding_fields": dict(columns)}
    texts = [f"{parameter} by {column}" for parameter, column in columns.items()]
    lookups = join_names(texts) or "nothing by its parameters"
    sentence = f"{_title(route)} looks up {lookups}{place_text(route)}."
    evidence = [*place_of(route), *places_of_links(links)]
    return AnswerPart(
        facts,
        sentence,
        evidence,
        [route],
        negative=not texts,
        looked_in=[route.uri],
    )


def _unknown_column(link: Link) -> str:
    """Return the key of a model, or the place of the code that looks a parameter up."""
    if link.attributes.get("how") == "bind":
        return f"the code in {link_place_text(link)}"
    return "id"


def find_resource(query: GraphQuery) -> AnswerPart:
    """Return the resource class that shapes the response of a route."""
    walked = query.walk()
    resources = last_nodes(walked)
    if not resources:
        located = _serving_method(query) or query.node
        sentence = f"{_title(query.node)} returns no resource class that is written down; looked in {located.place}."
        places = place_of(located)
        return AnswerPart(
            {"resource": None},
            sentence,
            places,
            negative=True,
            looked_in=[located.place],
        )
    names: list[Json] = [class_name(resource.key) for resource in resources]
    texts = join_names([class_text(resource) for resource in resources])
    sentence = f"{_title(query.node)} returns {texts}."
    evidence = [*places_of_links(last_links(walked)), *places_of_nodes(resources)]
    facts: dict[str, Json] = {"resource": names[0], "resources": names}
    return AnswerPart(
        facts,
        sentence,
        evidence,
        [*resources, query.node],
        walked,
    )


# ── lists of routes ───────────────────────────────────────────────────────────────────────────────


def find_registered_routes(query: GraphQuery) -> AnswerPart:
    """Return the routes that one resource registers or that one controller serves."""
    if query.role != "controller":
        return _list_routes(query, _routes_of_resource(query))
    controller = class_name(query.node.key)
    routes = query.nodes_of_kind("route")
    return _list_routes(
        query, [route for route in routes if route.attributes.get("controller") == controller]
    )


def find_leading_routes(query: GraphQuery) -> AnswerPart:
    """Return the routes that lead to a method, a model, a request or a middleware."""
    return _list_routes(query, last_nodes(query.walk()))


def _routes_of_resource(query: GraphQuery) -> list[Node]:
    """Return the routes of one resource; of several with the same name, the one most similar to the question."""
    resources: dict[tuple[str, int, str], list[Node]] = {}
    for route in query.anchor.nodes:
        controller = str(route.attributes.get("controller") or "")
        resources.setdefault((route.uri, route.line, controller), []).append(route)
    words = frozenset(query_terms(f"{query.text} {query.anchor.mention.text}"))

    def similarity(routes: list[Node]) -> tuple[int, int]:
        first = routes[0]
        text = f"{first.attributes.get('uri')} {first.attributes.get('name')} {first.uri}"
        return len(words.intersection(terms(text))), len(routes)

    return max(resources.values(), key=similarity)


def _list_routes(query: GraphQuery, routes: Sequence[Node]) -> AnswerPart:
    """Return a list of routes as an answer."""
    name = query.anchor.mention.text
    if not routes:
        looked_in = sorted({route.uri for route in query.nodes_of_kind("route")})
        files = join_names(looked_in, 4) or "no route file: there is none"
        sentence = f"No route leads to {name}; looked in {files}."
        return AnswerPart(
            {"routes": []},
            sentence,
            place_of(query.node),
            negative=True,
            looked_in=looked_in,
        )
    titles = join_names([_title(route) for route in routes], 30)
    sentence = f"{name}: {titles}{place_text(routes[0])}."
    places = [*places_of_nodes(routes), *_middleware_places(query, routes[0])]
    facts: dict[str, Json] = {"routes": [_route_row(route) for route in routes]}
    return AnswerPart(
        facts,
        sentence,
        list(dict.fromkeys(places)),
        list(routes),
    )


def _route_row(route: Node) -> dict[str, Json]:
    """Return the facts of a route."""
    attributes = route.attributes
    return {
        "methods": attributes.get("methods", []),
        "uri": attributes.get("uri"),
        "name": attributes.get("name"),
        "controller": attributes.get("controller"),
        "method": attributes.get("method"),
    }


def _middleware_places(query: GraphQuery, route: Node) -> list[tuple[str, int]]:
    """Return the places that set a route's middleware: its groups and mounts."""
    return places_of_links(query.links_from([route.key], "GUARDED_BY"))


def _serving_method(query: GraphQuery) -> Node | None:
    """Return the method that serves the route in question, or the method that the question is about."""
    if query.role != "route":
        return query.node
    walked = query.walk("method", ("HANDLED_BY",))
    return walked[0].nodes[-1] if walked else None


def _title(node: Node) -> str:
    """Return a route or a method, for a sentence."""
    if node.kind != "route":
        return plain_name(node.key)
    name = node.attributes.get("name")
    return f"{plain_name(node.key)} ({name})" if name else plain_name(node.key)
