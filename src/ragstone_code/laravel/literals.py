"""Values that are written down: literals, constants, class names and config entries, folded without running."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ragstone.code.tree import (
    Call,
    Choice,
    ClassName,
    Collected,
    Expr,
    FunctionName,
    Literal,
    Member,
    Return,
    Static,
    Variable,
)
from ragstone.code.tree import Text as Joined
from ragstone_code.evaluate import (
    PHP,
    Arguments,
    Array,
    CallSite,
    ClassRef,
    Evaluator,
    Stubs,
    Unknown,
    Value,
    display_text,
    first_known,
)
from ragstone_code.laravel.inheritance import ClassHierarchy


class NotWritten:
    """A value that is not written down."""

    def __repr__(self) -> str:
        """Return how it is shown."""
        return "(not written down)"


NOT_WRITTEN: Final = NotWritten()
_DEPTH: Final = 12
_PROXY: Final = "konekt\\concord\\proxies\\modelproxy"
"""A base class of proxies, each of which stands for the model beside it: `UserProxy::modelClass()` is `User`."""


@dataclass(frozen=True, slots=True)
class ClassContext:
    """In which class something stands, and which class it is said of: they differ in traits and parents."""

    inside: str = ""
    of: str = ""
    trait: bool = False
    uri: str = ""


@dataclass(slots=True)
class LiteralFolder:
    """Folds expressions of one project."""

    lineage: ClassHierarchy
    packages: Mapping[str, object] = field(default_factory=dict)
    """What packages set where the project has no config file of that name."""
    _configs: dict[str, object] = field(default_factory=dict)
    _machine: Evaluator | None = None

    def evaluate(self, expression: Expr, where: ClassContext) -> object:
        """Return what an expression is, the project's own functions followed where it is not written down."""
        found = self.value(expression, where)
        if found is not NOT_WRITTEN:
            return found
        if self._machine is None:
            self._machine = Evaluator(
                self.lineage.world, PHP, Stubs(functions={"config": self.call_config, "env": call_env})
            )
        given = first_known(self._machine.evaluate(expression, where.uri, owner=where.of or where.inside))
        given = given.name if isinstance(given, ClassRef) else given
        return given if isinstance(given, str) else NOT_WRITTEN

    def call_config(self, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return what `config(…)` gives, for the evaluator: as the project's files have it, else the default."""
        key, default = first_known(given.at(0, "key")), given.at(1, "default")
        found = value_of(self.config(key)) if isinstance(key, str) else Unknown("which is not known")
        if not isinstance(found, Unknown):
            return default if found is None else found
        return Unknown(f"config({key})", f"config({key})", () if default is None else (default,))

    def value(self, expression: Expr | None, where: ClassContext, depth: int = 0) -> object:
        """Return what an expression is, or `UNSAID`."""
        if depth > _DEPTH or expression is None:
            return NOT_WRITTEN
        if isinstance(expression, Literal):
            # `__CLASS__` in a trait is the class that uses it; the mapping of one file cannot know that.
            swapped = where.trait and expression.value == where.inside
            return where.of if swapped else expression.value
        if isinstance(expression, Joined):
            return self._joined(expression, where, depth)
        if isinstance(expression, Collected):
            return self._collected(expression, where, depth)
        if isinstance(expression, Static):
            return self._static(expression, where, depth)
        if isinstance(expression, Call):
            return self._called(expression, where, depth)
        if isinstance(expression, Choice) and expression.then is None:
            first = self.value(expression.test, where, depth + 1)
            return self.value(expression.other, where, depth + 1) if first is NOT_WRITTEN or first is None else first
        if isinstance(expression, Member) and isinstance(expression.of, Variable) and expression.of.name == "this":
            return self._property(where.of, expression.name, where, depth)
        return NOT_WRITTEN

    def text(self, expression: Expr | None, where: ClassContext) -> str | None:
        """Return a value that is a text, or None."""
        value = self.value(expression, where)
        return value if isinstance(value, str) else None

    def config(self, key: str) -> object:
        """Return an entry of the project's config files: None where the file has none, `UNSAID` where that is open."""
        name, _, rest = key.partition(".")
        if name not in self._configs:
            said = self._file(f"config/{name}.php")
            self._configs[name] = self.packages.get(name, NOT_WRITTEN) if said is NOT_WRITTEN else said
        value = self._configs[name]
        for part in rest.split(".") if rest else ():
            value = value.get(part) if isinstance(value, dict) else NOT_WRITTEN
        return value

    def _file(self, uri: str) -> object:
        module = self.lineage.world.module(uri)
        for statement in module.statements if module else ():
            if isinstance(statement, Return):
                return self.value(statement.value, ClassContext())
        return NOT_WRITTEN

    def _joined(self, expression: Joined, where: ClassContext, depth: int) -> object:
        parts = [self.value(part, where, depth + 1) for part in expression.parts]
        known = [str(part) for part in parts if isinstance(part, (str, int))]
        return "".join(known) if len(known) == len(parts) else NOT_WRITTEN

    def _collected(self, expression: Collected, where: ClassContext, depth: int) -> object:
        entries: dict[object, object] = {}
        for entry in expression.entries:
            value = self.value(entry.value, where, depth + 1)
            if entry.spread:
                held = value if isinstance(value, dict) else dict(enumerate(value)) if isinstance(value, list) else {}
                entries.update({(key if isinstance(key, str) else len(entries)): one for key, one in held.items()})
                continue
            key = self.value(entry.key, where, depth + 1) if entry.key is not None else len(entries)
            if isinstance(key, (str, int)):
                entries[key] = value
        return list(entries.values()) if list(entries) == list(range(len(entries))) else entries

    def class_name(self, expression: Expr, where: ClassContext) -> str | None:
        """Return the class that an expression names: `Song`, `self`, `static`, `$this`."""
        if isinstance(expression, Variable):
            return where.of if expression.name == "this" else None
        if not isinstance(expression, ClassName):
            return None
        written = expression.name.lower()
        if written == "self":
            return where.of if where.trait else where.inside
        if written == "static":
            return where.of
        if written == "parent":
            own = self.lineage.find(where.inside)
            return own.definition.extends[0] if own and own.definition.extends else None
        return expression.name

    def _static(self, expression: Static, where: ClassContext, depth: int) -> object:
        of, name = self.class_name(expression.of, where), expression.name
        if of is None or not isinstance(name, str):
            return NOT_WRITTEN
        if name == "class":
            return of
        if name.startswith("$"):
            return self._property(of, name[1:], where, depth)
        for part in self.lineage.parts(of):
            if name in part.definition.constants:
                trait = part.definition.kind == "trait"
                return self.value(
                    part.definition.constants[name], ClassContext(part.definition.name, of, trait), depth + 1
                )
        return NOT_WRITTEN

    def _property(self, of: str, name: str | Expr, where: ClassContext, depth: int) -> object:
        found = self.lineage.find_property(of, name) if isinstance(name, str) and of else None
        if found is None:
            return NOT_WRITTEN
        part, one = found
        trait = part.definition.kind == "trait"
        return self.value(one.default, ClassContext(part.definition.name, of or where.of, trait), depth + 1)

    def _called(self, call: Call, where: ClassContext, depth: int) -> object:
        """Return what the few functions give that are sure: config, env, get_class."""
        if isinstance(call.function, Static) and call.function.name == "modelClass":
            proxy = self.class_name(call.function.of, where)
            ours = proxy is not None and self.lineage.first_outside_ancestor(proxy).lower() == _PROXY
            return proxy.removesuffix("Proxy") if ours and proxy else NOT_WRITTEN
        if isinstance(call.function, Member) and call.function.name == "value" and not call.arguments:
            return self.value(call.function.of, where, depth + 1)
        if not isinstance(call.function, FunctionName) or not call.arguments:
            return NOT_WRITTEN
        name = call.function.name.lower().rpartition("\\")[2]
        first = call.arguments[0].value
        default = call.arguments[1].value if len(call.arguments) > 1 else None
        if name == "get_class":
            return self.class_name(first, where) or NOT_WRITTEN
        if name == "env":
            return self.value(default, where, depth + 1)
        if name == "config":
            key = self.value(first, where, depth + 1)
            found = self.config(key) if isinstance(key, str) else NOT_WRITTEN
            return (
                self.value(default, where, depth + 1) if default and (found is NOT_WRITTEN or found is None) else found
            )
        return NOT_WRITTEN


def value_of(said: object) -> Value:
    """Return what is written down as the evaluator has it; what is not is unknown."""
    if isinstance(said, dict):
        return Array(items={key: value_of(one) for key, one in said.items()})
    if isinstance(said, list):
        return Array([value_of(one) for one in said])
    if said is None or isinstance(said, str | int | float | bool):
        return said
    return Unknown("it is not written down")


def call_env(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    """Return what `env(…)` gives, for the evaluator: not known, perhaps its default."""
    key, default = display_text(given.at(0)), given.at(1)
    return Unknown(f"env({key})", f"env({key})", () if default is None else (default,))
