"""Answers about all routes: the list of them, those with a guard, and those without one."""

from __future__ import annotations

import re
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.types import GraphAnswer, Json, Node, Scope
from ragstone_code.questions.anchors import Anchor
from ragstone_code.questions.graph_query import (
    AnswerPart,
    GraphQuery,
    join_names,
    places_of_nodes,
    plain_name,
)
from ragstone_code.questions.guards import GuardList, has_name, read_guards
from ragstone_code.questions.intents import all_intents
from ragstone_code.questions.mentions import Mention
from ragstone_code.questions.routes import find_leading_routes

_SUBJECT: Final = re.compile(
    r"^\W*(?:(?:which|what|list|show|name|are there|is there|give me)(?: me)?(?: any| all)?(?: the| of the)*"
    r"|all(?: the)?|every|how many)(?: (?P<kind>\w+))? (?:routes?|endpoints?)\b(?P<rest>.*)$"
)
_PLAIN_WORDS: Final = frozenset(
    "a all an and any app application are at be been by can code defined do does exist exists existing first for has"
    " have here in is it its known need needs of only pass passes project registered require requires required run runs"
    " some that the there they this through to use user users using via we were which who with you a".split()
)
"""Words of a question about routes that select none of them."""
_GUARD_WORD: Final = re.compile(
    r"guard\w*|protect\w*|secur\w*|restrict\w*|auth|authenticat\w*|authori[sz]\w*|log(?:ged|in|ins)?|sign(?:ed)?"
    r"|tokens?|public\w*|anonymous\w*|open|middlewares?|un(?:guarded|protected|secured|restricted|authenticated)"
)
_NEGATION: Final = re.compile(
    r"not|no|without|un(?:guarded|protected|secured|restricted|authenticated)|lacks?|missing|never|none|\w+n['’]t"
)
_PUBLIC: Final = re.compile(r"public\w*|anonymous\w*|open")
_MIDDLEWARE: Final = re.compile(r"middlewares?")
_MAX_ROUTES: Final = 2_000
_MAX_LISTED: Final = 30
_LOOKED_IN: Final = ("every route",)


def answer_route_list(store: DocumentReader, scope: Scope, question: str) -> GraphAnswer | None:
    """Return the routes that a question without names asks for; None if it asks for something else."""
    match = _SUBJECT.match(" ".join(question.lower().split()))
    if match is None:
        return None
    words = re.findall(r"[\w'’]+", f"{match['kind'] or ''} {match['rest']}")
    guard_words = [word for word in words if _GUARD_WORD.fullmatch(word)]
    negations = [word for word in words if _NEGATION.fullmatch(word)]
    if not _PLAIN_WORDS.issuperset({*words} - {*guard_words, *negations}):
        return None
    if negations and not guard_words:
        return None
    routes = store.graph.nodes(scope, kinds=("route",), limit=_MAX_ROUTES)
    if not routes:
        return GraphAnswer("routes", "No routes are known here.", {"routes": []}, negative=True)
    routes.sort(key=lambda route: (route.uri, route.line, route.key))
    if not guard_words:
        return _list(f"{len(routes)} routes are known", routes)
    is_negated = bool(negations) != any(_PUBLIC.fullmatch(word) for word in words)
    if any(_MIDDLEWARE.fullmatch(word) for word in words):
        return _by_middleware(store, scope, routes, is_negated=is_negated)
    return _by_guard(store, scope, routes, is_negated=is_negated)


def find_routes_of_middleware(query: GraphQuery) -> AnswerPart:
    """Return the routes that pass a middleware; those that do not, if the question asks for these."""
    words = re.findall(r"[\w'’]+", query.text)
    if not any(_NEGATION.fullmatch(word) for word in words):
        return find_leading_routes(query)
    name = plain_name(query.node.key)
    routes = query.nodes_of_kind("route")
    chosen: list[Node] = []
    for route in routes:
        guards = _guards_of(query.store, query.scope, route).names
        if not any(has_name(guard, [name, query.node.name]) for guard in guards):
            chosen.append(route)
    answer = _list(f"{len(chosen)} of {len(routes)} routes do not pass {name}", chosen)
    return AnswerPart(
        dict(answer.facts),
        answer.said,
        list(answer.evidence),
        chosen,
        negative=not chosen,
        looked_in=[*answer.looked_in],
    )


def _by_middleware(
    store: DocumentReader, scope: Scope, routes: list[Node], *, is_negated: bool
) -> GraphAnswer:
    """Return the routes that pass any middleware, or none."""
    chosen = [
        route for route in routes if bool(_guards_of(store, scope, route).names) != is_negated
    ]
    verb = "pass no middleware" if is_negated else "pass middleware"
    return _list(f"{len(chosen)} of {len(routes)} routes {verb}", chosen)


def _by_guard(
    store: DocumentReader, scope: Scope, routes: list[Node], *, is_negated: bool
) -> GraphAnswer:
    """Return the routes that only known users pass, or the others; those that are not known come apart."""
    chosen: list[Node] = []
    undecided: list[Node] = []
    for route in routes:
        is_guarded = _guards_of(store, scope, route).is_guarded
        if is_guarded is None:
            undecided.append(route)
        elif is_guarded != is_negated:
            chosen.append(route)
    verb = "have no guard that lets only known users pass"
    if not is_negated:
        verb = "have a guard that lets only known users pass"
    answer = _list(f"{len(chosen)} of {len(routes)} routes {verb}", chosen)
    if not undecided:
        return answer
    names = join_names([_title(route) for route in undecided], _MAX_LISTED)
    facts: dict[str, Json] = {**answer.facts, "not_known": [_title(node) for node in undecided]}
    return GraphAnswer(
        answer.intent,
        f"{answer.said} Of {len(undecided)} it is not known: {names}.",
        facts,
        (*answer.nodes, *undecided),
        evidence=(*answer.evidence, *places_of_nodes(undecided)),
        confidence=answer.confidence,
    )


def _guards_of(store: DocumentReader, scope: Scope, route: Node) -> GuardList:
    anchor = Anchor(Mention(route.name, -1, (route.name,)), "route", (route,))
    return read_guards(GraphQuery(store, scope, "", anchor, all_intents()["route_middleware"]))


def _list(start: str, routes: list[Node]) -> GraphAnswer:
    """Return an answer that lists routes."""
    names = join_names([f"{_title(route)} ({route.place})" for route in routes], _MAX_LISTED)
    facts: dict[str, Json] = {"routes": [_title(route) for route in routes]}
    return GraphAnswer(
        "routes",
        f"{start}: {names}." if routes else f"{start}.",
        facts,
        tuple(routes),
        evidence=tuple(places_of_nodes(routes)),
        confidence="evaluated",
        negative=not routes,
        looked_in=() if routes else _LOOKED_IN,
    )


def _title(route: Node) -> str:
    """Return a route with its name."""
    name = route.attributes.get("name")
    return f"{plain_name(route.key)} ({name})" if name else plain_name(route.key)
