"""A small file that asks for endless work is followed for a bounded time and in bounded memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ragstone_code.python.interpreter import PythonInterpreter
from ragstone_code.python.values import UnknownValue
from tests.ragstone_code.small_world import world_of

PYTHON = {
    "wide format": 'X = "%3000000000d" % 1',
    "star format": 'X = "%*d" % (3000000000, 1)',
    "format method": 'X = "{:>3000000000}".format(1)',
    "nested ranges": "X = [a for a in range(5000) for b in range(5000) for c in range(5000)]",
    "doubled text": 'x = "ab"\nfor i in range(2000):\n    x = x + x',
    "f-string": 'x = "ab"\nfor i in range(2000):\n    x = f"{x}{x}"',
    "joined": 'x = "a" + "b"\nfor i in range(2000):\n    x = x.join([x, x, x])',
    "replaced": 'x = "aa"\nfor i in range(2000):\n    x = x.replace("a", x)',
    "large number": "x = 10\nfor i in range(2000):\n    x = x * x",
    "doubled list": "x = [1]\nfor i in range(2000):\n    x = x + x",
    "nested lists": "x = [1]\nfor i in range(2000):\n    x = [x, x]",
    "nested by append": "x = [1]\nfor i in range(2000):\n    y = []\n    y.append(x)\n    y.append(x)\n    x = y",
    "nested by key": "x = {}\nfor i in range(2000):\n    y = {}\n    y['a'] = x\n    y['b'] = x\n    x = y",
    "nested calls": "x = [1]\nfor i in range(2000):\n    x = [path('a', include(x)), path('b', include(x))]",
    "endless loop": "x = 0\nwhile True:\n    x = 1",
    "endless recursion": "def f(n):\n    return f(n + 1)\nX = f(0)",
    "mutual recursion": "def f(n):\n    return g(n) + g(n)\ndef g(n):\n    return f(n) + f(n)\nX = f(1)",
    "two calls each": "def f(n):\n    return f(n - 1) + f(n - 1) if n else [1]\nX = f(60)",
    "deep brackets": "X = " + "(" * 3000 + "1" + ")" * 3000,
    "deep lists": "X = " + "[" * 3000 + "]" * 3000,
    "long sum": "X = " + "+".join(["'ab'"] * 5000),
    "power": "X = 9 ** 9 ** 9",
    "shift": "X = 1 << 9999999999",
    "product of a list": "X = [0] * 9999999999",
    "product of a text": 'X = "a" * 9999999999',
    "padded": 'X = "a".ljust(9999999999)',
    "wide f-string": 'X = f"{1:>9999999999}"',
    "doubled dict": "x = {'a': 1}\nfor i in range(2000):\n    x = {'a': x, 'b': x}",
    "own item": "x = []\nx.append(x)\nfor i in range(2000):\n    x = x + [x]",
    "comprehension of comprehensions": "X = [[c for c in range(999)] for a in range(999) for b in range(999)]",
    "classes": "class A:\n    pass\n"
    + "\n".join(f"class B{n}(B{n - 1} if {n} else A): pass" for n in range(500)),
    "import of itself": "import main\nfrom main import *\nX = main.X",
    "long texts": f'x = "{"a" * 40_000}"\n'
    "y = [[x + str(i) for i in range(2000)] for j in range(2000)]",
    "many texts": "x = [str(a) + 'b' * 0 + 'c' for a in range(2000) for b in range(2000)]",
}
PHP = {
    "doubled text": '$x = "ab"; for ($i = 0; $i < 900; $i++) { $x = $x . $x; }',
    "joined by assignment": '$x = "ab"; for ($i = 0; $i < 900; $i++) { $x .= $x; }',
    "replaced": '$x = "aa"; for ($i = 0; $i < 900; $i++) { $x = str_replace("a", $x, $x); }',
    "nested replaces": '$x = str_replace("a", str_repeat("a", 9000), str_repeat("a", 9000));',
    "merged": "$x = range(0, 9000); for ($i = 0; $i < 900; $i++) { $x = array_merge($x, $x); }",
    "nested": "$x = [1]; for ($i = 0; $i < 900; $i++) { $x = [$x, $x]; }",
    "imploded": '$x = ["ab"]; for ($i = 0; $i < 900; $i++) { $x = [implode("ab", [$x[0], $x[0]])]; }',
    "formatted": '$x = "ab"; for ($i = 0; $i < 900; $i++) { $x = sprintf("%s%s%s", $x, $x, $x); }',
    "added": "$x = 2; for ($i = 0; $i < 900; $i++) { for ($j = 0; $j < 900; $j++) { $x = $x + $x; } }",
    "copied": "$x = range(0, 9000); for ($i = 0; $i < 900; $i++) { $y = $x; $z = $y; }",
    "options": '$x = "a"; for ($i = 0; $i < 900; $i++) { $x = $u ? $x . "b" : $x . "c"; }',
    "endless loop": "while (true) { $x = 1; }",
    "endless recursion": "function f($n) { return f($n + 1); } $x = f(0);",
    "two calls each": "function f($n) { return $n ? f($n - 1) . f($n - 1) : 'a'; } $x = f(60);",
    "repeated": '$x = str_repeat("a", 9999999999);',
    "padded": '$x = str_pad("a", 9999999999);',
    "filled": "$x = array_fill(0, 9999999999, 'a');",
    "wide range": "$x = range(0, 9999999999);",
    "deep brackets": "$x = " + "(" * 3000 + "1" + ")" * 3000 + ";",
    "deep arrays": "$x = " + "[" * 3000 + "]" * 3000 + ";",
    "long text": "$x = " + ".".join(["'ab'"] * 5000) + ";",
    "closures": "$f = fn($n) => $f; for ($i = 0; $i < 900; $i++) { $f = fn($n) => $f($f($n)); } $x = $f(1);",
    "include of itself": "include 'main.php'; require __FILE__;",
    "mapped": "$x = range(0, 9000); for ($i = 0; $i < 900; $i++) { $x = array_map(fn($a) => [$a, $a], $x); }",
    "keys": "$x = range(0, 9000); for ($i = 0; $i < 900; $i++) { $y = array_diff_key($x, $x); }",
}
SCRIPT = """
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_CPU, (100, 100))
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from ragstone_code.evaluate import PHP, Evaluator
from ragstone_code.python.interpreter import PythonInterpreter
from ragstone_code.python.values import UnknownValue
from tests.ragstone_code.small_world import world, world_of
for name, code in json.load(sys.stdin).items():
    started = time.process_time()
    if sys.argv[1] == "python":
        interpreter = PythonInterpreter(world_of({"main.py": "first = 1\\n" + code}))
        module = interpreter.load("main.py")
        assert module.names["first"] == 1
    else:
        Evaluator(world({"main.php": code}), PHP).run("main.php")
    print(name, time.process_time() - started)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limits of the process are Linux's")
@pytest.mark.parametrize(("language", "attacks"), [("python", PYTHON), ("php", PHP)])
def test_small_files_that_ask_for_endless_work_are_followed_for_a_bounded_time(
    language: str, attacks: dict[str, str]
) -> None:
    completed = subprocess.run(
        [sys.executable, "-c", SCRIPT, language],
        input=json.dumps(attacks),
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert completed.returncode == 0, completed.stderr[-2000:]
    assert len(attacks) >= 25
    assert len(completed.stdout.splitlines()) == len(attacks)


TEXT = f'x = "{"a" * 40_000}"\n'
ITEMS = "x = list(range(4000))\n"
TOO_LARGE = {
    "sum of texts": f"{TEXT}X = x + x",
    "f-string": f'{TEXT}X = f"{{x}}{{x}}"',
    "joined": f"{TEXT}X = x.join([x, x])",
    "replaced": f'{TEXT}X = x.replace("a", "bb")',
    "format method": f'{TEXT}X = "{{}}{{}}".format(x, x)',
    "width of a format method": 'X = "{:>60000}".format(1)',
    "percent": f'{TEXT}X = "%s%s" % (x, x)',
    "width of a percent": 'X = "%60000d" % 1',
    "range": "X = range(60000)",
    "sum of lists": f"{ITEMS}X = x + x",
    "number": "x = 4000000000\nX = x * x",
}


@pytest.mark.parametrize("attack", TOO_LARGE)
def test_a_value_that_would_be_too_large_is_not_made(attack: str) -> None:
    interpreter = PythonInterpreter(world_of({"main.py": TOO_LARGE[attack]}))
    module = interpreter.load("main.py")
    assert module is not None
    assert isinstance(module.names["X"], UnknownValue)


def test_a_spent_budget_is_remarked_and_the_next_file_is_followed() -> None:
    texts = {"a.py": f"x = 1\n{PYTHON['nested ranges']}\n", "b.py": "import a\ny = a.x + 1\n"}
    interpreter = PythonInterpreter(world_of(texts))
    module = interpreter.load("b.py")
    assert module is not None
    assert module.names["y"] == 2
    assert interpreter.remarks == ["a.py: too much to follow"]
