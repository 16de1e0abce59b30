"""Changes in other words than the earlier statement: precision and recall on pairs of everyday facts."""

from __future__ import annotations

from pathlib import Path

from tests.memory.test_replacements import is_superseded

LINES = (Path(__file__).parent / "everyday_changes.txt").read_text("utf-8").splitlines()
PAIRS = [line.split(" | ") for line in LINES if not line.startswith("#")]
CHANGED, UNCHANGED = PAIRS[:15], PAIRS[15:]


def test_everyday_changes_are_noticed_with_high_precision() -> None:
    noticed = [pair for pair in CHANGED if is_superseded(*pair)]
    wrong = [pair for pair in UNCHANGED if is_superseded(*pair)]
    assert len(UNCHANGED) == 15
    assert len(noticed) >= 0.7 * len(CHANGED)
    assert len(noticed) >= 0.95 * len(noticed + wrong)
