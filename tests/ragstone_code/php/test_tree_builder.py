from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone_code import program_tree
from ragstone_code.php import lower


def expression(code: str, before: str = "") -> program_tree.Expr:
    """Return the last expression of a small file."""
    last = lower(f"<?php\n{before}\n{code};", "app/a.php").statements[-1]
    assert isinstance(last, program_tree.Do)
    return last.expression


def lower_bodies(module: program_tree.Module) -> None:
    """Lower every function body of a module."""
    for cls in module.classes:
        for method in cls.methods:
            assert method.body.statements is method.body.statements
    for function in module.functions:
        assert function.body.statements is function.body.statements


# ── names ─────────────────────────────────────────────────────────────────────────────────────────


def test_class_names_are_resolved_by_namespace_alias_and_group() -> None:
    before = "namespace App\\Http; use Lib\\Song as Tune, Lib\\Album; use Deep\\{One, Two as Second, Sub\\Three};"
    cases = {
        "Tune": "Lib\\Song", "Album": "Lib\\Album", "One": "Deep\\One",
        "Second": "Deep\\Two", "Three": "Deep\\Sub\\Three",
        "Other": "App\\Http\\Other", "\\Root": "Root", "Album\\Inner": "Lib\\Album\\Inner", "tune": "Lib\\Song",
        "namespace\\Near": "App\\Http\\Near", "self": "self", "static": "static",
    }  # fmt: skip
    for written, full in cases.items():
        lowered = expression(f"{written}::class", before)
        assert isinstance(lowered, program_tree.Static) and isinstance(
            lowered.of, program_tree.ClassName
        )
        assert (lowered.of.name, lowered.name) == (full, "class"), written


def test_functions_and_constants_are_imported_by_their_own_use_lines() -> None:
    before = "namespace App; use function Lib\\play; use const Lib\\LOUD; use Other\\{function stop, const SOFT};"
    for code, full in {
        "play()": "Lib\\play",
        "stop()": "Other\\stop",
        "strlen()": "strlen",
    }.items():
        lowered = expression(code, before)
        assert isinstance(
            lowered, program_tree.Call
        ) and lowered.function == program_tree.FunctionName(full, 3)
    assert expression("LOUD", before) == program_tree.FunctionName("Lib\\LOUD", 3)
    assert expression("SOFT", before) == program_tree.FunctionName("Other\\SOFT", 3)


def test_each_namespace_of_a_file_has_its_own_imports() -> None:
    module = lower(
        "<?php namespace A { use X\\Y; class C extends Y {} } namespace B { class C extends Y {} }",
        "a.php",
    )
    assert [
        (class_definition.name, class_definition.extends) for class_definition in module.classes
    ] == [
        ("A\\C", ("X\\Y",)),
        ("B\\C", ("B\\Y",)),
    ]


# ── expressions ───────────────────────────────────────────────────────────────────────────────────


def test_string_literals_have_the_same_value_as_in_php() -> None:
    cases = {
        r"'it\'s \n \\'": "it's \\n \\", r'"a\tb\x41\u{e9}\$x"': "a\tbAé$x", "''": "", '""': "",
        "<<<'E'\n  one\n   two\n  E": "one\n two", "<<<E\n  one\n\n  two\\n\n  E": "one\n\ntwo\n",
    }  # fmt: skip
    for code, value in cases.items():
        lowered = expression(code)
        assert isinstance(lowered, program_tree.Literal) and lowered.value == value, code


def test_a_string_with_embedded_expressions_is_a_text() -> None:
    lowered = expression('"a $b[key] {$c->d} ${e}."')
    assert isinstance(lowered, program_tree.Text)
    kinds = [type(part).__name__ for part in lowered.parts]
    assert kinds == [
        "Literal",
        "Subscript",
        "Literal",
        "Member",
        "Literal",
        "Variable",
        "Literal",
    ]
    key = lowered.parts[1]
    assert isinstance(key, program_tree.Subscript) and key.key == program_tree.Literal("key", 3)


def test_concatenated_strings_are_one_flat_text() -> None:
    lowered = expression(" . ".join(f"'{number}'" for number in range(500)))
    assert isinstance(lowered, program_tree.Text) and len(lowered.parts) == 500


def test_a_call_has_the_line_of_its_name() -> None:
    lowered = expression("Route::prefix('a')\n  ->name('b')\n  ->group(fn () => 1)")
    assert isinstance(lowered, program_tree.Call) and lowered.line == 5
    assert isinstance(lowered.function, program_tree.Member) and isinstance(
        lowered.function.of, program_tree.Call
    )
    assert lowered.function.of.line == 4


def test_named_and_spread_arguments_are_distinguished() -> None:
    lowered = expression("f(1, name: 2, ...$rest)")
    assert isinstance(lowered, program_tree.Call)
    assert [(argument.name, argument.spread) for argument in lowered.arguments] == [
        ("", False),
        ("name", False),
        ("", True),
    ]


def test_a_first_class_callable_is_a_name_or_a_callable_pair() -> None:
    assert expression("strlen(...)") == program_tree.Literal("strlen", 3)
    pair = expression("Song::play(...)", "use App\\Song;")
    assert isinstance(pair, program_tree.Collected)
    first, second = (entry.value for entry in pair.entries)
    assert isinstance(first, program_tree.Static) and first.name == "class"
    assert second == program_tree.Literal("play", 3)


def test_closures_list_their_captured_variables() -> None:
    plain, arrow = (
        expression("function () use ($a, &$b) { return 1; }"),
        expression("fn () => $a"),
    )
    assert isinstance(plain, program_tree.Closure) and plain.function.captures == ("a", "b")
    assert isinstance(arrow, program_tree.Closure) and arrow.function.captures is None
    assert isinstance(arrow.function.body.statements[0], program_tree.Return)


def test_null_safe_calls_conditions_matches_and_includes_are_lowered() -> None:
    assert isinstance(expression("$a?->b()"), program_tree.Call)
    choice = expression("$a ?? 1")
    assert isinstance(choice, program_tree.Choice) and choice.then is None
    match = expression("match ($a) { 1, 2 => 'x', default => 'y' }")
    assert isinstance(match, program_tree.Match) and [
        len(tests) for tests, _ in match.arms
    ] == [2, 0]
    included = expression("require __DIR__.'/b.php'")
    assert isinstance(included, program_tree.Included) and isinstance(
        included.path, program_tree.Text
    )
    assert included.path.parts[0] == program_tree.Literal("app", 3)


def test_a_pattern_keeps_omitted_positions() -> None:
    lowered = expression("[, $b, 'k' => $c] = $d")
    assert isinstance(lowered, program_tree.Assigned) and isinstance(
        lowered.target, program_tree.Collected
    )
    kinds = [type(entry.value).__name__ for entry in lowered.target.entries]
    assert kinds == ["Opaque", "Variable", "Variable"]


# ── statements ────────────────────────────────────────────────────────────────────────────────────


def test_a_switch_becomes_branches_that_fall_through() -> None:
    module = lower(
        "<?php switch ($a) { case 1: f(); case 2: g(); break; default: h(); }", "a.php"
    )
    lowered = module.statements[0]
    assert isinstance(lowered, program_tree.If)
    assert [len(body) for _, body in lowered.branches] == [2, 1, 1]
    assert lowered.branches[-1][0] is None


def test_else_if_in_two_words_adds_a_branch() -> None:
    lowered = lower(
        "<?php if ($a) f(); elseif ($b) g(); else if ($c) h(); else i();", "a.php"
    ).statements[0]
    assert isinstance(lowered, program_tree.If) and len(lowered.branches) == 4


# ── definitions ───────────────────────────────────────────────────────────────────────────────────

CLASS = """<?php
namespace App;
use Lib\\Base;
/**
 * Plays.
 */
#[Observed(by: Watcher::class)]
#[Other]
final class Song extends Base implements Playable
{
    use Loud,
        Soft;
    const A = 1, B = 'b';
    protected static ?int $count = 3;
    public function __construct(private readonly Album|null $album, string ...$names) {}
    /** Says it. */
    protected static function say(?Song $song = null): static { return new static; }
}
enum Suit: string { case Hearts = 'h'; case Spades = 's'; const WILD = self::Hearts; }
"""


def test_a_class_has_all_its_members() -> None:
    song, suit = lower(CLASS, "app/Song.php").classes
    assert (song.name, song.short, song.kind, song.line, song.doc) == (
        "App\\Song",
        "Song",
        "class",
        9,
        "Plays.",
    )
    assert (song.extends, song.implements) == (("Lib\\Base",), ("App\\Playable",))
    assert song.traits == (("App\\Loud", 11), ("App\\Soft", 12))
    assert [
        attribute.of.name
        for attribute in song.attributes
        if isinstance(attribute, program_tree.New)
        and isinstance(attribute.of, program_tree.ClassName)
    ] == [
        "App\\Observed",
        "App\\Other",
    ]
    assert list(song.constants) == ["A", "B"]
    assert (song.properties[0].name, song.properties[0].static) == ("count", True)
    constructor, say = song.methods
    assert constructor.parameters[0].promoted and constructor.parameters[
        0
    ].type == program_tree.Typed(("App\\Album",), True, (), "Album|null")
    assert constructor.parameters[1].spread
    assert (say.visibility, say.static, say.line, say.doc) == (
        "protected",
        True,
        17,
        "Says it.",
    )
    assert say.returns is not None and say.returns.names == ("static",)
    assert (suit.kind, suit.cases, list(suit.constants)) == (
        "enum",
        ("Hearts", "Spades"),
        ["Hearts", "Spades", "WILD"],
    )


def test_an_anonymous_class_has_its_definition() -> None:
    module = lower(
        "<?php\nreturn new class extends Base { public function up() { f(); } };", "m.php"
    )
    returned = module.statements[0]
    assert isinstance(returned, program_tree.Return) and isinstance(
        returned.value, program_tree.New
    )
    assert returned.value.definition is module.classes[0]
    up = module.classes[0].method("UP")
    assert up is not None and len(up.body.statements) == 1


# ── any input ─────────────────────────────────────────────────────────────────────────────────────


def test_broken_lines_are_listed_and_the_rest_is_lowered() -> None:
    module = lower(
        "<?php\nclass A { public function f() { $x = ; } }\nfunction g() {}", "a.php"
    )
    assert module.broken and [function.name for function in module.functions] == ["g"]


def test_very_deep_nesting_is_opaque_and_raises_no_error() -> None:
    for text in (
        "[" * 3000,
        "(" * 3000,
        "if(1){" * 2000,
        "$a" + "->b()" * 3000,
        "fn()=>" * 2000,
        "!" * 5000,
        "[[$a]=" * 900,
    ):
        lower_bodies(lower(f"<?php {text}", "a.php"))


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60), st.integers(0, 10_000))
def test_no_text_raises_an_error(text: str, seed: int) -> None:
    chosen = random.Random(seed)
    at, until = sorted((chosen.randrange(len(CLASS)), chosen.randrange(len(CLASS))))
    for source in (
        text,
        f"<?php {text}",
        CLASS[:at] + text + CLASS[until:],
        CLASS[:at] + CLASS[until:],
    ):
        lower_bodies(lower(source, "a.php"))
