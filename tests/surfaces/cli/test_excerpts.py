"""Excerpts of long lines and the headings of pages."""

from __future__ import annotations

import pytest

from ragstone.surfaces.cli.excerpts import crop_line, page_heading
from ragstone.types import Hit, Span

FILLER = "The buoy drifts slowly over the calm water of the bay. " * 4


def test_a_long_line_is_shown_around_the_match_with_the_words_after_it() -> None:
    line = f"{FILLER}Error code HB-77 means that the battery is empty. {FILLER}"
    assert len(FILLER) < 240
    cropped = crop_line(line, frozenset({"hb", "77"}), 240)
    assert "HB-77 means that the battery is empty." in cropped
    assert len(cropped) <= 240
    assert cropped.startswith("…") and cropped.endswith("…")


def test_the_part_with_most_words_of_the_query_is_shown() -> None:
    line = f"A code. {FILLER}{FILLER}Error code HB-77 means an empty battery."
    cropped = crop_line(line, frozenset({"code", "hb", "77"}), 120)
    assert "HB-77 means an empty battery." in cropped


@pytest.mark.parametrize("width", [20, 60, 240])
def test_a_line_without_a_match_is_shown_from_its_start(width: int) -> None:
    cropped = crop_line(FILLER + FILLER, frozenset({"granite"}), width)
    assert cropped.startswith("The buoy drifts")
    assert len(cropped) <= width


def page(text: str, header: str = "") -> Hit:
    span = Span(0, len(text), 0, len(text), 1, 1, page=4)
    return Hit(
        "m.pdf__chunk_0",
        text,
        0.5,
        {},
        "m.pdf",
        0,
        "default",
        span,
        "doc",
        title="Buoy manual",
        header=header,
    )


@pytest.mark.parametrize(
    ("hit", "heading"),
    [
        (page("Buoy manual\n\n4 Batteries\n\nThe battery lasts a year."), "4 Batteries"),
        (page("4 Batteries\n\nThe battery lasts a year."), "4 Batteries"),
        (page("the battery lasts\na year and a day.\n\nThen change it."), ""),
        (page("Change it.", "Buoy manual 4 Batteries The battery"), "4 Batteries The battery"),
    ],
)
def test_the_heading_of_a_page_is_its_own(hit: Hit, heading: str) -> None:
    assert page_heading(hit) == heading
