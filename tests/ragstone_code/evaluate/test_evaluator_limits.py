from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone_code.evaluate import (
    Limits,
    Unknown,
)
from tests.ragstone_code.evaluate.logged_calls import (
    create_evaluator,
)


@pytest.mark.parametrize(
    "code",
    [
        "function f($n) { return f($n + 1); } f(0);",
        "while (true) { $x[] = 1; }",
        "$f = fn ($f) => $f($f); $f($f);",
        "require 'main.php';",
        "foreach (range(1, 9999) as $a) foreach (range(1, 9999) as $b) $c = $a . $b;",
        "class A { function __construct() { new A; } } new A;",
        "trait T { use T; } class B extends B { use T; } B::nothing(); (new B)->nothing();",
    ],
)
def test_endless_programs_stop_at_a_limit(code: str) -> None:
    evaluator, log = create_evaluator(f"{code}\nLog::end();", limits=Limits(steps=20_000))
    evaluator.run("main.php")
    assert log.calls or evaluator.remarks


def test_a_stopped_run_does_not_affect_the_next_run() -> None:
    evaluator, log = create_evaluator(
        "while (true) { $x = 1; }", {"next.php": "Lib\\Log::say(1);"}, Limits(steps=3_000)
    )
    assert isinstance(evaluator.run("main.php"), Unknown)
    evaluator.run("next.php")
    assert [(name, site.conditional) for name, _, site in log.calls] == [("say", False)]
    assert evaluator.remarks == ["main.php: too much to follow: stopped after 3000 steps"]


def test_functions_that_call_themselves_twice_stay_within_the_limit() -> None:
    code = "function f($n) { Log::say($n); if (config('x')) { f($n + 1); } f($n + 2); return f(3); } f(0); Log::end();"
    evaluator, log = create_evaluator(code)
    evaluator.run("main.php")
    assert log.calls[-1][0] == "end" and not evaluator.remarks


PIECES = [
    "$a",
    "[1, 'k' => 2]",
    "'x'",
    "1.5e999",
    "null",
    "Log::say($a)",
    "fn () => $a",
    "$a['k'][] = 3",
    "$a->b->c()",
    "new B($a)",
    "B::X",
    "B::$y",
    "match ($a) { 1 => 2 }",
    "sprintf('%d %s', $a)",
    "array_combine($a, 'x')",
    "(int) 1e999",
    "$a % 0",
    "substr('a', $a, 'x')",
    "str_repeat('ab', 1e9)",
    "-$a",
    "foreach ($a as [$x, 'y' => $z]) {}",
    "implode($a)",
]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 1_000_000))
def test_no_program_raises_an_error(seed: int) -> None:
    chosen = random.Random(seed)
    lines = []
    for _ in range(12):
        first, second = chosen.choice(PIECES), chosen.choice(PIECES)
        lines.append(
            chosen.choice(
                [
                    f"$a = {first};",
                    f"{first};",
                    f"if ({first}) {{ {second}; }}",
                    f"$a[{first}] = {second};",
                    f"$a .= {first};",
                ]
            )
        )
    evaluator, _ = create_evaluator(
        "\n".join(lines), {"B.php": "class B { const X = self::X; static $y = [1]; }"}
    )
    evaluator.run("main.php")
