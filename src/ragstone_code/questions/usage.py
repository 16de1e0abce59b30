"""Answers about any code: where it is defined, who uses it, and which tests call it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ragstone.code.file_languages import language_of
from ragstone.types import Json, Link, Unresolved
from ragstone_code.frameworks.file_kinds import is_test_file
from ragstone_code.questions.graph_query import (
    ALL_CALLS,
    MAX_NAMED,
    AnswerPart,
    GraphQuery,
    join_names,
    link_place_text,
    name_of_all,
    place_texts,
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
    """Return the file and line where a symbol is defined; each place, if several have the name."""
    node = query.node
    name = plain_name(node.key)
    facts: dict[str, Json] = {"file": node.uri or None, "line": node.line or None}
    located = [other for other in query.anchor.nodes if other.place]
    if not located:
        return query.negative_part(
            facts,
            f"{name} is defined outside of the project.",
            ["all files"],
        )
    sentence = f"{plain_name(located[0].key)} is defined in {located[0].place}."
    if len(located) > 1:
        texts = [f"{plain_name(other.key)} ({other.place})" for other in located]
        sentence = (
            f"{query.anchor.mention.name} is defined in {len(located)} places:"
            f" {join_names(texts)}."
        )
        facts["places"] = [other.place for other in located]
    return AnswerPart(
        facts,
        sentence,
        places_of_nodes(located),
        located,
    )


def find_users(query: GraphQuery) -> AnswerPart:
    """Return the code that creates, calls or extends a class, or any code of a file."""
    node = query.node
    name = plain_name(node.key)
    links = _links_from_outside(query)
    names = [] if node.kind == "file" else [short_name(node)]
    unresolved = find_unresolved_calls(query, names)
    facts: dict[str, Json] = {
        "used_by": place_texts(places_of_links(links)),
        "unresolved": place_texts(places_of_calls(unresolved)),
    }
    part = _users_part(query, facts, {f"{name} is used by": links}, unresolved)
    return part or _no_part(query, facts, f"No code calls or extends {name}", unresolved)


def find_creations(query: GraphQuery) -> AnswerPart:
    """Return the places that raise an exception, or that create an object of any other class."""
    name = plain_name(query.node.key)
    links = [
        link
        for link in query.links_to(_own_keys(query), "CALLS")
        if link.attributes.get("how") == "new"
    ]
    raised = [link for link in links if link.attributes.get("raised")]
    created = [link for link in links if not link.attributes.get("raised")]
    unresolved = find_unresolved_calls(query, [short_name(query.node)])
    facts: dict[str, Json] = {
        "dispatched_from": place_texts(places_of_links(links)),
        "unresolved": place_texts(places_of_calls(unresolved)),
    }
    subject = "it" if raised else name
    groups = {f"{name} is raised in": raised, f"{subject} is created in": created}
    part = _users_part(query, facts, groups, unresolved)
    return part or _no_part(query, facts, f"No code creates {name}", unresolved)


def find_tests(query: GraphQuery) -> AnswerPart:
    """Return the tests that call a symbol by its name."""
    nodes = query.anchor.nodes
    links: list[Link] = []
    for candidate in query.candidates:
        links += [link for link in _links_from_outside(candidate) if _is_test(link.uri)]
    names = [short_name(node) for node in nodes if node.kind != "file"]
    unresolved = find_unresolved_calls(query, names, _is_test)
    facts: dict[str, Json] = {
        "tests": list(dict.fromkeys(plain_name(link.source) for link in links)),
        "unresolved": place_texts(places_of_calls(unresolved)),
    }
    start = f"{' or '.join(plain_name(node.key) for node in nodes)} is called in tests by"
    part = _users_part(query, facts, {start: links}, unresolved)
    return part or _no_part(
        query, facts, f"No test calls {name_of_all(nodes)} itself", unresolved
    )


def _is_test(uri: str) -> bool:
    return is_test_file(uri, language_of(uri))


def _no_part(
    query: GraphQuery, facts: dict[str, Json], start: str, unresolved: Sequence[Unresolved]
) -> AnswerPart:
    """Return the answer that no code is known to do it; negative only if no call could do it."""
    if not unresolved:
        return query.negative_part(facts, f"{start}; looked in {ALL_CALLS}.", [ALL_CALLS])
    sentence = f"{start} where the type is written{unresolved_note(unresolved)}."
    places = [*places_of_calls(unresolved), *places_of_nodes(query.anchor.nodes)]
    return AnswerPart(
        facts,
        sentence,
        places,
        list(query.anchor.nodes),
    )


def _users_part(
    query: GraphQuery,
    facts: dict[str, Json],
    groups: Mapping[str, Sequence[Link]],
    unresolved: Sequence[Unresolved],
) -> AnswerPart | None:
    """Return the answer that lists the sources of links with their places; None if there are no links.

    The key of a group of links is the beginning of its sentence.
    """
    sentences: list[str] = []
    links: list[Link] = []
    for start, group in groups.items():
        if group:
            sentences.append(_users_text(query, start, group))
            links += group
    if not links:
        return None
    nodes = query.nodes(link.source for link in links)
    return AnswerPart(
        facts,
        f"{'; '.join(sentences)}{unresolved_note(unresolved)}.",
        [
            *places_of_links(links),
            *places_of_calls(unresolved),
            *places_of_nodes(query.anchor.nodes),
        ],
        [*nodes.values(), *query.anchor.nodes],
    )


def _users_text(query: GraphQuery, start: str, links: Sequence[Link]) -> str:
    """Return the sources of links with their places, after the beginning of their sentence."""
    users = dict.fromkeys(
        f"{plain_name(link.source)} ({link_place_text(link)})"
        for link in query.asked_first(links)
    )
    return f"{start} {join_names(list(users), MAX_NAMED)}"


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
