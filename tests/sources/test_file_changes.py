"""Changes of files are reported by the operating system, or assumed after an interval."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from ragstone.sources.file_changes import EventWatch, Interval, Watch, open_watch
from ragstone.sources.folder.selection import FileLimits
from ragstone.sources.folder.source import FolderSource

Plant = Callable[..., Path]
LIMITS = FileLimits(1_000_000, 50_000)


def folders_of(root: Path) -> Callable[[Sequence[str] | None], set[str]]:
    return lambda below: FolderSource(root, limits=LIMITS, changed=below).folders()


@pytest.fixture
def watch(folder: Path) -> Iterator[Watch]:
    (folder / "d/e").mkdir(parents=True)
    opened = open_watch(folder, folders_of(folder), interval=60.0)
    yield opened
    opened.close()


def test_a_write_is_reported_at_once_and_once(watch: Watch, plant: Plant) -> None:
    assert watch.way == "events"
    assert watch.changed() == set()
    plant({"a.md": "x", "d/e/b.md": "x"})
    assert watch.changed() == {"a.md", "d/e/b.md"}
    assert watch.changed() == set()


def test_every_kind_of_change_is_reported(watch: Watch, plant: Plant) -> None:
    folder = plant({"a.md": "x", "b.md": "x", "c.md": "x"})
    watch.changed()
    (folder / "a.md").unlink()
    os.rename(folder / "b.md", folder / "d/z.md")
    os.utime(folder / "c.md", (1, 1))
    assert watch.changed() == {"a.md", "b.md", "d/z.md", "c.md"}
    (folder / "c.md").chmod(0o600)
    assert watch.changed() == {"c.md"}


def test_new_folders_are_watched_at_any_depth(watch: Watch, plant: Plant) -> None:
    folder = plant({"n/o/p/a.md": "x"})
    assert watch.changed() is None  # a new folder: look at everything
    plant({"n/o/p/a.md": "y"})
    assert watch.changed() == {"n/o/p/a.md"}
    shutil.move(folder / "n", folder / "m")
    assert watch.changed() is None
    plant({"m/o/p/a.md": "z"})
    assert watch.changed() == {"m/o/p/a.md"}
    shutil.rmtree(folder / "m")
    assert "m" in (watch.changed() or ())
    plant({"m/o/p/a.md": "again"})
    assert watch.changed() is None
    plant({"m/o/p/a.md": "and again"})
    assert watch.changed() == {"m/o/p/a.md"}


def test_a_folder_that_was_deleted_and_created_again_is_watched(
    watch: Watch, plant: Plant, folder: Path
) -> None:
    shutil.rmtree(folder / "d")
    plant({"d/e/a.md": "x"})
    assert watch.changed() is None
    plant({"d/e/a.md": "y"})
    assert watch.changed() == {"d/e/a.md"}


def test_a_folder_that_leaves_is_no_longer_watched(
    watch: Watch, folder: Path, tmp_path: Path
) -> None:
    shutil.move(folder / "d", tmp_path / "outside")
    assert watch.changed() == {"d"}
    (tmp_path / "outside/e/a.md").write_text("x")
    assert watch.changed() == set()


def test_ignored_folders_are_not_watched(plant: Plant, git: Callable[..., bytes]) -> None:
    folder = plant(
        {".gitignore": "build/\n", "build/x.md": "x", "node_modules/p/y.md": "x", "a/b.md": "x"}
    )
    git("init", "-q")
    opened = open_watch(folder, folders_of(folder), interval=60.0)
    plant({"build/x.md": "y", "node_modules/p/y.md": "y", "a/b.md": "y"})
    assert opened.changed() == {"a/b.md"}
    plant({".venv/pyvenv.cfg": "", ".venv/lib/z.py": "y"})
    assert opened.changed() == {".venv"}
    plant({".venv/lib/z.py": "z"})
    assert opened.changed() == set()
    opened.close()


def test_a_file_that_git_tracks_in_an_ignored_folder_is_watched(
    plant: Plant, git: Callable[..., bytes]
) -> None:
    folder = plant({".gitignore": "build/\n", "build/kept.md": "x"})
    git("init", "-q")
    git("add", "-f", ".")
    opened = open_watch(folder, folders_of(folder), interval=60.0)
    plant({"build/kept.md": "y"})
    assert opened.changed() == {"build/kept.md"}
    opened.close()


def test_no_change_is_lost_in_a_flood_of_events(watch: Watch, folder: Path) -> None:
    for name in ("a.md", "b.md"):
        (folder / name).write_text("x")
    for number in range(20_000):
        os.utime(folder / ("a.md", "b.md")[number % 2])
    (folder / "d/e/after.md").write_text("x")
    assert watch.changed() == {"a.md", "b.md", "d/e/after.md"}
    assert watch.changed() == set()


def test_a_root_that_was_replaced_may_have_changed_anywhere(watch: Watch, folder: Path) -> None:
    os.rename(folder, folder.with_name("away"))
    assert watch.changed() is None
    assert watch.changed() is None
    folder.mkdir()
    assert watch.changed() is None
    (folder / "a.md").write_text("x")
    assert watch.changed() == {"a.md"}


def test_the_move_of_a_folder_above_the_root_is_noticed(tmp_path: Path) -> None:
    root = tmp_path / "above/root"
    root.mkdir(parents=True)
    opened = open_watch(root, folders_of(root), interval=60.0)
    os.rename(tmp_path / "above", tmp_path / "other")
    root.mkdir(parents=True)
    assert opened.changed() is None
    assert opened.changed() == set()
    opened.close()


def test_waiting_ends_with_the_first_change(watch: Watch, plant: Plant) -> None:
    assert not watch.wait(0.0)
    plant({"a.md": "x"})
    assert watch.wait(5.0)
    watch.changed()
    assert not watch.wait(0.01)


def test_without_events_everything_may_have_changed_after_the_interval(folder: Path) -> None:
    opened = open_watch(folder, folders_of(folder), interval=0.05, events=False)
    assert opened.way == "interval"
    assert opened.changed() == set()
    assert opened.wait(1.0)
    assert opened.changed() is None
    assert opened.changed() == set()
    assert not Interval(60.0).wait(0.01)


def test_our_own_index_and_git_report_no_changes(watch: Watch, plant: Plant) -> None:
    plant({"d/a.md": "y", ".ragstone/ragstone.db": "ours", ".git/index": "git's"})
    assert watch.changed() == {"d/a.md"}


@pytest.mark.skipif(sys.platform != "linux", reason="names are Unicode there")
def test_names_that_are_not_unicode_do_not_stop_the_watch(
    watch: Watch, plant: Plant, folder: Path
) -> None:
    (folder / os.fsdecode(b"\xff.md")).write_text("x")
    (folder / os.fsdecode(b"d\xff")).mkdir()
    watch.changed()
    plant({"a.md": "x"})
    assert "a.md" in (watch.changed() or {"a.md"})
    assert watch.way == "events"


def test_a_closed_watch_leaves_no_marker(folder: Path) -> None:
    opened = EventWatch(folder, folders_of(folder))
    marker = Path(opened._marker)
    assert marker.exists()
    opened.close()
    assert not marker.parent.exists()


def test_an_interval_is_used_if_there_is_no_room_for_more_watches(folder: Path) -> None:
    def no_room(below: Sequence[str] | None) -> set[str]:
        raise OSError(28, "no space left on device")

    assert open_watch(folder, no_room, interval=60.0).way == "interval"
