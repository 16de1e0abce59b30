from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone_code.questions.mentions import (
    Mention,
    find_mentions,
    remove_mentions,
)
from ragstone_code.questions.uris import normalise_uri


def named(question: str, form: str) -> Mention:
    """Return the first mention that may be written in this form."""
    return next(mention for mention in find_mentions(question) if form in mention.forms)


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Which code serves route api:client:server.ws?", "api:client:server.ws"),
        ("What guards `contact.note.store`?", "contact.note.store"),
        ("Who calls BookController@store?", "BookController@store"),
        ("Who calls Book::price()?", "Book::price"),
        ("Who calls Book->price($now)?", "Book::price"),
        ("What is \\App\\Models\\Book's table?", "App\\Models\\Book"),
        (
            "Which routes does Route::apiResource('shelf-parts.books', ...) give?",
            "shelf-parts.books",
        ),
        ("the radio stations table", "radio_stations"),
        ("the playlist folder policy", "playlistfolderpolicy"),
        ("table named users, please", "users"),
        ("which code is behind /rest/ping?", "rest/ping"),
        ("Which code answers https://shop.example/rest/ping?", "rest/ping"),
    ],
)
def test_a_name_is_found_in_its_spelling(question: str, form: str) -> None:
    assert named(question, form)


def test_a_method_before_a_uri_is_part_of_the_name() -> None:
    mention = named(
        "Which code handles PUT|PATCH /api/songs/{song:slug}/rating?", "api/songs/{}/rating"
    )
    assert mention.methods == ("PUT", "PATCH")


def test_the_root_is_a_uri() -> None:
    assert named("What serves GET /?", "/").methods == ("GET",)


def test_a_common_word_is_no_name_without_a_cue() -> None:
    assert [mention.text for mention in find_mentions("which users are told about books")] == []


def test_a_capitalised_word_is_a_name_except_at_the_start() -> None:
    assert [
        mention.text for mention in find_mentions("Song lists are kept by whom, says Server")
    ] == ["Server"]


@pytest.mark.parametrize(
    ("uri", "bare"),
    [("/api/{a}/{b?}", "api/{}/{}"), ("", "/"), ("/", "/"), ("x{format?}", "x{}")],
)
def test_parameters_of_a_uri_lose_their_names(uri: str, bare: str) -> None:
    assert normalise_uri(uri) == bare


def test_removing_names_keeps_the_words_of_the_intent() -> None:
    question = "Which code serves PUT api/songs/{song}?"
    assert remove_mentions(question, find_mentions(question)) == "which code serves ?"


@given(st.text(max_size=300))
def test_mentions_are_inside_the_text(text: str) -> None:
    for mention in find_mentions(text):
        assert mention.forms and 0 <= mention.at <= len(text)
    assert isinstance(remove_mentions(text, find_mentions(text)), str)


def test_python_style_parameters_are_normalised() -> None:
    assert named("Which view handles GET /orders/<int:pk>/?", "orders/{}").methods == ("GET",)
