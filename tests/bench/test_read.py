"""Every format that is read is measured, and what is measured is the whole text."""

from __future__ import annotations

import random

from bench.read import MAKERS, PAGES, written
from ragstone.read.file_formats import FORMATS


def test_the_same_words_stand_in_every_format() -> None:
    pages = list(written(random.Random(1)))[:3]
    words = " ".join(line for page in pages for line in page).split()
    assert len(words) > 1000
    # Recognition of pictures is slow and needs an extra: `make test-ocr`.
    measured = [each for each in FORMATS if each.name != "scanned-pdf"]
    assert {each.name for each in measured} == set(MAKERS)
    for each in measured:
        read = each.load()(MAKERS[each.name](pages), f"a.{each.suffixes[0]}").text
        assert not set(words) - set(read.replace("|", " ").split()), each.name


def test_there_are_as_many_pages_as_are_told() -> None:
    assert len(list(written(random.Random(1)))) == PAGES
