from __future__ import annotations

import pytest

from ragstone_code.evaluate import (
    Array,
    EnumCase,
    Instance,
    Unknown,
    Value,
    display_text,
    first_known,
)
from tests.ragstone_code.evaluate.logged_calls import (
    create_evaluator,
    last_logged,
    logged_arguments,
)

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
def test_an_expression_has_the_same_value_as_in_php(code: str, value: Value) -> None:
    assert last_logged(f"$one = 1; Log::say({code});") == value


def test_array_keys_are_converted_as_in_php() -> None:
    value = last_logged("$a = ['1' => 'a', true => 'b', 'x' => 'c']; $a[] = 'd'; Log::say($a);")
    assert isinstance(value, Array)
    assert value.items == {1: "b", "x": "c", 2: "d"}


def test_assigning_an_array_copies_it() -> None:
    first, second = logged_arguments(
        "$a = ['k' => ['x']]; $b = $a; $b['k'][] = 'y'; Log::say($a); Log::say($b);"
    )
    assert first[0] == Array(items={"k": Array(["x"])})
    assert second[0] == Array(items={"k": Array(["x", "y"])})


def test_array_entries_keep_their_source_lines() -> None:
    value = last_logged("Log::say([\n  'a',\n  'k' => 'b',\n]);")
    assert isinstance(value, Array) and value.lines == {0: 3, "k": 4}


def test_patterns_destructure_arrays() -> None:
    assert logged_arguments(
        "[$a, , $b] = [1, 2, 3]; ['k' => $c] = ['k' => 4]; Log::say($a, $b, $c);"
    ) == [(1, 3, 4)]


# ── unknown values ────────────────────────────────────────────────────────────────────────────────


def test_unknown_values_have_a_display_text_and_evaluation_goes_on() -> None:
    first, second = logged_arguments(
        "Log::say('a/' . config('x.y') . '/b', strtolower(foo()), $nope->call()->on); Log::say(1);"
    )
    assert [display_text(value) for value in first] == ["a/config(x.y)/b", "?", "?"]
    assert second == (1,)


def test_both_branches_of_an_unknown_condition_start_with_the_same_variables() -> None:
    code = "$n = 1; if (config('a')) { $n = $n + 1; Log::one($n); } else { $n = $n + 10; Log::two($n); } Log::end($n);"
    evaluator, log = create_evaluator(code)
    evaluator.run("main.php")
    assert [(name, arguments.at(0)) for name, arguments, _ in log.calls[:2]] == [
        ("one", 2),
        ("two", 11),
    ]
    assert [site.conditional for _, _, site in log.calls] == [True, True, False]
    merged = log.calls[2][1].at(0)
    assert isinstance(merged, Unknown) and set(merged.options) == {2, 11}


def test_only_the_matching_branch_of_a_known_condition_runs() -> None:
    evaluator, log = create_evaluator(
        "if (1 > 2) { Log::no(); } elseif (true) { Log::yes(); } else { Log::no(); }"
    )
    evaluator.run("main.php")
    assert [(name, site.conditional) for name, _, site in log.calls] == [("yes", False)]


def test_texts_keep_the_options_of_a_conditional_value() -> None:
    value = last_logged("$p = 'a'; if (config('x')) { $p = 'b'; } Log::say(\"/$p\");")
    assert isinstance(value, Unknown) and value.options == ("/a", "/b")
    assert first_known(value) == "/a"


def test_exception_handlers_are_conditional() -> None:
    evaluator, log = create_evaluator(
        "try { Log::body(); } catch (E $e) { Log::caught(); } finally { Log::last(); }"
    )
    evaluator.run("main.php")
    assert [(name, site.conditional) for name, _, site in log.calls] == [
        ("body", False), ("caught", True), ("last", False),
    ]  # fmt: skip


# ── loops ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_loop_over_a_known_array_runs_once_per_entry() -> None:
    assert logged_arguments(
        "foreach (['a' => 1, 'b' => 2] as $k => $v) { if ($k === 'b') continue; Log::say($k, $v); }"
    ) == [("a", 1)]
    assert [
        arguments[0]
        for arguments in logged_arguments("for ($i = 0; $i < 3; $i++) Log::say($i);")
    ] == [0, 1, 2]
    assert [
        arguments[0]
        for arguments in logged_arguments(
            "foreach ([1, 2, 3] as $v) { Log::say($v); if ($v == 2) break; }"
        )
    ] == [1, 2]


def test_a_loop_over_an_unknown_value_runs_once_conditionally() -> None:
    evaluator, log = create_evaluator("foreach (config('all') as $one) Log::say($one);")
    evaluator.run("main.php")
    assert [
        (site.conditional, isinstance(arguments.at(0), Unknown))
        for _, arguments, site in log.calls
    ] == [(True, True)]


# ── functions, closures, classes, files ───────────────────────────────────────────────────────────


def test_functions_get_default_named_and_variadic_arguments() -> None:
    code = "function f($a, $b = 'q', ...$rest) { return [$a, $b, $rest]; } Log::say(f(1), f(b: 2, a: 1), f(1, 2, 3, 4));"
    assert logged_arguments(code) == [
        (Array([1, "q", Array()]), Array([1, 2, Array()]), Array([1, 2, Array([3, 4])]))
    ]


def test_closures_capture_listed_variables_and_arrow_functions_all() -> None:
    code = "$a = 1; $b = 2; $f = function () use ($a) { return $a; }; $g = fn () => $b; $a = 5; Log::say($f(), $g());"
    assert logged_arguments(code) == [(1, 2)]


def test_class_members_are_evaluated() -> None:
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
    assert logged_arguments(code, files) == [
        ("songw!", "new", Array(["a", "new"]), "App\\Song")
    ]


def test_enum_cases_have_names_and_values() -> None:
    files = {"Suit.php": "enum Suit: string { case Hearts = 'h'; const WILD = self::Hearts; }"}
    first = logged_arguments(
        "Log::say(Suit::Hearts, Suit::Hearts->value, Suit::Hearts->name, Suit::WILD);", files
    )[0]
    assert first == (
        EnumCase("Suit", "Hearts", "h"),
        "h",
        "Hearts",
        EnumCase("Suit", "Hearts", "h"),
    )


def test_project_functions_are_found_by_namespace() -> None:
    files = {
        "helpers.php": 'function here($x) { return "h-$x"; }',
        "in.php": "namespace A; function there() { return 't'; }",
    }
    assert logged_arguments("Log::say(here(1), \\A\\there());", files) == [("h-1", "t")]


def test_included_files_see_the_surrounding_variables() -> None:
    files = {
        "sub/part.php": "Lib\\Log::say($word); return ['k' => require __DIR__ . '/deep.php'];",
        "sub/deep.php": "return 3;",
    }
    assert logged_arguments("$word = 'w'; Log::say((require 'sub/part.php')['k']);", files) == [
        ("w",),
        (3,),
    ]


def test_a_relative_include_is_found_in_the_folder_of_the_including_file() -> None:
    files = {"sub/part.php": "return require 'deep.php';", "sub/deep.php": "return 3;"}
    assert last_logged("Log::say(require 'sub/part.php');", files) == 3


def test_a_missing_include_gives_a_remark() -> None:
    evaluator, _ = create_evaluator("require 'gone.php';")
    evaluator.run("main.php")
    assert evaluator.remarks == ["main.php:2: gone.php is not there"]


# ── recorders ─────────────────────────────────────────────────────────────────────────────────────


def test_a_recorder_gets_chained_calls_with_their_lines() -> None:
    evaluator, log = create_evaluator(
        "Log::one('a')\n  ->two(x: 2)\n  ->three(fn ($log) => $log->four());"
    )
    evaluator.run("main.php")
    assert [(name, site.line) for name, _, site in log.calls] == [
        ("one", 2),
        ("two", 3),
        ("three", 4),
        ("four", 4),
    ]
    assert log.calls[1][1].at(0, "x") == 2


def test_a_missing_method_goes_to_the_recorder_of_an_ancestor() -> None:
    files = {
        "Mine.php": "class Mine extends Lib\\Log { function go() { $this->inherited(7); parent::boot(); } }"
    }
    evaluator, log = create_evaluator("", files)
    mine = evaluator.make("Mine")
    evaluator.call_method(mine, "go")
    assert [(name, arguments.this is mine) for name, arguments, _ in log.calls] == [
        ("inherited", True),
        ("boot", True),
    ]


def test_adapters_can_read_properties_and_constants() -> None:
    evaluator, _ = create_evaluator(
        "",
        {
            "A.php": "class A { const X = 'x'; protected $list = [self::X => 1]; }",
            "B.php": "class B extends A {}",
        },
    )
    assert evaluator.property("B", "list") == Array(items={"x": 1})
    assert evaluator.constant("B", "X") == "x"
    assert evaluator.property("B", "none") is None


def test_an_object_of_an_unknown_class_keeps_its_constructor_arguments() -> None:
    value = last_logged("Log::say(new Elsewhere('a', only: ['b']));")
    assert isinstance(value, Instance) and value.arguments is not None
    assert (value.name, value.arguments.at(0), value.arguments.at(1, "only")) == (
        "Elsewhere",
        "a",
        Array(["b"]),
    )
