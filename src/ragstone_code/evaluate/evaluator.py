"""The evaluator: entry points for adapters, evaluation of files and function bodies, and limits."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ragstone_code.evaluate import calls
from ragstone_code.evaluate.budget import Budget
from ragstone_code.evaluate.expressions import CREATING, EXPRESSIONS
from ragstone_code.evaluate.frame import ControlTransfer, Frame, StepLimitReached
from ragstone_code.evaluate.language import Language, NativeFunction
from ragstone_code.evaluate.lookup import Lookup
from ragstone_code.evaluate.statements import run_block
from ragstone_code.evaluate.values import (
    Arguments,
    Array,
    CallSite,
    Instance,
    Recorder,
    Unknown,
    Value,
    copy_value,
    parts_of,
)
from ragstone_code.program_tree import Expr, Function, Statement
from ragstone_code.project_files import World

_NESTED_INCLUDES = 30
_REMARKS = 500


@dataclass(frozen=True, slots=True)
class Stubs:
    """Classes and functions of an adapter, by full name in lower case."""

    classes: Mapping[str, Recorder] = field(default_factory=dict)
    functions: Mapping[str, NativeFunction] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of an evaluation."""

    steps: int = 500_000
    depth: int = 150
    """Nested expressions and calls; each needs several Python stack frames."""
    repeats: int = 1_000
    """Iterations of one loop."""
    again: int = 6
    """Nested calls of one function to itself."""


class Evaluator:
    """Evaluates the files of one project; see the package docstring."""

    def __init__(
        self,
        world: World,
        language: Language,
        stubs: Stubs | None = None,
        *,
        limits: Limits | None = None,
    ) -> None:
        self.world = world
        self.language = language
        self.stubs = stubs or Stubs()
        self.limits = limits or Limits()
        self.lookup = Lookup(world)
        self.remarks: list[str] = []
        self.conditions = 0
        """Number of surrounding branches that may not run."""
        self.loops: list[tuple[str, int]] = []
        """For each surrounding loop, the file and line of the current array entry, if known."""
        self.constants: dict[str, Value] = {}
        self.statics: dict[tuple[str, str], Value] = {}
        """Static properties by class name in lower case and property name."""
        self.followed: set[str] = set()
        """Files that were evaluated."""
        self.budget = Budget(self.limits.steps)
        self._depth = 0
        self._nested_runs = 0
        self._last_file = ""
        self._open_files: list[str] = []
        self._active_calls: dict[int, int] = {}

    # ── entry points for adapters ─────────────────────────────────────────────────────────────────

    def run(self, uri: str, variables: dict[str, Value] | None = None) -> Value:
        """Evaluate a file and return the value that it returns."""
        if variables is None:
            variables = {}
        return self.include(uri, Frame(uri, variables))

    def call(
        self,
        function: Value,
        arguments: Sequence[Value] = (),
        site: CallSite | None = None,
    ) -> Value:
        """Return the result of a callable: a closure, a function name, `[object, "method"]` or `"Class@method"`."""
        passed = Arguments(tuple(arguments))
        call_site = site or CallSite("", 0)
        return self._run_limited(
            lambda: calls.call_value(
                self,
                function,
                passed,
                call_site,
            )
        )

    def call_method(
        self,
        of: Value,
        name: str,
        arguments: Sequence[Value] = (),
        site: CallSite | None = None,
    ) -> Value:
        """Return the result of a method of an object; the method may be inherited."""
        passed = Arguments(tuple(arguments))
        call_site = site or CallSite("", 0)
        return self._run_limited(
            lambda: calls.call_method(
                self,
                of,
                name,
                passed,
                call_site,
            )
        )

    def make(self, name: str, properties: dict[str, Value] | None = None) -> Instance:
        """Return an object of a class, without calling its constructor."""
        instance = calls.new_instance(self, name)
        instance.properties.update(properties or {})
        return instance

    def evaluate(self, expression: Expr | None, uri: str, *, owner: str = "") -> Value:
        """Return the value of an expression outside a function: a default, a constant, an attribute's argument."""
        if expression is None:
            return None
        frame = Frame(uri, owner=owner, called_on=owner)
        return self._run_limited(lambda: self.value(expression, frame))

    def property(self, class_name: str, name: str) -> Value:
        """Return the default of a class property, own or inherited; None if there is no such property."""
        located = self.lookup.property(class_name, name)
        if located is None:
            return None
        uri, definition, class_property = located
        return self.evaluate(class_property.default, uri, owner=definition.name)

    def constant(self, class_name: str, name: str) -> Value:
        """Return a class constant, own or inherited."""
        return self._run_limited(lambda: calls.class_constant(self, class_name, name))

    def site(self, frame: Frame, line: int) -> CallSite:
        """Return the call site for a line of a frame's file."""
        return CallSite(frame.uri, line, self.conditions > 0)

    def remark(self, site: CallSite, text: str) -> None:
        """Record a problem, once."""
        entry = f"{site.uri}:{site.line}: {text}"
        if entry not in self.remarks and len(self.remarks) < _REMARKS:
            self.remarks.append(entry)

    # ── entry points for expressions and statements ───────────────────────────────────────────────

    def value(self, expression: Expr, frame: Frame) -> Value:
        """Return the value of an expression in a frame."""
        self.spend(1)
        if self._depth >= self.limits.depth:
            return Unknown("nested too deeply")
        self._depth += 1
        try:
            value = EXPRESSIONS[type(expression)](self, expression, frame)
        finally:
            self._depth -= 1
        if isinstance(expression, CREATING):
            self._pay_for(value)
        return value

    def spend(self, steps: int) -> None:
        """Take steps from the budget; raise `StepLimitReached` if there are not enough."""
        if not self.budget.spend(steps):
            raise StepLimitReached

    def copy(self, value: Value) -> Value:
        """Return the value as PHP passes it on; the copy of an array is paid for."""
        if isinstance(value, Array):
            self._pay_for(value)
        return copy_value(value)

    def _pay_for(self, value: Value) -> None:
        if not self.budget.spend_on(value, parts_of):
            raise StepLimitReached

    def include(self, uri: str, frame: Frame) -> Value:
        """Evaluate a file with the variables of a frame and return its value; recursive includes are unknown."""
        path = self._included_path(uri, frame)
        module = self.world.module(path)
        if module is None:
            return Unknown(f"{path} is not there")
        if path in self._open_files or len(self._open_files) > _NESTED_INCLUDES:
            return Unknown(f"{path} includes itself")
        inner = Frame(path, frame.variables, frame.this, frame.owner, frame.called_on)
        self.followed.add(path)
        self._last_file = path
        self._open_files.append(path)
        try:
            with self.world.evaluating(path):
                return self._run_limited(lambda: self.body(module.statements, inner))
        finally:
            self._open_files.pop()

    def _included_path(self, uri: str, frame: Frame) -> str:
        """Return the project path of an included file; try the folder of the including file last."""
        path = posixpath.normpath(uri).lstrip("/")
        if self.world.has(path) or uri.startswith("/"):
            return path
        folder = posixpath.dirname(frame.uri)
        sibling = posixpath.normpath(posixpath.join(folder, uri)).lstrip("/")
        if self.world.has(sibling):
            return sibling
        return path

    def body(self, statements: tuple[Statement, ...], frame: Frame) -> Value:
        """Run statements and return their result; several possible results become options, the last first."""
        try:
            run_block(self, statements, frame)
        except ControlTransfer:
            pass
        if not frame.returned:
            return None
        if len(frame.returned) == 1:
            return frame.returned[0]
        return Unknown(
            "it depends on a condition",
            options=tuple(reversed(frame.returned)),
        )

    def enter(self, function: Function, frame: Frame) -> Value:
        """Run the body of a function and return its result."""
        depth_before = self._depth
        active_calls = self._active_calls.get(id(function), 0)
        if depth_before >= self.limits.depth - 20 or active_calls >= self.limits.again:
            return Unknown("calls are nested too deeply")
        self._active_calls[id(function)] = active_calls + 1
        self._depth += 3  # a call needs more Python stack frames than an expression
        try:
            return self.body(function.body.statements, frame)
        except RecursionError:
            return Unknown("calls are nested too deeply")
        finally:
            self._depth = depth_before
            self._active_calls[id(function)] = active_calls

    def _run_limited(self, run: Callable[[], Value]) -> Value:
        """Return the result of a run; if the outermost run exceeds a limit, return unknown and add a remark."""
        is_outermost = self._nested_runs == 0
        conditions_before = self.conditions
        loops_before = len(self.loops)
        if is_outermost:
            self.budget.renew()
        self._nested_runs += 1
        try:
            return run()
        except (StepLimitReached, RecursionError):
            if not is_outermost:
                raise
            self.conditions = conditions_before
            del self.loops[loops_before:]
            self.remarks.append(
                f"{self._last_file}: too much to follow: stopped after {self.limits.steps} steps"
            )
            return Unknown("too much to follow")
        except ControlTransfer:
            return Unknown("it was left")
        finally:
            self._nested_runs -= 1
