"""Answers about authorisation: the policy or ability that the code of a route checks."""

from __future__ import annotations

from ragstone.types import Json, Link, Node
from ragstone_code.questions.graph_query import (
    AnswerPart,
    GraphQuery,
    join_names,
    link_place_text,
    place_of,
    places_of_links,
    places_of_nodes,
    plain_name,
)


def find_authorization(query: GraphQuery) -> AnswerPart:
    """Return the abilities that a route or a method checks, and the code that decides them."""
    handlers = _handlers(query)
    keys = [query.node.key, *(node.key for node in handlers)]
    links = query.links_from(keys, "AUTHORIZED_BY")
    if not links:
        return _no_authorization(query, handlers)
    deciders = query.nodes(link.target for link in links)
    policies = [str(link.attributes.get("policy") or "") for link in links]
    facts: dict[str, Json] = {
        "policy": next(filter(None, policies), None),
        "abilities": [link.attributes.get("ability") for link in links],
        "decided_by": [plain_name(link.target) for link in links],
    }
    texts = [_check_text(link, deciders.get(link.target)) for link in links]
    evidence = [
        *places_of_links(links),
        *places_of_nodes(deciders.values()),
        *place_of(query.node),
    ]
    sentence = f"{plain_name(query.node.key)} checks {join_names(texts)}."
    return AnswerPart(
        facts,
        sentence,
        evidence,
        [*deciders.values(), query.node],
    )


def _no_authorization(query: GraphQuery, handlers: list[Node]) -> AnswerPart:
    """Return that the code of a route checks no ability."""
    place = handlers[0].place if handlers else query.node.place
    title = plain_name(query.node.key)
    sentence = f"{title} checks no policy or ability that is written down; looked in {place}."
    part = query.negative_part({"abilities": [], "policy": None}, sentence, [place])
    part.evidence += places_of_nodes(handlers)
    return part


def _handlers(query: GraphQuery) -> list[Node]:
    """Return the methods that serve a route; none if the question is about a method itself."""
    if query.role != "route":
        return []
    walked = query.walk("method", ("HANDLED_BY",))
    return [path.nodes[-1] for path in walked]


def _check_text(link: Link, decider: Node | None) -> str:
    """Return one check for a sentence: the ability, the deciding code and the place of the check."""
    ability = link.attributes.get("ability")
    place = f", {decider.place}" if decider and decider.place else ""
    return f"{ability} ({plain_name(link.target)}{place}; {link_place_text(link)})"
