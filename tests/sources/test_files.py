from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.errors import ReadError
from ragstone.sources import files as room
from ragstone.sources.files import identities, safe_open

Plant = Callable[..., Path]


@pytest.fixture(params=["by descriptor", "portably"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test as POSIX opens files and as systems without folder descriptors do."""
    if request.param == "portably":
        monkeypatch.setattr(room, "_BY_DESCRIPTOR", False)
    elif not room._BY_DESCRIPTOR:
        pytest.skip("folders cannot be opened here")


def reason(root: Path, relative: str, **options: int) -> str:
    with pytest.raises(ReadError) as refused:
        safe_open(root, relative, max_bytes=options.get("max_bytes", 1000))
    return refused.value.message


@pytest.mark.usefixtures("both_ways")
class TestSafeOpen:
    def test_it_returns_bytes_and_the_stamp_they_have(self, plant: Plant) -> None:
        folder = plant({"a/b.txt": "hello"})
        opened = safe_open(folder, "a/b.txt", max_bytes=5)
        info = os.stat(folder / "a/b.txt")
        assert opened.data == b"hello"
        assert (opened.stamp.size, opened.stamp.mtime_ns, opened.stamp.inode) == (
            5,
            info.st_mtime_ns,
            info.st_ino,
        )

    def test_an_empty_file_is_empty(self, plant: Plant) -> None:
        assert safe_open(plant({"a": ""}), "a", max_bytes=0).data == b""

    def test_a_file_over_the_limit_is_not_read(self, plant: Plant) -> None:
        assert reason(plant({"a": "x" * 1001}), "a") == "too large: 1,001 bytes (limit 1,000)"

    @pytest.mark.parametrize(
        "path", ["", ".", "..", "../x", "a/../b", "/etc/hostname", "a//b", "a/", "a\0b", "./a"]
    )
    def test_paths_that_lead_out_are_refused(self, plant: Plant, path: str) -> None:
        assert "leads out" in reason(plant({"a/b": "x"}), path)

    def test_no_link_is_followed_on_any_part_of_the_path(
        self, plant: Plant, tmp_path: Path
    ) -> None:
        (tmp_path / "outside.txt").write_text("secret")
        folder = plant({"real/a.txt": "x"})
        (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
        (folder / "dir").symlink_to(folder / "real")
        (folder / "up").symlink_to(tmp_path)
        assert "link" in reason(folder, "link.txt")
        for path in ("dir/a.txt", "up/outside.txt"):
            assert reason(folder, path)

    def test_the_root_itself_may_be_a_link(self, plant: Plant, tmp_path: Path) -> None:
        (tmp_path / "alias").symlink_to(plant({"a": "x"}))
        assert safe_open(tmp_path / "alias", "a", max_bytes=10).data == b"x"

    def test_pipes_sockets_folders_and_devices_are_refused_without_waiting(
        self, plant: Plant, tmp_path: Path
    ) -> None:
        folder = plant({"d/a": "x"})
        os.mkfifo(folder / "pipe")
        with socket.socket(socket.AF_UNIX) as listening:
            here = os.getcwd()
            os.chdir(folder)  # a socket's path may not be long
            try:
                listening.bind("socket")
            finally:
                os.chdir(here)
            for name in ("pipe", "socket", "d"):
                assert reason(folder, name) == "not a regular file"
        assert reason(Path("/dev"), "null") == "not a regular file"

    def test_a_vanished_file_says_so(self, plant: Plant) -> None:
        folder = plant({"a": "x"})
        assert reason(folder, "gone") == "vanished"
        assert reason(folder, "gone/too") == "vanished"
        assert reason(folder, "a/below").startswith("vanished")

    def test_a_file_we_must_never_open_is_refused(self, plant: Plant) -> None:
        folder = plant({"db": "x"})
        os.link(folder / "db", folder / "alias.md")
        with pytest.raises(ReadError, match="never opened"):
            safe_open(
                folder,
                "alias.md",
                max_bytes=10,
                never=identities([folder / "db", folder / "missing"]),
            )

    def test_a_file_that_keeps_growing_is_given_up_and_one_at_rest_is_read(
        self, plant: Plant, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = plant({"log": "x"})
        plain, reads = os.read, []

        def slow_read(descriptor: int, size: int) -> bytes:
            reads.append(size)
            if len(reads) <= grows:
                with (folder / "log").open("ab") as log:
                    log.write(b"more")
            return plain(descriptor, size)

        monkeypatch.setattr(os, "read", slow_read)
        grows = 1000
        assert reason(folder, "log") == "kept changing while it was read"
        grows = len(reads) + 1
        data = safe_open(folder, "log", max_bytes=1000).data
        assert data == (folder / "log").read_bytes()

    def test_a_file_that_outgrows_the_limit_while_read_takes_no_more_memory(
        self, plant: Plant, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = plant({"log": "x" * 900})
        plain = os.read
        total: list[int] = []

        def greedy_read(descriptor: int, size: int) -> bytes:
            with (folder / "log").open("ab") as log:
                log.write(b"more" * 1000)
            piece = plain(descriptor, size)
            total.append(len(piece))
            return piece

        monkeypatch.setattr(os, "read", greedy_read)
        assert reason(folder, "log").startswith(("kept changing", "too large"))
        assert sum(total) <= 3 * 1001

    def test_no_descriptor_stays_open(self, plant: Plant) -> None:
        folder = plant({"a/b/c.txt": "x"})
        os.mkfifo(folder / "a/pipe")
        here = Path("/proc/self/fd")
        if not here.exists():
            pytest.skip("open files cannot be counted here")
        before = len(list(here.iterdir()))
        for path in ("a/b/c.txt", "a/pipe", "a/none", "a/b/c.txt/d", "x/y"):
            for limit in (0, 10):
                try:
                    safe_open(folder, path, max_bytes=limit)
                except ReadError:
                    continue
        assert len(list(here.iterdir())) == before


def test_a_folder_swapped_for_a_link_never_gives_a_foreign_file(
    plant: Plant, tmp_path: Path
) -> None:
    folder = plant({"in/a.txt": "mine"})
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("foreign")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            os.rename(folder / "in", folder / "aside")
            os.symlink(outside, folder / "in")
            os.unlink(folder / "in")
            os.rename(folder / "aside", folder / "in")

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen = set()
    try:
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            try:
                seen.add(safe_open(folder, "in/a.txt", max_bytes=100).data)
            except ReadError:
                continue
    finally:
        done.set()
        swapper.join()
    assert seen <= {b"mine"}


def test_only_a_stamp_older_than_the_clocks_grain_is_settled(plant: Plant) -> None:
    folder = plant({"a": "x"})
    assert not safe_open(folder, "a", max_bytes=10).is_settled
    os.utime(folder / "a", ns=(1, 1))  # an old mtime does not help: the ctime tells
    assert not safe_open(folder, "a", max_bytes=10).is_settled
    assert safe_open(Path(os.__file__).parent, "os.py", max_bytes=10**6).is_settled
