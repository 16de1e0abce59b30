"""The page about the designs names, for each row of the contract, a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "from-the-designs.md"
ROW = re.compile(
    r"^\| (?P<row>[A-Z]{2}-\d+|1[56]) \| (?P<state>[^|]+) \| (?P<use>[^|]+) \| (?P<test>[^|]+) \|$"
)
LAST_ROWS = {
    **{"IN": 8, "CH": 10, "EM": 12, "ST": 7, "SE": 9, "ME": 4, "CX": 8, "TO": 8},
    **{"RE": 6, "MC": 4, "UI": 2, "PL": 3, "UP": 4, "EV": 2},
}
MATCHES = [match for line in PAGE.read_text("utf-8").splitlines() if (match := ROW.match(line))]


def test_every_row_of_the_contract_is_listed_once() -> None:
    expected = [
        f"{group}-{number}"
        for group, last in LAST_ROWS.items()
        for number in range(1, last + 1)
    ]
    expected += ["15", "16"]
    assert sorted(match["row"] for match in MATCHES) == sorted(expected)


@pytest.mark.parametrize("match", MATCHES, ids=[match["row"] for match in MATCHES])
def test_a_row_that_works_names_a_test_that_exists(match: re.Match[str]) -> None:
    assert match["state"] == "works"
    path, _, name = match["test"].strip("`").partition("::")
    assert f"\ndef {name}(" in (TESTS / path).read_text("utf-8")
