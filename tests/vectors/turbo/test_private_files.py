"""Vectors reveal much of the texts they were made from: only their owner may read the files."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pytest

from ragstone.vectors.turbo.index import TurboIndex
from ragstone.vectors.turbo.private_files import make_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _fill(folder: Path) -> None:
    index = TurboIndex(folder, 32, stamp="s")
    index.upsert(
        range(1, 101), np.random.default_rng(1).standard_normal((100, 32)).astype(np.float32)
    )
    index.flush()
    index.close()


def test_every_file_and_folder_of_an_index_is_private(tmp_path: Path) -> None:
    _fill(tmp_path / "vectors" / "1-abc")
    assert _mode(tmp_path / "vectors") == _mode(tmp_path / "vectors" / "1-abc") == 0o700
    modes = {path.name: _mode(path) for path in (tmp_path / "vectors" / "1-abc").iterdir()}
    assert set(modes.values()) == {0o600}
    assert {Path(name).suffix for name in modes} >= {".json", ".planes"}


def test_a_folder_that_others_can_read_is_made_private(tmp_path: Path) -> None:
    folder = tmp_path / "vectors" / "1-abc"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    _fill(folder)
    assert _mode(folder) == 0o700


def test_existing_parent_folders_are_left_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_folder(tmp_path / "vectors" / "1-abc")
    assert _mode(tmp_path) == 0o755
