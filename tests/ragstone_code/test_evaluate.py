from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone_code.evaluate import (
    PHP,
    Arguments,
    Array,
    CallSite,
    EnumCase,
    Evaluator,
    Instance,
    Lambda,
    Limits,
    Recorder,
    Stubs,
    Unknown,
    Value,
    display_text,
    first_known,
)
from tests.code.small_world import world


class Log(Recorder):
    """Keeps every call, and runs closures it is given."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Arguments, CallSite]] = []

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        self.calls.append((name, given, site))
        for one in given.positional:
            if isinstance(one, Lambda):
                machine.call(one, [self], site)
        return self


def evaluator(code: str, more: dict[str, str] | None = None, limits: Limits | None = None) -> tuple[Evaluator, Log]:
    log = Log()

    def setting(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        return Unknown("a setting", f"config({display_text(given.at(0))})")

    known = Stubs({"lib\\log": log}, {"config": setting})
    files = {"main.php": f"use Lib\\Log;\n{code}", **(more or {})}
    return Evaluator(world(files), PHP, known, limits=limits), log


def logged(code: str, more: dict[str, str] | None = None) -> list[tuple[Value, ...]]:
    """Return the arguments of every call on the log."""
    machine, log = evaluator(code, more)
    machine.run("main.php")
    return [given.positional for _, given, _ in log.calls]


def said(code: str, more: dict[str, str] | None = None) -> Value:
    """Return what `Log::say(…)` was given last."""
    return logged(code, more)[-1][0]


# ── values ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("'a' . 'b' . 1", "ab1"),
        ('"x{$one}y"', "x1y"),
        ("1 + 2 * 3", 7),
        ("7 / 2", 3.5),
        ("'5' == 5", True),
        ("'5' === 5", False),
        ("null ?? 'b'", "b"),
        ("'' ?: 'b'", "b"),
        ("true ? 'a' : 'b'", "a"),
        ("!''", True),
        ("(string) 5", "5"),
        ("match (1) { 1, 2 => 'x', default => 'y' }", "x"),
        ("['a' => ['b' => 3]]['a']['b']", 3),
        ("sprintf('%s/%02d.%s', 'a', 7, 'php')", "a/07.php"),
        ("implode(',', array_map(fn ($n) => $n * 2, [1, 2]))", "2,4"),
        ("str_replace(['a', 'b'], 'c', 'abc')", "ccc"),
        ("strtoupper(substr('hello', 1, 3))", "ELL"),
        ("ucfirst(trim(' x '))", "X"),
        ("count(array_merge(['a'], ['b'], ['k' => 1]))", 3),
        ("isset($one)", True),
        ("empty([])", True),
        ("dirname('a/b/c.php', 2)", "a"),
        ("PHP_EOL", "\n"),
    ],
)
def test_an_expression_has_the_value_php_gives_it(code: str, value: Value) -> None:
    assert said(f"$one = 1; Log::say({code});") == value


def test_arrays_follow_the_rules_of_keys() -> None:
    found = said("$a = ['1' => 'a', true => 'b', 'x' => 'c']; $a[] = 'd'; Log::say($a);")
    assert isinstance(found, Array)
    assert found.items == {1: "b", "x": "c", 2: "d"}


def test_an_array_that_is_assigned_is_one_of_its_own() -> None:
    first, second = logged("$a = ['k' => ['x']]; $b = $a; $b['k'][] = 'y'; Log::say($a); Log::say($b);")
    assert first[0] == Array(items={"k": Array(["x"])})
    assert second[0] == Array(items={"k": Array(["x", "y"])})


def test_entries_know_the_lines_they_are_written_on() -> None:
    found = said("Log::say([\n  'a',\n  'k' => 'b',\n]);")
    assert isinstance(found, Array) and found.lines == {0: 3, "k": 4}


def test_patterns_take_arrays_apart() -> None:
    assert logged("[$a, , $b] = [1, 2, 3]; ['k' => $c] = ['k' => 4]; Log::say($a, $b, $c);") == [(1, 3, 4)]


# ── what cannot be known ──────────────────────────────────────────────────────────────────────────


def test_what_is_not_known_can_be_shown_and_stops_nothing() -> None:
    first, second = logged("Log::say('a/' . config('x.y') . '/b', strtolower(foo()), $nope->call()->on); Log::say(1);")
    assert [display_text(one) for one in first] == ["a/config(x.y)/b", "?", "?"]
    assert second == (1,)


def test_both_branches_are_taken_from_the_same_start_and_marked() -> None:
    code = "$n = 1; if (config('a')) { $n = $n + 1; Log::one($n); } else { $n = $n + 10; Log::two($n); } Log::end($n);"
    machine, log = evaluator(code)
    machine.run("main.php")
    assert [(name, given.at(0)) for name, given, _ in log.calls[:2]] == [("one", 2), ("two", 11)]
    assert [site.conditional for _, _, site in log.calls] == [True, True, False]
    left = log.calls[2][1].at(0)
    assert isinstance(left, Unknown) and set(left.options) == {2, 11}


def test_a_condition_that_is_known_takes_its_branch_alone() -> None:
    machine, log = evaluator("if (1 > 2) { Log::no(); } elseif (true) { Log::yes(); } else { Log::no(); }")
    machine.run("main.php")
    assert [(name, site.conditional) for name, _, site in log.calls] == [("yes", False)]


def test_texts_keep_the_options_of_a_value_that_depends_on_a_condition() -> None:
    found = said("$p = 'a'; if (config('x')) { $p = 'b'; } Log::say(\"/$p\");")
    assert isinstance(found, Unknown) and found.options == ("/a", "/b")
    assert first_known(found) == "/a"


def test_a_try_runs_its_body_and_perhaps_its_handlers() -> None:
    machine, log = evaluator("try { Log::body(); } catch (E $e) { Log::caught(); } finally { Log::last(); }")
    machine.run("main.php")
    assert [(name, site.conditional) for name, _, site in log.calls] == [
        ("body", False), ("caught", True), ("last", False),
    ]  # fmt: skip


# ── loops ─────────────────────────────────────────────────────────────────────────────────────────


def test_loops_over_what_is_known_run_once_per_entry() -> None:
    assert logged("foreach (['a' => 1, 'b' => 2] as $k => $v) { if ($k === 'b') continue; Log::say($k, $v); }") == [
        ("a", 1)
    ]
    assert [one[0] for one in logged("for ($i = 0; $i < 3; $i++) Log::say($i);")] == [0, 1, 2]
    assert [one[0] for one in logged("foreach ([1, 2, 3] as $v) { Log::say($v); if ($v == 2) break; }")] == [1, 2]


def test_a_loop_over_what_is_not_known_runs_once_as_a_condition() -> None:
    machine, log = evaluator("foreach (config('all') as $one) Log::say($one);")
    machine.run("main.php")
    assert [(site.conditional, isinstance(given.at(0), Unknown)) for _, given, site in log.calls] == [(True, True)]


# ── functions, closures, classes, files ───────────────────────────────────────────────────────────


def test_functions_take_defaults_names_and_the_rest() -> None:
    code = (
        "function f($a, $b = 'q', ...$rest) { return [$a, $b, $rest]; } Log::say(f(1), f(b: 2, a: 1), f(1, 2, 3, 4));"
    )
    assert logged(code) == [(Array([1, "q", Array()]), Array([1, 2, Array()]), Array([1, 2, Array([3, 4])]))]


def test_closures_take_along_what_they_name_and_arrows_everything() -> None:
    code = "$a = 1; $b = 2; $f = function () use ($a) { return $a; }; $g = fn () => $b; $a = 5; Log::say($f(), $g());"
    assert logged(code) == [(1, 2)]


def test_methods_properties_constants_and_statics_of_classes_are_followed() -> None:
    files = {
        "Base.php": "namespace App; abstract class Base { const KIND = 'base'; protected $word = 'w'; "
        "function speak() { return static::KIND . $this->word . $this->inner(); } }",
        "Loud.php": "namespace App; trait Loud { private function inner() { return '!'; } }",
        "Song.php": "namespace App; class Song extends Base { use Loud; const KIND = 'song';"
        "public static $made = ['a'];"
        "function __construct(public string $title = 't') { self::$made[] = $this->title; } "
        "static function all() { return self::$made; } }",
    }
    code = "$s = new \\App\\Song('new'); Log::say($s->speak(), $s->title, \\App\\Song::all(), \\App\\Song::class);"
    assert logged(code, files) == [("songw!", "new", Array(["a", "new"]), "App\\Song")]


def test_cases_of_enums_have_names_and_values() -> None:
    files = {"Suit.php": "enum Suit: string { case Hearts = 'h'; const WILD = self::Hearts; }"}
    first = logged("Log::say(Suit::Hearts, Suit::Hearts->value, Suit::Hearts->name, Suit::WILD);", files)[0]
    assert first == (EnumCase("Suit", "Hearts", "h"), "h", "Hearts", EnumCase("Suit", "Hearts", "h"))


def test_functions_of_the_project_are_found_in_their_namespace_and_at_the_root() -> None:
    files = {
        "helpers.php": 'function here($x) { return "h-$x"; }',
        "in.php": "namespace A; function there() { return 't'; }",
    }
    assert logged("Log::say(here(1), \\A\\there());", files) == [("h-1", "t")]


def test_files_are_included_with_the_variables_around_them() -> None:
    files = {
        "sub/part.php": "Lib\\Log::say($word); return ['k' => require __DIR__ . '/deep.php'];",
        "sub/deep.php": "return 3;",
    }
    assert logged("$word = 'w'; Log::say((require 'sub/part.php')['k']);", files) == [("w",), (3,)]


def test_a_bare_name_is_included_from_beside_the_file() -> None:
    files = {"sub/part.php": "return require 'deep.php';", "sub/deep.php": "return 3;"}
    assert said("Log::say(require 'sub/part.php');", files) == 3


def test_a_file_that_is_not_there_is_said() -> None:
    machine, _ = evaluator("require 'gone.php';")
    machine.run("main.php")
    assert machine.remarks == ["main.php:2: gone.php is not there"]


# ── recorders ─────────────────────────────────────────────────────────────────────────────────────


def test_a_recorder_gets_chains_with_the_line_of_each_name() -> None:
    machine, log = evaluator("Log::one('a')\n  ->two(x: 2)\n  ->three(fn ($log) => $log->four());")
    machine.run("main.php")
    assert [(name, site.line) for name, _, site in log.calls] == [("one", 2), ("two", 3), ("three", 4), ("four", 4)]
    assert log.calls[1][1].at(0, "x") == 2


def test_what_a_class_does_not_have_goes_to_the_recorder_of_its_ancestor() -> None:
    files = {"Mine.php": "class Mine extends Lib\\Log { function go() { $this->inherited(7); parent::boot(); } }"}
    machine, log = evaluator("", files)
    mine = machine.make("Mine")
    machine.call_method(mine, "go")
    assert [(name, given.this is mine) for name, given, _ in log.calls] == [("inherited", True), ("boot", True)]


def test_adapters_can_ask_for_properties_constants_and_expressions() -> None:
    machine, _ = evaluator(
        "", {"A.php": "class A { const X = 'x'; protected $list = [self::X => 1]; }", "B.php": "class B extends A {}"}
    )
    assert machine.property("B", "list") == Array(items={"x": 1})
    assert machine.constant("B", "X") == "x"
    assert machine.property("B", "none") is None


def test_an_object_of_an_unknown_class_keeps_what_it_was_made_with() -> None:
    found = said("Log::say(new Elsewhere('a', only: ['b']));")
    assert isinstance(found, Instance) and found.arguments is not None
    assert (found.name, found.arguments.at(0), found.arguments.at(1, "only")) == ("Elsewhere", "a", Array(["b"]))


# ── limits ────────────────────────────────────────────────────────────────────────────────────────


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
def test_what_never_ends_ends_here(code: str) -> None:
    machine, log = evaluator(f"{code}\nLog::end();", limits=Limits(steps=20_000))
    machine.run("main.php")
    assert log.calls or machine.remarks


def test_a_run_that_is_stopped_leaves_the_next_one_alone() -> None:
    machine, log = evaluator("while (true) { $x = 1; }", {"next.php": "Lib\\Log::say(1);"}, Limits(steps=3_000))
    assert isinstance(machine.run("main.php"), Unknown)
    machine.run("next.php")
    assert [(name, site.conditional) for name, _, site in log.calls] == [("say", False)]
    assert machine.remarks == ["main.php: too much to follow: stopped after 3001 steps"]


def test_functions_that_call_themselves_twice_stay_cheap() -> None:
    code = "function f($n) { Log::say($n); if (config('x')) { f($n + 1); } f($n + 2); return f(3); } f(0); Log::end();"
    machine, log = evaluator(code)
    machine.run("main.php")
    assert log.calls[-1][0] == "end" and not machine.remarks


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
def test_no_program_raises(seed: int) -> None:
    chosen = random.Random(seed)
    lines = []
    for _ in range(12):
        one, other = chosen.choice(PIECES), chosen.choice(PIECES)
        lines.append(
            chosen.choice(
                [f"$a = {one};", f"{one};", f"if ({one}) {{ {other}; }}", f"$a[{one}] = {other};", f"$a .= {one};"]
            )
        )
    machine, _ = evaluator("\n".join(lines), {"B.php": "class B { const X = self::X; static $y = [1]; }"})
    machine.run("main.php")
