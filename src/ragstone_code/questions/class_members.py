"""Answers about the members of classes: methods, methods that override others, and signatures."""

from __future__ import annotations

from typing import Final

from ragstone.code.method_names import owner_key
from ragstone.types import Json, Node
from ragstone_code.questions.graph_query import (
    AnswerPart,
    GraphQuery,
    join_names,
    place_text,
    places_of_nodes,
    plain_name,
    short_name,
)

_PARENT_LINKS: Final = ("EXTENDS", "IMPLEMENTS", "USES_TRAIT")
_MAX_LISTED: Final = 30


def find_overrides(query: GraphQuery) -> AnswerPart:
    """Return the methods of subclasses that have the name of a method."""
    texts: list[str] = []
    overrides: dict[str, Node] = {}
    for method in query.anchor.nodes:
        own = _overriding_methods(query, method)
        overrides |= own
        names = join_names([f"{plain_name(key)}{place_text(own[key])}" for key in own])
        if own:
            texts.append(f"{plain_name(method.key)} is overridden by {names}.")
    facts: dict[str, Json] = {"overridden_by": [plain_name(key) for key in overrides]}
    if not texts:
        names = join_names([plain_name(method.key) for method in query.anchor.nodes])
        sentence = f"No class here overrides {names}; looked in all classes of all files."
        return query.negative_part(facts, sentence, ["all classes of all files"])
    nodes = [*overrides.values(), *query.anchor.nodes]
    return AnswerPart(
        facts,
        " ".join(texts),
        places_of_nodes(nodes),
        nodes,
    )


def _overriding_methods(query: GraphQuery, method: Node) -> dict[str, Node]:
    """Return the methods of the same name in the classes below the class of a method."""
    name = short_name(method)
    below: set[str] = set()
    level = [owner_key(method.key)]
    while level:
        links = query.links_to(level, *_PARENT_LINKS)
        level = sorted({link.source for link in links} - below)
        below.update(level)
    classes = query.nodes(sorted(below))
    overriding: dict[str, Node] = {}
    for class_node in classes.values():
        for member in query.methods_of(class_node):
            if short_name(member) == name:
                overriding[member.key] = member
    return overriding


def find_members(query: GraphQuery) -> AnswerPart:
    """Return the methods that a class declares itself, and the classes that it inherits others from."""
    methods = query.methods_of(query.node)
    name = plain_name(query.node.key)
    facts: dict[str, Json] = {"methods": [short_name(method) for method in methods]}
    if not methods:
        sentence = f"{name} declares no method itself; looked in {query.node.place}."
        return query.negative_part(facts, sentence, [query.node.place])
    names = [f"{short_name(method)} (line {method.line})" for method in methods]
    sentence = f"{name}{place_text(query.node)} declares {join_names(names, _MAX_LISTED)}."
    parents = [link.target for link in query.links_from([query.node.key], *_PARENT_LINKS)]
    if parents:
        inherited = join_names([plain_name(key) for key in dict.fromkeys(parents)])
        sentence += f" It inherits from {inherited}."
    return AnswerPart(
        facts,
        sentence,
        places_of_nodes([query.node, *methods]),
        [query.node],
    )


def find_signature(query: GraphQuery) -> AnswerPart:
    """Return the signature of a function, as it is written."""
    nodes = query.anchor.nodes
    texts = [f"{node.signature or plain_name(node.key)} ({node.place})" for node in nodes]
    facts: dict[str, Json] = {"signatures": [node.signature for node in nodes]}
    return AnswerPart(
        facts,
        f"{join_names(texts)}.",
        places_of_nodes(nodes),
        list(nodes),
    )
