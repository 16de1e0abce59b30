"""Answers about models: their table, policy, observers and relations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ragstone.types import Json, Link, Node
from ragstone_code.questions.graph_query import (
    AnswerPart,
    GraphQuery,
    Place,
    class_name,
    class_text,
    folders_of,
    join_names,
    last_links,
    last_nodes,
    link_place_text,
    place_of,
    places_of_links,
    places_of_nodes,
    plain_name,
    string_list,
    table_name,
    unique,
)

_NOT_ABILITIES: Final = frozenset({"before", "after", "__construct", "__call"})
"""Public methods of a policy that are no abilities."""
_HOW_TEXTS: Final = {
    "convention": "by convention",
    "explicit": "written in the model",
    "attribute": "by attribute",
}


def find_table(query: GraphQuery) -> AnswerPart:
    """Return the table of a model, and how that is known."""
    model = query.node
    name = class_name(model.key)
    walked = query.walk()
    if not walked:
        sentence = f"{name} maps to no table that is known; looked in {model.uri or 'no file'}."
        return query.negative_part({"table": None}, sentence, [model.uri])
    link, table = walked[0].links[-1], walked[0].nodes[-1]
    how = link.attributes.get("how")
    facts: dict[str, Json] = {"table": table_name(table.key), "how": how, "model": name}
    reason = f"{_how_text(how)}, {link_place_text(link)}"
    sentence = f"{name} uses the table {table_name(table.key)} ({reason})."
    evidence = [
        *places_of_links([link]),
        *places_of_links(query.links_to([table.key], "CREATES")),
        *place_of(model),
        *place_of(table),
    ]
    return AnswerPart(
        facts,
        sentence,
        evidence,
        [model, table],
        walked,
    )


def find_policy(query: GraphQuery) -> AnswerPart:
    """Return the policy of a model, or that it has none."""
    walked = query.walk()
    if not walked:
        return _no_policy(query)
    link, policy = walked[0].links[-1], walked[0].nodes[-1]
    abilities = _policy_abilities(query, policy)
    names = [name for name, _ in abilities]
    how = link.attributes.get("how")
    facts: dict[str, Json] = {
        "policy": class_name(policy.key),
        "file": policy.uri,
        "line": policy.line,
        "abilities": list(names),
        "how": how,
        "registered_at": link_place_text(link),
    }
    defined = f"it defines {join_names(names)}" if names else "it defines no ability"
    sentence = (
        f"{class_name(query.node.key)} is guarded by {class_text(policy)}: "
        f"{_how_text(how)}, {link_place_text(link)}; {defined}."
    )
    evidence = [
        *places_of_links([link]),
        *place_of(policy),
        *(place for _, place in abilities),
    ]
    return AnswerPart(
        facts,
        sentence,
        evidence,
        [policy, query.node],
        walked,
    )


def _policy_abilities(query: GraphQuery, policy: Node) -> list[tuple[str, Place]]:
    """Return the abilities of a policy with their places."""
    places: dict[str, Place] = {}
    for method in query.methods_of(policy):
        if not re.match(r"\s*(?:private|protected)\b", method.signature):
            places[_member_name(method.key)] = (method.uri, method.line)
    names = string_list(policy.attributes.get("abilities"))
    written_places = string_list(policy.attributes.get("ability_places"))
    for name, place in zip(names, written_places, strict=False):
        uri, _, line = place.rpartition(":")
        places.setdefault(name, (uri, int(line)))
    if not names:
        names = [name for name in places if name not in _NOT_ABILITIES]
    return [(name, places.get(name, (policy.uri, policy.line))) for name in names]


def _no_policy(query: GraphQuery) -> AnswerPart:
    """Return that a model has no policy, and the places that were searched."""
    policies = query.nodes_of_kind("policy")
    links = query.links_to([policy.key for policy in policies], "PROTECTED_BY")
    registered = [link for link in links if link.attributes.get("how") == "registered"]
    providers = [
        node for node in query.nodes_of_kind("provider") if re.search(r"Auth|App", node.name)
    ]
    looked_in = unique(
        [
            *(link.uri for link in registered),
            *(provider.uri for provider in providers),
            *folders_of(policies),
        ]
    )
    sentence = (
        f"{class_name(query.node.key)} has no policy: none registered, none by attribute, none by convention; "
        f"looked in {join_names(looked_in, 5) or 'all files'}."
    )
    first_link = sorted(registered, key=lambda link: (link.uri, link.line))[:1]
    evidence = [
        *places_of_links(first_link),
        *places_of_nodes(providers),
        *place_of(query.node),
    ]
    return AnswerPart(
        {"policy": None},
        sentence,
        evidence,
        [query.node],
        negative=True,
        looked_in=looked_in,
    )


def find_observers(query: GraphQuery) -> AnswerPart:
    """Return the observers of a model, or that it has none."""
    walked = query.walk()
    if not walked:
        return _no_observer(query)
    model = query.node
    links = last_links(walked)
    observers = last_nodes(walked)
    how = links[0].attributes.get("how")
    facts: dict[str, Json] = {
        "observer": class_name(observers[0].key),
        "how": how,
        "file": observers[0].uri,
        "line": observers[0].line,
    }
    if len(observers) > 1:
        facts["observers"] = [class_name(observer.key) for observer in observers]
    names = join_names([class_text(observer) for observer in observers])
    sentence = f"{class_name(model.key)} is observed by {names}: {_how_text(how)}, {link_place_text(links[0])}."
    evidence = [
        *places_of_links(links),
        *places_of_nodes(observers),
        *place_of(model),
    ]
    return AnswerPart(
        facts,
        sentence,
        evidence,
        [*observers, model],
        walked,
    )


def _no_observer(query: GraphQuery) -> AnswerPart:
    """Return that a model has no observer, and the places that were searched."""
    model = query.node
    observers = query.nodes_of_kind("observer")
    links = query.links_to([observer.key for observer in observers], "OBSERVED_BY")
    looked_in = unique(
        [
            model.uri,
            *(link.uri for link in links),
            *folders_of(observers),
        ]
    )
    sentence = (
        f"No observer is attached to {class_name(model.key)}: none by attribute, none registered; "
        f"looked in {join_names(looked_in, 5) or 'all files'}."
    )
    return query.negative_part({"observer": None}, sentence, looked_in)


def find_models(query: GraphQuery) -> AnswerPart:
    """Return the models of a policy, an observer or a table."""
    name = query.anchor.mention.text
    walked = query.walk()
    models = last_nodes(walked)
    facts: dict[str, Json] = {"models": [class_name(model.key) for model in models]}
    if query.role == "policy":
        facts["abilities"] = [ability for ability, _ in _policy_abilities(query, query.node)]
    if not models:
        sentence = f"No model is known for {name}; looked at all models."
        looked_in = folders_of(query.nodes_of_kind("model"))
        return query.negative_part(facts, sentence, looked_in)
    sentence = f"{name} belongs to {join_names([class_text(model) for model in models])}."
    evidence = [
        *places_of_links(last_links(walked)),
        *places_of_nodes(models),
        *place_of(query.node),
    ]
    return AnswerPart(
        facts,
        sentence,
        evidence,
        [*models, query.node],
        walked,
    )


# ── relations ─────────────────────────────────────────────────────────────────────────────────────


def find_relations(query: GraphQuery) -> AnswerPart:
    """Return the relations of a model: all, one by name, those of a trait, or those to another model."""
    node = query.node
    owner = class_name(node.key)
    relations = [
        relation
        for relation in query.nodes_of_kind("model_relation")
        if class_name(relation.key) == owner
    ]
    links = query.links_from([node.key], "RELATES")
    rows = _relation_rows(relations, links)
    places = _relation_places(relations, links)
    names = _selected_relations(query, rows, places)
    facts: dict[str, Json] = {"relations": [rows[name] for name in names]}
    if not names:
        owner_name = plain_name(owner) or owner
        searched = node.uri or "no file"
        sentence = f"{owner_name} has no relation that is written down; looked in {searched}."
        return query.negative_part(facts, sentence, [node.uri])
    evidence = [places[name] for name in names if name in places]
    texts = [_relation_text(rows[name]) for name in names]
    sentence = f"{owner} has {join_names(texts, 30)}{_first_place(evidence)}."
    evidence += _trait_places(query)
    evidence += place_of(node)
    selected_nodes = [relation for relation in relations if _member_name(relation.key) in names]
    return AnswerPart(
        facts,
        sentence,
        evidence,
        [node, *selected_nodes],
    )


def _first_place(places: list[Place]) -> str:
    """Return ` (file:line)` of the first place for a sentence; empty if there is none."""
    return f" ({places[0][0]}:{places[0][1]})" if places else ""


def _trait_places(query: GraphQuery) -> list[Place]:
    """Return the places that use the traits named in the question, and the places of the other named nodes."""
    others = query.other_nodes()
    other_keys = {other.key for other in others}
    trait_links = query.links_from([query.node.key], "USES_TRAIT")
    used = [link for link in trait_links if link.target in other_keys]
    return [*places_of_links(used), *places_of_nodes(others)]


def _relation_rows(
    relations: Iterable[Node], links: Iterable[Link]
) -> dict[str, dict[str, Json]]:
    """Return the facts of each relation by name; a relation's node wins over its link."""
    rows: dict[str, dict[str, Json]] = {}
    for link in links:
        name = link.attributes.get("name")
        if name:
            rows[str(name)] = {
                "name": name,
                "type": link.attributes.get("type"),
                "related": class_name(link.target),
                "pivot": link.attributes.get("pivot"),
                "through": link.attributes.get("through"),
            }
    for relation in relations:
        member = _member_name(relation.key)
        row: dict[str, Json] = {"name": relation.attributes.get("name") or member}
        for key in ("type", "related", "pivot", "through"):
            row[key] = relation.attributes.get(key)
        rows[member] = row
    return rows


def _relation_places(relations: Iterable[Node], links: Iterable[Link]) -> dict[str, Place]:
    """Return the place of each relation by name; a link's place wins over the node's."""
    places: dict[str, Place] = {
        _member_name(relation.key): (relation.uri, relation.line)
        for relation in relations
        if relation.uri
    }
    for link in links:
        if link.uri:
            places[str(link.attributes.get("name"))] = (link.uri, link.line)
    return places


def _selected_relations(
    query: GraphQuery, rows: dict[str, dict[str, Json]], places: dict[str, Place]
) -> list[str]:
    """Return the names of the relations that the question asks for, in source order."""
    names = sorted(rows, key=lambda name: places.get(name, ("", 0)))
    member = _mentioned_member(query)
    named = [name for name in names if name.lower() == member.lower()]
    if named:
        return named
    others = query.other_nodes()
    trait_files = {node.uri for node in others if node.kind in ("trait", "class")} - {""}
    from_traits = [name for name in names if name in places and places[name][0] in trait_files]
    if from_traits:
        return from_traits
    targets = _relation_targets(others)
    to_targets = [name for name in names if _leads_to(rows[name], targets)]
    return to_targets or names


def _mentioned_member(query: GraphQuery) -> str:
    """Return the member in a name such as `Playlist::songs`; empty if the question names only the model."""
    mention = query.anchor.mention.text
    member = re.split(r"::|->|@|\.", mention.removesuffix("()"))[-1]
    names_only_model = query.role == "model" and member == mention
    return "" if names_only_model else member


def _relation_targets(nodes: Iterable[Node]) -> set[str]:
    """Return the models and tables among the nodes, by name."""
    targets: set[str] = set()
    for node in nodes:
        if node.kind == "model":
            targets.add(class_name(node.key))
        elif node.kind == "table":
            targets.add(table_name(node.key))
    return targets


def _leads_to(row: dict[str, Json], targets: set[str]) -> bool:
    """Return whether a relation leads to one of these models or uses one of these tables."""
    return any(row.get(key) in targets for key in ("related", "through", "pivot"))


def _relation_text(row: dict[str, Json]) -> str:
    """Return a relation for a sentence."""
    pivot = f" over {row['pivot']}" if row.get("pivot") else ""
    through = f" through {row['through']}" if row.get("through") else ""
    related = row.get("related") or "any model"
    return f"{row['name']} ({row.get('type')} {related}{pivot}{through})"


def _member_name(key: str) -> str:
    """Return the last part of the key of a method or a relation."""
    return key.rpartition("::")[2]


def _how_text(how: Json) -> str:
    """Return how a relation between two classes is known, for a sentence."""
    return _HOW_TEXTS.get(str(how), str(how or "written"))
