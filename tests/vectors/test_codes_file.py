"""turbovec's file is believed when it is as it was written, and removed when it is not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.vectors.codes_file import covered, sound_codes, write_codes

DATA = bytes(range(256)) * 8000


def writer(data: bytes) -> Callable[[str], None]:
    """Return what writes data to a path."""

    def write(path: str) -> None:
        Path(path).write_bytes(data)

    return write


def test_what_was_written_is_found_again(tmp_path: Path) -> None:
    write_codes(tmp_path, "g", writer(DATA), covered=77)
    assert covered(tmp_path, "g") == 77
    path = sound_codes(tmp_path, "g")
    assert path is not None
    assert path.read_bytes() == DATA
    assert (covered(tmp_path, "h"), sound_codes(tmp_path, "h")) == (0, None)


def test_writing_again_replaces_both_files(tmp_path: Path) -> None:
    write_codes(tmp_path, "g", writer(DATA), covered=77)
    write_codes(tmp_path, "g", writer(DATA[1:]), covered=78)
    assert covered(tmp_path, "g") == 78
    assert sound_codes(tmp_path, "g") is not None
    assert len(list(tmp_path.iterdir())) == 2


def test_what_could_not_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    def fails(path: str) -> None:
        Path(path).write_bytes(DATA[:7])
        raise OSError(28, "No space left on device")

    write_codes(tmp_path, "g", writer(DATA), covered=77)
    with pytest.raises(OSError, match="No space"):
        write_codes(tmp_path, "g", fails, covered=78)
    assert covered(tmp_path, "g") == 77
    assert sound_codes(tmp_path, "g") is not None
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_nobody_else_can_look_at_it_while_it_is_written(tmp_path: Path) -> None:
    modes: list[int] = []

    def noted(path: str) -> None:
        Path(path).write_bytes(DATA)
        modes.append(Path(path).parent.stat().st_mode & 0o777)

    write_codes(tmp_path, "g", noted, covered=77)
    assert modes == [0o700]
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize("name", ["g.turbovec", "g.head.turbovec"])
@pytest.mark.parametrize("content", [None, b"", b"x" * 16, DATA[:-1]])
def test_a_file_that_is_not_as_it_was_is_removed(tmp_path: Path, name: str, content: bytes | None) -> None:
    write_codes(tmp_path, "g", writer(DATA), covered=77)
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)
    assert sound_codes(tmp_path, "g") is None
    assert list(tmp_path.iterdir()) == []
    assert covered(tmp_path, "g") == 0
