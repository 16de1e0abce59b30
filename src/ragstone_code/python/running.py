"""Follows what the top of Python modules does, and the functions it calls: nothing is executed, all of it bounded.

What the project does not define stays a name, what is called on it is kept with its arguments and its line, and what
cannot be known is `Unknown` and stops nothing. Of a condition that cannot be decided all branches are taken, and what
they make is marked conditional.
"""

from __future__ import annotations

from typing import Final

from ragstone.code import tree
from ragstone.code.world import World
from ragstone_code.python.calling import Calling
from ragstone_code.python.project import Project
from ragstone_code.python.values import (
    CallResult,
    ClassValue,
    Decoration,
    FunctionValue,
    ModuleValue,
    Scope,
    UnknownValue,
    Value,
)

STEPS: Final = 60_000
"""Statements one module's top may take, the functions it calls included."""
ITEMS: Final = 2_000
"""Rounds of one loop."""
NESTED: Final = 8
"""Modules that may wait for each other while they are run: only circles make them."""


class PythonInterpreter(Calling):
    """Runs modules once, on first use."""

    def __init__(self, world: World) -> None:
        super().__init__(Project(world))
        self.loaded: dict[str, ModuleValue] = {}
        self.remarks: list[str] = []
        self.steps = 0
        self._nested = 0

    # ── modules ───────────────────────────────────────────────────────────────────────────────────

    def load(self, uri: str) -> ModuleValue | None:
        """Return a module, run; what it imports is run before, so that only circles nest."""
        waiting = [uri]
        seen: set[str] = set()
        while waiting:
            one = waiting[-1]
            if one in self.loaded or one in seen:
                self._run(waiting.pop())
                continue
            seen.add(one)
            program = self.project.world.module(one)
            for full in program.imports.values() if program else ():
                needed = self._file_of(full, one)
                if needed and needed not in self.loaded and needed not in seen:
                    waiting.append(needed)
        return self.loaded.get(uri)

    def _file_of(self, full: str, importer: str) -> str | None:
        """Return the file of a module, or of the module a name is taken from."""
        return self.project.uri_of(full, importer) or self.project.uri_of(full.rpartition(".")[0], importer)

    def _run(self, uri: str) -> ModuleValue | None:
        if uri in self.loaded:
            return self.loaded[uri]
        program = self.project.world.module(uri)
        if program is None or self._nested > NESTED:
            return None
        module = self.loaded[uri] = ModuleValue(program.namespace, uri, program)
        scope = module.scope = Scope(module, names=module.names)
        module.names.update({"__name__": module.name, "__file__": UnknownValue("the place of a file")})
        kept = self.steps, self.maybe, self.deep
        self.steps, self.maybe, self.deep = STEPS, 0, 0
        self._nested += 1
        try:
            self.block(program.statements, scope)
        except RecursionError:
            self.remarks.append(f"{uri}: nested too deeply to be followed")
        finally:
            self._nested -= 1
            self.steps, self.maybe, self.deep = kept
        module.done = True
        return module

    def imported(self, uri: str) -> ModuleValue | None:
        """Return a module for an import that is reached while another runs."""
        return self.loaded.get(uri) or self._run(uri)

    # ── statements ────────────────────────────────────────────────────────────────────────────────

    def block(self, statements: tuple[tree.Statement, ...], scope: Scope) -> str:
        """Run statements; return how they end: "", return, break, continue, raise."""
        for one in statements:
            self.steps -= 1
            if self.steps < 0:
                return "raise"
            ended = self._statement(one, scope)
            if ended:
                return ended
        return ""

    def _statement(self, one: tree.Statement, scope: Scope) -> str:
        if isinstance(one, tree.Do):
            self.evaluate(one.expression, scope)
        elif isinstance(one, tree.Return):
            return self._returned(one, scope)
        elif isinstance(one, tree.If):
            return self._if(one, scope)
        elif isinstance(one, tree.Each):
            return self._each(one, scope)
        elif isinstance(one, tree.Repeated):
            self._perhaps(one.body, scope)
        elif isinstance(one, tree.Attempt):
            return self._attempt(one, scope)
        elif isinstance(one, tree.Leave):
            return one.how
        elif isinstance(one, tree.Function):
            scope.names[one.name] = self._function(one, scope)
        else:
            scope.names[one.short] = self._class(one, scope)
        return ""

    def _returned(self, one: tree.Return, scope: Scope) -> str:
        value = self.evaluate(one.value, scope) if one.value is not None else None
        self.results.append((self.maybe, value))
        return "return"

    def _perhaps(self, statements: tuple[tree.Statement, ...], scope: Scope) -> str:
        """Run what may not happen."""
        self.maybe += 1
        try:
            return self.block(statements, scope)
        finally:
            self.maybe -= 1

    def _if(self, one: tree.If, scope: Scope) -> str:
        ends: list[str] = []
        before = dict(scope.names)
        outcomes: list[dict[str, Value]] = []
        for test, body in one.branches:
            decided = self.decided(test, scope)[1] if test is not None else True
            if decided is False:
                continue
            if decided and not outcomes:
                return self.block(body, scope)
            self._restore(scope, before)
            ends.append(self._perhaps(body, scope))
            outcomes.append(dict(scope.names))
            if decided:
                break
        else:
            ends.append("")
            outcomes.append(before)
        going = [names for names, end in zip(outcomes, ends, strict=True) if not end]
        self._restore(scope, _merged(going or outcomes, one.line))
        return ends[0] if all(ends) and len(set(ends)) == 1 else ""

    def _restore(self, scope: Scope, names: dict[str, Value]) -> None:
        kept = dict(names)
        scope.names.clear()
        scope.names.update(kept)

    def _each(self, one: tree.Each, scope: Scope) -> str:
        over = self.evaluate(one.over, scope)
        if not isinstance(over, list | tuple | dict):
            self.assign(one.value, UnknownValue("a loop over what is not known", one.line), scope)
            self._perhaps(one.body, scope)
            return ""
        for item in list(over)[:ITEMS]:
            self.assign(one.value, item, scope)
            ended = self.block(one.body, scope)
            if ended == "return" or self.steps < 0:
                return ended
            if ended in ("break", "raise"):
                break
        return ""

    def _attempt(self, one: tree.Attempt, scope: Scope) -> str:
        ended = self.block(one.body, scope)
        for handler in one.handlers:
            before = dict(scope.names)
            self._perhaps(handler, scope)
            absent = {name: value for name, value in scope.names.items() if name not in before}
            self._restore(scope, {**before, **absent})
        return ended if ended == "raise" and one.handlers else self.block(one.after, scope) or ended

    # ── definitions ───────────────────────────────────────────────────────────────────────────────

    def _function(self, one: tree.Function, scope: Scope, owner: ClassValue | None = None) -> FunctionValue:
        within = owner.full if owner else scope.module.name
        made = FunctionValue(one, f"{within}.{one.name}", scope.module.uri, scope, owner=owner)
        for decorator in reversed(one.attributes):
            self._decorate(decorator, made, scope)
        return made

    def _decorate(self, decorator: tree.Expr, made: FunctionValue | ClassValue, scope: Scope) -> None:
        """Note what decorates a function, and let it know the function; the function itself stays what it is."""
        value: Value = None
        if isinstance(decorator, tree.Call):
            factory = self.evaluate(decorator.function, scope)
            if isinstance(factory, FunctionValue):  # the project's own: kept with its arguments, not followed
                args, kwargs = self.arguments(decorator.arguments, scope)
                value = CallResult(
                    factory.full, args, kwargs, scope.module.uri, decorator.line, self.maybe > 0, factory
                )
        if value is None:
            value = self.evaluate(decorator, scope)
        made.decorations.insert(0, Decoration(value, decorator.line))
        self.decorated(value, made, scope.module.uri, decorator.line)

    def _class(self, one: tree.Class, scope: Scope) -> ClassValue:
        bases = [self.evaluate(base.value, scope) for base in one.bases if not base.name and not base.spread]
        options = {base.name: self.evaluate(base.value, scope) for base in one.bases if base.name and not base.spread}
        made = ClassValue(one, scope.module.uri, scope, bases, options)
        inner = Scope(scope.module, scope, {"__name__": one.name})
        for statement in one.body:
            self._class_statement(statement, made, inner)
        made.attributes.update({name: value for name, value in inner.names.items() if name != "__name__"})
        for decorator in reversed(one.attributes):
            self._decorate(decorator, made, scope)
        return made

    def _class_statement(self, one: tree.Statement, made: ClassValue, inner: Scope) -> None:
        self.steps -= 1
        if self.steps < 0:
            return
        if isinstance(one, tree.Function):
            inner.names[one.name] = self._function(one, inner, made)
            made.lines[one.name] = one.line
            return
        known = set(inner.names)
        if isinstance(one, tree.Do) and isinstance(one.expression, tree.Assigned):
            target = one.expression.target
            if isinstance(target, tree.Variable):
                made.lines[target.name] = one.line
                if one.expression.annotation is not None:
                    made.annotations[target.name] = one.expression.annotation
        self._statement(one, inner)
        for name in set(inner.names) - known:
            made.lines.setdefault(name, one.line)


def _merged(outcomes: list[dict[str, Value]], line: int) -> dict[str, Value]:
    """Return names after branches of which one was taken: what they agree on, or what is there in one of them."""
    merged: dict[str, Value] = {}
    for names in outcomes:
        for name, value in names.items():
            if name not in merged or merged[name] is value:
                merged.setdefault(name, value)
            elif merged[name] is None or isinstance(merged[name], UnknownValue):
                merged[name] = value
            elif isinstance(merged[name], str | int | float) and value != merged[name] and value is not None:
                merged[name] = UnknownValue("depends on a condition", line)
            elif isinstance(merged[name], list) and isinstance(value, list):
                merged[name] = [*merged[name], *(one for one in value if not _among(one, merged[name]))]
    return merged


def _among(value: Value, values: list[Value]) -> bool:
    return any(one is value or (isinstance(one, str) and one == value) for one in values)
