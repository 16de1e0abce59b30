"""Models in the graph: what each says of itself, the table it has, the models it is related to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ragstone.code.frameworks.laravel.blueprint import plain
from ragstone.code.frameworks.laravel.eloquent import ATTRIBUTES, Eloquent, Model, known, returned
from ragstone.code.frameworks.laravel.literals import UNSAID
from ragstone.code.frameworks.laravel.relations import Relation, Relations
from ragstone.code.tree import ClassName, Function, New
from ragstone.code.world import World
from ragstone.types.graph import Alias, Graph, Json, Link, Node, Unresolved

FRAMEWORK: Final = "laravel"
_LISTS: Final = {"fillable": "Fillable", "guarded": "Guarded", "hidden": "Hidden", "appends": "Appends"}
_SOFT_DELETES: Final = "illuminate\\database\\eloquent\\softdeletes"


def models(world: World) -> Graph:
    """Return the models of a project, their relations, and the tables they have."""
    return of(Eloquent(world))


def of(eloquent: Eloquent) -> Graph:
    """Return the same from models that are found already."""
    relations = Relations(eloquent)
    graph = Graph()
    outside: dict[str, Node] = {}
    targets = _morph_targets(eloquent, relations)
    for model in eloquent.models.values():
        found = relations.of(model)
        graph += _of_model(eloquent, model, found)
        for relation in found.values():
            graph += _of_relation(model, relation, targets)
            for name in (relation.related, relation.through):
                if name and eloquent.lineage.find(name) is None:
                    outside[name] = Node(
                        f"class:{name}", "model", name.rpartition("\\")[2], framework=FRAMEWORK, attributes={"outside": True}
                    )
    return graph + Graph(nodes=tuple(outside.values()))


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
    if model.table and not model.abstract:
        confidence = "convention" if model.how == "convention" else "declared"
        links = (
            Link(
                "MAPS_TO", key, f"table:{model.table}", *model.table_at,
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
        "table": model.table, "how": model.how, "primary_key": eloquent.key(model),
        "key_type": eloquent.key_type(model), "extends": model.base,
    }  # fmt: skip
    if model.abstract:
        facts["abstract"] = True
    if model.pivot:
        facts["pivot"] = True
    connection = eloquent.said(name, "connection")
    connection = eloquent.of_attribute(name, "Connection", "name") if connection is UNSAID else connection
    for key, value in (("connection", connection), ("route_key", _route_key(eloquent, model))):
        if isinstance(value, str):
            facts[key] = value
    for key, attribute in _LISTS.items():
        value = eloquent.said(name, key)
        value = eloquent.of_attribute(name, attribute, "columns") if value is UNSAID else value
        if isinstance(value, list):
            facts[key] = plain(value)
    for key in ("timestamps", "incrementing"):
        value = eloquent.said(name, key)
        if isinstance(value, bool):
            facts[key] = value
    if eloquent.attribute(name, "Unguarded"):
        facts["guarded"] = []
    casts = _casts(eloquent, model)
    if casts:
        facts["casts"] = casts
    scopes = list(dict.fromkeys(_scopes(eloquent, model)))
    if scopes:
        facts["scopes"] = list(scopes)
    if _SOFT_DELETES in eloquent.lineage.traits(name):
        facts["soft_deletes"] = True
    return facts


def _casts(eloquent: Eloquent, model: Model) -> dict[str, Json]:
    """Return the casts of the property and of the method."""
    casts: dict[str, Json] = {}
    said = eloquent.said(model.name, "casts")
    method = eloquent.lineage.method(model.name, "casts")
    where = eloquent.where(method[0], model.name) if method else None
    values = [eloquent.literals.value(one, where) for one in returned(method[1])] if method and where else []
    for value in (said, *values):
        if isinstance(value, dict):
            casts.update({str(key): plain(one) for key, one in value.items() if one is not UNSAID})
    return casts


def _route_key(eloquent: Eloquent, model: Model) -> object:
    """Return the column routes find a model by, where it is said."""
    method = eloquent.lineage.method(model.name, "getRouteKeyName")
    if method is None:
        return eloquent.of_attribute(model.name, "RouteKey", "key")
    where = eloquent.where(method[0], model.name)
    return next((eloquent.literals.value(one, where) for one in returned(method[1])), UNSAID)


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
        told = (f"{relation.uri}:{relation.line}: {model.name}::{relation.name}: {why}",) if relation.unknown else ()
        return Graph((node,), (), aliases, (lost,), remarks=told)
    link = Link(
        "RELATES", f"class:{model.name}", f"class:{relation.related}", relation.uri, relation.line, attributes=attributes
    )
    return Graph((node,), (link,), aliases)


def _attributes(relation: Relation) -> dict[str, Json]:
    attributes: dict[str, Json] = {"name": relation.name, "type": relation.type, "related": relation.related}
    if relation.pivot:
        attributes["pivot"] = relation.pivot
    if relation.through:
        attributes["through"] = relation.through
    attributes |= {("morph" if key == "name" else key): value for key, value in relation.more.items()}
    attributes["declared_in"] = relation.declared_in
    if relation.used[0]:
        attributes["used_at"] = f"{relation.used[0]}:{relation.used[1]}"
    return attributes


__all__ = ["known", "models", "of"]
