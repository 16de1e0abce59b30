"""Relations of models: what each method returns, the model it leads to, the pivot or model it goes through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.code.tree import Closure, Expr, Function, Typed
from ragstone.types.graph import Json
from ragstone_code.laravel import chains, inflection
from ragstone_code.laravel.calls import to_json
from ragstone_code.laravel.chains import CallChain, ChainedCall
from ragstone_code.laravel.eloquent import Eloquent, Model, known
from ragstone_code.laravel.inheritance import ClassPart
from ragstone_code.laravel.literals import NOT_WRITTEN, ClassContext

_NO_RELATION: Final = {
    *("collection", "builder", "attribute", "carbon", "paginator", "lengthawarepaginator", "lazycollection"),
    *("int", "bool", "array", "string", "float", "void", "self", "static", "iterable", "never"),
}
_PHP: Final = {
    "foreign_key": "foreignKey", "local_key": "localKey", "owner_key": "ownerKey", "first_key": "firstKey",
    "second_key": "secondKey", "second_local_key": "secondLocalKey", "foreign_pivot_key": "foreignPivotKey",
    "related_pivot_key": "relatedPivotKey", "parent_key": "parentKey", "related_key": "relatedKey",
}  # fmt: skip
_SINGLE: Final = {"hasMany": "hasOne", "morphMany": "morphOne", "hasManyThrough": "hasOneThrough"}


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation of a model."""

    name: str
    type: str
    related: str | None
    uri: str
    line: int
    line_end: int
    declared_in: str
    used: tuple[str, int]
    pivot: str | None = None
    through: str | None = None
    more: dict[str, Json] = field(default_factory=dict)
    unknown: str = ""
    """What could not be known of it."""


@dataclass(slots=True)
class Relations:
    """Finds the relations of models, each model's once."""

    eloquent: Eloquent
    _found: dict[str, dict[str, Relation]] = field(default_factory=dict)
    _at: list[tuple[str, str]] = field(default_factory=list)
    _provided: dict[str, dict[str, Relation]] | None = None

    def of(self, model: Model) -> dict[str, Relation]:
        """Return a model's relations by name, its own first, then those of its traits and parents."""
        key = model.name.lower()
        if key not in self._found:
            found: dict[str, Relation] = {}
            seen: set[str] = set()
            for part in self.eloquent.lineage.parts(model.name):
                for method in part.definition.methods:
                    if method.name.lower() not in seen:
                        seen.add(method.name.lower())
                        relation = self._relation(model, part, method)
                        if relation is not None:
                            found[relation.name] = relation
            self._found[key] = {**self._from_providers().get(key, {}), **found}
        return self._found[key]

    def _from_providers(self) -> dict[str, dict[str, Relation]]:
        """Return the relations that providers add to models with `resolveRelationUsing`, by model."""
        if self._provided is None:
            self._provided = {}
            world = self.eloquent.world
            for uri in world.uris:
                if uri.endswith("Provider.php") and "resolveRelationUsing" in (world.read(uri) or ""):
                    for model, relation in self._provided_by(uri):
                        self._provided.setdefault(model.name.lower(), {})[relation.name] = relation
        return self._provided

    def _provided_by(self, uri: str) -> Iterator[tuple[Model, Relation]]:
        module = self.eloquent.world.module(uri)
        for definition in module.classes if module else ():
            where = ClassContext(definition.name, definition.name, uri=uri)
            for method in definition.methods:
                for of, name, closure in chains.calls_with_closure(method, "resolveRelationUsing"):
                    model = self.eloquent.model(of)
                    said = self.eloquent.literals.text(name, where)
                    for calls in chains.closure_chains(closure) if model and said else ():
                        if model and said and calls[0].name.lower() in known()["relations"]:
                            empty = Relation(
                                said, "", None, uri, calls[0].line, closure.function.line_end, definition.name, ("", 0)
                            )
                            direct = self._direct(model, empty, calls[0], where)
                            yield model, self._adorned(direct, calls[1:], where)

    def one(self, model: Model, name: str) -> Relation | None:
        """Return one relation of a model by its name."""
        found = self.eloquent.lineage.find_method(model.name, name)
        return self._relation(model, *found) if found else None

    def _relation(self, model: Model, part: ClassPart, method: Function) -> Relation | None:
        if method.static or method.abstract or any(one.default is None and not one.spread for one in method.parameters):
            return None
        at = (model.name.lower(), method.name.lower())
        if at in self._at:
            return None
        self._at.append(at)
        try:
            found = (self._read(model, part, method, calls) for calls in chains.returned_chains(method))
            return next((one for one in found if one is not None), None)
        finally:
            self._at.pop()

    def _read(self, model: Model, part: ClassPart, method: Function, calls: CallChain) -> Relation | None:
        """Return the relation that a chain is, if it is one."""
        data = known()
        first = calls[0]
        if any(call.name.lower() in data["results"] for call in calls) or not _may_be(method.returns):
            return None
        where = self.eloquent.where(part, model.name)
        empty = Relation(method.name, "", None, part.uri, first.line, method.line_end, part.definition.name, part.used)
        if first.name.lower() in data["relations"]:
            relation = self._direct(model, empty, first, where)
            return self._adorned(relation, calls[1:], where)
        if first.name.lower().startswith("through") and len(calls) > 1:
            return self._through(model, empty, calls, where)
        return self._derived(model, part, method, calls, empty)

    # ── said outright ────────────────────────────────────────────────────────────────────────

    def _direct(self, model: Model, empty: Relation, call: ChainedCall, where: ClassContext) -> Relation:
        kind, takes = known()["relations"][call.name.lower()]
        given = {name: call.argument(index, _PHP.get(name, name)) for index, name in enumerate(takes)}
        values = {name: self.eloquent.literals.evaluate(one, where) for name, one in given.items() if one is not None}
        related, unknown = self._class(values.pop("related", None), kind)
        through, lost = self._class(values.pop("through", None), "")
        more = {name: to_json(one) for name, one in values.items() if one is not NOT_WRITTEN and one is not None}
        relation = replace(empty, type=kind, related=related, through=through, more=more, unknown=unknown or lost)
        return self._keyed(model, replace(relation, pivot=self._pivot(model, relation, given.get("table"))))

    def _class(self, value: object, kind: str) -> tuple[str | None, str]:
        """Return a class by what names it, and what is not known of it."""
        if isinstance(value, list):
            value = next((one for one in value if isinstance(one, str)), None)
        if isinstance(value, str):
            name = value.lstrip("\\")
            found = self.eloquent.lineage.find(name)
            return (found.definition.name if found else name), ""
        lost = value is NOT_WRITTEN or (value is None and kind not in ("", "morphTo"))
        return None, "the related model is not written down" if lost else ""

    def _pivot(self, model: Model, relation: Relation, written: Expr | None) -> str | None:
        """Return the table in between: the one that is named, that of a pivot model, or the one by convention."""
        table = relation.more.pop("table", None)
        if relation.type not in ("belongsToMany", "morphToMany", "morphedByMany"):
            return None
        if isinstance(table, str):
            named = self.eloquent.model(table) if "\\" in table else None
            return named.table if named else table
        if written is not None and table is None and self._is_lost(written):
            return None
        if relation.type == "belongsToMany":
            return inflection.joining_table_name(model.name, relation.related) if relation.related else None
        name = relation.more.get("name")
        if not isinstance(name, str):
            return None
        head, underscore, last = name.rpartition("_")
        return f"{head}{underscore}{inflection.plural(last)}"

    def _is_lost(self, written: Expr) -> bool:
        return self.eloquent.literals.value(written, ClassContext()) is not None

    def _keyed(self, model: Model, relation: Relation) -> Relation:
        """Return it with the foreign key that convention gives it."""
        if relation.type in ("hasOne", "hasMany"):
            key = inflection.foreign_key_name(model.name, self.eloquent.key(model))
        elif relation.type == "belongsTo" and relation.related:
            to = self.eloquent.model(relation.related)
            key = f"{inflection.snake(relation.name)}_{self.eloquent.key(to) if to else 'id'}"
        elif relation.type == "morphTo":
            name = relation.more.get("name") or inflection.snake(relation.name)
            return replace(relation, more={"name": name, **relation.more})
        else:
            return relation
        return replace(relation, more={"foreign_key": key, **relation.more})

    # ── what follows ─────────────────────────────────────────────────────────────────────────

    def _adorned(self, relation: Relation, calls: CallChain, where: ClassContext) -> Relation:
        more = dict(relation.more)
        kind = relation.type
        for call in calls:
            name = call.name.lower()
            values = [self.eloquent.literals.value(one.value, where) for one in call.arguments]
            if name in ("using", "as") and values and isinstance(values[0], str):
                more[name] = values[0]
            elif name == "withpivot":
                more["with_pivot"] = [one for value in values for one in _texts(value)]
            elif name in ("ofmany", "latestofmany", "oldestofmany"):
                more["of_many"] = call.name
            elif name == "one":
                kind = _SINGLE.get(kind, kind)
        return replace(relation, type=kind, more=more)

    def _derived(
        self, model: Model, part: ClassPart, method: Function, calls: CallChain, empty: Relation
    ) -> Relation | None:
        """Return the relation that another relation of the model is, further narrowed."""
        first = calls[0]
        if method.returns is not None and not _is_relation(method.returns):
            return None
        if first.name.startswith("parent::"):
            base = self._of_parent(model, part, first.name.removeprefix("parent::"))
        else:
            base = self.one(model, first.name)
        if base is None:
            return None
        where = self.eloquent.where(part, model.name)
        said = replace(
            base, name=empty.name, uri=empty.uri, line=empty.line, line_end=empty.line_end,
            declared_in=empty.declared_in, used=empty.used, more={**base.more, "from": base.name},
        )  # fmt: skip
        return self._adorned(said, calls[1:], where)

    def _of_parent(self, model: Model, part: ClassPart, name: str) -> Relation | None:
        parts = self.eloquent.lineage.parts(model.name)
        after = next((at for at, one in enumerate(parts) if one.definition is part.definition), len(parts))
        for one in parts[after + 1 :]:
            method = one.definition.method(name)
            if method is not None:
                found = (self._read(model, one, method, calls) for calls in chains.returned_chains(method))
                return next((relation for relation in found if relation is not None), None)
        return None

    def _through(self, model: Model, empty: Relation, calls: CallChain, where: ClassContext) -> Relation | None:
        """Return what `through('cars')->has('owner')` and its kin lead to."""
        first = self._step(model, calls[0], "through", where)
        to = self.eloquent.model(first.related) if first and first.related else None
        second = self._step(to, calls[1], "has", where) if to else None
        if first is None or second is None or not second.related:
            return None
        many = "many" in first.type.lower() or "many" in second.type.lower()
        relation = replace(
            empty, type="hasManyThrough" if many else "hasOneThrough", related=second.related, through=first.related
        )
        return self._adorned(relation, calls[2:], where)

    def _step(self, model: Model, call: ChainedCall, prefix: str, where: ClassContext) -> Relation | None:
        given = call.argument(0)
        if given is None:
            wanted = call.name[len(prefix) :]
            name = wanted[:1].lower() + wanted[1:]
            return self.one(model, name) or self.one(model, wanted)
        said = self.eloquent.literals.value(given, where)
        if isinstance(said, str):
            return self.one(model, said)
        found = chains.closure_chains(given) if isinstance(given, Closure) else chains.find_chains(given)
        return next((self.one(model, calls[0].name) for calls in found), None)


def _texts(value: object) -> Iterator[str]:
    held = value if isinstance(value, list) else [value]
    return (one for one in held if isinstance(one, str))


def _shorts(typed: Typed) -> set[str]:
    return {name.rpartition("\\")[2].lower() for name in typed.names}


def _may_be(typed: Typed | None) -> bool:
    """Return whether a written type leaves room for a relation."""
    return typed is None or not _shorts(typed) or not _shorts(typed) <= _NO_RELATION


def _is_relation(typed: Typed) -> bool:
    """Return whether a written type is one of the relations, or all of them."""
    kinds = {*known()["relations"], "relation", "hasoneormany", "hasoneormanythrough", "morphoneormany"}
    return bool(_shorts(typed) & kinds)
