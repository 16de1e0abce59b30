from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone_code.python.interpreter import PythonInterpreter
from ragstone_code.python.values import (
    CallResult,
    ClassValue,
    ExternalName,
    FunctionValue,
    ModuleValue,
    UnknownValue,
)
from tests.ragstone_code.small_world import world_of


def run_module(main: str, **texts: str) -> ModuleValue:
    """Interpret the module `main` and return it; other files of the package are passed as `pkg_…`."""
    files = {f"{name.replace('pkg_', 'pkg/')}.py": text for name, text in texts.items()}
    module = PythonInterpreter(world_of({"main.py": main, **files})).load("main.py")
    assert module is not None
    return module


def value(expression: str, before: str = "") -> Any:  # noqa: ANN401 an interpreted value may have any type
    return run_module(main=f"{before}\nresult = {expression}\n").names["result"]


def test_plain_expressions_have_the_same_value_as_in_python() -> None:
    for text in (
        "1 + 2 * 3", "'a' + 'b'", "'%s-%d' % ('x', 3)", "'{}/{a}'.format('x', a='y')", "f'{1}{\"b\"}'",
        "[1] + [2]", "(1, 2) + (3,)", "{'a': 1, **{'b': 2}}", "[x * 2 for x in range(4) if x > 1]",
        "{k: v for k, v in [('a', 1)]}", "dict(a=1)['a']", "'a,b'.split(',')", "list(enumerate(['x']))",
        "not []", "3 if 'a' in 'abc' else 4", "None or 'x'", "[*[1, 2], 3]", "sorted(['b', 'a'])", "len('abc')",
        "-1", "1 < 2 <= 2", "'/'.join(['a', 'b'])", "{'a': [1]}.get('a')", "str(3) + 'x'", "[1, 2, 3][-1]",
    ):  # fmt: skip
        assert value(text) == eval(text), text


def test_unknown_values_have_a_reason_and_interpretation_goes_on() -> None:
    module = run_module(
        main="import os\na = os.environ['X']\nb = 'p' + a\nc = open('f').read()\nd = 1\ne = nothing.at.all()\n"
    )
    assert module.names["a"] == UnknownValue("read from the environment")
    assert module.names["b"].reason == "read from the environment"
    assert isinstance(module.names["e"], UnknownValue)
    assert module.names["d"] == 1


def test_calls_of_external_functions_are_recorded_with_their_lines() -> None:
    module = run_module(
        main="from lib import App as A\n\napp = A('x', debug=True)\napp.add(\n  1)\n\n@app.on('y')\ndef f(): ...\n"
    )
    app = module.names["app"]
    assert (app.callee, app.args, app.kwargs, app.line) == (
        "lib.App",
        ["x"],
        {"debug": True},
        3,
    )
    assert [(call.callee, call.args, call.line) for call in app.calls] == [
        ("lib.App.add", [1], 4),
        ("lib.App.on", ["y"], 7),
    ]
    assert app.calls[1].applied == [module.names["f"]]


def test_all_branches_of_an_unknown_condition_run_conditionally() -> None:
    module = run_module(
        main=(
            "from lib import make, flag\nx = []\nif flag:\n"
            "    x += [make(1)]\n    p = 'a'\nelse:\n    x.append(make(2))\n"
            "    p = 'b'\nx.append(make(3))\nif 1 > 2:\n    x.append(make(4))\nwhile flag:\n    x.append(make(5))\n"
            "if __name__ == '__main__':\n    x.append(make(6))\n"
        )
    )
    results = module.names["x"]
    assert [(result.args[0], result.conditional) for result in results] == [
        (1, True),
        (2, True),
        (3, False),
        (5, True),
    ]
    assert module.names["p"] == UnknownValue("depends on a condition", 3)


def test_imports_work_with_cycles_stars_and_relative_names() -> None:
    module = run_module(
        main="from pkg import thing, helper\nfrom pkg.sub import *\nimport pkg.other\nc = pkg.other.C\n",
        pkg___init__="from lib import T\nthing = T()\nfrom . import other\n",
        pkg_other="from pkg import thing\nfrom .sub import visible\nclass C: pass\nthing.use(visible)\n",
        pkg_sub="visible = 1\n_hidden = 2\n",
        pkg_helper="",
    )
    assert isinstance(module.names["thing"], CallResult)
    assert isinstance(module.names["helper"], ModuleValue)
    assert module.names["visible"] == 1 and "_hidden" not in module.names
    assert isinstance(module.names["c"], ClassValue)
    assert [call.args for call in module.names["thing"].calls] == [[1]]


def test_project_functions_are_followed() -> None:
    module = run_module(
        main=(
            "from lib import Router\ndef make(prefix, *names, end='!', **more):\n"
            "    if not names:\n        return None\n"
            "    router = Router(prefix + end)\n    for name in names:\n        router.add(name)\n    return router\n"
            "one = make('/a', 'x', 'y', end='?')\ntwo = make('/b')\n"
            "class Registry:\n    def __init__(self, start):\n        self.router = make(start, 'z')\n"
            "    @property\n    def inner(self):\n        return self.router\n"
            "three = Registry('/c').inner\nfour = (lambda a, b=2: a + b)(1)\n"
        )
    )
    assert module.names["one"].args == ["/a?"]
    assert [call.args for call in module.names["one"].calls] == [["x"], ["y"]]
    assert module.names["two"] is None
    assert module.names["three"].args == ["/c!"]
    assert module.names["four"] == 3


def test_classes_have_a_lineage_and_inherited_attributes() -> None:
    module = run_module(
        main=(
            "from lib import Base\nclass Mixin:\n    kind = 'm'\nclass A(Base):\n"
            "    name = 'a'\n    def go(self): ...\n"
            "class B(Mixin, A, table=True):\n    x: int = 3\n"
        )
    )
    class_value = module.names["B"]
    assert list(class_value.type_names()) == ["main.B", "main.Mixin", "main.A", "lib.Base"]
    located = class_value.find("go")
    assert (
        located is not None
        and isinstance(located[1], FunctionValue)
        and located[1].full == "main.A.go"
    )
    assert class_value.options == {"table": True}
    assert class_value.lineage()[-1] == ExternalName("lib.Base")


def test_a_project_decorator_keeps_the_decorated_function() -> None:
    module = run_module(
        main="def deco(f):\n    def inner(): return f()\n    return inner\ndef view(): ...\nboth = deco(view)\n"
    )
    both = module.names["both"]
    assert (
        isinstance(both, CallResult)
        and both.callee == "main.deco"
        and both.args == [module.names["view"]]
    )


def test_endless_programs_are_bounded() -> None:
    module = run_module(
        main=(
            "def again(n):\n    return again(n + 1)\na = again(1)\n"
            "b = [x for y in range(5000) for x in [y]]\n"
            "for i in range(4000):\n    for j in range(4000):\n        k = i\n"
        )
    )
    assert isinstance(module.names["a"], UnknownValue)


PIECES = st.sampled_from(
    ["x", "=", "[", "]", "(", ")", "\n", "if x:\n    ", "for x in y:\n    ", "def f(x): return ", "class A(x):\n    ",
     "'a'", "1", ".", ",", "+", "x += ", "import x", "from main import *", "lambda: ", "@x\n", "**", "{", "}", ":"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=30))
def test_any_program_is_interpreted_without_an_error(pieces: list[str]) -> None:
    assert run_module(main=" ".join(pieces), x="y = [1]\nfrom main import x\n").done
