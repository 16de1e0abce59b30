from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ragstone.sources.folder.selection import FileLimits
from ragstone.sources.folder.source import FolderSource, fingerprint


def look(folder: Path) -> str:
    return fingerprint(FolderSource(folder, limits=FileLimits(1000, 100)).scan())


def test_it_changes_with_path_size_and_time_and_with_nothing_else(
    plant: Callable[..., Path],
) -> None:
    folder = plant({"a.txt": "one", "b/c.txt": "two"})
    first = look(folder)
    assert look(folder) == first
    os.utime(folder / "a.txt", ns=(1, 1))
    touched = look(folder)
    assert touched != first
    (folder / "a.txt").rename(folder / "d.txt")
    renamed = look(folder)
    assert renamed != touched
    (folder / "d.txt").write_text("longer")
    os.utime(folder / "d.txt", ns=(1, 1))
    grown = look(folder)
    assert grown != renamed
    (folder / "b/c.txt").unlink()
    assert look(folder) not in (first, touched, renamed, grown)


def test_a_skipped_file_does_not_change_the_fingerprint(plant: Callable[..., Path]) -> None:
    folder = plant({"a.txt": "one"})
    first = look(folder)
    plant({".env": "TOKEN=1"})
    assert look(folder) == first
