"""An interpreter for the top level of Python modules. It executes nothing; it follows the program's syntax tree.

A name that the project does not define stays an `ExternalName`. A call of such a name is recorded with its arguments
and its line. A value that cannot be computed is an `UnknownValue`; interpretation goes on. If a condition is unknown,
all branches are followed and the calls in them are marked conditional. All work is bounded.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from ragstone_code import program_tree
from ragstone_code.evaluate.budget import Budget
from ragstone_code.project_files import World
from ragstone_code.python import attributes, calls, evaluation, execution
from ragstone_code.python.project import PythonProject
from ragstone_code.python.values import CallResult, ModuleValue, Scope, UnknownValue, Value

STEPS: Final = 600_000
"""Steps of one module, including the functions that it calls; see `Budget`."""
_MAX_NESTED_MODULES: Final = 8
"""Modules that may import each other in a cycle while they run."""


class PythonInterpreter:
    """Runs each module once, on first use."""

    def __init__(self, world: World, frameworks: Collection[str] = ()) -> None:
        self.project = PythonProject(world, frameworks)
        self.loaded: dict[str, ModuleValue] = {}
        self.remarks: list[str] = []
        self.objects: list[CallResult] = []
        """Recorded calls and created objects, in order."""
        self.budget = Budget(STEPS)
        self.conditions = 0
        """Number of surrounding branches that may not run."""
        self.call_depth = 0
        """Number of project functions that are being followed."""
        self.returned: list[tuple[int, Value]] = []
        """Values that the current function returned, each with the value of `conditions` at that time."""
        self.has_read_settings = False
        """Set if a settings value was read that the environment may override."""
        self.requested_names: set[tuple[str, str]] = set()
        """Names that were looked up in a module before it defined them, to avoid endless lookups."""
        self._nested_modules = 0

    # ── modules ───────────────────────────────────────────────────────────────────────────────────

    def load(self, uri: str) -> ModuleValue | None:
        """Run a module and return it; its imports run first, so that only import cycles nest."""
        pending = [uri]
        seen: set[str] = set()
        while pending:
            current = pending[-1]
            if current in self.loaded or current in seen:
                self.import_module(pending.pop())
                continue
            seen.add(current)
            for imported in self._imported_files(current):
                if imported not in self.loaded and imported not in seen:
                    pending.append(imported)
        return self.loaded.get(uri)

    def _imported_files(self, uri: str) -> list[str]:
        program = self.project.world.module(uri)
        if program is None:
            return []
        files: list[str] = []
        for full in program.imports.values():
            module_name = full.rpartition(".")[0]
            imported = self.project.uri_of(full, uri) or self.project.uri_of(module_name, uri)
            if imported:
                files.append(imported)
        return files

    def import_module(self, uri: str) -> ModuleValue | None:
        """Return a module, and run it if it has not been run; None if too many modules are being run."""
        if uri in self.loaded:
            return self.loaded[uri]
        program = self.project.world.module(uri)
        if program is None or self._nested_modules > _MAX_NESTED_MODULES:
            return None
        module = ModuleValue(program.namespace, uri, program)
        self.loaded[uri] = module
        self._run_module(module)
        module.done = True
        return module

    def _run_module(self, module: ModuleValue) -> None:
        """Run the statements of a module with a fresh step budget."""
        module.scope = Scope(module, names=module.names)
        module.names["__name__"] = module.name
        module.names["__file__"] = UnknownValue("the place of a file")
        saved_state = (self.budget.left, self.conditions, self.call_depth)
        self.budget.renew()
        self.conditions = 0
        self.call_depth = 0
        self._nested_modules += 1
        try:
            with self.project.world.evaluating(module.uri):
                execution.run_block(self, module.program.statements, module.scope)
        except RecursionError:
            self.remarks.append(f"{module.uri}: nested too deeply to be followed")
        finally:
            if self.budget.is_spent:
                self.remarks.append(f"{module.uri}: too much to follow")
            self._nested_modules -= 1
            self.budget.left, self.conditions, self.call_depth = saved_state

    # ── operations of other modules ───────────────────────────────────────────────────────────────

    def run_block(self, statements: tuple[program_tree.Statement, ...], scope: Scope) -> str:
        """Run statements and return how they end: "", return, break, continue or raise."""
        return execution.run_block(self, statements, scope)

    def evaluate(self, expression: program_tree.Expr | None, scope: Scope) -> Value:
        """Return the value of an expression."""
        return evaluation.evaluate(self, expression, scope)

    def attribute(self, owner: Value, name: str) -> Value:
        """Return an attribute of a value."""
        return attributes.attribute_of(self, owner, name)

    def resolve(self, full_name: str, importer: str) -> Value:
        """Return the value of a dotted name: a module, a member of a module, or an external name."""
        return attributes.resolve_name(self, full_name, importer)

    def call(
        self,
        function: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        location: tuple[str, int],
    ) -> Value:
        """Return the result of a call."""
        return calls.call_value(
            self,
            function,
            calls.PythonCall(args, kwargs, *location),
        )
