"""Lines become text without losing a word, wherever they are on the page."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragstone.read.pdf_columns import find_gutter, order_lines
from ragstone.read.pdf_layout import SOFT_HYPHEN, PdfLine, clean_text, join_lines, rejoin_words

NUMBERS = st.floats(-1e6, 1e6)
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1, max_size=30
).filter(str.strip)
LINES = st.lists(st.builds(PdfLine, TEXTS, NUMBERS, NUMBERS, NUMBERS, NUMBERS), max_size=40)


def letters(text: str) -> list[str]:
    return sorted(sign for sign in text if not sign.isspace() and sign not in f"-{SOFT_HYPHEN}")


@given(LINES)
def test_no_letter_is_lost_on_the_way(lines: list[PdfLine]) -> None:
    ordered = order_lines(lines)
    assert sorted(ordered) == sorted(lines)
    assert letters(rejoin_words([join_lines(ordered)])[0]) == letters(
        "".join(line.text for line in lines)
    )


@given(st.lists(st.text(max_size=30), max_size=4))
def test_no_soft_hyphen_is_left_and_no_letter_goes_with_it(pages: list[str]) -> None:
    whole = rejoin_words(pages)
    assert len(whole) == len(pages)
    for before, after in zip(pages, whole, strict=True):
        assert SOFT_HYPHEN not in after
        assert letters(before) == letters(after)


@given(st.text(st.characters(codec=None)))
def test_a_control_character_becomes_a_space(text: str) -> None:
    assert clean_text(text).isprintable() or all(
        sign.isprintable() or sign in "\t\n" or ord(sign) > 0x9F for sign in clean_text(text)
    )
    clean_text(text).encode("utf-8")


def test_a_word_broken_more_than_once_is_made_whole() -> None:
    assert rejoin_words([f"in{SOFT_HYPHEN}ter{SOFT_HYPHEN}na{SOFT_HYPHEN} tional"]) == [
        "international"
    ]


def test_a_page_of_one_endless_word_takes_no_time() -> None:
    page = "x" * 2_000_000
    assert rejoin_words([page + SOFT_HYPHEN + "y", "a-b"])[0] == page + "y"


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=30))
def test_a_gutter_lies_inside_the_gaps(gaps: list[tuple[float, float]]) -> None:
    sound = [(min(gap), max(gap)) for gap in gaps]
    place = find_gutter(sound)
    assert place is None or sum(left <= place <= right for left, right in sound) >= 5


def test_lines_without_a_place_keep_their_order_and_their_lines() -> None:
    assert join_lines([PdfLine("one"), PdfLine("two")]) == "one\ntwo"
