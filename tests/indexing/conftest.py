from __future__ import annotations

from pathlib import Path

import pytest

from tests.indexing.mixed_tree import write_tree


@pytest.fixture
def mixed_tree(tmp_path: Path, seed: int) -> Path:
    """Return a folder with files of every kind."""
    write_tree(tmp_path, seed)
    return tmp_path
