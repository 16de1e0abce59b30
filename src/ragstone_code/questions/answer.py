"""The answer to a question: its names are linked to nodes, its intents are recognised, the graph is walked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.types import CONFIDENCES, Confidence, GraphAnswer, Json, Node, Scope, Walked
from ragstone_code.questions import (
    authorization,
    class_members,
    events,
    lists,
    models,
    routes,
    runs,
    schedules,
    symbols,
    tables,
    usage,
)
from ragstone_code.questions.call_paths import find_call_path
from ragstone_code.questions.graph_query import (
    MAX_NAMED,
    AnswerPart,
    GraphQuery,
    Place,
    join_names,
    places_of_nodes,
    plain_name,
)
from ragstone_code.questions.intents import (
    Intent,
    RankedIntent,
    all_intents,
    rank_intents,
    rank_intents_for_roles,
    roles_of,
)
from ragstone_code.questions.mentions import Mention, remove_mentions
from ragstone_code.questions.named_nodes import Anchor, LinkedNames, is_path, link_names
from ragstone_code.questions.reaching_routes import find_reaching_routes
from ragstone_code.questions.yes_no import add_yes_no, is_yes_no

_ANSWER_FUNCTIONS: Final[Mapping[str, Callable[[GraphQuery], AnswerPart]]] = {
    "route_action": routes.find_action,
    "route_middleware": routes.find_middleware,
    "route_request": routes.find_request,
    "route_models_tables": routes.find_models,
    "route_binding": routes.find_binding,
    "route_resource": routes.find_resource,
    "route_policy": authorization.find_authorization,
    "route_expansion": routes.find_registered_routes,
    "routes_of_method": find_reaching_routes,
    "routes_of_function": find_reaching_routes,
    "middleware_routes": lists.find_routes_of_middleware,
    "model_routes": routes.find_leading_routes,
    "request_routes": routes.find_leading_routes,
    "model_policy": models.find_policy,
    "policy_model": models.find_models,
    "model_table": models.find_table,
    "model_relations": models.find_relations,
    "model_observer": models.find_observers,
    "observer_model": models.find_models,
    "table_models": models.find_models,
    "table_migrations": tables.find_migrations,
    "table_columns": tables.find_columns,
    "migration_tables": tables.find_migrated_tables,
    "event_listeners": events.find_listeners,
    "listener_events": events.find_heard_events,
    "event_dispatch": events.find_dispatches,
    "job_dispatch": events.find_dispatches,
    "middleware_class": symbols.find_middleware_class,
    "callers": symbols.find_callers,
    "callees": symbols.find_callees,
    "overrides": class_members.find_overrides,
    "members": class_members.find_members,
    "signature": class_members.find_signature,
    "return_type": class_members.find_signature,
    "subclasses": symbols.find_subclasses,
    "parents": symbols.find_parents,
    "users": usage.find_users,
    "definition": usage.find_definition,
    "implementation": usage.find_definition,
    "tests": usage.find_tests,
    "configured": symbols.find_config_users,
    "history": runs.find_changes,
    "run_changes": runs.find_changes_of_run,
    "schedule": schedules.find_schedule,
}
"""The function that answers each intent."""
_LISTING_ALL: Final = frozenset(
    {"definition", "implementation", "signature", "return_type", "overrides"}
)
_ABOUT_ALL: Final = frozenset({"callers", "tests", *_LISTING_ALL})
"""Intents whose answer covers every node that a name can refer to."""
_MAX_CANDIDATES: Final = 12
"""Nodes of one name that such an answer covers; of more, the question has to name a class."""
_CLEAR_WEIGHT: Final = 4
"""The weight of an intent that a question clearly asks for."""
_MAX_INTENTS: Final = 3
"""Number of intents of one question that are answered."""
_MAX_ALTERNATIVES: Final = 4
_MAX_TASKS: Final = 500
_TASK_LIST: Final = re.compile(
    r"\b(?:which|what|list|all|every)\b.*\b(?:jobs?|commands?|tasks?)\b"
)
_IDENTIFIER_MARKS: Final = ("/", "\\", "::", "_", ".")


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question with its names linked to nodes."""

    question: str
    linked: LinkedNames
    text: str
    """The question in lower case without its names."""

    @property
    def intent(self) -> str:
        """Return the strongest intent, as if the question named no node; empty if it asks for nothing."""
        ranked = rank_intents(self.text)
        return ranked[0].intent.name if ranked else ""


def parse_question(store: DocumentReader, scope: Scope, question: str) -> ParsedQuestion:
    """Return a question with its names linked to nodes."""
    linked = link_names(store, scope, question)
    names = [mention for mention in linked.mentions if _is_name(mention, linked)]
    return ParsedQuestion(question, linked, remove_mentions(question, names))


def answer_question(
    store: DocumentReader, scope: Scope, parsed: ParsedQuestion, hints: Sequence[Anchor] = ()
) -> GraphAnswer | None:
    """Return the graph's answer; None if the question names nothing that a node has or should have.

    `hints` are anchors that a caller names in addition to the question; they come before the question's own.
    """
    anchors = [*hints, *parsed.linked.anchors]
    call_path = find_call_path(
        store, scope, parsed.text, [*anchors, *parsed.linked.alternatives]
    )
    if call_path is not None:
        return call_path
    choice = _choose_anchor(parsed.text, anchors, prefer_first=bool(hints))
    if choice is None:
        return _answer_without_names(store, scope, parsed)
    anchor, ranked = _choose_alternative(parsed, *choice)
    if not ranked[0].weight and _asks_for_something_else(parsed, ranked[0].intent):
        return None
    others = tuple(
        other
        for other in anchors
        if other is not anchor and other.mention is not anchor.mention
    )
    queries: list[GraphQuery] = []
    for name in _intents_to_answer(parsed, anchor, ranked, others):
        intent = all_intents()[name]
        query = GraphQuery(
            store,
            scope,
            parsed.text,
            _narrow_anchor(anchor, intent),
            intent,
            others,
            parsed.linked.mentions,
        )
        queries.append(query)
    if _is_too_ambiguous(queries[0]):
        return _ask_back(queries[0])
    parts = [
        (query.intent.name, _ANSWER_FUNCTIONS[query.intent.name](query)) for query in queries
    ]
    answer = _combine_parts(parts, queries[0].anchor)
    if is_yes_no(parsed.question) and ranked[0].weight:
        answer = add_yes_no(answer, queries[0])
    return answer


def _asks_for_something_else(parsed: ParsedQuestion, default: Intent) -> bool:
    """Return whether a question about code clearly asks for something that only other things have."""
    ranked = rank_intents(parsed.text)
    return default.name == "definition" and bool(ranked) and ranked[0].weight >= _CLEAR_WEIGHT


def _answer_without_names(
    store: DocumentReader, scope: Scope, parsed: ParsedQuestion
) -> GraphAnswer | None:
    """Return a list that a question asks for, or the answer that a name does not exist; None if it asks for neither."""
    if _asks_for_tasks(parsed):
        tasks = store.graph.nodes(scope, kinds=("schedule",), limit=_MAX_TASKS)
        return schedules.answer_schedule_list(tasks, parsed.text)
    if any(not mention.plain for mention in parsed.linked.mentions):
        return _answer_unknown_name(parsed)
    return lists.answer_list(store, scope, parsed.question)


def _narrow_anchor(anchor: Anchor, intent: Intent) -> Anchor:
    """Return an anchor without the nodes that an intent cannot be about."""
    fitting = [
        node
        for node in anchor.nodes
        if not set(intent.anchors).isdisjoint(roles_of(node, anchor.alias))
    ]
    return replace(anchor, nodes=tuple(fitting)) if fitting else anchor


def _is_too_ambiguous(query: GraphQuery) -> bool:
    """Return whether a name stands for too many things to answer for all of them."""
    name = query.intent.name
    is_about_all = name in _ABOUT_ALL and name != "overrides"
    return is_about_all and len(query.anchor.nodes) > _MAX_CANDIDATES


def _ask_back(query: GraphQuery) -> GraphAnswer:
    """Return the list of what a name stands for, if these are too many to answer for all of them."""
    nodes = query.anchor.nodes
    name = query.anchor.mention.name
    texts = join_names([f"{plain_name(node.key)} ({node.place})" for node in nodes], MAX_NAMED)
    return GraphAnswer(
        intent=query.intent.name,
        said=f"“{name}” stands for {len(nodes)} things: {texts}. Name the class or module too.",
        facts={"candidates": [plain_name(node.key) for node in nodes]},
        nodes=nodes,
        evidence=tuple(places_of_nodes(nodes[:MAX_NAMED])),
    )


def _asks_for_tasks(parsed: ParsedQuestion) -> bool:
    """Return whether a question without names asks for the list of scheduled tasks."""
    return parsed.intent == "schedule" and bool(_TASK_LIST.search(parsed.text))


def answer_about_node(
    store: DocumentReader, scope: Scope, parsed: ParsedQuestion, node: Node
) -> GraphAnswer | None:
    """Return the graph's answer to a question about a node that a search found; None if nothing is asked of it."""
    anchor = Anchor(Mention(node.name, -1, (node.name,)), "found", (node,))
    ranked = rank_intents_for_roles(parsed.text, roles_of(node))
    if not ranked:
        return None
    intent = ranked[0].intent
    query = GraphQuery(store, scope, parsed.text, anchor, intent)
    part = _ANSWER_FUNCTIONS[intent.name](query)
    return _combine_parts([(intent.name, part)], anchor)


def _is_name(mention: Mention, linked: LinkedNames) -> bool:
    """Return whether a mention is a name: it matches a node or is written like an identifier."""
    if any(anchor.mention == mention for anchor in linked.anchors):
        return True
    if mention.text.lower().startswith(
        "route::"
    ):  # `Route::get` registers a route and names none
        return False
    return any(mark in mention.text for mark in _IDENTIFIER_MARKS)


def _choose_anchor(
    text: str, anchors: Sequence[Anchor], *, prefer_first: bool
) -> tuple[Anchor, list[RankedIntent]] | None:
    """Return the anchor that the intent fits best, with its intents; None if no anchor fits."""
    best_key: tuple[bool, float, bool, int, int] | None = None
    choice: tuple[Anchor, list[RankedIntent]] | None = None
    for position, anchor in enumerate(anchors):
        roles = roles_of(anchor.node, anchor.alias)
        ranked = rank_intents_for_roles(text, roles)
        if not ranked:
            continue
        intent_roles = ranked[0].intent.anchors
        role_position = min(
            (intent_roles.index(role) for role in roles if role in intent_roles), default=9
        )
        is_after_hint = prefer_first and position > 0
        key = (
            is_after_hint,
            -ranked[0].weight,
            anchor.mention.plain,
            role_position,
            position,
        )
        if best_key is None or key < best_key:
            best_key = key
            choice = (anchor, ranked)
    return choice


def _choose_alternative(
    parsed: ParsedQuestion, anchor: Anchor, ranked: list[RankedIntent]
) -> tuple[Anchor, list[RankedIntent]]:
    """Return another node of the anchor's name, if the question asks for something that only this node has."""
    for other in parsed.linked.alternatives:
        if other.mention is not anchor.mention:
            continue
        other_ranked = rank_intents_for_roles(parsed.text, roles_of(other.node, other.alias))
        if other_ranked and other_ranked[0].weight > ranked[0].weight:
            anchor, ranked = other, other_ranked
    return anchor, ranked


def _intents_to_answer(
    parsed: ParsedQuestion,
    anchor: Anchor,
    ranked: Sequence[RankedIntent],
    others: Sequence[Anchor],
) -> list[str]:
    """Return the names of the strongest intents, then of the intents that always go with them."""
    named = [other.node.kind for other in (*others, *parsed.linked.alternatives)]
    names_middleware = "middleware" in named
    if is_yes_no(parsed.question) and anchor.node.kind == "route" and names_middleware:
        return ["route_middleware"]  # `is the route behind require_user`
    intents = [item.intent for item in ranked[:_MAX_INTENTS]]
    names = [intent.name for intent in intents]
    for intent in intents:
        names += intent.along
    return list(dict.fromkeys(names))


def _combine_parts(parts: Sequence[tuple[str, AnswerPart]], anchor: Anchor) -> GraphAnswer:
    """Return the parts as one answer; facts of an earlier part win."""
    intent, first = parts[0]
    facts: dict[str, Json] = {}
    nodes: dict[str, Node] = {}
    walked: list[Walked] = []
    evidence: list[Place] = []
    for _, part in parts:
        nodes.update((node.key, node) for node in part.nodes)
        walked += part.walked
        evidence += part.evidence
    for _, part in reversed(parts):
        facts |= part.facts
    sentences = dict.fromkeys(part.said for _, part in parts)
    return GraphAnswer(
        intent=intent,
        said=" ".join(sentences) + _alternatives_text(intent, anchor),
        facts=facts,
        nodes=tuple(nodes.values()),
        paths=tuple(walked),
        evidence=tuple(dict.fromkeys(evidence)),
        confidence=_weakest(path.confidence for path in walked),
        negative=first.negative,
        looked_in=tuple(place for place in first.looked_in if place),
    )


def _alternatives_text(intent: str, anchor: Anchor) -> str:
    """Return the nodes that a name can refer to, for the end of an answer; empty if there is one."""
    if len(anchor.nodes) < 2 or anchor.alias == "route_resource" or intent in _LISTING_ALL:
        return ""
    if intent in _ABOUT_ALL:
        texts = [f"{plain_name(node.key)} ({node.place})" for node in anchor.nodes]
        return f" (“{anchor.mention.name}” stands for {join_names(texts)}.)"
    names = [plain_name(node.key) for node in anchor.nodes[1 : _MAX_ALTERNATIVES + 1]]
    return f" (“{anchor.mention.name}” could also be {', '.join(names)}.)"


def _weakest(confidences: Iterable[Confidence]) -> Confidence:
    """Return the weakest confidence; `declared` if there is none."""
    return max(confidences, key=CONFIDENCES.index, default="declared")


def _answer_unknown_name(parsed: ParsedQuestion) -> GraphAnswer | None:
    """Return the answer that a named route, table or class does not exist; None if the question names none."""
    if not parsed.linked.unknown:
        return None
    mention = parsed.linked.unknown[0]
    noun = "method" if mention.code else mention.cue
    if mention.methods or is_path(mention):
        noun = "route"
    for ranked in rank_intents(parsed.text):
        if _can_be_about(ranked, mention):
            sentence = (
                f"There is no {noun} {mention.name}; looked at every {noun} of the graph."
            )
            intent = ranked.intent
            return GraphAnswer(
                intent.name,
                sentence,
                dict(intent.none),
                negative=True,
                looked_in=(f"every {noun}",),
            )
    return None


def _can_be_about(ranked: RankedIntent, mention: Mention) -> bool:
    """Return whether an intent can be about the kind of thing that a mention names."""
    is_route = mention.methods or mention.cue in ("endpoint", "uri", "url") or is_path(mention)
    role = "route" if is_route else mention.cue
    if mention.code:
        role = "method"
    return role in ranked.intent.anchors or "class" in ranked.intent.anchors
