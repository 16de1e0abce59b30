"""What expressions of a followed Python program give: names, attributes, operations; `calling.py` has the calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from ragstone.code import tree
from ragstone_code.python.methods import operation, plain
from ragstone_code.python.names import BUILTIN
from ragstone_code.python.project import Project
from ragstone_code.python.values import (
    BoundMember,
    CallResult,
    ClassValue,
    ExternalName,
    FunctionValue,
    GenericType,
    ModuleValue,
    Scope,
    UnknownValue,
    Value,
    truth_of,
)

ENVIRONMENT: Final = (*(f"os.{name}" for name in ("environ", "getenv")), "decouple.config", "environ.Env")
"""Where programs read what is set outside of them."""
SETTINGS: Final = frozenset(
    ("pydantic_settings.BaseSettings", "pydantic_settings.main.BaseSettings", "pydantic.BaseSettings")
)


class Evaluating(ABC):
    """Evaluates expressions in a scope; `running.py` has the statements."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.maybe = 0
        """Whether what runs may not happen: how many undecided conditions it stands in."""
        self.deep = 0
        self.results: list[tuple[int, Value]] = []
        self.objects: list[CallResult] = []
        """What was made, in its order: by calls of what the project does not define, and of its own classes."""
        self.outside = False
        """Whether a setting was read that the environment may say otherwise: what hangs on it is not decided."""
        self._asked: set[tuple[str, str]] = set()

    @abstractmethod
    def block(self, statements: tuple[tree.Statement, ...], scope: Scope) -> str:
        """Run statements."""

    @abstractmethod
    def imported(self, uri: str) -> ModuleValue | None:
        """Return a module, run."""

    @abstractmethod
    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value], place: tuple[str, int]) -> Value:
        """Return what a call gives."""

    def evaluate(self, one: tree.Expr | None, scope: Scope) -> Value:
        """Return the value of an expression."""
        if one is None:
            return None
        way = getattr(self, f"_{type(one).__name__.lower()}", None)
        return way(one, scope) if way else UnknownValue(f"{type(one).__name__} is not followed", one.line)

    # ── literals and names ────────────────────────────────────────────────────────────────────────

    def _literal(self, one: tree.Literal, scope: Scope) -> Value:
        return one.value

    def _opaque(self, one: tree.Opaque, scope: Scope) -> Value:
        return UnknownValue(f"{one.reason}: {one.text[:60]}", one.line)

    def _variable(self, one: tree.Variable, scope: Scope) -> Value:
        known, value = scope.find(one.name)
        if known:
            return value
        if one.name in BUILTIN:
            return ExternalName(one.name)
        return self._defined(scope.module, one.name) or UnknownValue(f"{one.name} is not known here", one.line)

    def _defined(self, module: ModuleValue, name: str) -> Value:
        """Return what the rest of a module that is still being run will define under a name."""
        if module.done or module.scope is None or (module.uri, name) in self._asked:
            return None
        self._asked.add((module.uri, name))
        for one in module.program.statements:
            if isinstance(one, tree.Class | tree.Function) and name == (getattr(one, "short", "") or one.name):
                self.block((one,), module.scope)
                return module.names.get(name)
        return None

    def _classname(self, one: tree.ClassName, scope: Scope) -> Value:
        return self.resolve(one.name, scope.module.uri)

    def resolve(self, full: str, importer: str) -> Value:
        """Return what a dotted name stands for: a module, what one has, or a name the project does not define."""
        parts = full.split(".")
        for end in range(len(parts), 0, -1):
            uri = self.project.uri_of(".".join(parts[:end]), importer)
            module = self.imported(uri) if uri else None
            if module is None:
                continue
            value: Value = module
            for part in parts[end:]:
                value = self.attribute(value, part)
            return (
                ExternalName(full)
                if isinstance(value, UnknownValue) and end < len(parts) and not module.done
                else value
            )
        return ExternalName(full)

    def _included(self, one: tree.Included, scope: Scope) -> Value:
        """Bring all names of a module."""
        full = one.path.value if isinstance(one.path, tree.Literal) else ""
        uri = self.project.uri_of(str(full), scope.module.uri)
        module = self.imported(uri) if uri else None
        if module is not None:
            wanted = module.names.get("__all__")
            kept = set(wanted) if isinstance(wanted, list | tuple) and all(isinstance(x, str) for x in wanted) else None
            for name, value in list(module.names.items()):
                if (kept is None and not name.startswith("_")) or (kept is not None and name in kept):
                    scope.names[name] = value
        return None

    def _text(self, one: tree.Text, scope: Scope) -> Value:
        parts = [self.evaluate(part, scope) for part in one.parts]
        if all(plain(part) for part in parts):
            return "".join(str(part) for part in parts)
        return next(
            (part for part in parts if isinstance(part, UnknownValue)),
            UnknownValue("a text with what is not known in it"),
        )

    def _collected(self, one: tree.Collected, scope: Scope) -> Value:
        if one.kind == "dict":
            return self._dictionary(one, scope)
        items: list[Value] = []
        for entry in one.entries:
            value = self.evaluate(entry.value, scope)
            if entry.spread:
                items.extend(value if isinstance(value, list | tuple) else [value])
            else:
                items.append(value)
        return tuple(items) if one.kind == "tuple" else items

    def _dictionary(self, one: tree.Collected, scope: Scope) -> Value:
        made: dict[Value, Value] = {}
        for entry in one.entries:
            value = self.evaluate(entry.value, scope)
            if entry.spread:
                made.update(value if isinstance(value, dict) else {})
                continue
            key = self.evaluate(entry.key, scope)
            if plain(key) or isinstance(key, ExternalName | ClassValue | FunctionValue):
                made[key] = value
        return made

    def _comprehended(self, one: tree.Comprehended, scope: Scope) -> Value:
        found: list[tuple[Value, Value]] = []
        known = self._loops(one, 0, Scope(scope.module, scope), found)
        if not known:
            return UnknownValue("a list made of what is not known", one.line)
        return dict(found) if one.kind == "dict" else [value for _, value in found]

    def _loops(self, one: tree.Comprehended, at: int, scope: Scope, found: list[tuple[Value, Value]]) -> bool:
        if at == len(one.loops):
            key = self.evaluate(one.element.key, scope)
            found.append((key if plain(key) else None, self.evaluate(one.element.value, scope)))
            return True
        target, over, tests = one.loops[at]
        items = self.evaluate(over, scope)
        if not isinstance(items, list | tuple | dict):
            return False
        for item in list(items)[:2_000]:
            self.assign(target, item, scope)
            if not any(truth_of(self.evaluate(test, scope)) is False for test in tests):
                if not self._loops(one, at + 1, scope, found):
                    return False
        return True

    # ── attributes and subscripts ─────────────────────────────────────────────────────────────────

    def _member(self, one: tree.Member, scope: Scope) -> Value:
        return self.attribute(self.evaluate(one.of, scope), str(one.name))

    def attribute(self, of: Value, name: str) -> Value:
        """Return an attribute of a value."""
        if isinstance(of, ModuleValue):
            return self._of_module(of, name)
        if isinstance(of, ExternalName):
            full = f"{of.name}.{name}"
            if full.startswith(ENVIRONMENT):
                return UnknownValue("read from the environment")
            uri = self.project.uri_of(full)
            return (self.imported(uri) if uri else None) or ExternalName(full)
        if isinstance(of, ClassValue | CallResult):
            return self._of_object(of, name)
        if isinstance(of, FunctionValue) and name in of.attributes:
            return of.attributes[name]
        return of if isinstance(of, UnknownValue) else BoundMember(of, name)

    def _of_module(self, module: ModuleValue, name: str) -> Value:
        if name in module.names:
            return module.names[name]
        folder = module.uri.rpartition("/")[0]
        if module.uri.endswith("__init__.py"):
            inner = next((uri for uri in (f"{folder}/{name}.py", f"{folder}/{name}/__init__.py") if self._has(uri)), "")
            found = self.imported(inner) if inner else None
            if found is not None:
                return found
        return self._defined(module, name) or UnknownValue(f"{module.name} has no {name}")

    def _has(self, uri: str) -> bool:
        return self.project.world.has(uri)

    def _of_object(self, of: ClassValue | CallResult, name: str) -> Value:
        if name in ("__name__", "__qualname__") and isinstance(of, ClassValue):
            return of.definition.short
        if isinstance(of, CallResult) and name in of.attributes:
            return of.attributes[name]
        classed = of if isinstance(of, ClassValue) else of.on if not of.method else None
        found = classed.find(name) if isinstance(classed, ClassValue) else None
        if found is None:
            return BoundMember(of, name)
        value = found[1]
        self.outside = self.outside or (isinstance(of, CallResult) and bool(SETTINGS & set(of.type_names())))
        if not isinstance(value, FunctionValue) or of is classed:
            return value
        if any(isinstance(one.value, ExternalName) and one.value.name == "property" for one in value.decorations):
            return self.call(BoundMember(of, name, value), [], {}, ("", value.line))
        return BoundMember(of, name, value)

    def _subscript(self, one: tree.Subscript, scope: Scope) -> Value:
        of = self.evaluate(one.of, scope)
        key = self.evaluate(one.key, scope)
        if isinstance(of, list | tuple | str) and isinstance(key, int) and -len(of) <= key < len(of):
            return of[key]
        if isinstance(of, dict) and plain(key):
            return of.get(key, UnknownValue("no such key", one.line))
        if isinstance(of, ExternalName | ClassValue | BoundMember | GenericType):
            return GenericType(of, key if isinstance(key, tuple) else (key,))
        return of if isinstance(of, UnknownValue) else UnknownValue("a key of what is not known", one.line)

    # ── operations ────────────────────────────────────────────────────────────────────────────────

    def _operation(self, one: tree.Operation, scope: Scope) -> Value:
        left = self.evaluate(one.left, scope)
        if one.operator == "and":
            return left if truth_of(left) is False else self._and(left, one, scope)
        if one.right is None:
            return self._prefixed(one, left)
        right = self.evaluate(one.right, scope)
        made = operation(one.operator, left, right)
        if made is not NotImplemented:
            return made
        if one.operator == "|":
            return GenericType(ExternalName("typing.Union"), (left, right))
        if one.operator == "+" and isinstance(left, list):
            return [*left, right]
        if one.operator == "+" and isinstance(right, list):
            return [left, *right]
        unknown = next((side for side in (left, right) if isinstance(side, UnknownValue)), None)
        return unknown or UnknownValue(f"{one.operator} of what is not known", one.line)

    def _and(self, left: Value, one: tree.Operation, scope: Scope) -> Value:
        right = self.evaluate(one.right, scope)
        return (
            right if truth_of(left) else (False if truth_of(right) is False else UnknownValue("a condition", one.line))
        )

    def _prefixed(self, one: tree.Operation, left: Value) -> Value:
        if one.operator == "not":
            known = truth_of(left)
            return UnknownValue("a condition", one.line) if known is None else not known
        return -left if one.operator == "-" and isinstance(left, int | float) else UnknownValue(one.operator, one.line)

    def _choice(self, one: tree.Choice, scope: Scope) -> Value:
        test, decided = self.decided(one.test, scope)
        if one.then is None:
            if decided is False:
                return self.evaluate(one.other, scope)
            return test if decided or not isinstance(test, UnknownValue) else UnknownValue(test.reason, one.line)
        if decided is not None:
            return self.evaluate(one.then if decided else one.other, scope)
        self.maybe += 1
        then, other = self.evaluate(one.then, scope), self.evaluate(one.other, scope)
        self.maybe -= 1
        if plain(then) and plain(other) and then != other:
            return UnknownValue("depends on a condition", one.line)
        return other if isinstance(then, UnknownValue) or not then else then

    def decided(self, test: tree.Expr, scope: Scope) -> tuple[Value, bool | None]:
        """Return a test's value and whether it holds; None where what it rests on may be set from outside."""
        self.outside = False
        value = self.evaluate(test, scope)
        return value, None if self.outside else truth_of(value)

    def _assigned(self, one: tree.Assigned, scope: Scope) -> Value:
        if isinstance(one.value, tree.Opaque) and one.value.reason == "no value":
            return None
        value = self.evaluate(one.value, scope)
        if not one.operator:
            self.assign(one.target, value, scope)
            return value
        held = self.evaluate(one.target, scope)
        if one.operator == "+" and isinstance(held, list):
            held.extend(value if isinstance(value, list | tuple) else [value])
            return held
        made = operation(one.operator, held, value)
        if isinstance(held, UnknownValue) and isinstance(value, list):
            made = value  # a list that begins as something unknown keeps what is known to be added
        self.assign(one.target, UnknownValue("not known", one.line) if made is NotImplemented else made, scope)
        return made

    def assign(self, target: tree.Expr, value: Value, scope: Scope) -> None:
        """Bind a name, an attribute, a key, or several at once."""
        if isinstance(target, tree.Variable):
            scope.names[target.name] = value
        elif isinstance(target, tree.Member):
            of = self.evaluate(target.of, scope)
            held = of.names if isinstance(of, ModuleValue) else getattr(of, "attributes", None)
            if isinstance(held, dict):
                held[str(target.name)] = value
        elif isinstance(target, tree.Subscript):
            of, key = self.evaluate(target.of, scope), self.evaluate(target.key, scope)
            if isinstance(of, dict) and plain(key):
                of[key] = value
        elif isinstance(target, tree.Collected):
            several = list(value) if isinstance(value, list | tuple) else []
            for at, entry in enumerate(target.entries):
                part = several[at] if at < len(several) else UnknownValue("not known", target.line)
                self.assign(entry.value, part, scope)
