"""Files that are skipped by their name."""

from __future__ import annotations

import pytest

from ragstone.sources.folder.selection import file_reason


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".env", "secret file"),
        (".ENV.local", "secret file"),
        (".env.example", None),
        ("prod.env", "secret file"),
        ("uv.lock", "generated file"),
        ("app.min.js", "generated file"),
        ("thing_pb2.py", "generated file"),
        (".gitignore", "ignore file"),
        (".ragstoneignore", "ignore file"),
        ("main.py", None),
        ("é.md", None),
        ("", None),
    ],
)
def test_a_file_is_skipped_by_its_name(name: str, reason: str | None) -> None:
    assert file_reason(name, secrets=False) == reason
    assert file_reason(name, secrets=True) == (None if reason == "secret file" else reason)
