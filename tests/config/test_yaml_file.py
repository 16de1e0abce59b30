"""YAML becomes plain data with its lines, or a sentence that says what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.config.yaml_file import YamlEntry, parse_yaml
from ragstone.errors import ConfigError


def plain(entry: YamlEntry) -> object:
    if isinstance(entry.value, Mapping):
        return {name: plain(one) for name, one in entry.value.items()}
    return (
        [plain(one) for one in entry.value] if isinstance(entry.value, tuple) else entry.value
    )


def test_values_have_the_type_they_look_like_and_keys_are_text() -> None:
    text = "a: 5\nb: 'five'\nc: yes\nd: ~\ne: [x, 2, false]\non: {1: z}\nf: |\n  two\n  lines\ng: 1.5\nh: 2024-01-01\n"
    assert plain(parse_yaml(text, "file x")) == {
        "a": 5,
        "b": "five",
        "c": True,
        "d": None,
        "e": ["x", 2, False],
        "on": {"1": "z"},
        "f": "two\nlines\n",
        "g": "1.5",
        "h": "2024-01-01",
    }


def test_every_value_knows_its_line() -> None:
    tree = parse_yaml("a: 1\n\nb:\n  - x\n  - y\n", "file x")
    assert isinstance(tree.value, Mapping)
    assert (tree.value["a"].line, tree.value["b"].line) == (1, 4)
    assert isinstance(tree.value["b"].value, tuple)
    assert [one.line for one in tree.value["b"].value] == [4, 5]


def test_an_empty_file_says_nothing() -> None:
    for text in ("", "# only a remark\n", "---\n", "---\n...\n"):
        assert parse_yaml(text, "file x").value is None


def test_tags_mean_nothing_and_make_nothing() -> None:
    text = "a: !!python/object/apply:os.system ['exit 1']\nb: !include other.yaml\n"
    assert plain(parse_yaml(text, "file x")) == {"a": ["exit 1"], "b": "other.yaml"}


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (LAUGHS, r"The file x, line 1, uses an anchor"),
        ("a: 1\nb: *a\n", r"line 2, uses an anchor"),
        ("&k a: 1\n", r"line 1, uses an anchor"),
        ("? [a, b]\n: 1\n", r"line 1, has a key that is no plain text"),
        ("a: 1\nb: 2\na: 3\n", r"line 3, says 'a' a second time"),
        ("a: 1\n---\nb: 2\n", r"is not valid YAML: but found another document"),
        ("[" * 50_000, r"nested too deeply"),
        ("- " * 50_000, r"nested too deeply"),
        ("a:\n" + "".join(" " * n + "b:\n" for n in range(1, 200)), r"nested too deeply"),
        ("a: [1\nb: 2\n", r"line \d, ?.* ?is not valid YAML|line \d is not valid YAML"),
        ("a: 'x\n", r"is not valid YAML"),
        ("a: \x01\n", r"is not valid YAML"),
        ("\tb: 1\n", r"is not valid YAML"),
    ],
)
def test_refused_yaml_is_reported_with_its_line(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        parse_yaml(text, "file x")


@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*!|>'\"#\n \t,?%@0é\x85"), max_size=60))
def test_any_text_gives_data_or_a_config_error(text: str) -> None:
    try:
        plain(parse_yaml(text, "file x"))
    except ConfigError as error:
        assert "file x" in error.message
