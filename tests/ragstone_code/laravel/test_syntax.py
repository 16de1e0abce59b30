from __future__ import annotations

from ragstone_code import program_tree
from ragstone_code.laravel.syntax import (
    argument_at,
    array_entries,
    array_values,
    call_chain,
    called_name,
    class_of,
    receiver,
    returned_values,
    short_text,
    text_of,
    walk,
)
from ragstone_code.php import lower


def first(text: str) -> object:
    node = lower(f"<?php\nnamespace App;\nuse Shop\\Cart;\n{text};", "a.php").statements[0]
    assert isinstance(node, program_tree.Do)
    return node.expression


def test_walk_yields_nodes_in_source_order() -> None:
    module = lower("<?php\nif (a()) { b(c()); } else { d(fn () => e()); }\nf();", "a.php")
    calls = [
        (called_name(part), depends)
        for part, depends in walk(module.statements)
        if isinstance(part, program_tree.Call)
    ]
    assert calls == [
        ("a", True),
        ("b", True),
        ("c", True),
        ("d", True),
        ("e", True),
        ("f", False),
    ]


def test_a_chain_lists_its_calls_from_first_to_last() -> None:
    root, calls = call_chain(first("Cart::of($a)->add(1)\n->pay()"))
    assert isinstance(root, program_tree.ClassName)
    assert root.name == "Shop\\Cart"
    assert [(called_name(node), node.line) for node in calls] == [
        ("of", 4),
        ("add", 4),
        ("pay", 5),
    ]


def test_a_chain_can_start_with_a_new_object() -> None:
    root, calls = call_chain(first("(new Cart)->later(5)"))
    assert class_of(root) == "Shop\\Cart"
    assert [called_name(node) for node in calls] == ["later"]


def test_class_names_are_read_in_four_forms_and_self_is_the_owner() -> None:
    assert class_of(first("Cart::class")) == "Shop\\Cart"
    assert class_of(first("new Cart")) == "Shop\\Cart"
    assert class_of(first("'\\\\Shop\\\\Cart'")) == "Shop\\Cart"
    assert class_of(first("self::class"), "App\\Me") == "App\\Me"
    assert class_of(first("'cart'")) == ""
    assert class_of(first("$cart")) == ""


def test_strings_are_concatenated_and_unknown_ones_are_none() -> None:
    assert text_of(first("Cart::class . '@pay'")) == "Shop\\Cart@pay"
    assert text_of(first("'a' . $b")) is None
    assert text_of(first("7")) is None
    assert short_text(first("7")) == "7"


def test_arguments_are_found_by_name_and_by_position() -> None:
    call = first("f(1, b: 2)")
    assert isinstance(call, program_tree.Call)
    assert short_text(argument_at(call, 0)) == "1"
    assert short_text(argument_at(call, 5, "b")) == "2"
    assert argument_at(call, 1) is None
    assert receiver(call) is None


def test_a_value_that_is_no_array_counts_as_a_list_of_one() -> None:
    assert [short_text(node) for node in array_values(first("[1, 2]"))] == ["1", "2"]
    assert [short_text(node) for node in array_values(first("3"))] == ["3"]
    assert array_values(None) == ()
    assert array_entries(first("3")) == ()


def test_return_values_of_closures_are_skipped() -> None:
    function = lower(
        "<?php function f() { $g = function () { return 1; }; if ($x) { return 2; } return 3; }",
        "a.php",
    ).functions[0]
    assert [short_text(node) for node in returned_values(function)] == ["2", "3"]
