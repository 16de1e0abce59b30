"""What the project's models say of themselves: table, keys, casts, scopes, and by which rule each is known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

from ragstone.code.tree import Class, ClassName, Expr, Function, If, New, Return, Statement
from ragstone.code.world import World
from ragstone_code.laravel import inflection
from ragstone_code.laravel.blueprint import Referred
from ragstone_code.laravel.inheritance import ClassHierarchy, ClassPart
from ragstone_code.laravel.literals import NOT_WRITTEN, ClassContext, LiteralFolder

How = Literal["explicit", "attribute", "convention"]
ATTRIBUTES: Final = "Illuminate\\Database\\Eloquent\\Attributes\\"
_STRINGS: Final = {
    "illuminate\\database\\eloquent\\concerns\\hasuuids",
    "illuminate\\database\\eloquent\\concerns\\hasulids",
    "illuminate\\database\\eloquent\\concerns\\hasversion4uuids",
    "illuminate\\database\\eloquent\\concerns\\hasuniquestringids",
}
_ULIDS: Final = "illuminate\\database\\eloquent\\concerns\\hasulids"
_PIVOT_TRAIT: Final = "illuminate\\database\\eloquent\\relations\\concerns\\aspivot"
_ASIDE: Final = ("tests/", "vendor/", "node_modules/", "storage/", "bootstrap/cache/")


@cache
def known() -> dict[str, Any]:
    """Return what is known of Eloquent as data."""
    file = resources.files(__package__).joinpath("eloquent.json")
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    data["models"] = {name.lower(): facts for name, facts in data["models"].items()}
    data["relations"] = {name.lower(): (name, takes) for name, takes in data["relations"].items()}
    data["results"] = {name.lower() for name in data["results"]}
    return data


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the project."""

    name: str
    uri: str
    definition: Class
    base: str
    """The class beyond the project that makes it a model."""
    sure: bool
    """Whether that class is known to be a model, and not only called one."""
    abstract: bool
    pivot: bool
    table: str | None
    how: How
    table_at: tuple[str, int]

    @property
    def short(self) -> str:
        """Return the name without its namespace."""
        return self.definition.short


def returned(function: Function) -> Iterator[Expr]:
    """Yield what a function may return, whatever its conditions."""

    def within(statements: tuple[Statement, ...]) -> Iterator[Expr]:
        for one in statements:
            if isinstance(one, Return) and one.value is not None:
                yield one.value
            elif isinstance(one, If):
                for _, body in one.branches:
                    yield from within(body)
            elif hasattr(one, "body") and isinstance(one.body, tuple):
                yield from within(one.body)

    return within(function.body.statements)


def _is_aside(uri: str) -> bool:
    return uri.startswith(_ASIDE) or "/tests/" in uri or "/vendor/" in uri


@dataclass(slots=True)
class Eloquent:
    """All models of a project, found once."""

    world: World
    lineage: ClassHierarchy = field(init=False)
    literals: LiteralFolder = field(init=False)
    _models: dict[str, Model] | None = None

    def __post_init__(self) -> None:
        self.lineage = ClassHierarchy(self.world)
        self.literals = LiteralFolder(self.lineage, known()["config of packages"])

    @property
    def models(self) -> dict[str, Model]:
        """Return the models by their names in lower case."""
        if self._models is None:
            self._models = {model.name.lower(): model for model in self._found()}
        return self._models

    def model(self, name: str) -> Model | None:
        """Return a model by its full name."""
        return self.models.get(name.lower().lstrip("\\"))

    def referred(self, value: object) -> Referred | None:
        """Return what a foreign key needs to know of a model that is named by a class name."""
        model = self.model(value) if isinstance(value, str) else None
        if model is None or model.table is None:
            return None
        return Referred(model.table, self.key(model), self.key_type(model), _ULIDS in self.lineage.traits(model.name))

    def _found(self) -> Iterator[Model]:
        for uri in self.world.uris:
            module = self.world.module(uri) if self._may_have(uri) else None
            for one in module.classes if module else ():
                if one.kind == "class" and one.extends and "@" not in one.name:
                    model = self._as_model(uri, one)
                    if model is not None:
                        yield model

    def _may_have(self, uri: str) -> bool:
        """Return whether a file has a class that extends another; others are not mapped, as some are long."""
        facts = None if _is_aside(uri) or not uri.endswith(".php") else self.world.facts(uri)
        return facts is not None and any(one.kind == "extends" for one in facts.references)

    def _as_model(self, uri: str, definition: Class) -> Model | None:
        base = self.lineage.first_outside_ancestor(definition.name) or ""
        facts = known()["models"].get(base.lower())
        likely = facts is None and ("\\models\\" in base.lower() or base.lower().endswith("\\eloquent\\model"))
        if (facts is None and not likely) or self.lineage.find(definition.name) is None:
            return None
        facts = facts or {}
        pivot = bool(facts.get("pivot")) or _PIVOT_TRAIT in self.lineage.traits(definition.name)
        table, how, at = self._table(uri, definition, facts, pivot)
        return Model(
            definition.name,
            uri,
            definition,
            base,
            not likely,
            self._is_abstract(uri, definition),
            pivot,
            table,
            how,
            at,
        )

    def _is_abstract(self, uri: str, definition: Class) -> bool:
        lines = (self.world.read(uri) or "").splitlines()
        line = lines[definition.line - 1] if definition.line <= len(lines) else ""
        return "abstract" in line.split("class", 1)[0].split()

    # ── the table ────────────────────────────────────────────────────────────────────────────

    def _table(
        self, uri: str, definition: Class, facts: dict[str, Any], pivot: bool
    ) -> tuple[str | None, How, tuple[str, int]]:
        """Return a model's table, how that is known, and the line that says so."""
        name = definition.name
        overridden = self._overridden(name)
        if overridden is not None:
            return overridden
        written = self.attribute(name, "Table")
        own = written is not None and written[0].definition is definition
        prop = self.lineage.find_property(name, "table")
        declares = prop is not None and prop[0].definition is definition
        if prop is not None and not (own and not declares):
            value = self.literals.value(prop[1].default, self.where(prop[0], name))
            if value is not None:
                return (value if isinstance(value, str) else None), "explicit", (prop[0].uri, prop[1].line)
        if written is not None:
            said = self.argument(written[1], 0, "name", self.where(written[0], name))
            if isinstance(said, str):
                return said, "attribute", (written[0].uri, written[1].line)
        if facts.get("no_table"):
            return None, "convention", (uri, definition.line)
        by_rule = inflection.pivot_table_name(name) if pivot else inflection.table_name(name)
        return facts.get("table") or by_rule, "convention", (uri, definition.line)

    def _overridden(self, name: str) -> tuple[str | None, How, tuple[str, int]] | None:
        """Return what a `getTable` of the project's own gives, where it is written out."""
        found = self.lineage.find_method(name, "getTable")
        for value in returned(found[1]) if found else ():
            said = self.literals.value(value, self.where(found[0], name)) if found else NOT_WRITTEN
            if found and isinstance(said, str):
                return said, "explicit", (found[0].uri, value.line)
        return None

    # ── what a model says ────────────────────────────────────────────────────────────────────

    def where(self, part: ClassPart, name: str) -> ClassContext:
        """Return the context of what a part says of a model."""
        return ClassContext(part.definition.name, name, part.definition.kind == "trait", part.uri)

    def attribute(self, name: str, wanted: str) -> tuple[ClassPart, New] | None:
        """Return the nearest attribute of Eloquent's of a name, on the class, its traits or its parents."""
        full = f"{ATTRIBUTES}{wanted}".lower()
        for part in self.lineage.parts(name):
            for one in part.definition.attributes:
                if isinstance(one, New) and isinstance(one.of, ClassName) and one.of.name.lower() == full:
                    return part, one
        return None

    def argument(self, said: New, index: int, name: str, where: ClassContext) -> object:
        """Return an argument of an attribute, by name or place; None where it is not given."""
        by_name = next((one for one in said.arguments if one.name == name), None)
        unnamed = [one for one in said.arguments if not one.name]
        given = by_name or (unnamed[index] if index < len(unnamed) else None)
        return None if given is None else self.literals.value(given.value, where)

    def said(self, name: str, wanted: str) -> object:
        """Return the value of a property of a model, or `UNSAID`."""
        found = self.lineage.find_property(name, wanted)
        return self.literals.value(found[1].default, self.where(found[0], name)) if found else NOT_WRITTEN

    def of_attribute(self, name: str, wanted: str, argument: str) -> object:
        """Return what an attribute of a model is given, or `UNSAID`."""
        found = self.attribute(name, wanted)
        value = self.argument(found[1], 0, argument, self.where(found[0], name)) if found else None
        return NOT_WRITTEN if value is None else value

    def key(self, model: Model) -> str:
        """Return the name of a model's primary key."""
        said = self.said(model.name, "primaryKey")
        if isinstance(said, str):
            return said
        written = self.attribute(model.name, "Table")
        key = self.argument(written[1], 1, "key", self.where(written[0], model.name)) if written else None
        return key if isinstance(key, str) else "id"

    def key_type(self, model: Model) -> str:
        """Return the type of a model's key: int or string."""
        if self.lineage.traits(model.name) & _STRINGS:
            return "string"
        said = self.said(model.name, "keyType")
        if not isinstance(said, str):
            written = self.attribute(model.name, "Table")
            said = self.argument(written[1], 2, "keyType", self.where(written[0], model.name)) if written else None
        if isinstance(said, str):
            return "int" if said == "integer" else said
        return str(known()["models"].get(model.base.lower(), {}).get("key_type", "int"))
