from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone_code import program_tree
from ragstone_code.python import lower, module_of

PROGRAM = '''"""A module."""
from __future__ import annotations

import os.path as paths, sys
from . import sibling as near
from ..above.deep import Thing, other
from shop.models import *

if sys:
    from shop import late


@decorate(1)
class Order(Base, near.Mixin, Generic[T], metaclass=Meta, table=True):
    """An order.

    More of it.
    """

    total: Annotated[int, Field(1)] = 3
    name: "str | None"
    plain = f"a{total}b" "c"

    class Meta:
        abstract = True

    @property
    async def paid(self, by: Thing | None = None, *rest: int, key: list[Order] = [], **more) -> Optional[other.X]:
        from shop import inner
        def nested(): ...
        return (yield)


def top(a, /, b, *, c=1): return lambda x, y=2: x
'''


def statement(text: str) -> program_tree.Statement:
    return lower(text, "a.py").statements[0]


def expression(text: str) -> program_tree.Expr:
    lowered = statement(text)
    assert isinstance(lowered, program_tree.Do)
    return lowered.expression


def test_a_module_is_named_after_its_path() -> None:
    assert module_of("src/shop/models/__init__.py") == "shop.models"
    assert module_of("shop/views.py") == "shop.views"
    assert module_of("manage.py") == "manage"


def test_imports_have_full_names() -> None:
    module = lower(PROGRAM, "src/pkg/sub/mod.py")
    assert module.namespace == "pkg.sub.mod"
    assert module.imports == {
        "paths": "os.path",
        "sys": "sys",
        "near": "pkg.sub.sibling",
        "Thing": "pkg.above.deep.Thing",
        "other": "pkg.above.deep.other",
        "*shop.models": "shop.models",
        "late": "shop.late",
        "inner": "shop.inner",
    }
    assert module.broken == ()


def test_classes_have_full_names_bases_fields_and_methods() -> None:
    module = lower(PROGRAM, "src/pkg/sub/mod.py")
    order, meta = module.classes
    assert (order.name, meta.name) == ("pkg.sub.mod.Order", "pkg.sub.mod.Order.Meta")
    assert order.extends == ("Base", "pkg.sub.sibling.Mixin", "Generic")
    assert [base.name for base in order.bases] == ["", "", "", "metaclass", "table"]
    assert (order.line, order.line_end) == (14, 31)
    assert order.doc == "An order.\n\nMore of it."
    assert [class_property.name for class_property in order.properties] == [
        "total",
        "name",
        "plain",
    ]
    assert order.properties[1].type == program_tree.Typed(
        ("str",), nullable=True, text='"str | None"'
    )
    assert order.properties[1].default is None
    assert isinstance(order.attributes[0], program_tree.Call)
    assert [method.name for method in order.methods] == ["paid"]


def test_functions_have_parameters_types_and_lazy_bodies() -> None:
    module = lower(PROGRAM, "src/pkg/sub/mod.py")
    paid = module.classes[0].methods[0]
    assert [(parameter.name, parameter.spread) for parameter in paid.parameters] == [
        ("self", False),
        ("by", False),
        ("rest", True),
        ("key", False),
        ("more", True),
    ]
    by = paid.parameters[1].type
    assert by is not None and by.names == ("pkg.above.deep.Thing",) and by.nullable
    key = paid.parameters[3].type
    assert key is not None and key.inner[0].names == ("pkg.sub.mod.Order",)
    assert paid.returns is not None and paid.returns.nullable
    assert paid.returns.names == ("pkg.above.deep.other.X",)
    assert [type(statement).__name__ for statement in paid.body.statements] == [
        "Do",
        "Function",
        "Return",
    ]
    assert [function.name for function in module.functions] == ["top"]
    assert [parameter.name for parameter in module.functions[0].parameters] == ["a", "b", "c"]


def test_string_literals_have_their_python_value() -> None:
    assert expression(r'''"a\"b\n" 'it\'s' r"\d"''') == program_tree.Literal("a\"b\nit's\\d", 1)
    assert expression('b"x"') == program_tree.Opaque("bytes", 'b"x"', 1)
    assert expression('f"a{x}{{y}}"') == program_tree.Text(
        (
            program_tree.Literal("a", 1),
            program_tree.Variable("x", 1),
            program_tree.Literal("{y}", 1),
        ),
        1,
    )


def test_chained_calls_have_the_line_of_their_name() -> None:
    chain = expression("(a\n .b(1)\n .c(*x, **y, z=2))")
    assert isinstance(chain, program_tree.Call) and chain.line == 3
    assert [(argument.name, argument.spread) for argument in chain.arguments] == [
        ("", True),
        ("**", True),
        ("z", False),
    ]
    inner = chain.function
    assert (
        isinstance(inner, program_tree.Member)
        and isinstance(inner.of, program_tree.Call)
        and inner.of.line == 2
    )


def test_operators_conditions_and_comprehensions_are_lowered() -> None:
    assert isinstance(expression("a or b"), program_tree.Choice)
    assert isinstance(expression("a if b else c"), program_tree.Choice)
    compared = expression("1 < a not in b")
    assert isinstance(compared, program_tree.Operation) and compared.operator == "and"
    comprehension = expression("{k: v for k, v in x if k for w in v}")
    assert isinstance(comprehension, program_tree.Comprehended) and comprehension.kind == "dict"
    assert [len(tests) for _, _, tests in comprehension.loops] == [1, 0]
    walrus = expression("(n := 3)")
    assert isinstance(walrus, program_tree.Assigned)


def test_compound_statements_keep_all_branches() -> None:
    branches = statement("if a: pass\nelif b: x\nelse: y")
    assert isinstance(branches, program_tree.If) and [
        test is None for test, _ in branches.branches
    ] == [
        False,
        False,
        True,
    ]
    matched = statement("match a:\n  case 1: x\n  case Foo(b): y\n  case _: z")
    assert isinstance(matched, program_tree.If)
    assert [type(test).__name__ for test, _ in matched.branches] == [
        "Operation",
        "Opaque",
        "NoneType",
    ]
    tried = statement("try: a\nexcept (B, C) as d: e\nexcept F: g\nelse: h\nfinally: i")
    assert isinstance(tried, program_tree.Attempt)
    assert (len(tried.body), len(tried.handlers), len(tried.after)) == (2, 2, 1)
    opened = statement("with a as b, c: d")
    assert isinstance(opened, program_tree.Attempt) and len(opened.body) == 3
    looped = statement("for i, (j, k) in x:\n  y\nelse:\n  z")
    assert isinstance(looped, program_tree.Each) and isinstance(
        looped.value, program_tree.Collected
    )


def test_broken_lines_are_listed_and_the_rest_is_lowered() -> None:
    module = lower("x = 1\nclass (:\n  pass\n\ndef fine(): return 1\n", "a.py")
    assert module.broken
    assert "fine" in [function.name for function in module.functions]


def lower_bodies(module: program_tree.Module) -> None:
    """Lower every function body of a module."""
    for function in module.functions:
        assert function.body.statements is not None
    for class_definition in module.classes:
        for method in class_definition.methods:
            assert method.body.statements is not None


def test_very_deep_nesting_raises_no_error() -> None:
    for text in (
        "(" * 3000 + ")" * 3000,
        "[" * 3000,
        "x = " + "-" * 5000 + "1",
        "a" + ".b()" * 4000,
    ):
        lower_bodies(lower(text, "deep.py"))
    lower_bodies(lower("".join("  " * depth + "if x:\n" for depth in range(300)), "deep.py"))
    lower_bodies(lower("x: " + "list[" * 400 + "int" + "]" * 400 + " = 1", "deep.py"))


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200))
def test_any_text_gives_a_module(text: str) -> None:
    lower_bodies(lower(text, "any/text.py"))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_cut_of_a_program_gives_a_module(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(PROGRAM)))
    end = data.draw(st.integers(start, len(PROGRAM)))
    middle = data.draw(st.text(alphabet="()[]{}:=,.\"'\n @*f#\\", max_size=8))
    lower_bodies(lower(PROGRAM[:start] + middle + PROGRAM[end:], "cut/program.py"))
