"""Answers about code symbols: callers, callees, subclasses, settings, middleware classes."""

from __future__ import annotations

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
    places_of_links,
    places_of_nodes,
    plain_name,
    short_name,
)
from ragstone_code.questions.unresolved_calls import (
    find_unresolved_calls,
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
        callers = dict.fromkeys(_caller_text(link) for link in last_links(paths))
        if callers:
            names = join_names(list(callers), MAX_NAMED)
            texts.append(f"{plain_name(candidate.node.key)} is called from {names}")
    functions = query.anchor.nodes
    links = last_links(walked)
    unresolved = find_unresolved_calls(query, (short_name(node) for node in functions))
    served = query.links_to([node.key for node in functions], "HANDLED_BY")
    served = [link for link in served if link.source.startswith("route:")]
    if served:
        titles = dict.fromkeys(_caller_text(link) for link in served)
        routes = join_names(list(titles), MAX_NAMED)
        texts.append(f"the framework calls {name_of_all(functions)} for {routes}")
    if not texts:
        texts = [f"No call of {name_of_all(functions)} is written with its type"]
    facts: dict[str, Json] = {
        "called_from": [f"{uri}:{line}" for uri, line in places_of_links(links)],
        "callers": list(dict.fromkeys(plain_name(link.source) for link in links)),
        "routes": list(dict.fromkeys(plain_name(link.source) for link in served)),
        "unresolved": [f"{uri}:{line}" for uri, line in places_of_calls(unresolved)],
    }
    part = AnswerPart(
        facts,
        f"{_sentence(texts)}{unresolved_note(unresolved)}.",
        [*places_of_links(links), *places_of_calls(unresolved), *places_of_nodes(functions)],
        [*last_nodes(walked), *functions],
        walked,
    )
    if not links and not unresolved and not served:
        part.negative, part.looked_in = True, [ALL_CALLS]
    return part


def _sentence(texts: list[str]) -> str:
    """Return parts of a sentence as one, with a capital letter if it begins with a common word."""
    text = "; ".join(texts)
    return f"The{text[3:]}" if text.startswith("the ") else text


def _caller_text(link: Link) -> str:
    """Return the source of a call with its place."""
    return f"{plain_name(link.source)} ({link_place_text(link)})"


def find_callees(query: GraphQuery) -> AnswerPart:
    """Return the functions that a function calls, as far as types are written."""
    return _list_targets(query, "calls", "calls")


def find_subclasses(query: GraphQuery) -> AnswerPart:
    """Return the classes that extend, implement or use a class, an interface or a trait."""
    return _list_targets(query, "classes", "is extended, implemented or used by")


def find_parents(query: GraphQuery) -> AnswerPart:
    """Return the classes, interfaces and traits that a class extends, implements or uses."""
    part = _list_targets(query, "parents", "extends")
    rows = query.store.graph.unresolved(query.scope, sources=[query.node.key])
    outside = [row.name for row in rows if row.kind in query.intent.via]
    if not outside:
        return part
    names = join_names(outside)
    part.facts["outside"] = list(outside)
    if part.negative:
        part.negative, part.looked_in = False, []
        part.said = f"{plain_name(query.node.key)} extends {names}, which no file here defines."
    else:
        part.said += f" It also extends {names}, which no file here defines."
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
    return AnswerPart(facts, sentence, evidence, [*targets, node], walked)


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
