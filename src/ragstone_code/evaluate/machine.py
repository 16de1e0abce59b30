"""The evaluator: files, calls, classes and limits; expressions and statements are mapped beside it."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ragstone.code.tree import Expr, Function, Statement
from ragstone.code.world import World
from ragstone_code.evaluate import calling
from ragstone_code.evaluate.expressions import EXPRESSIONS
from ragstone_code.evaluate.frame import Frame, Left, Spent
from ragstone_code.evaluate.language import Language, NativeFunction
from ragstone_code.evaluate.lookup import Lookup
from ragstone_code.evaluate.statements import run_block
from ragstone_code.evaluate.values import Arguments, CallSite, Instance, Recorder, Unknown, Value


@dataclass(frozen=True, slots=True)
class Stubs:
    """What an adapter records: by full name in lower case."""

    classes: Mapping[str, Recorder] = field(default_factory=dict)
    functions: Mapping[str, NativeFunction] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limits:
    """How far the evaluator goes."""

    steps: int = 500_000
    depth: int = 150
    """Nested expressions and calls; each costs a few frames of Python's own."""
    repeats: int = 1_000
    """Runs of one loop."""
    again: int = 6
    """Runs of one function inside of itself."""


class Evaluator:
    """Follows files of one language; see the package."""

    def __init__(
        self, world: World, language: Language, stubs: Stubs | None = None, *, limits: Limits | None = None
    ) -> None:
        self.world = world
        self.language = language
        self.stubs = stubs or Stubs()
        self.limits = limits or Limits()
        self.lookup = Lookup(world, language)
        self.remarks: list[str] = []
        self.conditions = 0
        """How many branches that may not run are around what runs now."""
        self.loops: list[tuple[str, int]] = []
        """The places of the entries that the loops around what runs now are at, where they are written out."""
        self.constants: dict[str, Value] = {}
        self.statics: dict[tuple[str, str], Value] = {}
        self._steps = 0
        self._depth = 0
        self._guards = 0
        self._last = ""
        self.followed: set[str] = set()
        """The files that were run."""
        self._running: list[str] = []
        self._active: dict[int, int] = {}

    # ── what adapters call ────────────────────────────────────────────────────────────────────────

    def run(self, uri: str, variables: dict[str, Value] | None = None) -> Value:
        """Return what a file returns, its top level followed once."""
        frame = Frame(uri, {} if variables is None else variables)
        return self.include(uri, frame)

    def call(self, function: Value, arguments: Sequence[Value] = (), site: CallSite | None = None) -> Value:
        """Return what a closure, a function's name, `[object, "method"]` or `"Class@method"` gives."""
        given, here = Arguments(tuple(arguments)), site or CallSite("", 0)
        return self._guarded(lambda: calling.call_value(self, function, given, here))

    def call_method(self, of: Value, name: str, arguments: Sequence[Value] = (), site: CallSite | None = None) -> Value:
        """Return what a method of an object gives, an inherited one too."""
        given, here = Arguments(tuple(arguments)), site or CallSite("", 0)
        return self._guarded(lambda: calling.call_method(self, of, name, given, here))

    def make(self, name: str, properties: dict[str, Value] | None = None) -> Instance:
        """Return an object of a class by its full name, its constructor not run."""
        found = self.lookup.of_class(name)
        return Instance(name, found[1] if found else None, found[0] if found else "", dict(properties or {}))

    def evaluate(self, expression: Expr | None, uri: str, *, owner: str = "") -> Value:
        """Return what an expression of a file is by itself: a default, a constant, an argument of an attribute."""
        if expression is None:
            return None
        return self._guarded(lambda: self.value(expression, Frame(uri, owner=owner, called_on=owner)))

    def property(self, class_name: str, name: str) -> Value:
        """Return what a property of a class starts as, an inherited one too; None where there is none."""
        found = self.lookup.property(class_name, name)
        return self.evaluate(found[2].default, found[0], owner=found[1].name) if found else None

    def constant(self, class_name: str, name: str) -> Value:
        """Return a constant of a class, an inherited one too."""
        return self._guarded(lambda: calling.class_constant(self, class_name, name))

    def site(self, frame: Frame, line: int) -> CallSite:
        """Return a place of a frame."""
        return CallSite(frame.uri, line, self.conditions > 0)

    def remark(self, site: CallSite, text: str) -> None:
        """Note what could not be known, once."""
        said = f"{site.uri}:{site.line}: {text}"
        if said not in self.remarks and len(self.remarks) < 500:
            self.remarks.append(said)

    # ── what expressions and statements call ──────────────────────────────────────────────────────

    def value(self, expression: Expr, frame: Frame) -> Value:
        """Return what an expression is."""
        self._steps += 1
        if self._steps > self.limits.steps:
            raise Spent
        if self._depth >= self.limits.depth:
            return Unknown("nested too deeply")
        self._depth += 1
        try:
            return EXPRESSIONS[type(expression)](self, expression, frame)
        finally:
            self._depth -= 1

    def include(self, uri: str, frame: Frame) -> Value:
        """Return what a file returns, run with the variables of a frame; a file that includes itself is not."""
        path = posixpath.normpath(uri).lstrip("/")
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(frame.uri), uri)).lstrip("/")
        if not self.world.has(path) and not uri.startswith("/") and self.world.has(beside):
            path = beside  # a bare name is looked for beside the file that includes it
        module = self.world.module(path)
        if module is None or path in self._running or len(self._running) > 30:
            return Unknown(f"{path} is not there" if module is None else f"{path} includes itself")
        inner = Frame(path, frame.variables, frame.this, frame.owner, frame.called_on)
        self.followed.add(path)
        self._last = path
        self._running.append(path)
        try:
            return self._guarded(lambda: self.body(module.statements, inner))
        finally:
            self._running.pop()

    def body(self, statements: tuple[Statement, ...], frame: Frame) -> Value:
        """Return what statements return; of several, the last with the others as options."""
        try:
            run_block(self, statements, frame)
        except Left:
            pass
        if not frame.returned:
            return None
        if len(frame.returned) == 1:
            return frame.returned[0]
        return Unknown("it depends on a condition", options=tuple(reversed(frame.returned)))

    def enter(self, function: Function, frame: Frame) -> Value:
        """Return what the body of a function returns."""
        before, active = self._depth, self._active.get(id(function), 0)
        if before >= self.limits.depth - 20 or active >= self.limits.again:
            return Unknown("calls are nested too deeply")
        self._active[id(function)] = active + 1
        self._depth += 3  # a call costs more of Python's frames than an expression
        try:
            return self.body(function.body.statements, frame)
        except RecursionError:
            return Unknown("calls are nested too deeply")
        finally:
            self._depth = before
            self._active[id(function)] = active

    def _guarded(self, run: Callable[[], Value]) -> Value:
        """Return what a run gives, or unknown past the limits; the outermost run says so once."""
        outermost, conditions, loops = self._guards == 0, self.conditions, len(self.loops)
        if outermost:
            self._steps = 0
        self._guards += 1
        try:
            return run()
        except (Spent, RecursionError):
            if not outermost:
                raise
            self.conditions = conditions
            del self.loops[loops:]
            self.remarks.append(f"{self._last}: too much to follow: stopped after {self._steps} steps")
            return Unknown("too much to follow")
        except Left:
            return Unknown("it was left")
        finally:
            self._guards -= 1
