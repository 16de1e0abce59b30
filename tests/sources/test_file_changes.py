"""What changed since the last look: told by the system, or by the clock."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from ragstone.sources.file_changes import Interval, Notified, Watch, open_watch
from ragstone.sources.folder.source import FolderSource

Plant = Callable[..., Path]
LIMITS = (1_000_000, 50_000)
linux = pytest.mark.skipif(sys.platform != "linux", reason="file events of Linux")


def folders_of(root: Path) -> Callable[[Sequence[str] | None], set[str]]:
    return lambda below: FolderSource(root, limits=LIMITS, only=below, following=True).folders()


@pytest.fixture
def watch(folder: Path) -> Iterator[Watch]:
    (folder / "d/e").mkdir(parents=True)
    opened = open_watch(folder, folders_of(folder), interval=60.0)
    yield opened
    opened.close()


@linux
def test_a_write_is_told_at_once_and_once(watch: Watch, plant: Plant) -> None:
    assert watch.way == "events"
    assert watch.changed() == set()
    plant({"a.md": "x", "d/e/b.md": "x"})
    assert watch.changed() == {"a.md", "d/e/b.md"}
    assert watch.changed() == set()


@linux
def test_every_kind_of_change_is_told(watch: Watch, plant: Plant) -> None:
    folder = plant({"a.md": "x", "b.md": "x", "c.md": "x"})
    watch.changed()
    (folder / "a.md").unlink()
    os.rename(folder / "b.md", folder / "d/z.md")
    os.utime(folder / "c.md", (1, 1))
    assert watch.changed() == {"a.md", "b.md", "d/z.md", "c.md"}
    (folder / "c.md").chmod(0o600)
    assert watch.changed() == {"c.md"}


@linux
def test_new_folders_are_watched_however_deep_and_whatever_is_in_them_already(watch: Watch, plant: Plant) -> None:
    folder = plant({"n/o/p/a.md": "x"})
    assert "n" in (watch.changed() or ())
    plant({"n/o/p/a.md": "y"})
    assert watch.changed() == {"n/o/p/a.md"}
    shutil.move(folder / "n", folder / "m")
    assert watch.changed() == {"n", "m"}
    plant({"m/o/p/a.md": "z"})
    assert watch.changed() == {"m/o/p/a.md"}
    shutil.rmtree(folder / "m")
    assert "m" in (watch.changed() or ())
    plant({"m/o/p/a.md": "again"})
    watch.changed()
    plant({"m/o/p/a.md": "and again"})
    assert watch.changed() == {"m/o/p/a.md"}


@linux
def test_a_folder_that_leaves_is_no_longer_watched(watch: Watch, folder: Path, tmp_path: Path) -> None:
    shutil.move(folder / "d", tmp_path / "outside")
    assert watch.changed() == {"d"}
    (tmp_path / "outside/e/a.md").write_text("x")
    assert watch.changed() == set()


@linux
def test_what_is_ignored_is_not_watched(plant: Plant, git: Callable[..., bytes]) -> None:
    folder = plant({".gitignore": "build/\n", "build/x.md": "x", "node_modules/p/y.md": "x", "a/b.md": "x"})
    git("init", "-q")
    opened = open_watch(folder, folders_of(folder), interval=60.0)
    plant({"build/x.md": "y", "node_modules/p/y.md": "y", "a/b.md": "y"})
    assert opened.changed() == {"a/b.md"}
    plant({"build2/z.md": "y", ".venv/pyvenv.cfg": "", ".venv/lib/z.py": "y"})
    assert opened.changed() == {"build2", ".venv"}
    plant({".venv/lib/z.py": "z"})
    assert opened.changed() == set()
    opened.close()


@linux
def test_a_file_that_git_tracks_in_an_ignored_folder_is_watched(plant: Plant, git: Callable[..., bytes]) -> None:
    folder = plant({".gitignore": "build/\n", "build/kept.md": "x"})
    git("init", "-q")
    git("add", "-f", ".")
    opened = open_watch(folder, folders_of(folder), interval=60.0)
    plant({"build/kept.md": "y"})
    assert opened.changed() == {"build/kept.md"}
    opened.close()


@linux
def test_too_many_events_mean_that_everything_may_have_changed(watch: Watch, folder: Path) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if most > 100_000:
        pytest.skip("it takes too many here")
    for name in ("a.md", "b.md"):
        (folder / name).write_text("x")
    for number in range(most + 1000):  # equal neighbours would be told as one
        os.utime(folder / ("a.md", "b.md")[number % 2])
    assert watch.changed() is None
    assert watch.changed() == set()
    (folder / "d/e/after.md").write_text("x")
    assert watch.changed() == {"d/e/after.md"}


@linux
def test_a_root_that_goes_and_comes_back_is_all_new(watch: Watch, folder: Path) -> None:
    os.rename(folder, folder.with_name("away"))
    assert watch.changed() is None
    assert watch.changed() is None
    folder.mkdir()
    assert watch.changed() is None
    (folder / "a.md").write_text("x")
    assert watch.changed() == {"a.md"}


@linux
def test_the_move_of_a_folder_above_the_root_is_noticed(tmp_path: Path) -> None:
    root = tmp_path / "above/root"
    root.mkdir(parents=True)
    opened = open_watch(root, folders_of(root), interval=60.0)
    os.rename(tmp_path / "above", tmp_path / "other")
    root.mkdir(parents=True)
    assert opened.changed() is None
    assert opened.changed() == set()
    opened.close()


@linux
def test_waiting_ends_with_the_first_change(watch: Watch, plant: Plant) -> None:
    assert not watch.wait(0.0)
    plant({"a.md": "x"})
    assert watch.wait(5.0)
    watch.changed()
    assert not watch.wait(0.01)


def test_where_no_events_are_to_be_had_the_clock_decides(folder: Path) -> None:
    opened = open_watch(folder, folders_of(folder), interval=0.05, events=False)
    assert opened.way == "interval"
    assert opened.changed() == set()
    assert opened.wait(1.0)
    assert opened.changed() is None
    assert opened.changed() == set()
    assert not Interval(60.0).wait(0.01)


@pytest.fixture
def notified(plant: Plant) -> Iterator[Notified]:
    pytest.importorskip("watchfiles")
    opened = Notified(plant({"d/a.md": "x"}), 60.0)
    yield opened
    opened.close()


def test_the_other_way_to_be_told_tells_the_same_a_little_later(notified: Notified, plant: Plant) -> None:
    assert notified.way == "events"
    plant({"d/a.md": "y", ".ragstone/ragstone.db": "ours", ".git/index": "git's"})
    seen: set[str] = set()
    for _ in range(100):
        if notified.wait(0.1):
            seen |= notified.changed() or set()
        if "d/a.md" in seen:
            break
    assert "d/a.md" in seen
    assert not {path for path in seen if path.startswith((".ragstone", ".git"))}


def test_the_other_way_gives_up_to_the_clock_when_its_root_is_gone(notified: Notified, folder: Path) -> None:
    with pytest.raises(OSError, match="no file events"):
        Notified(folder / "nowhere", 60.0)
    os.rename(folder, folder.with_name("away"))
    assert notified.changed() is None
    assert notified.way == "interval"
    assert notified.changed() == set()


def test_closing_ends_the_thread(notified: Notified) -> None:
    notified.close()
    assert not notified._thread.is_alive()


@linux
def test_no_room_for_more_watches_means_the_clock(folder: Path) -> None:
    def no_room(below: Sequence[str] | None) -> set[str]:
        raise OSError(28, "no space left on device")

    assert open_watch(folder, no_room, interval=60.0).way == "interval"
