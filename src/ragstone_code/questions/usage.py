"""Answers about any code: where it is defined, who uses it, and which tests call it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ragstone.code.file_languages import language_of
from ragstone.types import Json, Link
from ragstone_code.frameworks.file_kinds import is_test_file
from ragstone_code.questions.graph_query import (
    ALL_CALLS,
    MAX_NAMED,
    AnswerPart,
    GraphQuery,
    join_names,
    link_place_text,
    place_of,
    places_of_links,
    plain_name,
)

_USES: Final = (
    "CALLS",
    "EXTENDS",
    "IMPLEMENTS",
    "USES_TRAIT",
    "USES_MODEL",
    "FIRES",
    "DISPATCHES",
)
"""Links whose source names the target in its code."""


def find_definition(query: GraphQuery) -> AnswerPart:
    """Return the file and line where a symbol is defined."""
    node = query.node
    name = plain_name(node.key)
    facts: dict[str, Json] = {"file": node.uri or None, "line": node.line or None}
    if not node.place:
        return query.negative_part(
            facts, f"{name} is defined outside of the project.", ["all files"]
        )
    return AnswerPart(facts, f"{name} is defined in {node.place}.", place_of(node), [node])


def find_users(query: GraphQuery) -> AnswerPart:
    """Return the code that creates, calls or extends a class, or any code of a file."""
    name = plain_name(query.node.key)
    links = _links_from_outside(query)
    facts: dict[str, Json] = {"used_by": _place_list(links)}
    if not links:
        sentence = f"No code calls or extends {name}; looked in {ALL_CALLS}."
        return query.negative_part(facts, sentence, [ALL_CALLS])
    return _users_part(query, facts, f"{name} is used by", links)


def find_creations(query: GraphQuery) -> AnswerPart:
    """Return the places that create an object of a class, such as an exception that is raised."""
    name = plain_name(query.node.key)
    links = [
        link
        for link in query.links_to(_own_keys(query), "CALLS")
        if link.attributes.get("how") == "new"
    ]
    facts: dict[str, Json] = {"dispatched_from": _place_list(links)}
    if not links:
        sentence = f"No code creates {name}; looked in {ALL_CALLS}."
        return query.negative_part(facts, sentence, [ALL_CALLS])
    return _users_part(query, facts, f"{name} is created in", links)


def find_tests(query: GraphQuery) -> AnswerPart:
    """Return the tests that call a symbol by its name."""
    name = plain_name(query.node.key)
    links = [
        link
        for link in _links_from_outside(query)
        if is_test_file(link.uri, language_of(link.uri))
    ]
    facts: dict[str, Json] = {
        "tests": list(dict.fromkeys(plain_name(link.source) for link in links))
    }
    if not links:
        sentence = f"No test calls {name} itself; looked in {ALL_CALLS}."
        return query.negative_part(facts, sentence, [ALL_CALLS])
    return _users_part(query, facts, f"{name} is called in tests by", links)


def _users_part(
    query: GraphQuery, facts: dict[str, Json], start: str, links: Sequence[Link]
) -> AnswerPart:
    """Return the answer that lists the sources of links with their places."""
    users = dict.fromkeys(
        f"{plain_name(link.source)} ({link_place_text(link)})" for link in links
    )
    nodes = query.nodes(link.source for link in links)
    return AnswerPart(
        facts,
        f"{start} {join_names(list(users), MAX_NAMED)}.",
        [*places_of_links(links), *place_of(query.node)],
        [*nodes.values(), query.node],
    )


def _links_from_outside(query: GraphQuery) -> list[Link]:
    """Return the uses of a node and of its members by other code."""
    keys = _own_keys(query)
    own = set(keys)
    return [link for link in query.links_to(keys, *_USES) if link.source not in own]


def _own_keys(query: GraphQuery) -> list[str]:
    """Return the keys of a node and of its members: the methods of a class, everything in a file."""
    node = query.node
    if not node.uri:
        return [node.key]
    others = query.nodes_of_file(node.uri)
    if node.kind == "file":
        return [node.key, *(other.key for other in others)]
    start = plain_name(node.key)
    return [
        node.key,
        *(other.key for other in others if _is_member(plain_name(other.key), start)),
    ]


def _is_member(name: str, owner: str) -> bool:
    """Return whether a full name is inside another one."""
    return name.startswith((f"{owner}.", f"{owner}::"))


def _place_list(links: Iterable[Link]) -> list[Json]:
    """Return the places of links as facts."""
    return [f"{uri}:{line}" for uri, line in places_of_links(links)]
