"""Eloquent models of a project: table, key and other properties, and the source of each value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

from ragstone_code.laravel import inflection
from ragstone_code.laravel.inheritance import ClassHierarchy, ClassPart
from ragstone_code.laravel.literals import NOT_WRITTEN, ClassContext, LiteralFolder
from ragstone_code.laravel.model_keys import ModelKey
from ragstone_code.program_tree import (
    Argument,
    Class,
    ClassName,
    Expr,
    Function,
    If,
    New,
    Return,
    Statement,
)
from ragstone_code.project_files import World

TableSource = Literal["explicit", "attribute", "convention"]
"""The source of a table name: a property or method, a PHP attribute, or Laravel's naming rule."""
ATTRIBUTES: Final = "Illuminate\\Database\\Eloquent\\Attributes\\"
_STRING_KEY_TRAITS: Final = {
    "illuminate\\database\\eloquent\\concerns\\hasuuids",
    "illuminate\\database\\eloquent\\concerns\\hasulids",
    "illuminate\\database\\eloquent\\concerns\\hasversion4uuids",
    "illuminate\\database\\eloquent\\concerns\\hasuniquestringids",
}
_ULID_TRAIT: Final = "illuminate\\database\\eloquent\\concerns\\hasulids"
_PIVOT_TRAIT: Final = "illuminate\\database\\eloquent\\relations\\concerns\\aspivot"
_FOREIGN_FOLDERS: Final = ("tests/", "vendor/", "node_modules/", "storage/", "bootstrap/cache/")


@cache
def eloquent_data() -> dict[str, Any]:
    """Return the data about Eloquent: base classes of models, relation methods, methods that end a relation."""
    file = resources.files(__package__).joinpath("eloquent.json")
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    data["models"] = {name.lower(): facts for name, facts in data["models"].items()}
    data["relations"] = {
        name.lower(): (name, parameters) for name, parameters in data["relations"].items()
    }
    data["results"] = {name.lower() for name in data["results"]}
    return data


@dataclass(frozen=True, slots=True)
class TableName:
    """The table of a model, with the source of the name and its file and line."""

    name: str | None
    source: TableSource
    at: tuple[str, int]


@dataclass(frozen=True, slots=True)
class EloquentModel:
    """A model class of the project."""

    name: str
    uri: str
    definition: Class
    base: str
    """The class outside of the project that makes this class a model."""
    certain: bool
    """False if the base class is only assumed to be a model because of its name."""
    abstract: bool
    pivot: bool
    table_name: TableName

    @property
    def table(self) -> str | None:
        """Return the name of the table."""
        return self.table_name.name

    @property
    def short_name(self) -> str:
        """Return the class name without its namespace."""
        return self.definition.short


def returned_expressions(function: Function) -> Iterator[Expr]:
    """Yield the expressions that a function may return, in all branches."""
    return _returned_in(function.body.statements)


def _returned_in(statements: tuple[Statement, ...]) -> Iterator[Expr]:
    for statement in statements:
        if isinstance(statement, Return):
            if statement.value is not None:
                yield statement.value
        elif isinstance(statement, If):
            for _, body in statement.branches:
                yield from _returned_in(body)
        elif hasattr(statement, "body") and isinstance(statement.body, tuple):
            yield from _returned_in(statement.body)


def _is_foreign(uri: str) -> bool:
    """Return whether a file is a test, generated, or belongs to a package."""
    return uri.startswith(_FOREIGN_FOLDERS) or "/tests/" in uri or "/vendor/" in uri


@dataclass(slots=True)
class EloquentModels:
    """All models of a project; the models are looked up once."""

    world: World
    hierarchy: ClassHierarchy = field(init=False)
    literals: LiteralFolder = field(init=False)
    _models: dict[str, EloquentModel] | None = None

    def __post_init__(self) -> None:
        self.hierarchy = ClassHierarchy(self.world)
        self.literals = LiteralFolder(self.hierarchy, eloquent_data()["package config"])

    @property
    def models(self) -> dict[str, EloquentModel]:
        """Return the models by their full names in lower case."""
        if self._models is None:
            self._models = {model.name.lower(): model for model in self._find_models()}
        return self._models

    def find(self, name: str) -> EloquentModel | None:
        """Return a model by its full name."""
        return self.models.get(name.lower().lstrip("\\"))

    def find_key(self, class_name: object) -> ModelKey | None:
        """Return the table and the key of a model; None if there is no such model or its table is unknown."""
        model = self.find(class_name) if isinstance(class_name, str) else None
        if model is None or model.table is None:
            return None
        has_ulid = _ULID_TRAIT in self.hierarchy.traits(model.name)
        return ModelKey(
            model.table,
            self.key_name(model),
            self.key_type(model),
            has_ulid,
        )

    def _find_models(self) -> Iterator[EloquentModel]:
        for uri in self.world.uris:
            if not self._may_have_models(uri):
                continue
            module = self.world.module(uri)
            for definition in module.classes if module else ():
                is_named_class = definition.kind == "class" and "@" not in definition.name
                if is_named_class and definition.extends:
                    model = self._create_model(uri, definition)
                    if model is not None:
                        yield model

    def _may_have_models(self, uri: str) -> bool:
        """Return whether a file has a class that extends another; other files need not be parsed."""
        if _is_foreign(uri) or not uri.endswith(".php"):
            return False
        facts = self.world.facts(uri)
        if facts is None:
            return False
        return any(reference.kind == "extends" for reference in facts.references)

    def _create_model(self, uri: str, definition: Class) -> EloquentModel | None:
        """Return the model that a class defines; None if the class is no model."""
        name = definition.name
        base = self.hierarchy.first_outside_ancestor(name) or ""
        facts = eloquent_data()["models"].get(base.lower())
        certain = facts is not None
        if not certain and not _is_model_name(base):
            return None
        if self.hierarchy.find(name) is None:
            return None
        facts = facts or {}
        pivot = bool(facts.get("pivot")) or _PIVOT_TRAIT in self.hierarchy.traits(name)
        return EloquentModel(
            name,
            uri,
            definition,
            base,
            certain,
            self._is_abstract(uri, definition),
            pivot,
            self._find_table(uri, definition, facts, pivot=pivot),
        )

    def _is_abstract(self, uri: str, definition: Class) -> bool:
        lines = (self.world.text(uri) or "").splitlines()
        if definition.line > len(lines):
            return False
        modifiers = lines[definition.line - 1].split("class", 1)[0]
        return "abstract" in modifiers.split()

    # ── the table ────────────────────────────────────────────────────────────────────────────

    def _find_table(
        self,
        uri: str,
        definition: Class,
        facts: dict[str, Any],
        *,
        pivot: bool,
    ) -> TableName:
        """Return the table of a model: from `getTable`, `$table`, `#[Table]`, or by convention, in this order."""
        name = definition.name
        table = self._table_from_method(name)
        if table is None:
            table = self._table_from_property(definition)
        if table is None:
            table = self._table_from_attribute(name)
        if table is not None:
            return table
        at = (uri, definition.line)
        if facts.get("no_table"):
            return TableName(None, "convention", at)
        convention = inflection.pivot_table_name(name) if pivot else inflection.table_name(name)
        return TableName(facts.get("table") or convention, "convention", at)

    def _table_from_method(self, name: str) -> TableName | None:
        """Return the table that a `getTable` of the project returns, if the name is a literal."""
        method = self.hierarchy.find_method(name, "getTable")
        if method is None:
            return None
        part, function = method
        context = self.context(part, name)
        for expression in returned_expressions(function):
            table = self.literals.value(expression, context)
            if isinstance(table, str):
                return TableName(
                    table,
                    "explicit",
                    (part.uri, expression.line),
                )
        return None

    def _table_from_property(self, definition: Class) -> TableName | None:
        """Return the table in `$table`; None if an attribute of the class itself comes before an inherited property."""
        name = definition.name
        table_property = self.hierarchy.find_property(name, "table")
        if table_property is None:
            return None
        part, declaration = table_property
        attribute = self.find_attribute(name, "Table")
        has_own_attribute = attribute is not None and attribute[0].definition is definition
        has_own_property = part.definition is definition
        if has_own_attribute and not has_own_property:
            return None
        value = self.literals.value(declaration.default, self.context(part, name))
        if value is None:
            return None
        table = value if isinstance(value, str) else None
        return TableName(table, "explicit", (part.uri, declaration.line))

    def _table_from_attribute(self, name: str) -> TableName | None:
        """Return the table in the attribute `#[Table]`."""
        attribute = self.find_attribute(name, "Table")
        if attribute is None:
            return None
        part, written = attribute
        table = self.attribute_argument(
            written,
            0,
            "name",
            self.context(part, name),
        )
        if not isinstance(table, str):
            return None
        return TableName(table, "attribute", (part.uri, written.line))

    # ── properties and attributes ────────────────────────────────────────────────────────────

    def context(self, part: ClassPart, name: str) -> ClassContext:
        """Return the context in which code of a class part is read for a model."""
        definition = part.definition
        return ClassContext(
            definition.name,
            name,
            definition.kind == "trait",
            part.uri,
        )

    def find_attribute(self, name: str, attribute: str) -> tuple[ClassPart, New] | None:
        """Return the nearest Eloquent attribute with this name: on the class, its traits or its parents."""
        class_name = f"{ATTRIBUTES}{attribute}".lower()
        for part in self.hierarchy.parts(name):
            for written in part.definition.attributes:
                if isinstance(written, New) and _class_name(written) == class_name:
                    return part, written
        return None

    def attribute_argument(
        self,
        attribute: New,
        index: int,
        name: str,
        context: ClassContext,
    ) -> object:
        """Return the value of an attribute's argument, by name or by position; None if it is absent."""
        argument = _find_argument(attribute, index, name)
        if argument is None:
            return None
        return self.literals.value(argument.value, context)

    def property_value(self, name: str, property_name: str) -> object:
        """Return the value of a model's property, or `NOT_WRITTEN`."""
        declared = self.hierarchy.find_property(name, property_name)
        if declared is None:
            return NOT_WRITTEN
        part, declaration = declared
        return self.literals.value(declaration.default, self.context(part, name))

    def attribute_value(
        self,
        name: str,
        attribute: str,
        argument: str,
        index: int = 0,
    ) -> object:
        """Return the value of an attribute's argument on a model, or `NOT_WRITTEN`."""
        declared = self.find_attribute(name, attribute)
        if declared is None:
            return NOT_WRITTEN
        part, written = declared
        value = self.attribute_argument(
            written,
            index,
            argument,
            self.context(part, name),
        )
        return NOT_WRITTEN if value is None else value

    def key_name(self, model: EloquentModel) -> str:
        """Return the name of a model's primary key."""
        key = self.property_value(model.name, "primaryKey")
        if not isinstance(key, str):
            key = self.attribute_value(model.name, "Table", "key", 1)
        return key if isinstance(key, str) else "id"

    def key_type(self, model: EloquentModel) -> str:
        """Return the type of a model's primary key: `int` or `string`."""
        if self.hierarchy.traits(model.name) & _STRING_KEY_TRAITS:
            return "string"
        key_type = self.property_value(model.name, "keyType")
        if not isinstance(key_type, str):
            key_type = self.attribute_value(model.name, "Table", "keyType", 2)
        if isinstance(key_type, str):
            return "int" if key_type == "integer" else key_type
        facts = eloquent_data()["models"].get(model.base.lower(), {})
        return str(facts.get("key_type", "int"))


def _class_name(attribute: New) -> str:
    """Return the class of an attribute in lower case; an empty string if it is computed."""
    return attribute.of.name.lower() if isinstance(attribute.of, ClassName) else ""


def _is_model_name(name: str) -> bool:
    """Return whether a class outside of the project looks like a model."""
    lowered = name.lower()
    return "\\models\\" in lowered or lowered.endswith("\\eloquent\\model")


def _find_argument(attribute: New, index: int, name: str) -> Argument | None:
    """Return an argument by its name, otherwise by its position among the unnamed arguments."""
    for argument in attribute.arguments:
        if argument.name == name:
            return argument
    unnamed = [argument for argument in attribute.arguments if not argument.name]
    return unnamed[index] if index < len(unnamed) else None
