"""Relations of Eloquent models: the methods of a model that return relations, and relations that providers add."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone_code.laravel import chains
from ragstone_code.laravel.chains import CallChain, ChainedCall
from ragstone_code.laravel.eloquent import EloquentModel, EloquentModels, eloquent_data
from ragstone_code.laravel.inheritance import ClassPart
from ragstone_code.laravel.literals import ClassContext
from ragstone_code.laravel.relation_calls import ModelRelation, RelationCallReader
from ragstone_code.program_tree import Class, Closure, Expr, Function, Typed

_NOT_RELATION_TYPES: Final = {
    *(
        "collection",
        "builder",
        "attribute",
        "carbon",
        "paginator",
        "lengthawarepaginator",
        "lazycollection",
    ),
    *("int", "bool", "array", "string", "float", "void", "self", "static", "iterable", "never"),
}
"""Return types that a relation method cannot have."""
_RELATION_TYPES: Final = {"relation", "hasoneormany", "hasoneormanythrough", "morphoneormany"}


@dataclass(slots=True)
class RelationReader:
    """Reads the relations of models; each model is read once."""

    models: EloquentModels
    call_reader: RelationCallReader = field(init=False)
    _relations: dict[str, dict[str, ModelRelation]] = field(default_factory=dict)
    _in_progress: list[tuple[str, str]] = field(default_factory=list)
    """Model and method of each relation that is being read, to stop at relations that return each other."""
    _provider_relations: dict[str, dict[str, ModelRelation]] | None = None

    def __post_init__(self) -> None:
        self.call_reader = RelationCallReader(self.models)

    def relations_of(self, model: EloquentModel) -> dict[str, ModelRelation]:
        """Return the relations of a model by name: its own first, then those of its traits and parents."""
        key = model.name.lower()
        if key not in self._relations:
            relations = dict(self._from_providers().get(key, {}))
            relations.update(self._from_methods(model))
            self._relations[key] = relations
        return self._relations[key]

    def find_relation(self, model: EloquentModel, name: str) -> ModelRelation | None:
        """Return one relation of a model by its name."""
        method = self.models.hierarchy.find_method(model.name, name)
        if method is None:
            return None
        part, function = method
        return self._read_method(model, part, function)

    def _from_methods(self, model: EloquentModel) -> dict[str, ModelRelation]:
        relations: dict[str, ModelRelation] = {}
        seen: set[str] = set()
        for part in self.models.hierarchy.parts(model.name):
            for method in part.definition.methods:
                name = method.name.lower()
                if name in seen:
                    continue
                seen.add(name)
                relation = self._read_method(model, part, method)
                if relation is not None:
                    relations[relation.name] = relation
        return relations

    def _read_method(
        self,
        model: EloquentModel,
        part: ClassPart,
        method: Function,
    ) -> ModelRelation | None:
        """Return the relation that a method declares, if it declares one."""
        if method.static or method.abstract or _has_required_parameter(method):
            return None
        current = (model.name.lower(), method.name.lower())
        if current in self._in_progress:
            return None
        self._in_progress.append(current)
        try:
            return self._first_relation(model, part, method)
        finally:
            self._in_progress.pop()

    def _first_relation(
        self,
        model: EloquentModel,
        part: ClassPart,
        method: Function,
    ) -> ModelRelation | None:
        """Return the first relation among the call chains that a method returns."""
        for chain in chains.returned_chains(method):
            relation = self._read_chain(model, part, method, chain)
            if relation is not None:
                return relation
        return None

    def _read_chain(
        self,
        model: EloquentModel,
        part: ClassPart,
        method: Function,
        chain: CallChain,
    ) -> ModelRelation | None:
        """Return the relation that a call chain builds, if it builds one."""
        data = eloquent_data()
        if any(call.name.lower() in data["results"] for call in chain):
            return None
        if not _may_return_relation(method.returns):
            return None
        first = chain[0]
        context = self.models.context(part, model.name)
        empty = ModelRelation(
            method.name,
            "",
            None,
            part.uri,
            first.line,
            method.line_end,
            part.definition.name,
            part.used,
        )
        if first.name.lower() in data["relations"]:
            relation = self.call_reader.read_call(model, empty, first, context)
            return self.call_reader.apply_modifiers(
                relation,
                chain[1:],
                context,
            )
        if first.name.lower().startswith("through") and len(chain) > 1:
            return self._read_through(model, empty, chain, context)
        return self._read_derived(model, part, method, chain, empty)

    # ── relations that providers add ─────────────────────────────────────────────────────────

    def _from_providers(self) -> dict[str, dict[str, ModelRelation]]:
        """Return the relations that service providers add with `resolveRelationUsing`, by model."""
        if self._provider_relations is None:
            self._provider_relations = {}
            world = self.models.world
            for uri in world.uris:
                if uri.endswith("Provider.php") and "resolveRelationUsing" in (
                    world.text(uri) or ""
                ):
                    for model, relation in self._read_provider(uri):
                        relations = self._provider_relations.setdefault(model.name.lower(), {})
                        relations[relation.name] = relation
        return self._provider_relations

    def _read_provider(self, uri: str) -> Iterator[tuple[EloquentModel, ModelRelation]]:
        """Yield the relations that one provider file adds, each with its model."""
        module = self.models.world.module(uri)
        for definition in module.classes if module else ():
            for method in definition.methods:
                for class_name, name, closure in chains.calls_with_closure(
                    method, "resolveRelationUsing"
                ):
                    model = self.models.find(class_name)
                    if model is not None:
                        for relation in self._read_closure(
                            model,
                            name,
                            closure,
                            uri,
                            definition,
                        ):
                            yield model, relation

    def _read_closure(
        self,
        model: EloquentModel,
        name: Expr,
        closure: Closure,
        uri: str,
        provider: Class,
    ) -> Iterator[ModelRelation]:
        """Yield the relation that a closure of `resolveRelationUsing` returns."""
        context = ClassContext(provider.name, provider.name, uri=uri)
        relation_name = self.models.literals.text(name, context)
        if not relation_name:
            return
        for chain in chains.closure_chains(closure):
            first = chain[0]
            if first.name.lower() not in eloquent_data()["relations"]:
                continue
            empty = ModelRelation(
                relation_name,
                "",
                None,
                uri,
                first.line,
                closure.function.line_end,
                provider.name,
                ("", 0),
            )
            relation = self.call_reader.read_call(model, empty, first, context)
            yield self.call_reader.apply_modifiers(
                relation,
                chain[1:],
                context,
            )

    # ── relations built from other relations ─────────────────────────────────────────────────

    def _read_derived(
        self,
        model: EloquentModel,
        part: ClassPart,
        method: Function,
        chain: CallChain,
        empty: ModelRelation,
    ) -> ModelRelation | None:
        """Return a relation that narrows another relation of the model: `$this->songs()->latest()`."""
        if method.returns is not None and not _is_relation_type(method.returns):
            return None
        first = chain[0]
        if first.name.startswith("parent::"):
            base = self._find_in_parent(
                model,
                part,
                first.name.removeprefix("parent::"),
            )
        else:
            base = self.find_relation(model, first.name)
        if base is None:
            return None
        relation = replace(
            base,
            name=empty.name,
            uri=empty.uri,
            line=empty.line,
            line_end=empty.line_end,
            declared_in=empty.declared_in,
            used=empty.used,
            details={**base.details, "from": base.name},
        )
        return self.call_reader.apply_modifiers(
            relation,
            chain[1:],
            self.models.context(part, model.name),
        )

    def _find_in_parent(
        self,
        model: EloquentModel,
        part: ClassPart,
        name: str,
    ) -> ModelRelation | None:
        """Return the relation that the next class after a part declares under a name."""
        parts = self.models.hierarchy.parts(model.name)
        position = len(parts)
        for index, candidate in enumerate(parts):
            if candidate.definition is part.definition:
                position = index
                break
        for parent in parts[position + 1 :]:
            method = parent.definition.method(name)
            if method is not None:
                return self._first_relation(model, parent, method)
        return None

    def _read_through(
        self,
        model: EloquentModel,
        empty: ModelRelation,
        chain: CallChain,
        context: ClassContext,
    ) -> ModelRelation | None:
        """Return the relation that `through('cars')->has('owner')` builds."""
        first = self._read_step(model, chain[0], "through", context)
        if first is None or not first.related:
            return None
        middle = self.models.find(first.related)
        if middle is None:
            return None
        second = self._read_step(middle, chain[1], "has", context)
        if second is None or not second.related:
            return None
        has_many = "many" in first.type.lower() or "many" in second.type.lower()
        relation = replace(
            empty,
            type="hasManyThrough" if has_many else "hasOneThrough",
            related=second.related,
            through=first.related,
        )
        return self.call_reader.apply_modifiers(relation, chain[2:], context)

    def _read_step(
        self,
        model: EloquentModel,
        call: ChainedCall,
        prefix: str,
        context: ClassContext,
    ) -> ModelRelation | None:
        """Return the relation that one step names: `throughCars()`, `through('cars')`, or a closure."""
        argument = call.argument(0)
        if argument is None:
            capitalised = call.name[len(prefix) :]
            name = capitalised[:1].lower() + capitalised[1:]
            return self.find_relation(model, name) or self.find_relation(model, capitalised)
        value = self.models.literals.value(argument, context)
        if isinstance(value, str):
            return self.find_relation(model, value)
        if isinstance(argument, Closure):
            candidates = chains.closure_chains(argument)
        else:
            candidates = chains.find_chains(argument)
        for chain in candidates:
            return self.find_relation(model, chain[0].name)
        return None


def _has_required_parameter(method: Function) -> bool:
    return any(
        parameter.default is None and not parameter.spread for parameter in method.parameters
    )


def _short_names(return_type: Typed) -> set[str]:
    return {name.rpartition("\\")[2].lower() for name in return_type.names}


def _may_return_relation(return_type: Typed | None) -> bool:
    """Return whether a method with this return type may return a relation."""
    if return_type is None:
        return True
    names = _short_names(return_type)
    return not names or not names <= _NOT_RELATION_TYPES


def _is_relation_type(return_type: Typed) -> bool:
    """Return whether a return type is a relation class."""
    names = _short_names(return_type)
    return not names.isdisjoint(eloquent_data()["relations"]) or not names.isdisjoint(
        _RELATION_TYPES
    )
