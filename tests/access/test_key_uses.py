"""The last use of keys: kept in a file that several processes write, and that may be damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.access import key_uses
from ragstone.access.key_uses import FILE_NAME, KeyUses


def test_times_of_two_processes_come_together(tmp_path: Path) -> None:
    first, second = KeyUses(tmp_path), KeyUses(tmp_path)
    first.note("a")
    second.note("b")
    first.flush()
    second.flush()
    assert set(KeyUses(tmp_path).times()) == {"a", "b"}
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o077 == 0


def test_uses_are_written_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uses = KeyUses(tmp_path)
    uses.note("a")
    assert not (tmp_path / FILE_NAME).exists()
    monkeypatch.setattr(key_uses, "_SECONDS", 0.0)
    uses.note("a")
    assert (tmp_path / FILE_NAME).exists()


@pytest.mark.parametrize("content", [b"{", b"[1]", b'{"a": "soon"}', b"\xff"])
def test_a_damaged_file_has_no_times(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    assert KeyUses(tmp_path).times() == {}


def test_without_a_home_the_times_stay_in_memory() -> None:
    uses = KeyUses(None)
    uses.note("a")
    uses.flush()
    assert set(uses.times()) == {"a"}
