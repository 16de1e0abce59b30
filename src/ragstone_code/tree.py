"""One shape of program for every grammar: what the evaluator runs and what adapters look into.

A grammar's mapping (`php.py`, `python.py`) turns a syntax tree into this; names of classes are resolved there, by the
file's namespace and imports. Bodies of functions are mapped when they are asked for. Lines count from 1. Where types
are values (Python), `annotation` and `returned` are the written type as an expression.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Plain: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is written out."""

    value: Plain
    line: int


@dataclass(frozen=True, slots=True)
class Variable:
    """`$name` in PHP, a bare name in Python."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Text:
    """A string with expressions in it."""

    parts: tuple[Expr, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of an array, list or dictionary."""

    value: Expr
    key: Expr | None = None
    spread: bool = False


@dataclass(frozen=True, slots=True)
class Collected:
    """An array, list, tuple, set or dictionary, as it is written; its kind where the language tells them apart."""

    entries: tuple[Entry, ...]
    line: int
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Comprehended:
    """`[element for target in over if test]`: each loop with its target, what it runs over, and its tests."""

    element: Entry
    loops: tuple[tuple[Expr, Expr, tuple[Expr, ...]], ...]
    line: int
    kind: str = "list"


@dataclass(frozen=True, slots=True)
class Member:
    """`$of->name`, `of.name`; a name that is computed is an expression."""

    of: Expr
    name: str | Expr
    line: int


@dataclass(frozen=True, slots=True)
class Static:
    """`Of::NAME`, `Of::$name` (the name keeps its $), `Of::class` (the name is "class"), what `Of::f()` calls."""

    of: Expr
    name: str | Expr
    line: int


@dataclass(frozen=True, slots=True)
class ClassName:
    """A class, resolved by namespace and imports; `self`, `static` and `parent` stay as they are."""

    name: str
    written: str
    line: int


@dataclass(frozen=True, slots=True)
class FunctionName:
    """A function by its name, where a language tells it from a variable; a named constant where nothing calls it."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Argument:
    """What a call is given."""

    value: Expr
    name: str = ""
    spread: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A call: of a function, of a method (`Member`), of a static one (`Static`), or of any value."""

    function: Expr
    arguments: tuple[Argument, ...]
    line: int
    """The line its name stands on, in a chain over several lines too."""


@dataclass(frozen=True, slots=True)
class New:
    """`new Of(…)`."""

    of: Expr
    arguments: tuple[Argument, ...]
    line: int
    definition: Class | None = None
    """The class itself where it is written in place (`new class {…}`)."""


@dataclass(frozen=True, slots=True)
class Closure:
    """A function without a name."""

    function: Function
    line: int


@dataclass(frozen=True, slots=True)
class Operation:
    """`left op right`, `op left`: the operator as it is written in PHP or Python, in lower case."""

    operator: str
    left: Expr
    right: Expr | None
    line: int


@dataclass(frozen=True, slots=True)
class Choice:
    """`test ? then : other`; `a ?? b` and `a or b` have `then` None and are the first of both that is there."""

    test: Expr
    then: Expr | None
    other: Expr
    line: int


@dataclass(frozen=True, slots=True)
class Match:
    """`match (subject) {…}`: arms of conditions (none for the default) and a value."""

    subject: Expr
    arms: tuple[tuple[tuple[Expr, ...], Expr], ...]
    line: int


@dataclass(frozen=True, slots=True)
class Subscript:
    """`of[key]`, `of[]`."""

    of: Expr
    key: Expr | None
    line: int


@dataclass(frozen=True, slots=True)
class Assigned:
    """`target = value`; the operator is "" or that of `.=`, `+=`, `??=`."""

    target: Expr
    value: Expr
    line: int
    operator: str = ""
    annotation: Expr | None = None


@dataclass(frozen=True, slots=True)
class Included:
    """`require path`, whose value is what the file returns."""

    path: Expr
    line: int


@dataclass(frozen=True, slots=True)
class Opaque:
    """What the mapping has no shape for, with its text."""

    reason: str
    text: str
    line: int


Expr: TypeAlias = (
    Literal | Variable | Text | Collected | Comprehended | Member | Static | ClassName | FunctionName | Call | New
    | Closure | Operation | Choice | Match | Subscript | Assigned | Included | Opaque
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Do:
    """An expression by itself."""

    expression: Expr
    line: int


@dataclass(frozen=True, slots=True)
class Each:
    """A loop over a list; `key` only where one is written."""

    over: Expr
    value: Expr
    key: Expr | None
    body: tuple[Statement, ...]
    line: int


@dataclass(frozen=True, slots=True)
class If:
    """Branches in order, each with its test; the last may have none."""

    branches: tuple[tuple[Expr | None, tuple[Statement, ...]], ...]
    line: int


@dataclass(frozen=True, slots=True)
class Repeated:
    """`while`, `for (;;)`, `do`: a body that runs an unknown number of times."""

    body: tuple[Statement, ...]
    line: int
    test: Expr | None = None
    """What it runs for, where that is looked at before each run."""


@dataclass(frozen=True, slots=True)
class Return:
    """`return value`."""

    value: Expr | None
    line: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """`try`: the body, what handles its failures, what comes after; `with` and blocks have a body only."""

    body: tuple[Statement, ...]
    handlers: tuple[tuple[Statement, ...], ...] = ()
    after: tuple[Statement, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Leave:
    """`break`, `continue`, `throw`, `raise`, `exit`."""

    how: str
    line: int


@dataclass(slots=True)
class Body:
    """Statements that are mapped on first use."""

    load: Callable[[], tuple[Statement, ...]]
    _statements: tuple[Statement, ...] | None = None

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Return them."""
        if self._statements is None:
            self._statements = self.load()
        return self._statements


@dataclass(frozen=True, slots=True)
class Typed:
    """A written type: class names resolved, built-in ones in lower case, all parts of a union, generics in `inner`."""

    names: tuple[str, ...]
    nullable: bool = False
    inner: tuple[Typed, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a function takes."""

    name: str
    type: Typed | None = None
    default: Expr | None = None
    spread: bool = False
    promoted: bool = False
    """Whether it is also a property of the class (PHP constructors)."""
    attributes: tuple[New, ...] = ()
    annotation: Expr | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A function, method or closure."""

    name: str
    parameters: tuple[Parameter, ...]
    body: Body
    line: int
    line_end: int
    returns: Typed | None = None
    attributes: tuple[Expr, ...] = ()
    """PHP attributes as `New`, Python decorators as they are written."""
    captures: tuple[str, ...] | None = None
    """Variables a closure takes along; None for all that are around it."""
    static: bool = False
    visibility: str = "public"
    abstract: bool = False
    doc: str = ""
    returned: Expr | None = None


@dataclass(frozen=True, slots=True)
class Property:
    """A field of a class."""

    name: str
    type: Typed | None
    default: Expr | None
    line: int
    static: bool = False
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Class:
    """A class, interface, trait or enum; `name` is the full one, `bases` what stands in Python's parentheses."""

    name: str
    kind: str
    line: int
    line_end: int
    extends: tuple[str, ...] = ()
    implements: tuple[str, ...] = ()
    traits: tuple[tuple[str, int], ...] = ()
    """Each with the line that uses it."""
    attributes: tuple[Expr, ...] = ()
    constants: Mapping[str, Expr] = field(default_factory=dict)
    properties: tuple[Property, ...] = ()
    methods: tuple[Function, ...] = ()
    body: tuple[Statement, ...] = ()
    """Python: the statements of the class itself."""
    doc: str = ""
    bases: tuple[Argument, ...] = ()
    cases: tuple[str, ...] = ()
    """Those of the constants that are cases of an enum; the value of one that has none is its name."""

    @property
    def short(self) -> str:
        """Return the name without its namespace."""
        return self.name.replace("\\", ".").rpartition(".")[2]

    def method(self, name: str) -> Function | None:
        """Return a method by its name, whatever its case (PHP's are not told apart by it)."""
        return next((one for one in self.methods if one.name.lower() == name.lower()), None)


Statement: TypeAlias = Do | Each | If | Repeated | Return | Attempt | Leave | Function | Class


@dataclass(frozen=True, slots=True)
class Module:
    """A file."""

    uri: str
    language: str
    namespace: str
    imports: Mapping[str, str]
    """Local name → full name, of classes and modules."""
    statements: tuple[Statement, ...]
    classes: tuple[Class, ...]
    """All of them, those inside conditions too."""
    functions: tuple[Function, ...]
    broken: tuple[int, ...] = ()
    """Lines the grammar could not read."""
