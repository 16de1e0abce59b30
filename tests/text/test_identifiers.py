"""Terms: identifiers whole and in parts, any script, nothing that could break an index."""

from __future__ import annotations

import re
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text import LONGEST_TERM, query_terms, terms
from ragstone.text.stemming import stem

ANY_TEXT = st.text(st.characters(codec=None), max_size=200)
WORDISH = st.text(st.sampled_from("aB1_-. zé字кाก\u0301\ud800(ßﬁ①"), max_size=60)


@pytest.mark.parametrize(
    "name", ["getUserName", "get_user_name", "get-user-name", "GetUserName", "GET_USER_NAME"]
)
def test_a_name_is_found_whole_and_in_parts_however_it_is_written(name: str) -> None:
    assert terms(name) == [stem("getusername"), "get", "user", "name"]


def test_a_name_and_its_plain_words_share_their_parts() -> None:
    assert set(terms("get user name")) <= set(terms("getUserName"))


def test_two_words_written_as_one_meet_the_name_made_of_them() -> None:
    assert set(terms("username")) < set(terms("user_name"))
    assert set(terms("filenames")) < set(terms("fileNames"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("parseURLs", ["parseurl", "pars", "url"]),
        ("utf8Decode2", ["utf8decode2", "utf", "8", "decod", "2"]),
        ("sha256", ["sha256", "sha", "256"]),
        ("__init__", ["init"]),
        ("os.path.join", ["ospathjoin", "os", "path", "join"]),
        ("self.lock", ["self", "lock"]),
        ("3.11.7", ["3_11_7", "3", "11", "7"]),
        ("2024-01-05", ["2024_01_05", "2024", "01", "05"]),
        ("e-mail", ["email", "e", "mail"]),
        ("3f2a9bc1", ["3f2a9bc1"]),
        ("running Files", ["run", "file"]),
    ],
)
def test_names_fall_into_sensible_parts(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Café NAÏVE", ["cafe", "naiv"]),
        ("Straße Łódź", ["strass", "lodz"]),
        ("cafe\u0301", ["cafe"]),
        ("ＨＥＬＬＯ", ["hello"]),
        ("机器学习", ["机器", "器学", "学习"]),
        ("字", ["字"]),
        ("データ・ベース", ["デー", "ータ", "ベー", "ース"]),
        ("학습은", ["학습", "습은"]),
        ("Обучение", ["обучение"]),
        ("यंत्र", ["यंत्र"]),
        ("使用getUser", ["使用", "getus", "get", "user"]),
    ],
)
def test_every_script_has_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_terms_come_in_order_and_as_often_as_they_occur() -> None:
    assert terms("lock the lock") == ["lock", "the", "lock"]


def test_a_blob_is_one_short_term_and_a_long_name_keeps_its_parts() -> None:
    assert terms("A7f" * 400) == [("a7f" * 400)[:LONGEST_TERM]]
    name = "_".join(["alpha", "beta"] * 20)
    assert terms(name) == ["alpha", "beta"] * 20


@pytest.mark.parametrize(
    "text",
    ["a" * 10**6, "a-" * 10**5, "a_" * 10**5, "e\u0301" * 10**5, "字" * 10**5, "." * 10**6],
)
def test_a_megabyte_without_spaces_is_legal(text: str) -> None:
    assert all(0 < len(term) <= LONGEST_TERM for term in terms(text))


@given(ANY_TEXT | WORDISH)
def test_any_text_gives_terms_that_an_ascii_tokenizer_takes_whole(text: str) -> None:
    for term in terms(text):
        assert re.fullmatch(r"[a-z0-9_\u0080-\U0010ffff]+", term)
        assert 0 < len(term) <= LONGEST_TERM
        assert not any(sign.isspace() for sign in term)
        term.encode()


@given(ANY_TEXT | WORDISH)
def test_a_text_finds_itself(text: str) -> None:
    assert set(query_terms(text, limit=10_000)) <= set(terms(text)) | set(
        terms(text.replace("'", " ").replace("’", " "))
    )


def test_the_full_text_index_takes_each_term_as_one_token() -> None:
    found = terms(
        "getUserName os.path.join 3.11.7 机器学习 Café utf8Decode2 MAX_SIZE 2024-01-05 यंत्र"
    )
    with sqlite3.connect(":memory:") as db:
        db.execute(
            "CREATE VIRTUAL TABLE t USING fts5(body, tokenize = \"ascii tokenchars '_'\")"
        )
        db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")
        db.execute("INSERT INTO t VALUES (?)", (" ".join(found),))
        assert [row[0] for row in db.execute("SELECT term FROM v ORDER BY offset")] == found
    db.close()


def test_a_query_loses_its_stop_words_and_repetitions() -> None:
    assert query_terms("What is the user's name, and the user's age?") == ["user", "name", "ag"]
    assert query_terms("doesn't the lock work") == ["lock", "work"]


def test_a_query_of_stop_words_alone_keeps_them() -> None:
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]


def test_a_query_is_bounded_however_long_it_is() -> None:
    assert len(query_terms(" ".join(f"word{number}" for number in range(10**5)))) == 64
    assert query_terms("alpha beta gamma", limit=2) == ["alpha", "beta"]
    assert query_terms("alpha", limit=0) == []
    assert query_terms("") == query_terms("😀 \x00 \ud800 -- ") == []
