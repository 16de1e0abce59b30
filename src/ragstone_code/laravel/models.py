"""Graph of Eloquent models: the properties of each model, its table, and its relations to other models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ragstone.types.graph import Alias, Confidence, Graph, Json, Link, Node, Unresolved
from ragstone_code.laravel.calls import to_json
from ragstone_code.laravel.eloquent import (
    ATTRIBUTES,
    EloquentModel,
    EloquentModels,
    returned_expressions,
)
from ragstone_code.laravel.literals import NOT_WRITTEN
from ragstone_code.laravel.relation_calls import ModelRelation
from ragstone_code.laravel.relations import RelationReader
from ragstone_code.program_tree import ClassName, Function, New
from ragstone_code.project_files import World

FRAMEWORK: Final = "laravel"
_COLUMN_LISTS: Final = {
    "fillable": "Fillable",
    "guarded": "Guarded",
    "hidden": "Hidden",
    "appends": "Appends",
}
"""Properties with lists of columns, each with the attribute that says the same."""
_SOFT_DELETES: Final = "illuminate\\database\\eloquent\\softdeletes"
_SCOPE_ATTRIBUTE: Final = f"{ATTRIBUTES}Scope"
_SCOPE_PREFIX: Final = "scope"
MorphTargets = dict[tuple[str, str], list[Json]]
"""The models that a `morphTo` may lead to, by the model that declares it and the name of the morph."""


def read_models(world: World) -> Graph:
    """Return the models of a project, their relations, and links to their tables."""
    return build_model_graph(EloquentModels(world))


def build_model_graph(models: EloquentModels) -> Graph:
    """Return the graph of models that are already loaded."""
    reader = RelationReader(models)
    targets = _morph_targets(models, reader)
    graph = Graph()
    other_classes: dict[str, Node] = {}
    for model in models.models.values():
        relations = reader.relations_of(model)
        graph += _model_graph(models, model, list(relations))
        for relation in relations.values():
            graph += _relation_graph(model, relation, targets)
            for name in (relation.related, relation.through):
                if name and models.find(name) is None:
                    other_classes[name] = _other_class_node(models, name)
    graph += Graph(nodes=tuple(other_classes.values()))
    return replace(graph, remarks=tuple(dict.fromkeys(graph.remarks)))


def _other_class_node(models: EloquentModels, name: str) -> Node:
    """Return the node of a class that a relation leads to and that is not recognised as a model."""
    key = f"class:{name}"
    short_name = name.rpartition("\\")[2]
    part = models.hierarchy.find(name)
    if part is None:
        return Node(
            key,
            "model",
            short_name,
            framework=FRAMEWORK,
            attributes={"outside": True},
        )
    definition = part.definition
    base = models.hierarchy.first_outside_ancestor(name)
    return Node(
        key,
        "model",
        short_name,
        part.uri,
        definition.line,
        definition.line_end,
        doc=definition.doc,
        language="php",
        framework=FRAMEWORK,
        attributes={"extends": base, "assumed": True},
    )


# ── models ───────────────────────────────────────────────────────────────────────────────────


def _is_base_model(models: EloquentModels, model: EloquentModel) -> bool:
    """Return whether a class only exists for models to extend, like `BaseModel`, and has no table."""
    if model.table_name.source != "convention" or not model.short_name.endswith("Model"):
        return False
    return any(model.name in other.definition.extends for other in models.models.values())


def _model_graph(
    models: EloquentModels,
    model: EloquentModel,
    relation_names: list[Json],
) -> Graph:
    """Return the node of a model, its names, and the link to its table."""
    key = f"class:{model.name}"
    definition = model.definition
    node = Node(
        key,
        "model",
        model.short_name,
        model.uri,
        definition.line,
        definition.line_end,
        doc=definition.doc,
        language="php",
        framework=FRAMEWORK,
        attributes={**_model_attributes(models, model), "relations": relation_names},
    )
    aliases = (
        Alias(model.name, key, "class", model.uri),
        Alias(model.short_name, key, "short_class", model.uri),
    )
    links: tuple[Link, ...] = ()
    remarks: tuple[str, ...] = ()
    has_table = model.table and not model.abstract and not _is_base_model(models, model)
    if has_table:
        links = (_table_link(model),)
    elif not model.table and model.table_name.source != "convention":
        uri, line = model.table_name.at
        remarks = (f"{uri}:{line}: the table of {model.name} is not written down",)
    return Graph((node,), links, aliases, remarks=remarks)


def _table_link(model: EloquentModel) -> Link:
    """Return the link from a model to its table."""
    table = model.table_name
    confidence: Confidence = "declared"
    if not model.certain:
        confidence = "heuristic"
    elif table.source == "convention":
        confidence = "convention"
    bare_name = (table.name or "").rpartition(".")[2]
    return Link(
        "MAPS_TO",
        f"class:{model.name}",
        f"table:{bare_name}",
        *table.at,
        confidence=confidence,
        attributes={"how": table.source},
    )


def _model_attributes(models: EloquentModels, model: EloquentModel) -> dict[str, Json]:
    """Return the properties of a model; properties without a value are left out."""
    name = model.name
    attributes: dict[str, Json] = {
        "table": model.table,
        "how": model.table_name.source,
        "primary_key": models.key_name(model),
        "key_type": models.key_type(model),
        "extends": model.base,
    }
    flags = {
        "abstract": model.abstract,
        "pivot": model.pivot,
        "soft_deletes": _SOFT_DELETES in models.hierarchy.traits(name),
    }
    for key, is_set in flags.items():
        if is_set:
            attributes[key] = True
    for key in ("timestamps", "incrementing"):
        flag = models.property_value(name, key)
        if isinstance(flag, bool):
            attributes[key] = flag
    connection = models.property_value(name, "connection")
    if connection is NOT_WRITTEN:
        connection = models.attribute_value(name, "Connection", "name")
    texts = {"connection": connection, "route_key": _route_key(models, model)}
    for key, text in texts.items():
        if isinstance(text, str):
            attributes[key] = text
    casts = _casts(models, model)
    if casts:
        attributes["casts"] = to_json(casts)
    scopes = list(dict.fromkeys(_scopes(models, model)))
    if scopes:
        attributes["scopes"] = to_json(scopes)
    return attributes | _column_lists(models, name)


def _column_lists(models: EloquentModels, name: str) -> dict[str, Json]:
    """Return the fillable, guarded, hidden and appended columns of a model."""
    lists: dict[str, Json] = {}
    for key, attribute in _COLUMN_LISTS.items():
        columns = models.property_value(name, key)
        if columns is NOT_WRITTEN:
            columns = models.attribute_value(name, attribute, "columns")
        if isinstance(columns, list):
            lists[key] = to_json(columns)
    if models.find_attribute(name, "Unguarded"):
        lists["guarded"] = []
    return lists


def _casts(models: EloquentModels, model: EloquentModel) -> dict[str, Json]:
    """Return the casts in the property `$casts` and in the method `casts()`."""
    values = [models.property_value(model.name, "casts")]
    method = models.hierarchy.find_method(model.name, "casts")
    if method is not None:
        part, function = method
        context = models.context(part, model.name)
        for expression in returned_expressions(function):
            values.append(models.literals.value(expression, context))
    casts: dict[str, Json] = {}
    for value in values:
        if isinstance(value, dict):
            for column, cast in value.items():
                if cast is not NOT_WRITTEN:
                    casts[str(column)] = to_json(cast)
    return casts


def _route_key(models: EloquentModels, model: EloquentModel) -> object:
    """Return the column by which routes find a model, or `NOT_WRITTEN`."""
    method = models.hierarchy.find_method(model.name, "getRouteKeyName")
    if method is None:
        return models.attribute_value(model.name, "RouteKey", "key")
    part, function = method
    context = models.context(part, model.name)
    for expression in returned_expressions(function):
        return models.literals.value(expression, context)
    return NOT_WRITTEN


def _scopes(models: EloquentModels, model: EloquentModel) -> Iterator[str]:
    """Yield the query scopes of a model: methods named `scope…`, and methods with the attribute `#[Scope]`."""
    for part in models.hierarchy.parts(model.name):
        for method in part.definition.methods:
            bare_name = method.name.removeprefix(_SCOPE_PREFIX)
            if bare_name and bare_name != method.name:
                yield bare_name[0].lower() + bare_name[1:]
            elif _has_scope_attribute(method):
                yield method.name


def _has_scope_attribute(method: Function) -> bool:
    for attribute in method.attributes:
        if isinstance(attribute, New) and isinstance(attribute.of, ClassName):
            if attribute.of.name == _SCOPE_ATTRIBUTE:
                return True
    return False


# ── relations ────────────────────────────────────────────────────────────────────────────────


def _morph_targets(models: EloquentModels, reader: RelationReader) -> MorphTargets:
    """Return the models that a `morphTo` may lead to: those with a matching `morphOne` or `morphMany`."""
    targets: MorphTargets = {}
    for model in models.models.values():
        for relation in reader.relations_of(model).values():
            name = relation.details.get("name")
            is_morph = relation.type in ("morphOne", "morphMany")
            if not is_morph or not relation.related or not isinstance(name, str):
                continue
            names = targets.setdefault((relation.related.lower(), name), [])
            if model.name not in names and not model.abstract:
                names.append(model.name)
    return targets


def _relation_graph(
    model: EloquentModel,
    relation: ModelRelation,
    targets: MorphTargets,
) -> Graph:
    """Return the node of a relation and the link to the related model, or the reason why the model is unknown."""
    key = f"relation:{model.name}::{relation.name}"
    source = f"class:{model.name}"
    attributes = _relation_attributes(relation)
    if relation.type == "morphTo":
        morph_name = str(relation.details.get("name"))
        candidates = targets.get((model.name.lower(), morph_name))
        if candidates:
            attributes["candidates"] = candidates
    node = Node(
        key,
        "model_relation",
        relation.name,
        relation.uri,
        relation.line,
        relation.line_end,
        language="php",
        framework=FRAMEWORK,
        attributes={**attributes, "model": model.name},
    )
    aliases = tuple(_relation_aliases(model, relation, key))
    if relation.related is not None:
        link = Link(
            "RELATES",
            source,
            f"class:{relation.related}",
            relation.uri,
            relation.line,
            attributes=attributes,
        )
        return Graph((node,), (link,), aliases)
    reason = relation.unknown or "what it leads to is decided by the row"
    unresolved = Unresolved(
        "RELATES",
        source,
        relation.name,
        "$this",
        relation.uri,
        relation.line,
        reason,
    )
    remarks: tuple[str, ...] = ()
    if relation.unknown:
        place = f"{relation.uri}:{relation.line}"
        method = f"{relation.declared_in}::{relation.name}"
        remarks = (f"{place}: {method}: {reason}",)
    return Graph((node,), (), aliases, (unresolved,), remarks=remarks)


def _relation_aliases(
    model: EloquentModel,
    relation: ModelRelation,
    key: str,
) -> Iterator[Alias]:
    for name in (model.name, model.short_name):
        for separator in ("::", "."):
            yield Alias(
                f"{name}{separator}{relation.name}",
                key,
                "relation",
                relation.uri,
            )


_MORPH_ATTRIBUTES: Final = {
    "name": "morph",
    "type": "morph_type",
    "id": "morph_id",
}
"""Attribute names for arguments of polymorphic relations whose own names have another meaning in the graph."""


def _relation_attributes(relation: ModelRelation) -> dict[str, Json]:
    attributes: dict[str, Json] = {
        "name": relation.name,
        "type": relation.type,
        "related": relation.related,
    }
    if relation.pivot:
        attributes["pivot"] = relation.pivot
    if relation.through:
        attributes["through"] = relation.through
    for key, value in relation.details.items():
        attributes[_MORPH_ATTRIBUTES.get(key, key)] = value
    attributes["declared_in"] = relation.declared_in
    uri, line = relation.used
    if uri:
        attributes["used_at"] = f"{uri}:{line}"
    return attributes
