"""Trees that break walkers: every one is finished, and everything left out is named."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.errors import InputError, ReadError
from ragstone.sources.folder.limits import FileLimits
from ragstone.sources.folder.source import FolderSource
from ragstone.types import Item, LoadedItem, Skip

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


def test_a_tree_five_hundred_deep_is_walked_to_its_end(way: str, folder: Path, scan: Scan) -> None:
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


def test_a_root_that_may_not_be_listed_is_one_clear_sentence(locked: Path, as_nobody: None) -> None:
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
    assert Skip("shut/", "folder that cannot be listed: Permission denied") in list(source.scan())


# ── all of it at once, through a sync ─────────────────────────────────────────────────────────────

FAKE = {"rag.embedding_provider": "fake"}
FILES = int(os.environ.get("TORTURE_FILES", "2000"))


@pytest.fixture
def wild(plant: Plant, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Make a folder of entries that are not plain files, and return the reason for each."""
    folder = plant(
        {
            "a.md": "granite",
            "d/b.md": "basalt",
            "bytes.txt": bytes(10),
            "large.md": "x" * 2000,
            ".env": "k=v",
        }
    )
    (tmp_path / "outside").mkdir()
    for name, target in (
        ("up", ".."),
        ("loop", "loop"),
        ("out", str(tmp_path / "outside")),
        ("in.md", "a.md"),
    ):
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "pipe.md")
    here = os.getcwd()
    os.chdir(folder)
    with socket.socket(socket.AF_UNIX) as listening:
        try:
            listening.bind("socket.md")
        finally:
            os.chdir(here)
        reasons = {
            ".env": "secret file",
            "bytes.txt": "binary file",
            "in.md": "link to something inside the folder",
            "large.md": "too large: 2,000 bytes (sources.max_file_bytes: 1,000 bytes)",
            "loop": "link that leads nowhere",
            "out": "link out of the folder",
            "pipe.md": "named pipe",
            "socket.md": "socket",
            "up": "link out of the folder",
        }
        try:
            os.mknod(folder / "device.md", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
            reasons["device.md"] = "device"
        except (OSError, AttributeError):
            pass  # only root may make one
        (folder / os.fsdecode(b"bad\xff.md")).write_text("marble")
        yield reasons


def test_a_wild_tree_is_synced_with_a_reason_for_every_skip(
    folder: Path, wild: dict[str, str]
) -> None:
    with Engine.open(folder, config={**FAKE, "sources.max_file_bytes": 1000}) as engine:
        for _ in range(2):
            report = engine.sync()
            assert report.ok
            assert {skip.uri: skip.reason for skip in report.skipped} == wild
        assert {document.uri for document in engine.sources()} == {"a.md", "d/b.md", "bad%FF.md"}
        (folder / "pipe.md").unlink()
        (folder / "pipe.md").write_text("granite, at last")
        (folder / "a.md").unlink()
        os.mkfifo(folder / "a.md")
        assert [hit.source_doc_id for hit in engine.search("granite", mode="words")] == ["pipe.md"]


def test_the_exit_code_says_whether_something_failed(
    folder: Path,
    wild: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    from ragstone.surfaces.cli.app import run
    from ragstone.surfaces.present import failures

    monkeypatch.setenv("RAGSTONE_RAG_EMBEDDING_PROVIDER", "fake")
    assert run(["sync", "--folder", str(folder), "--verbose"]) == failures.OK
    out = capfd.readouterr().out
    assert all(
        f"skipped {uri}: {reason}" in out for uri, reason in wild.items() if uri != "large.md"
    )
    real = FolderSource.load

    def load(self: FolderSource, item: Item) -> LoadedItem:
        if item.uri == "a.md":
            raise ReadError("permission denied")
        return real(self, item)

    monkeypatch.setattr(FolderSource, "load", load)
    assert run(["sync", "--folder", str(folder), "--full"]) == failures.PARTIAL
    assert "a.md: permission denied" in capfd.readouterr().err


def test_our_own_database_is_not_opened_under_any_name_while_it_is_followed(
    folder: Path, plant: Plant
) -> None:
    plant({"a.md": "granite"})
    with Engine.open(folder, config=FAKE) as engine:
        engine.sync()
        os.link(engine.home / "ragstone.db", folder / "innocent.md")
        os.link(engine.home / "ragstone.db-wal", folder / "a-log.md")
        (folder / "link.md").symlink_to(engine.home / "ragstone.db")
        opened = _opened_while(lambda: engine.search("granite"))
        assert [hit.source_doc_id for hit in engine.search("granite")] == ["a.md"]
        assert not {"innocent.md", "a-log.md", "link.md"} & opened
        skipped = {skip.uri: skip.reason for skip in engine.sync().skipped}
        assert skipped["innocent.md"] == skipped["a-log.md"] == "Ragstone's own index, never opened"
        os.replace(folder / "innocent.md", folder / "a.md")
        opened = _opened_while(lambda: engine.search("granite"))
        assert "a.md" not in opened
        assert engine.search("granite") == []


def test_files_that_come_go_and_grow_while_they_are_synced_are_all_accounted_for(
    folder: Path, plant: Plant
) -> None:
    plant({f"{number % 10}/{number}.md": f"granite {number}" for number in range(150)})
    stop = threading.Event()

    def disturb() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            time.sleep(0.001)
            path = folder / f"{number % 10}" / f"{number % 200}.md"
            try:
                if number % 3 == 0:
                    path.unlink(missing_ok=True)
                else:
                    with path.open("a") as file:
                        file.write("\nmore" * (number % 50))
            except FileNotFoundError:
                pass

    thread = threading.Thread(target=disturb)
    with Engine.open(folder, config=FAKE) as engine:
        thread.start()
        try:
            for _ in range(4):
                assert engine.sync(embed=False).closes
                engine.search("granite", mode="words")
        finally:
            stop.set()
            thread.join()
        engine.search("granite", mode="words")
        assert {document.uri: engine.admin.text(document.uri) for document in engine.sources()} == {
            path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.md")
        }


@pytest.mark.torture
def test_a_tree_of_very_many_files_is_synced_followed_and_synced_again(folder: Path) -> None:
    for number in range(FILES):
        path = folder / f"{number % 97}/{number % 11}/{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"stone {number}\n")
    with Engine.open(folder, config={**FAKE, "sources.max_files": 1_000_000}) as engine:
        report = engine.sync(embed=False)
        assert (report.indexed, report.ok) == (FILES, True)
        report = engine.sync(embed=False)
        assert (report.unchanged, report.indexed, report.embedded) == (FILES, 0, 0)
        (folder / "3/3/new.md").parent.mkdir(parents=True, exist_ok=True)
        (folder / "3/3/new.md").write_text("zeppelin\n")
        assert [hit.citation for hit in engine.search("zeppelin", mode="words")] == ["3/3/new.md:1"]


def _opened_while(act: Callable[[], object]) -> set[str]:
    """Return the last names of all files that this process opens while something is done."""
    names: set[str] = set()
    _LISTENERS.append(names)
    try:
        act()
    finally:
        _LISTENERS.remove(names)
    return names


_LISTENERS: list[set[str]] = []


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _LISTENERS and isinstance(arguments[0], str | bytes):
        _LISTENERS[-1].add(os.path.basename(os.fsdecode(arguments[0])))


sys.addaudithook(_hear)  # a hook cannot be removed; it does nothing without a listener
