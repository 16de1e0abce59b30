"""Token counts are near those of the model, for any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text.tokens import at_most, estimate, estimate_lines, estimate_up_to

# Counted once with the reference WordPiece vocabulary, special tokens left out.
PROSE = (
    "The writer holds the lock for as long as one document takes to store. Readers never wait for it: they see the"
    " state before or after the change, and nothing in between. When the process is killed, the journal is rolled back"
    " on the next start, and everything that was acknowledged is still there."
)
CODE = '''def connect(path, *, timeout=5.0):
    """Open the database and return a connection."""
    connection = sqlite3.connect(path, timeout=timeout, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    for name, value in sorted(DEFAULTS.items()):
        connection.set_option(name, int(value) + 1)
    return connection
'''
CHINESE = "机器学习是人工智能的一个分支，它使计算机能够从数据中学习。"
FRENCH = (
    "L'apprentissage automatique est un champ d'étude de l'intelligence artificielle"
    " fondé sur des approches mathématiques."
)


@pytest.mark.parametrize(
    ("text", "tokens", "tolerance"),
    [(PROSE, 61, 0.06), (CODE, 98, 0.12), (CHINESE, 29, 0.1), (FRENCH, 36, 0.2)],
    ids=["prose", "code", "chinese", "french"],
)
def test_the_estimate_is_near_the_models_count(
    text: str, tokens: int, tolerance: float
) -> None:
    assert estimate(text) == pytest.approx(tokens, rel=tolerance)


def test_nothing_has_no_tokens() -> None:
    assert estimate("") == 0
    assert estimate(" \n\t ") == 0


def test_a_long_word_costs_more_than_a_short_one() -> None:
    assert estimate("a") == 1
    assert estimate("f" * 500) > 100
    assert estimate("4f9a" * 100) > 100


def test_names_in_camel_case_cost_their_parts() -> None:
    assert estimate("getUserNameFromDatabase()") >= 5


@given(st.text(st.characters(codec=None), max_size=300))
def test_any_text_has_a_count_that_does_not_exceed_its_signs(text: str) -> None:
    assert 0 <= estimate(text) <= 4 * len(text) + 1


@given(
    st.lists(st.sampled_from(["alpha", "beta()", "x = 1", "Hello, world.", "été"]), max_size=30)
)
def test_the_count_of_lines_is_about_the_sum_of_their_counts(lines: list[str]) -> None:
    total = sum(map(estimate, lines))
    assert abs(estimate("\n".join(lines)) - total) <= 2 + total * 0.35


@given(st.text(st.characters(codec=None) | st.sampled_from("aeiS9_.(\n\r\x1c\x85é ")))
def test_lines_weighed_together_weigh_what_each_weighs_alone(text: str) -> None:
    assert estimate_lines(text) == [estimate(line) for line in text.split("\n")]
    assert estimate_lines(text) == [estimate(f"{line}\n") for line in text.split("\n")]


@given(st.text(st.characters(codec=None) | st.sampled_from("aeiS9_.(\n é")), st.integers(0, 40))
def test_an_estimate_with_a_limit_is_the_same_below_it_and_just_more_above(
    text: str, most: int
) -> None:
    assert estimate_up_to(text, most) == min(estimate(text), most + 1)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (
            "Die Hotline ist von acht bis sechs besetzt. Nachts nimmt ein Anrufbeantworter "
            "Anrufe an.",
            29,
        ),
        (
            "Kaffeebohnen werden montags bestellt. Wer die letzte Tasse nimmt, schaltet die "
            "Maschine aus.",
            28,
        ),
        (
            "Die wöchentliche Besprechung ist dienstags um zehn. Das Protokoll wird reihum "
            "geschrieben.",
            30,
        ),
    ],
)
def test_the_bound_holds_for_german_text(text: str, tokens: int) -> None:
    # Counted with the vocabulary cl100k, which needs more tokens than o200k here.
    assert tokens <= at_most(text) <= 1.6 * tokens
