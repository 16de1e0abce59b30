"""Lists: all tables, models, events or routes, and the routes with or without a guard."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.text.counts import plural
from ragstone.types import GraphAnswer, Json, Node, Scope
from ragstone_code.questions.graph_query import (
    AnswerPart,
    GraphQuery,
    join_names,
    place_text,
    places_of_nodes,
    plain_name,
)
from ragstone_code.questions.guards import GuardList, has_name, read_guards
from ragstone_code.questions.intents import all_intents
from ragstone_code.questions.mentions import Mention
from ragstone_code.questions.named_nodes import Anchor
from ragstone_code.questions.routes import find_leading_routes

_SUBJECT: Final = re.compile(
    r"^\W*(?:(?:which|what|list|show|name|are there|is there|give me)(?: me)?(?: any| all)?(?: the| of the)*"
    r"|all(?: the)?|every|how many)(?: (?P<kind>\w+))?"
    r" (?P<noun>routes|endpoints|tables|models|events|listeners|jobs|policies|observers|controllers|migrations)\b"
    r"(?P<rest>.*)$"
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
_MAX_ROUTES: Final = 2_000
_MAX_LISTED: Final = 30
_LOOKED_IN: Final = ("every route",)


@dataclass(frozen=True, slots=True)
class _ListQuestion:
    """A question for a list."""

    noun: str
    """`routes`, `tables`, …"""
    guard_words: Sequence[str]
    """The words that ask for guards or middleware."""
    is_negated: bool

    @property
    def kind(self) -> str:
        """Return the kind of the nodes to list."""
        return _kind_of(self.noun)


def _parse(question: str) -> _ListQuestion | None:
    """Return the list that a question asks for; None if it has a word that selects in another way."""
    match = _SUBJECT.match(" ".join(question.lower().split()))
    if match is None:
        return None
    words = re.findall(r"[\w'’]+", f"{match['kind'] or ''} {match['rest']}")
    guard_words = _matching(_GUARD_WORD, words)
    negations = _matching(_NEGATION, words)
    noun = match["noun"].replace("endpoints", "routes")
    can_select = noun == "routes" if guard_words else not negations
    others = {*words} - {*guard_words, *negations}
    if not can_select or others - _PLAIN_WORDS:
        return None
    asks_for_public = bool(_matching(_PUBLIC, words))
    return _ListQuestion(noun, guard_words, bool(negations) != asks_for_public)


def _matching(pattern: re.Pattern[str], words: Sequence[str]) -> list[str]:
    """Return the words that a pattern matches."""
    return [word for word in words if pattern.fullmatch(word)]


def _no_such_kind(store: DocumentReader, scope: Scope, question: str) -> GraphAnswer | None:
    """Return that no routes are known, or no tables: then also none that a question selects."""
    match = _SUBJECT.match(" ".join(question.lower().split()))
    if match is None:
        return None
    kind = _kind_of(match["noun"].replace("endpoints", "routes"))
    if store.graph.nodes(scope, kinds=(kind,), limit=1):
        return None
    return _no_nodes(match["noun"])


def _no_nodes(noun: str) -> GraphAnswer:
    return GraphAnswer(
        "list",
        f"No {noun} are known here.",
        {noun: []},
        negative=True,
    )


def _kind_of(noun: str) -> str:
    """Return the kind of nodes that a plural means."""
    return "policy" if noun == "policies" else noun.removesuffix("s")


def answer_list(store: DocumentReader, scope: Scope, question: str) -> GraphAnswer | None:
    """Return the routes or other nodes that a question without names asks for; None if it asks for no list."""
    parsed = _parse(question)
    if parsed is None:
        return _no_such_kind(store, scope, question)
    noun = parsed.noun
    all_nodes = store.graph.nodes(scope, kinds=(parsed.kind,), limit=_MAX_ROUTES)
    nodes = [node for node in all_nodes if not node.attributes.get("dropped")]
    if not nodes:
        return _no_nodes(noun)
    nodes.sort(key=lambda node: (node.uri, node.line, node.key))
    if not parsed.guard_words:
        count = plural(len(nodes), f"{parsed.kind} is", f"{noun} are")
        return _list(f"{count} known", nodes, noun)
    if any(word.startswith("middleware") for word in parsed.guard_words):
        return _by_middleware(store, scope, nodes, is_negated=parsed.is_negated)
    return _by_guard(store, scope, nodes, is_negated=parsed.is_negated)


def find_routes_of_middleware(query: GraphQuery) -> AnswerPart:
    """Return the routes that pass a middleware; those that do not, if the question asks for these."""
    words = re.findall(r"[\w'’]+", query.text)
    if not _matching(_NEGATION, words):
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
    reasons: dict[str, None] = {}
    for route in routes:
        guards = _guards_of(store, scope, route)
        if guards.is_guarded is None:
            undecided.append(route)
            reasons.update(dict.fromkeys(guards.unknown))
        elif guards.is_guarded != is_negated:
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
        f"{answer.said} Of {len(undecided)} it is not known, because of {join_names(list(reasons), 4)}: {names}.",
        facts,
        (*answer.nodes, *undecided),
        evidence=(*answer.evidence, *places_of_nodes(undecided)),
        confidence=answer.confidence,
    )


def _guards_of(store: DocumentReader, scope: Scope, route: Node) -> GuardList:
    anchor = Anchor(Mention(route.name, -1, (route.name,)), "route", (route,))
    return read_guards(GraphQuery(store, scope, "", anchor, all_intents()["route_middleware"]))


def _list(start: str, routes: list[Node], noun: str = "routes") -> GraphAnswer:
    """Return an answer that lists routes or other nodes."""
    names = join_names([f"{_title(route)}{place_text(route)}" for route in routes], _MAX_LISTED)
    facts: dict[str, Json] = {noun: [_title(route) for route in routes]}
    return GraphAnswer(
        "list",
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
    name = route.attributes.get("name") if route.kind == "route" else None
    return f"{plain_name(route.key)} ({name})" if name else plain_name(route.key)
