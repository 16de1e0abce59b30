"""What is asked about routes: who serves them, what guards them, what validates them, what they touch."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragstone.text import query_terms, terms
from ragstone.types import Json, Link, Node
from ragstone_code.questions.asking import (
    Asked,
    Part,
    at,
    called,
    ends,
    full_name,
    listed,
    place_of,
    places,
    strings,
)


def action(asked: Asked) -> Part:
    """Return the code that serves a route."""
    node = asked.node
    about = node.attributes
    walked = asked.walk("method", ("HANDLED_BY",))
    code = walked[0].nodes[-1] if walked else None
    exists = about.get("method_exists")
    facts: dict[str, Json] = {
        "registered": True,
        "methods": about.get("methods", []),
        "uri": about.get("uri"),
        "name": about.get("name"),
        "controller": about.get("controller"),
        "method": about.get("method"),
        "method_exists": exists if isinstance(exists, bool) else None,
        "file": code.uri if code and code.uri else node.uri,
        "line": code.line if code and code.uri else node.line,
    }
    if about.get("binding_fields"):
        facts["binding_fields"] = about["binding_fields"]
    said = f"{_titled(node)} is served by {_served_by(node)}{at(code) if code else at(node)}."
    if exists is False:
        missing = f"{about.get('controller')} has no method {about.get('method')}"
        said = f"{_titled(node)} is registered{at(node)}, but {missing}{at(code) if code else ''}."
    evidence = [*place_of(node), *(place_of(code) if code else []), *_groups(asked, node)]
    return Part(facts, said, evidence, [node, *([code] if code else [])], walked[:1])


def middleware(asked: Asked) -> Part:
    """Return what a request passes on its way to a route, in order, and what was taken out."""
    node = asked.node
    through = strings(node.attributes.get("middleware", []))
    excluded = strings(node.attributes.get("excluded", []))
    added = [one for one in strings(node.attributes.get("controller_middleware", [])) if one not in through]
    walked = asked.walk()
    links = [path.links[-1] for path in walked]
    facts: dict[str, Json] = {
        "middleware": list(through),
        "excluded": list(excluded),
        "uri": node.attributes.get("uri"),
    }
    said = f"{_titled(node)} passes {listed(through) or 'no middleware'}{at(node)}."
    if added:
        facts["controller_middleware"] = list(added)
        said += f" Its controller adds {listed(added)}."
    if excluded:
        said += f" Taken out of it: {listed(excluded)}."
    none = not through and not added
    part = Part(facts, said, [*place_of(node), *places(links)], [node, *ends(walked)], walked, negative=none)
    _classes(asked, part, ends(walked))
    if none:
        part.looked_in = [node.uri]
    return part


def _classes(asked: Asked, part: Part, guards: Sequence[Node]) -> None:
    """Add which classes stand behind the names of middleware: those asked for, or all where the class is asked for."""
    named = {node.key for other in asked.others for node in other.nodes if node.key.startswith("middleware:")}
    if not named and not re.search(r"\b(?:class(?:es)?|implement\w*|alias(?:es)?)\b", asked.text):
        return
    wanted = named or {node.key for node in guards}
    links = asked.links(sorted(wanted), "HANDLED_BY")
    links = [link for link in links if full_name(link.target) != called(link.source)]
    behind: dict[str, Json] = {called(link.source): full_name(link.target) for link in links}
    if not behind:
        return
    part.facts["aliases"] = behind
    part.said += f" {'; '.join(f'{name} is {cls}' for name, cls in behind.items())}."
    part.evidence += places(links)
    part.nodes += asked.nodes(link.target for link in links).values()


def request(asked: Asked) -> Part:
    """Return the form request that validates what a route is sent."""
    walked = asked.walk()
    found = ends(walked)
    method = _code(asked)
    if not found:
        where = [method.place] if method else [asked.node.place]
        said = f"No form request validates {_titled(asked.node)}; looked at the parameters of {listed(where)}."
        evidence = place_of(method or asked.node)
        return Part({"request": None}, said, evidence, [asked.node], negative=True, looked_in=where)
    first = found[0]
    facts: dict[str, Json] = {"request": full_name(first.key), "file": first.uri, "line": first.line}
    if len(found) > 1:
        facts["requests"] = [full_name(node.key) for node in found]
    names = [f"{full_name(node.key)}{at(node)}" for node in found]
    said = f"{_titled(asked.node)} is validated by {listed(names)}."
    evidence = [*places(path.links[-1] for path in walked), *(place for node in found for place in place_of(node))]
    evidence += place_of(method) if method else []
    return Part(facts, said, evidence, [*found, asked.node], walked)


def models(asked: Asked) -> Part:
    """Return the models and tables that a route's code receives and uses."""
    bound_only = re.search(r"\bbinding\b|\breceiv|\bbound\b|\binject", asked.text) is not None
    via = ("BINDS",) if bound_only and asked.role == "route" else asked.intent.via
    walked = asked.walk(via=via)
    found = ends(walked)
    mapped = {link.source: link for link in asked.links([node.key for node in found], "MAPS_TO")}
    rows: list[Json] = [
        {"model": full_name(node.key), "table": called(mapped[node.key].target) if node.key in mapped else None}
        for node in found
    ]
    code = _code(asked)
    about = asked.node.attributes
    facts: dict[str, Json] = {"models": rows}
    if asked.role == "route":
        facts |= {"controller": about.get("controller"), "method": about.get("method")}
    if not found:
        where = [code.place] if code else [asked.node.place]
        said = f"{_titled(asked.node)} touches no model that is written down; looked in {listed(where)}."
        return Part(facts, said, place_of(code or asked.node), [asked.node], negative=True, looked_in=where)
    said = f"{_titled(asked.node)} touches {listed([_with_table(node, mapped) for node in found])}."
    evidence = [*(place_of(code) if code else []), *(place for node in found for place in place_of(node))]
    evidence += [*place_of(asked.node), *places(mapped.values()), *places(path.links[-1] for path in walked)]
    return Part(facts, said, evidence, [*found, asked.node], walked)


def binding(asked: Asked) -> Part:
    """Return by which column each parameter of a route is looked up."""
    node = asked.node
    links = asked.links([node.key], "BINDS")
    fields: dict[str, Json] = {
        str(link.attributes["parameter"]): link.attributes.get("field") or "id"
        for link in links
        if link.attributes.get("parameter")
    }
    written = node.attributes.get("binding_fields")
    if isinstance(written, dict):
        fields |= written
    facts: dict[str, Json] = {"binding_fields": dict(fields)}
    told = [f"{parameter} by {field}" for parameter, field in fields.items()]
    found = listed(told) or "nothing by its parameters"
    said = f"{_titled(node)} looks up {found}{at(node)}."
    return Part(facts, said, [*place_of(node), *places(links)], [node], negative=not told, looked_in=[node.uri])


def resource(asked: Asked) -> Part:
    """Return the resource class that shapes what a route returns."""
    walked = asked.walk()
    found = ends(walked)
    code = _code(asked)
    if not found:
        where = [code.place if code else asked.node.place]
        said = f"{_titled(asked.node)} returns no resource class that is written down; looked in {listed(where)}."
        return Part({"resource": None}, said, place_of(code or asked.node), negative=True, looked_in=where)
    names: list[Json] = [full_name(node.key) for node in found]
    said = f"{_titled(asked.node)} returns {listed([f'{full_name(node.key)}{at(node)}' for node in found])}."
    evidence = [*places(path.links[-1] for path in walked), *(place for node in found for place in place_of(node))]
    return Part({"resource": names[0], "resources": names}, said, evidence, [*found, asked.node], walked)


def expansion(asked: Asked) -> Part:
    """Return the routes that one resource registers, or that one controller serves."""
    if asked.role == "controller":
        own = full_name(asked.node.key)
        return _listing(asked, [node for node in asked.kind("route") if node.attributes.get("controller") == own])
    return _listing(asked, _one_resource(asked))


def _one_resource(asked: Asked) -> list[Node]:
    """Return the routes of the resource that shares most words with the question, where several have the name."""
    groups: dict[tuple[str, int, str], list[Node]] = {}
    for node in asked.anchor.nodes:
        controller = str(node.attributes.get("controller") or "")
        groups.setdefault((node.uri, node.line, controller), []).append(node)
    words = frozenset(query_terms(f"{asked.text} {asked.anchor.mention.text}"))

    def shared(group: list[Node]) -> tuple[int, int]:
        first = group[0]
        known = frozenset(terms(f"{first.attributes.get('uri')} {first.attributes.get('name')} {first.uri}"))
        return len(words & known), len(group)

    return max(groups.values(), key=shared)


def of_methods(asked: Asked) -> Part:
    """Return the routes that lead to a method, a model, a request or a middleware."""
    return _listing(asked, ends(asked.walk()))


def _listing(asked: Asked, found: Sequence[Node]) -> Part:
    rows: list[Json] = [
        {
            "methods": node.attributes.get("methods", []),
            "uri": node.attributes.get("uri"),
            "name": node.attributes.get("name"),
            "controller": node.attributes.get("controller"),
            "method": node.attributes.get("method"),
        }
        for node in found
    ]
    about = asked.anchor.mention.text
    if not found:
        routes = sorted({node.uri for node in asked.kind("route")})
        said = f"No route leads to {about}; looked in {listed(routes, 4) or 'no route file: there is none'}."
        return Part({"routes": []}, said, place_of(asked.node), negative=True, looked_in=routes)
    said = f"{about}: {listed([_titled(node) for node in found], 30)}{at(found[0])}."
    evidence = list(dict.fromkeys(place for node in found for place in place_of(node)))
    groups = [place for place in _groups(asked, found[0]) if place not in evidence]
    return Part({"routes": rows}, said, evidence + groups, list(found))


def _groups(asked: Asked, node: Node) -> list[tuple[str, int]]:
    """Return the lines of the groups and mounts around a route, as far as they give it middleware."""
    return places(asked.links([node.key], "GUARDED_BY"))


def _code(asked: Asked) -> Node | None:
    """Return the method that serves the route in question, or the method that is asked about."""
    if asked.role != "route":
        return asked.node
    walked = asked.walk("method", ("HANDLED_BY",))
    return walked[0].nodes[-1] if walked else None


def _served_by(node: Node) -> str:
    controller, method = node.attributes.get("controller"), node.attributes.get("method")
    if node.language == "python":
        return str(node.attributes.get("action"))
    if not controller:
        return str(node.attributes.get("action") or "a closure").replace("Closure", "a closure")
    return f"{controller}@{method}" if method else str(controller)


def _with_table(node: Node, mapped: dict[str, Link]) -> str:
    table = f", table {called(mapped[node.key].target)}" if node.key in mapped else ""
    return f"{full_name(node.key)}{table}{at(node)}"


def _titled(node: Node) -> str:
    """Return a route, or a method, as a sentence names it."""
    if node.kind != "route":
        return called(node.key)
    name = node.attributes.get("name")
    return f"{called(node.key)} ({name})" if name else called(node.key)
