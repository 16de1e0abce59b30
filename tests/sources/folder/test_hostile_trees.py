"""Trees that break walkers: every one is finished, and everything left out is named."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ragstone.errors import InputError, ReadError
from ragstone.sources.folder.selection import FileLimits
from ragstone.sources.folder.source import FolderSource
from ragstone.types import Item, Skip

Plant = Callable[..., Path]
Scan = Callable[..., tuple[list[str], dict[str, str]]]
LIMITS = FileLimits(1_000_000, 200_000)


def test_links_are_named_and_never_followed(
    way: str, plant: Plant, scan: Scan, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.md").write_text("x")
    folder = plant({"a.md": "x", "d/b.md": "x"})
    (folder / "inside.md").symlink_to("a.md")
    (folder / "d/up").symlink_to("..")
    (folder / "out.md").symlink_to(tmp_path / "outside/secret.md")
    (folder / "outdir").symlink_to(tmp_path / "outside")
    (folder / "nowhere").symlink_to("missing")
    (folder / "loop").symlink_to("loop")
    (folder / "ping").symlink_to("pong")
    (folder / "pong").symlink_to("ping")
    items, skipped = scan()
    assert items == ["a.md", "d/b.md"]
    assert skipped == {
        "inside.md": "link to something inside the folder",
        "d/up": "link to something inside the folder",
        "out.md": "link out of the folder",
        "outdir": "link out of the folder",
        "nowhere": "link that leads nowhere",
        "loop": "link that leads nowhere",
        "ping": "link that leads nowhere",
        "pong": "link that leads nowhere",
    }


def test_a_tracked_folder_replaced_by_a_link_leads_nowhere(
    git: Callable[..., bytes], plant: Plant, scan: Scan, tmp_path: Path
) -> None:
    folder = plant({"d/a.md": "x", "b.md": "x"})
    git("init", "-q")
    git("add", ".")
    shutil.move(folder / "d", tmp_path / "moved")
    (folder / "d").symlink_to(tmp_path / "moved")
    assert scan() == (["b.md"], {"d": "link out of the folder"})


def test_pipes_and_sockets_are_named(plant: Plant, scan: Scan) -> None:
    folder = plant({"a.md": "x"})
    os.mkfifo(folder / "pipe")
    here = os.getcwd()
    os.chdir(folder)
    with socket.socket(socket.AF_UNIX) as listening:
        try:
            listening.bind("socket")
        finally:
            os.chdir(here)
        assert scan() == (["a.md"], {"pipe": "named pipe", "socket": "socket"})


def test_an_ignore_file_that_is_a_pipe_does_not_hang(plant: Plant, scan: Scan) -> None:
    folder = plant({"a.md": "x"})
    os.mkfifo(folder / ".gitignore")
    os.mkfifo(folder / ".ragstoneignore")
    assert scan() == (["a.md"], {".gitignore": "named pipe", ".ragstoneignore": "named pipe"})


def test_names_that_are_not_text_survive_the_round_trip(
    way: str, folder: Path, plant: Plant
) -> None:
    plant({"100%.md": "percent", "with\nnewline.md": "line"})
    for raw, content in (
        (b"bad\xff.md", b"bad"),
        (b"looks%FF.md", b"looks"),
        ("é.md".encode(), b"e"),
    ):
        try:
            (folder / os.fsdecode(raw)).write_bytes(content)
        except OSError:
            pytest.skip("this file system takes no such names")
    os.makedirs(folder / os.fsdecode(b"dir\xfe"))
    (folder / os.fsdecode(b"dir\xfe") / "x.md").write_bytes(b"deep")
    source = FolderSource(folder, limits=LIMITS)
    loaded = {
        entry.uri: source.load(entry).data for entry in source.scan() if isinstance(entry, Item)
    }
    assert loaded == {
        "100%.md": b"percent",
        "bad%FF.md": b"bad",
        "dir%FE/x.md": b"deep",
        "looks%25FF.md": b"looks",
        "with\nnewline.md": b"line",
        "é.md": b"e",
    }


def test_files_that_vanish_between_scan_and_load_are_reported(way: str, plant: Plant) -> None:
    folder = plant({"a.md": "x", "d/b.md": "x"})
    source = FolderSource(folder, limits=LIMITS)
    items = [entry for entry in source.scan() if isinstance(entry, Item)]
    (folder / "a.md").unlink()
    shutil.rmtree(folder / "d")
    for item in items:
        with pytest.raises(ReadError, match="vanished"):
            source.load(item)


def test_files_that_vanish_during_the_scan_are_simply_not_there(way: str, plant: Plant) -> None:
    folder = plant({f"{number:02}.md": "x" for number in range(10)})
    items = FolderSource(folder, limits=LIMITS).scan()
    first = next(items)
    for number in range(5, 10):
        (folder / f"{number:02}.md").unlink()
    assert [first.uri, *(entry.uri for entry in items)] == [
        f"{number:02}.md" for number in range(5)
    ]


def test_a_tree_five_hundred_deep_is_walked_to_its_end(
    way: str, folder: Path, scan: Scan
) -> None:
    deep = "/".join("d" for _ in range(500))
    os.makedirs(folder / deep)
    (folder / deep / "a.md").write_text("bottom")
    assert scan() == ([f"{deep}/a.md"], {})
    source = FolderSource(folder, limits=LIMITS)
    [item] = [entry for entry in source.scan() if isinstance(entry, Item)]
    assert source.load(item).data == b"bottom"


def test_a_path_too_long_for_the_system_is_named(folder: Path, scan: Scan) -> None:
    if os.mkdir not in os.supports_dir_fd:
        pytest.skip("such a tree cannot be made here")
    part = "long" * 50
    here = os.open(folder, os.O_RDONLY)
    for _ in range(30):
        os.mkdir(part, dir_fd=here)
        below = os.open(part, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    try:
        items, skipped = scan()
        assert items == []
        [(uri, reason)] = skipped.items()
        assert uri.endswith("/") and "cannot be listed" in reason
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_twenty_thousand_files_are_all_found_once(
    folder: Path, git: Callable[..., bytes], scan: Scan
) -> None:
    (folder / "0.py").write_text("x")
    for outer in range(20):
        place = folder / f"d/{outer}"
        place.mkdir(parents=True)
        for number in range(1000):
            os.link(
                folder / "0.py", place / f"{number}.py"
            )  # quicker than as many files, and the same to a walk
    items, skipped = scan()
    assert len(items) == len(set(items)) == 20_001
    assert skipped == {}
    git("init", "-q")
    assert scan() == (items, skipped)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Return a folder that other users may enter, unlike pytest's own."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    yield place
    for path in place.rglob("*"):
        path.chmod(0o755)
    shutil.rmtree(place)


@pytest.fixture
def locked(open_folder: Path) -> Path:
    """Return a folder with a file and a folder that only their owner, another user, may read."""
    (open_folder / "shut").mkdir()
    for path in ("a.md", "shut.md", "shut/b.md"):
        (open_folder / path).write_text("x")
    for path in ("shut.md", "shut"):
        (open_folder / path).chmod(0)
    return open_folder


def test_unreadable_files_are_reported_and_not_taken_for_deleted(
    locked: Path, as_nobody: None
) -> None:
    source = FolderSource(locked, limits=LIMITS)
    first, second, third = source.scan()
    assert isinstance(first, Item) and source.load(first).data == b"x"
    assert isinstance(second, Item)
    with pytest.raises(ReadError, match="permission denied"):
        source.load(second)
    assert third == Skip("shut/", "folder that cannot be listed: Permission denied")
    assert not source.covers("shut/b.md")
    assert source.covers("gone.md")


def test_a_root_that_may_not_be_listed_is_one_clear_sentence(
    locked: Path, as_nobody: None
) -> None:
    with pytest.raises(InputError, match="permission denied"):
        list(FolderSource(locked / "shut", limits=LIMITS).scan())


def test_a_folder_that_git_may_not_list_is_named_too(
    locked: Path, git: Callable[..., bytes], as_nobody: None
) -> None:
    if os.getuid() == 0:
        os.seteuid(0)
        git("init", "-q", at=locked)
        os.seteuid(65534)
    source = FolderSource(locked, limits=LIMITS)
    assert Skip("shut/", "folder that cannot be listed: Permission denied") in list(
        source.scan()
    )
