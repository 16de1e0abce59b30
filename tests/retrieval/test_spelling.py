"""Misspelt queries get a suggestion, from words of the searched documents alone."""

from __future__ import annotations

from collections.abc import Iterator
from os.path import commonprefix
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import Document, Engine
from ragstone.embed.wordpiece import vocabulary_words
from ragstone.retrieval.spelling import edit_distance

FAKE = {"rag.embedding_provider": "fake"}
DOCUMENTS = (
    Document(
        "src/auth.py", "class AuthenticationMiddleware:\n    def rejectVisitor(self): ...\n"
    ),
    Document("guide.md", "The authentication middleware checks a session before handlers run."),
    Document("food.md", "Vegetarian dishes are marked green. Error E1042: the stove is cold."),
)
WORDS = (
    "authentication middleware checks session before handlers vegetarian dishes marked green"
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(tmp_path_factory.mktemp("spelling"), config=FAKE) as opened:
        opened.add(list(DOCUMENTS))
        yield opened


@pytest.mark.parametrize(
    ("query", "suggestion"),
    [
        ("autentication midleware", "authentication middleware"),
        ("how does the autentication work", "how does the authentication work"),
        ("Vegetarain dishes", "Vegetarian dishes"),
        ("rejectVistor", "rejectVisitor"),
        ("sesion_handlers", "session_handlers"),
        ("atuhentication", "authentication"),
        ("authentification middleware", "authentication middleware"),
    ],
)
def test_unknown_words_near_a_known_one_are_corrected(
    engine: Engine, query: str, suggestion: str
) -> None:
    explanation = engine.explain(query)
    assert explanation.suggestion == suggestion
    assert explanation.notes[-1] == f"Did you mean: {suggestion}?"


@pytest.mark.parametrize(
    ("query", "suggestion"),
    [
        ("hwo does the autentication work", "how does the authentication work"),
        ("unkown host kye verfication", "unknown host key verification"),
        ("teh vistor hots", "the visitor host"),
        ("cfg dst src", ""),
        ("kex of the visitor", ""),
    ],
)
def test_short_words_with_two_swapped_letters_are_corrected(
    tmp_path: Path, query: str, suggestion: str
) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add("The visitor authentication: verification of an unknown host key.", uri="a")
        assert engine.explain(query).suggestion == suggestion


def test_every_unknown_word_of_a_query_is_corrected(tmp_path: Path) -> None:
    words = "conection verfication gondolla harbuor kitchn vegetarain"
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add("connection verification gondola harbour kitchen vegetarian", uri="a.md")
        suggestion = engine.explain(words).suggestion
    assert suggestion == "connection verification gondola harbour kitchen vegetarian"


def test_a_corrected_question_ends_with_one_question_mark(engine: Engine) -> None:
    explanation = engine.explain("how does the autentication work?")
    assert explanation.suggestion == "how does the authentication work?"
    assert explanation.notes[-1] == "Did you mean: how does the authentication work?"


def test_a_query_without_a_known_word_says_that_nothing_fits_well(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:  # the built-in model finds something for any word
        engine.add(list(DOCUMENTS))
        unknown = engine.explain("authentification")
        known = engine.explain("Vegetarain dishes")
    assert unknown.hits and unknown.suggestion
    assert known.hits and known.suggestion
    assert any("nothing fits well" in note for note in unknown.notes)
    assert not any("nothing fits well" in note for note in known.notes)


def test_a_strong_answer_gets_no_suggestion(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        engine.add(list(DOCUMENTS))
        strong = engine.explain("autentication middleware checks a session before handlers run")
        weak = engine.explain("autentication of dogs")
    assert strong.hits[0].score >= 0.75
    assert strong.suggestion == ""
    assert weak.suggestion == "authentication of dogs"


@pytest.mark.parametrize(
    "query", ["the machine overheats", "banana bread", "the maker of a machine"]
)
def test_correct_words_that_no_document_has_are_left_alone(tmp_path: Path, query: str) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add("The overhead of a break: it makes the machine slow.", uri="machine.md")
        assert engine.explain(query).suggestion == ""


def test_one_misspelt_word_of_a_good_answer_is_corrected(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        engine.add("The connection pool has a limit of ten.", uri="pool.md")
        engine.add("The swimming pool opens at nine.", uri="swim.md")
        explanation = engine.explain("conection pool limit")
    assert explanation.hits[0].score > 0.5
    assert explanation.suggestion == "connection pool limit"


@pytest.mark.parametrize("query", ["maker", "marker", "checker", "handlerly"])
def test_another_form_of_a_known_word_is_no_mistake(engine: Engine, query: str) -> None:
    engine.add("She makes the stoves.", uri="stoves.md")
    assert engine.explain(query).suggestion == ""


@pytest.mark.parametrize(
    "query",
    [
        "authentication middleware",
        "authenticating visitors",
        "AuthenticationMiddleware",
        "visitorMiddleware",
        "quantum entanglement",
        "E1043",
        "about there which",
        "安全なサーバーの設定",
        "fix",
        "",
        "authentcation " * 20,
    ],
)
def test_known_words_codes_and_far_words_are_left_alone(engine: Engine, query: str) -> None:
    explanation = engine.explain(query or " ")
    assert explanation.suggestion == ""
    assert not any("Did you mean" in note for note in explanation.notes)


def test_a_word_of_another_project_or_collection_is_not_suggested(tmp_path: Path) -> None:
    with (
        Engine.open(tmp_path, config=FAKE, project="mine") as mine,
        Engine.open(tmp_path, config=FAKE, project="theirs") as theirs,
    ):
        mine.add("The harbour opens at nine.", uri="a.md")
        theirs.add("The acquisition is confidential.", uri="b.md")
        mine.add("The lighthouse is closed.", uri="c.md", collection="coast")
        assert theirs.explain("aquisition").suggestion == "acquisition"
        assert mine.explain("aquisition").suggestion == ""
        assert mine.explain("lighthoues", collection="coast").suggestion == "lighthouse"
        assert mine.explain("harbuor", collection="coast").suggestion == ""


def test_a_filter_limits_the_suggested_words(engine: Engine) -> None:
    food = {"path": "food.md"}
    assert engine.explain("vegetarain", filters=food).suggestion == "vegetarian"
    assert engine.explain("midleware", filters=food).suggestion == ""


def test_a_removed_secret_is_not_suggested(tmp_path: Path) -> None:
    secret = "ghp_" + "kangaroobicyclelanternmeadowsaffronq"
    (tmp_path / "notes.md").write_text(f"token = {secret}\n", encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        report = engine.sync()
        assert report.indexed == 1
        assert engine.explain("token kangaroobicyclelanternmeadowsafronq").suggestion == ""
        assert engine.explain("kangaroobicyclelanter").suggestion == ""


@given(st.data())
def test_a_word_with_one_mistake_is_replaced_by_a_word_of_the_documents(
    engine: Engine, data: st.DataObject
) -> None:
    word = data.draw(st.sampled_from(WORDS.split()))
    place = data.draw(st.integers(1, len(word) - 1))
    letter = data.draw(st.sampled_from("abcdefghijklmnopqrstuvwxyz"))
    wrong = data.draw(
        st.sampled_from(
            [
                word[:place] + word[place + 1 :],
                word[:place] + letter + word[place:],
                word[:place] + letter + word[place + 1 :],
                word[: place - 1] + word[place] + word[place - 1] + word[place + 1 :],
            ]
        )
    )
    explanation = engine.explain(wrong, mode="words")
    if explanation.hits or len(wrong) < 5 or wrong in vocabulary_words():
        # The mistake is in an ending, or makes another word that is known.
        assert explanation.suggestion == ""
    elif len(commonprefix((wrong, word))) >= len(word) - 2:
        assert explanation.suggestion in ("", word)  # it may be a form of the same word
    else:
        assert explanation.suggestion == word


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_the_distance_of_two_words_is_symmetric_and_zero_only_for_the_same(
    first: str, second: str
) -> None:
    distance = edit_distance(first, second)
    assert distance == edit_distance(second, first)
    assert (distance == 0) == (first == second)
    assert abs(len(first) - len(second)) <= distance <= max(len(first), len(second))
