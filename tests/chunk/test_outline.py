"""The outline of a module has the same definitions on the same lines as the module."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.chunk.outline import outline

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
LIBRARY = Path(sysconfig.get_paths()["stdlib"])
MODULES = ("argparse", "ast", "asyncio/base_events", "dataclasses", "doctest", "tarfile", "textwrap", "typing")


def shape(body: list[ast.stmt]) -> list[Any]:
    """Return what chunks are cut by: kinds, names, first and last lines, of classes also what is in them."""
    return [
        (
            type(one).__name__,
            getattr(one, "name", ""),
            (one.lineno, one.end_lineno),
            [decorator.lineno for decorator in one.decorator_list] if isinstance(one, DEFINITIONS) else [],
            shape(one.body) if isinstance(one, ast.ClassDef) else [],
        )
        for one in body
    ]


def same(text: str) -> bool:
    """Return whether there is an outline, having made sure that it tells the same as the text."""
    found = outline(text)
    if found is None:
        return False
    assert shape(ast.parse(found).body) == shape(ast.parse(text).body)
    return True


@pytest.mark.parametrize("name", MODULES)
def test_real_modules_have_the_shape_of_their_outline(name: str) -> None:
    text = (LIBRARY / f"{name}.py").read_text(encoding="utf-8")
    assert same(text)
    assert len(outline(text) or "") < len(text)


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    pass\n",
        "def f(): return 1\nx = 2\n",
        "def f(a,\n      b=(1,\n2)):\n    return a\n\n# after\nx = 1\n",
        "class A:\n    def m(self):\n        '''two\nlines'''\n\n    @d\n    async def n(self): ...\n\n    x = 1\n",
        "def f():\n    x = '# no comment' # a comment: \"\n    return x\n",
        'def f():\n    """It\'s \\""" quoted."""\n    return b"""a\nb""" % 1\n',
        "x = '''def g():\n    pass\n'''\ndef f():\n    return '''\nx''' + \"'''\"\n",
        "def f():\n    if x:\n        return 1\n    # the end\n\n\ndef g():\n    return 2  # why\n",
        "if x:\n    def f():\n        return 1\nelse:\n    def f():\n        return 2\n",
        "def f():\n    def g():\n        return 1\n    return g\n\ny = f()\n",
        "def f():\n    return f'{x!r:>{w}} {y}'\n",
        "def f():\n    return 1",
        "",
    ],
)
def test_odd_modules_have_the_shape_of_their_outline(text: str) -> None:
    assert same(text)


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n\treturn 1\n",
        "def f():\r\n    return 1\r\n",
        "x = '\0'\n",
        "def f():\n    x = (\n1)\n    return x\n",
        "def f():\n    x = 1 + \\\n2\n    return x\n",
        "def f(:\n",
        "def f():\nx = 1\n",
    ],
)
def test_where_only_the_whole_text_can_tell_there_is_no_outline(text: str) -> None:
    assert outline(text) is None


@given(st.text(alphabet="\"'\\\n#([{)]}: def x", max_size=80))
def test_any_text_keeps_its_number_of_lines(text: str) -> None:
    found = outline(text)
    assert found is None or found.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "piece", ['"""\\', "'''\\\n", "def f(\n", "def f(a,\n", '"', "'\\\n", "def f():\n    (\n", "#\n", '"""', " \\\n"]
)
def test_hostile_texts_take_no_longer_than_their_length(piece: str) -> None:
    number = 200_000 // len(piece)
    for end in ("", ")" * number, ")" * number + ":\n  x"):
        outline(piece * number + end)


def test_a_broken_body_does_not_hide_the_definitions() -> None:
    text = "def f():\n    print 'two'\n\ndef g():\n    return 1\n"
    names = [one.name for one in ast.parse(outline(text) or "").body if isinstance(one, DEFINITIONS)]
    assert names == ["f", "g"]
