"""The program tree: one representation of PHP and Python files, for evaluators and framework adapters.

`ragstone_code.php` and `ragstone_code.python` build it from a syntax tree. They resolve class names by the file's
namespace and imports. The body of a function is built on first use. Lines count from 1. In Python, `annotation` and
`returned` hold a written type as an expression.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Plain: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal value."""

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
    """An array, list, tuple, set or dictionary display; `kind` is empty in PHP."""

    entries: tuple[Entry, ...]
    line: int
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Comprehended:
    """`[element for target in over if test]`: each loop has a target, an iterable and tests."""

    element: Entry
    loops: tuple[tuple[Expr, Expr, tuple[Expr, ...]], ...]
    line: int
    kind: str = "list"


@dataclass(frozen=True, slots=True)
class Member:
    """`$of->name`, `of.name`; a computed name is an expression."""

    of: Expr
    name: str | Expr
    line: int


@dataclass(frozen=True, slots=True)
class Static:
    """`Of::NAME`, `Of::$name` (the name keeps its $), `Of::class` (the name is "class"), the function of `Of::f()`."""

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
    """The name of a PHP function; a named constant if it is not called."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call."""

    value: Expr
    name: str = ""
    spread: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function, a method (`Member`), a static method (`Static`) or any other value."""

    function: Expr
    arguments: tuple[Argument, ...]
    line: int
    """The line of the called name, also in a chain over several lines."""


@dataclass(frozen=True, slots=True)
class New:
    """`new Of(…)`."""

    of: Expr
    arguments: tuple[Argument, ...]
    line: int
    definition: Class | None = None
    """The anonymous class of `new class {…}`."""


@dataclass(frozen=True, slots=True)
class Closure:
    """A function without a name."""

    function: Function
    line: int


@dataclass(frozen=True, slots=True)
class Operation:
    """`left op right`, `op left`: the operator as in the source, in lower case."""

    operator: str
    left: Expr
    right: Expr | None
    line: int


@dataclass(frozen=True, slots=True)
class Choice:
    """`test ? then : other`; `then` is None for `a ?? b` and `a or b`, which return the first present value."""

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
    """`require path`; its value is the return value of the file."""

    path: Expr
    line: int


@dataclass(frozen=True, slots=True)
class Opaque:
    """An expression that the tree does not represent, with its text."""

    reason: str
    text: str
    line: int


Expr: TypeAlias = (
    Literal | Variable | Text | Collected | Comprehended | Member | Static | ClassName | FunctionName | Call | New
    | Closure | Operation | Choice | Match | Subscript | Assigned | Included | Opaque
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Do:
    """An expression statement."""

    expression: Expr
    line: int


@dataclass(frozen=True, slots=True)
class Each:
    """A loop over a collection; `key` is None if the source names none."""

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
    """`while`, `for (;;)`, `do`: a body that runs an unknown number of times; `test` is checked before each run."""

    body: tuple[Statement, ...]
    line: int
    test: Expr | None = None


@dataclass(frozen=True, slots=True)
class Return:
    """`return value`."""

    value: Expr | None
    line: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """`try`: body, handlers and the `finally` block; `with` and plain blocks have only a body."""

    body: tuple[Statement, ...]
    handlers: tuple[tuple[Statement, ...], ...] = ()
    after: tuple[Statement, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Leave:
    """`break`, `continue`, `throw`, `raise`, `exit`; the evaluator leaves out what is raised."""

    how: str
    line: int
    raised: Expr | None = None


@dataclass(slots=True)
class Body:
    """Statements that are built on first use."""

    load: Callable[[], tuple[Statement, ...]]
    _statements: tuple[Statement, ...] | None = None

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Return the statements; builds them on the first call."""
        if self._statements is None:
            self._statements = self.load()
        return self._statements


@dataclass(frozen=True, slots=True)
class Typed:
    """A written type: resolved class names, built-in types in lower case, all parts of a union, generics in `inner`."""

    names: tuple[str, ...]
    nullable: bool = False
    inner: tuple[Typed, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function."""

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
    """PHP attributes as `New`, Python decorators as expressions."""
    captures: tuple[str, ...] | None = None
    """Variables that a closure captures; None if it captures all variables around it."""
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
    """A class, interface, trait or enum; `name` is the full name, `bases` are the arguments of a Python class."""

    name: str
    kind: str
    line: int
    line_end: int
    extends: tuple[str, ...] = ()
    implements: tuple[str, ...] = ()
    traits: tuple[tuple[str, int], ...] = ()
    """Each trait with the line that uses it."""
    attributes: tuple[Expr, ...] = ()
    constants: Mapping[str, Expr] = field(default_factory=dict)
    properties: tuple[Property, ...] = ()
    methods: tuple[Function, ...] = ()
    body: tuple[Statement, ...] = ()
    """Python: the statements in the class body."""
    doc: str = ""
    bases: tuple[Argument, ...] = ()
    cases: tuple[str, ...] = ()
    """The constants that are cases of an enum; a case without a value has its name as value."""

    @property
    def short(self) -> str:
        """Return the name without its namespace."""
        return self.name.replace("\\", ".").rpartition(".")[2]

    def method(self, name: str) -> Function | None:
        """Return a method by its name; upper and lower case are equal, as in PHP."""
        methods = (method for method in self.methods if method.name.lower() == name.lower())
        return next(methods, None)


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
    """All classes, including those inside conditions."""
    functions: tuple[Function, ...]
    broken: tuple[int, ...] = ()
    """Lines that the grammar could not parse."""
