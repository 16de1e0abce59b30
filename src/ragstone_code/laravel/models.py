"""Models in the graph: what each says of itself, the table it has, the models it is related to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ragstone.code.tree import ClassName, Function, New
from ragstone.code.world import World
from ragstone.types.graph import Alias, Confidence, Graph, Json, Link, Node, Unresolved
from ragstone_code.laravel.calls import to_json
from ragstone_code.laravel.eloquent import ATTRIBUTES, Eloquent, Model, returned
from ragstone_code.laravel.literals import NOT_WRITTEN
from ragstone_code.laravel.relations import Relation, Relations

FRAMEWORK: Final = "laravel"
_LISTS: Final = {"fillable": "Fillable", "guarded": "Guarded", "hidden": "Hidden", "appends": "Appends"}
_SOFT_DELETES: Final = "illuminate\\database\\eloquent\\softdeletes"


def read_models(world: World) -> Graph:
    """Return the models of a project, their relations, and the tables they have."""
    return build_model_graph(Eloquent(world))


def build_model_graph(eloquent: Eloquent) -> Graph:
    """Return the same from models that are found already."""
    relations = Relations(eloquent)
    graph = Graph()
    others: dict[str, Node] = {}
    targets = _morph_targets(eloquent, relations)
    for model in eloquent.models.values():
        found = relations.of(model)
        graph += _of_model(eloquent, model, found)
        for relation in found.values():
            graph += _of_relation(model, relation, targets)
            for name in (relation.related, relation.through):
                if name and eloquent.model(name) is None:
                    others[name] = _other(eloquent, name)
    whole = graph + Graph(nodes=tuple(others.values()))
    return replace(whole, remarks=tuple(dict.fromkeys(whole.remarks)))


def _other(eloquent: Eloquent, name: str) -> Node:
    """Return a class that a relation leads to and that is not seen to be a model: a package's, or a child of one."""
    found = eloquent.lineage.find(name)
    key, short = f"class:{name}", name.rpartition("\\")[2]
    if found is None:
        return Node(key, "model", short, framework=FRAMEWORK, attributes={"outside": True})
    one = found.definition
    base = eloquent.lineage.first_outside_ancestor(name)
    return Node(
        key, "model", short, found.uri, one.line, one.line_end,
        doc=one.doc, language="php", framework=FRAMEWORK, attributes={"extends": base, "assumed": True},
    )  # fmt: skip


def _is_base(eloquent: Eloquent, model: Model) -> bool:
    """Return whether a class is there for models to extend, and has no table of its own: `BaseModel` and its like."""
    return (
        model.how == "convention"
        and model.short.endswith("Model")
        and any(model.name in one.definition.extends for one in eloquent.models.values())
    )


def _of_model(eloquent: Eloquent, model: Model, relations: dict[str, Relation]) -> Graph:
    key = f"class:{model.name}"
    definition = model.definition
    node = Node(
        key, "model", model.short, model.uri, definition.line, definition.line_end,
        doc=definition.doc, language="php", framework=FRAMEWORK,
        attributes={**_facts(eloquent, model), "relations": list(relations)},
    )  # fmt: skip
    aliases = (Alias(model.name, key, "class", model.uri), Alias(model.short, key, "short_class", model.uri))
    links: tuple[Link, ...] = ()
    remarks: tuple[str, ...] = ()
    if model.table and not model.abstract and not _is_base(eloquent, model):
        confidence: Confidence = "convention" if model.how == "convention" else "declared"
        links = (
            Link(
                "MAPS_TO", key, f"table:{model.table.rpartition('.')[2]}", *model.table_at,
                confidence=confidence if model.sure else "heuristic", attributes={"how": model.how},
            ),
        )  # fmt: skip
    elif not model.table and model.how != "convention":
        uri, line = model.table_at
        remarks = (f"{uri}:{line}: the table of {model.name} is not written down",)
    return Graph((node,), links, aliases, remarks=remarks)


def _facts(eloquent: Eloquent, model: Model) -> dict[str, Json]:
    """Return what a model says of itself; what it does not say is left out."""
    name = model.name
    facts: dict[str, Json] = {
        "table": model.table,
        "how": model.how,
        "primary_key": eloquent.key(model),
        "key_type": eloquent.key_type(model),
        "extends": model.base,
    }
    flags = {
        "abstract": model.abstract,
        "pivot": model.pivot,
        "soft_deletes": _SOFT_DELETES in eloquent.lineage.traits(name),
    }
    facts |= {key: True for key, holds in flags.items() if holds}
    facts |= {
        key: value for key in ("timestamps", "incrementing") if isinstance(value := eloquent.said(name, key), bool)
    }
    connection = eloquent.said(name, "connection")
    connection = eloquent.of_attribute(name, "Connection", "name") if connection is NOT_WRITTEN else connection
    texts = {"connection": connection, "route_key": _route_key(eloquent, model)}
    facts |= {key: value for key, value in texts.items() if isinstance(value, str)}
    lists = {"casts": _casts(eloquent, model), "scopes": list(dict.fromkeys(_scopes(eloquent, model)))}
    facts |= {key: to_json(value) for key, value in lists.items() if value}
    return facts | _lists(eloquent, name)


def _lists(eloquent: Eloquent, name: str) -> dict[str, Json]:
    """Return which columns may be filled, are hidden, are appended, by property or attribute."""
    found: dict[str, Json] = {}
    for key, attribute in _LISTS.items():
        value = eloquent.said(name, key)
        value = eloquent.of_attribute(name, attribute, "columns") if value is NOT_WRITTEN else value
        if isinstance(value, list):
            found[key] = to_json(value)
    return found | ({"guarded": []} if eloquent.attribute(name, "Unguarded") else {})


def _casts(eloquent: Eloquent, model: Model) -> dict[str, Json]:
    """Return the casts of the property and of the method."""
    casts: dict[str, Json] = {}
    said = eloquent.said(model.name, "casts")
    method = eloquent.lineage.find_method(model.name, "casts")
    where = eloquent.where(method[0], model.name) if method else None
    values = [eloquent.literals.value(one, where) for one in returned(method[1])] if method and where else []
    for value in (said, *values):
        if isinstance(value, dict):
            casts.update({str(key): to_json(one) for key, one in value.items() if one is not NOT_WRITTEN})
    return casts


def _route_key(eloquent: Eloquent, model: Model) -> object:
    """Return the column routes find a model by, where it is said."""
    method = eloquent.lineage.find_method(model.name, "getRouteKeyName")
    if method is None:
        return eloquent.of_attribute(model.name, "RouteKey", "key")
    where = eloquent.where(method[0], model.name)
    return next((eloquent.literals.value(one, where) for one in returned(method[1])), NOT_WRITTEN)


def _scopes(eloquent: Eloquent, model: Model) -> Iterator[str]:
    for part in eloquent.lineage.parts(model.name):
        for method in part.definition.methods:
            if method.name.startswith("scope") and len(method.name) > len("scope"):
                yield method.name[5].lower() + method.name[6:]
            elif _has_scope(method):
                yield method.name


def _has_scope(method: Function) -> bool:
    wanted = f"{ATTRIBUTES}Scope"
    return any(
        isinstance(one, New) and isinstance(one.of, ClassName) and one.of.name == wanted for one in method.attributes
    )


def _morph_targets(eloquent: Eloquent, relations: Relations) -> dict[tuple[str, str], list[Json]]:
    """Return, by model and morph name, the models that say they have it: what a `morphTo` may lead to."""
    found: dict[tuple[str, str], list[Json]] = {}
    for model in eloquent.models.values():
        for relation in relations.of(model).values():
            name = relation.more.get("name")
            if relation.type in ("morphOne", "morphMany") and relation.related and isinstance(name, str):
                held = found.setdefault((relation.related.lower(), name), [])
                if model.name not in held and not model.abstract:
                    held.append(model.name)
    return found


def _of_relation(model: Model, relation: Relation, targets: dict[tuple[str, str], list[Json]]) -> Graph:
    key = f"relation:{model.name}::{relation.name}"
    attributes = _attributes(relation)
    if relation.type == "morphTo":
        candidates = targets.get((model.name.lower(), str(relation.more.get("name"))))
        attributes |= {"candidates": candidates} if candidates else {}
    node = Node(
        key, "model_relation", relation.name, relation.uri, relation.line, relation.line_end,
        language="php", framework=FRAMEWORK, attributes={**attributes, "model": model.name},
    )  # fmt: skip
    aliases = tuple(
        Alias(f"{name}{between}{relation.name}", key, "relation", relation.uri)
        for name in (model.name, model.short)
        for between in ("::", ".")
    )
    if relation.related is None:
        why = relation.unknown or "what it leads to is decided by the row"
        lost = Unresolved("RELATES", f"class:{model.name}", relation.name, "$this", relation.uri, relation.line, why)
        told = (
            (f"{relation.uri}:{relation.line}: {relation.declared_in}::{relation.name}: {why}",)
            if relation.unknown
            else ()
        )
        return Graph((node,), (), aliases, (lost,), remarks=told)
    link = Link(
        "RELATES",
        f"class:{model.name}",
        f"class:{relation.related}",
        relation.uri,
        relation.line,
        attributes=attributes,
    )
    return Graph((node,), (link,), aliases)


_MORPHS: Final = {"name": "morph", "type": "morph_type", "id": "morph_id"}
"""What the arguments of a polymorphic relation are called here, where the names mean something else."""


def _attributes(relation: Relation) -> dict[str, Json]:
    attributes: dict[str, Json] = {"name": relation.name, "type": relation.type, "related": relation.related}
    if relation.pivot:
        attributes["pivot"] = relation.pivot
    if relation.through:
        attributes["through"] = relation.through
    attributes |= {_MORPHS.get(key, key): value for key, value in relation.more.items()}
    attributes["declared_in"] = relation.declared_in
    if relation.used[0]:
        attributes["used_at"] = f"{relation.used[0]}:{relation.used[1]}"
    return attributes
