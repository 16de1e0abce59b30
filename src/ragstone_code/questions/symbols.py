"""Answers about code symbols: callers, callees, subclasses, settings, middleware classes."""

from __future__ import annotations

from collections.abc import Iterable

from ragstone.types import Json, Link, Walked
from ragstone_code.questions.graph_query import (
    ALL_CALLS,
    MAX_NAMED,
    AnswerPart,
    GraphQuery,
    class_name,
    join_names,
    last_links,
    last_nodes,
    link_place_text,
    name_of_all,
    place_of,
    place_text,
    place_texts,
    places_of_links,
    places_of_nodes,
    plain_name,
    short_name,
)
from ragstone_code.questions.unresolved_calls import (
    find_unresolved_calls,
    is_possible_call,
    places_of_calls,
    unresolved_note,
)


def find_callers(query: GraphQuery) -> AnswerPart:
    """Return the callers of a function; calls whose receiver has no written type are listed separately."""
    walked: list[Walked] = []
    texts: list[str] = []
    for candidate in query.candidates:
        paths = candidate.walk()
        walked += paths
        callers = query.asked_first(last_links(paths))
        texts += _sources_text(f"{plain_name(candidate.node.key)} is called from", callers)
    functions = query.anchor.nodes
    links = last_links(walked)
    unresolved = find_unresolved_calls(query, map(short_name, functions))
    served = _served_routes(query)
    texts += _sources_text(f"the framework calls {name_of_all(functions)} for", served)
    facts: dict[str, Json] = {
        "called_from": place_texts(places_of_links(links)),
        "callers": list(dict.fromkeys(plain_name(link.source) for link in links)),
        "routes": list(dict.fromkeys(plain_name(link.source) for link in served)),
        "unresolved": place_texts(places_of_calls(unresolved)),
    }
    is_negative = not texts and not unresolved
    texts = texts or [f"No call of {name_of_all(functions)} is written with its type"]
    return AnswerPart(
        facts,
        f"{_sentence(texts)}{unresolved_note(unresolved)}.",
        [
            *places_of_links(links),
            *places_of_calls(unresolved),
            *places_of_nodes(functions),
        ],
        [*last_nodes(walked), *functions],
        walked,
        negative=is_negative,
        looked_in=[ALL_CALLS] if is_negative else [],
    )


def _served_routes(query: GraphQuery) -> list[Link]:
    """Return the links from routes to the functions that serve them."""
    links = query.links_to([node.key for node in query.anchor.nodes], "HANDLED_BY")
    return [link for link in links if link.source.startswith("route:")]


def _sources_text(start: str, links: Iterable[Link]) -> list[str]:
    """Return a sentence about the sources of links with their places; nothing if there are no links."""
    texts = dict.fromkeys(
        f"{plain_name(link.source)} ({link_place_text(link)})" for link in links
    )
    return [f"{start} {join_names(list(texts), MAX_NAMED)}"] if texts else []


def _sentence(texts: list[str]) -> str:
    """Return parts of a sentence as one, with a capital letter if it begins with a common word."""
    text = "; ".join(texts)
    return f"The{text[3:]}" if text.startswith("the ") else text


def find_callees(query: GraphQuery) -> AnswerPart:
    """Return the functions that a function calls, as far as types are written."""
    part = _list_targets(query, "calls", "calls")
    rows = query.store.graph.unresolved(query.scope, sources=[query.node.key])
    calls = [row for row in rows if is_possible_call(row)]
    if calls:
        texts = dict.fromkeys(
            f"{row.receiver}.{row.name} (line {row.line})".lstrip(".") for row in calls
        )
        part.facts["unresolved"] = place_texts(places_of_calls(calls))
        part.said += (
            f" The target of other calls is not known: {join_names(list(texts), MAX_NAMED)}."
        )
        part.evidence += places_of_calls(calls)
        part.negative, part.looked_in = False, []
    return part


def find_subclasses(query: GraphQuery) -> AnswerPart:
    """Return the classes that extend, implement or use a class, an interface or a trait."""
    return _list_targets(query, "classes", "is extended, implemented or used by")


def find_parents(query: GraphQuery) -> AnswerPart:
    """Return the classes, interfaces and traits that a class extends, implements or uses."""
    node = query.node
    part = _list_targets(query, "parents", "extends")
    rows = query.store.graph.unresolved(query.scope, sources=[node.key])
    outside = [row.name for row in rows if row.kind in query.intent.via]
    part.facts["outside"] = list(outside)
    if part.negative:
        declared = f"; it is declared as `{node.signature}`" if node.signature else ""
        part.said = f"No parent of {plain_name(node.key)} is in this project{declared}."
    elif outside:
        part.said += f" It also extends {join_names(outside)}, which no file here defines."
    return part


def _list_targets(query: GraphQuery, fact: str, verb: str) -> AnswerPart:
    """Return the nodes at the end of the intent's paths as a list."""
    node = query.node
    walked = query.walk()
    targets = last_nodes(walked)
    facts: dict[str, Json] = {fact: [plain_name(target.key) for target in targets]}
    name = plain_name(node.key)
    if not targets:
        sentence = f"{name} {verb} nothing that is written down; looked in all files."
        return query.negative_part(facts, sentence, ["all files"])
    texts = [f"{plain_name(target.key)}{place_text(target)}" for target in targets]
    sentence = f"{name} {verb} {join_names(texts, MAX_NAMED)}."
    evidence = [*places_of_links(last_links(walked)), *place_of(node)]
    return AnswerPart(
        facts,
        sentence,
        evidence,
        [*targets, node],
        walked,
    )


def find_config_users(query: GraphQuery) -> AnswerPart:
    """Return the code that uses a configuration key."""
    setting = query.node
    links = query.links_to([setting.key], "CONFIGURED_BY")
    users = list(dict.fromkeys(plain_name(link.source) for link in links))
    facts: dict[str, Json] = {"used_by": list(users)}
    usage = f", used by {join_names(users, 20)}" if users else ""
    sentence = (
        f"{plain_name(setting.key)} is configured in {setting.place or 'no file'}{usage}."
    )
    return AnswerPart(
        facts,
        sentence,
        [*place_of(setting), *places_of_links(links)],
        [setting],
    )


def find_middleware_class(query: GraphQuery) -> AnswerPart:
    """Return the class behind the name of a middleware."""
    middleware = query.node
    alias = plain_name(middleware.key)
    links = query.links_from([middleware.key], "HANDLED_BY")
    if not links:
        sentence = f"{alias} is a middleware of the framework's own; no class of the project is behind it."
        looked_in = ["bootstrap/app.php", "app/Http/Kernel.php"]
        return query.negative_part({"class": None}, sentence, looked_in)
    classes = query.nodes(link.target for link in links)
    name = class_name(links[0].target)
    facts: dict[str, Json] = {
        "class": name,
        "aliases": {plain_name(link.source): class_name(link.target) for link in links},
    }
    first_class = classes.get(links[0].target)
    place = place_text(first_class) if first_class else ""
    sentence = f"{alias} is {name}{place}, registered in {link_place_text(links[0])}."
    evidence = [*places_of_links(links), *places_of_nodes(classes.values())]
    return AnswerPart(
        facts,
        sentence,
        evidence,
        [*classes.values(), middleware],
    )
