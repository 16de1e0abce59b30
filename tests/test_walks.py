"""How many files a reader passes on the way of one sync and one search; docs/decisions/0020 has the reasons."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

TRACE = Path(__file__).resolve().parents[1] / "tools" / "trace_files.py"
LIMITS = {"sync": 60, "search": 50}


def test_a_sync_and_a_search_pass_through_few_files() -> None:
    printed = subprocess.run(
        [sys.executable, str(TRACE)], capture_output=True, text=True, check=True
    ).stdout
    counts = {name: int(count) for name, count in re.findall(r"(\w+): (\d+) files", printed)}
    assert counts.keys() == LIMITS.keys()
    assert all(counts[name] <= limit for name, limit in LIMITS.items()), printed
