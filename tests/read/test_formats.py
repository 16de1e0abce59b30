"""Every format can be loaded, and no two formats share a suffix."""

from __future__ import annotations

from collections import Counter

import pytest

from ragstone.read.choose_reader import is_binary
from ragstone.read.file_formats import FORMATS, Format, explain_refusal, find_format
from tests.support.formats import get_format


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_a_format_is_found_by_its_suffixes_and_its_function_is_there(row: Format) -> None:
    assert callable(row.load())
    for suffix in row.suffixes:
        assert find_format(f"some.folder/a.{suffix.upper()}") is row
        assert explain_refusal(f"a.{suffix}") is None
        assert not is_binary(b"\0\1\2", f"a.{suffix}")


def test_no_two_formats_share_a_name_or_a_suffix() -> None:
    assert max(Counter(row.name for row in FORMATS).values()) == 1
    assert max(Counter(suffix for row in FORMATS for suffix in row.suffixes).values()) == 1


def test_a_name_goes_before_the_first_bytes() -> None:
    assert find_format("a.unknown", b"%PDF-1.4") is get_format("pdf")
    assert find_format("a.unknown", b"plain") is None
