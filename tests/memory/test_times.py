"""Times in a question, seen from Wednesday, 14 June 2023."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.memory.times import date_words, find_date_ranges

NOW = datetime(2023, 6, 14, 12).timestamp()


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("what happened on 2023-05-08?", "2023-05-08", "2023-05-08"),
        ("what happened on 8 May 2023?", "2023-05-08", "2023-05-08"),
        ("on May 8th, 2023", "2023-05-08", "2023-05-08"),
        ("on the 8th of May", "2023-05-08", "2023-05-08"),
        ("on July 4", "2022-07-04", "2022-07-04"),
        ("in May 2022", "2022-05-01", "2022-05-31"),
        ("last May", "2023-05-01", "2023-05-31"),
        ("last June", "2022-06-01", "2022-06-30"),
        ("in August", "2022-08-01", "2022-08-31"),
        ("in 2021", "2021-01-01", "2021-12-31"),
        ("yesterday", "2023-06-13", "2023-06-13"),
        ("today", "2023-06-14", "2023-06-14"),
        ("three days ago", "2023-06-11", "2023-06-11"),
        ("two weeks ago", "2023-05-27", "2023-06-04"),
        ("in the last ten days", "2023-06-04", "2023-06-14"),
        ("last week", "2023-06-05", "2023-06-11"),
        ("this week", "2023-06-12", "2023-06-18"),
        ("last month", "2023-05-01", "2023-05-31"),
        ("last year", "2022-01-01", "2022-12-31"),
        ("last Friday", "2023-06-09", "2023-06-09"),
        ("two weeks after 1 May 2023", "2023-05-13", "2023-05-17"),
        ("a week before 8 May 2023", "2023-04-30", "2023-05-02"),
        ("in December", "2022-12-01", "2022-12-31"),
    ],
)
def test_a_time_is_a_range_of_days(query: str, first: str, last: str) -> None:
    ranges = find_date_ranges(query, NOW)
    assert [(days.first, days.last) for days in ranges] == [
        (date.fromisoformat(first), date.fromisoformat(last))
    ]


@pytest.mark.parametrize(
    "query",
    ["", "may I come in?", "on 45 May", "the march of time", "version 2023.1", "x" * 5000],
)
def test_other_words_are_no_times(query: str) -> None:
    assert find_date_ranges(query, NOW) == []


@given(st.text(), st.floats(0, 4e9))
def test_any_question_can_be_read(query: str, now: float) -> None:
    for days in find_date_ranges(query, now):
        assert days.first <= days.last


def test_a_range_contains_its_days() -> None:
    yesterday = find_date_ranges("yesterday", NOW)[0]
    assert yesterday.contains(datetime(2023, 6, 13, 23, 59).timestamp())
    assert not yesterday.contains(datetime(2023, 6, 14).timestamp())
    assert not yesterday.contains(float("inf"))


def test_a_time_in_words_shares_them_with_a_question() -> None:
    assert date_words(datetime(2023, 5, 8, 13, 56).timestamp()) == "8 May 2023 Monday"
    assert date_words(1e300) == ""
