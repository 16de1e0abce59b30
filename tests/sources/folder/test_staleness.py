"""The staleness table: whatever is done to files, and however it hides, no answer is stale and nothing is left behind.

Each change is met in three ways: by a sync, by a search through an engine that was open all the time, and by the
command line, started cold. And each in two states: files so new that their stamps prove nothing, and files whose stamps
are trusted.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone import Engine
from ragstone.sources import files
from ragstone.sources.files import from_uri, to_uri

FAKE = {"rag.embedding_provider": "fake"}
FILES = {
    "a.md": "# Harbour\n\nThe quay is made of granite.\n\n## Depth\n\nSeven fathoms at low water.\n",
    "b.md": "# Lagoon\n\nThe ferry crosses at sunrise.\n\n## Fares\n\nThree coins for each oarsman.\n",
    "docs/c.md": "# Island\n\nThe lighthouse keeper is retired.\n",
    "docs/deep/d.md": "# Reef\n\nCoral grows on the wreck.\n",
}
Change = Callable[[Path], list[str]]
"""Does something to the folder and returns the files that must not be found afterwards though they are there."""


def same_size(folder: Path) -> list[str]:
    _swap_words(folder / "a.md", "granite", "basalts")
    return []


def restored_mtime(folder: Path) -> list[str]:
    before = (folder / "a.md").stat()
    _swap_words(folder / "a.md", "granite", "basalts")
    os.utime(folder / "a.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    return []


def replaced_with_its_times(folder: Path) -> list[str]:
    before = (folder / "a.md").stat()
    (folder / "tmp").write_text(FILES["a.md"].replace("granite", "basalts"))
    os.utime(folder / "tmp", ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(folder / "tmp", folder / "a.md")
    return []


def clock_ahead(folder: Path) -> list[str]:
    _swap_words(folder / "a.md", "granite", "basalts")
    os.utime(folder / "a.md", (4_000_000_000, 4_000_000_000))
    return []


def clock_ahead_twice(folder: Path) -> list[str]:
    for old, new in (("granite", "marbles"), ("marbles", "basalts")):
        _swap_words(folder / "a.md", old, new)
        os.utime(folder / "a.md", (4_000_000_000, 4_000_000_000))
    return []


def clock_back(folder: Path) -> list[str]:
    _swap_words(folder / "a.md", "granite", "basalts")
    os.utime(folder / "a.md", (300_000_000, 300_000_000))
    return []


def moved(folder: Path) -> list[str]:
    (folder / "elsewhere").mkdir()
    os.rename(folder / "a.md", folder / "elsewhere/z.md")
    return []


def folder_moved(folder: Path) -> list[str]:
    os.rename(folder / "docs", folder / "papers")
    _swap_words(folder / "papers/deep/d.md", "Coral", "Algae")
    return []


def swapped(folder: Path) -> list[str]:
    stamps = [(folder / name).stat() for name in ("a.md", "b.md")]
    os.rename(folder / "a.md", folder / "tmp")
    os.rename(folder / "b.md", folder / "a.md")
    os.rename(folder / "tmp", folder / "b.md")
    for name, stamp in zip(("a.md", "b.md"), stamps, strict=True):
        os.utime(folder / name, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    return []


def shrunk(folder: Path) -> list[str]:
    (folder / "a.md").write_text(FILES["a.md"].partition("\n## Depth")[0])
    return []


def emptied(folder: Path) -> list[str]:
    os.truncate(folder / "a.md", 0)
    return []


def grown(folder: Path) -> list[str]:
    with (folder / "a.md").open("a") as file:
        file.write("\n## Tides\n\nA neap tide of basalts.\n")
    return []


def deleted(folder: Path) -> list[str]:
    (folder / "a.md").unlink()
    return []


def case_renamed(folder: Path) -> list[str]:
    os.rename(folder / "a.md", folder / "A.md")
    return []


def replaced_by_a_folder(folder: Path) -> list[str]:
    (folder / "a.md").unlink()
    (folder / "a.md").mkdir()
    (folder / "a.md/inside.md").write_text("# Inside\n\nOf basalts.\n")
    return []


def folder_replaced_by_a_file(folder: Path) -> list[str]:
    (folder / "docs/deep/d.md").unlink()
    (folder / "docs/deep").rmdir()
    (folder / "docs/deep").write_text("# Deep\n\nOf basalts.\n")
    return []


def replaced_by_a_link(folder: Path) -> list[str]:
    (folder / "a.md").unlink()
    (folder / "a.md").symlink_to("b.md")
    return []


def link_retargeted(folder: Path) -> list[str]:
    (folder / "current").unlink()
    (folder / "current").symlink_to("b.md")
    return []


def replaced_by_a_pipe(folder: Path) -> list[str]:
    (folder / "a.md").unlink()
    os.mkfifo(folder / "a.md")
    return []


def no_longer_text(folder: Path) -> list[str]:
    (folder / "a.md").write_bytes(bytes(len(FILES["a.md"])))
    return ["a.md"]


def left_out_by_a_rule(folder: Path) -> list[str]:
    (folder / ".ragstoneignore").write_text("docs/deep/\n")
    return [".ragstoneignore", "docs/deep/d.md"]


def new_ones(folder: Path) -> list[str]:
    (folder / "new/er/est").mkdir(parents=True)
    (folder / "new/er/est/n.md").write_text("# New\n\nOf basalts.\n")
    (folder / "m.md").write_text("# Also new\n\nOf basalts.\n")
    return []


def strange_names(folder: Path) -> list[str]:
    for name in (b"b\xff.md", b"[1] a*.md", b"new\nline.md", "naïve.md".encode()):
        (folder / os.fsdecode(name)).write_text("# Strange\n\nOf basalts.\n")
    os.rename(folder / "[1] a*.md", folder / "[2] a*.md")
    return []


CHANGES: list[Change] = [
    same_size, restored_mtime, replaced_with_its_times, clock_ahead, clock_ahead_twice, clock_back, moved, folder_moved,
    swapped, shrunk, emptied, grown, deleted, case_renamed, replaced_by_a_folder, folder_replaced_by_a_file,
    replaced_by_a_link, link_retargeted, replaced_by_a_pipe, no_longer_text, left_out_by_a_rule, new_ones,
    strange_names,
]  # fmt: skip
QUERIES = (
    "granite basalts",
    "harbour quay",
    "lagoon ferry",
    "reef coral algae",
    "seven fathoms",
    "tide",
)


@pytest.fixture(params=["new", "trusted"])
def stamps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Say whether the stamps of files as they were first synced are trusted; only waiting makes them so, or this."""
    if request.param == "trusted":
        monkeypatch.setattr(files, "RACY_NS", 0)
    return str(request.param)


@pytest.fixture(params=["sync", "open engine", "cold command"])
def meet(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    stamps: str,
) -> Iterator[Callable[[Path, Change], list[str]]]:
    """Return a function that lets a folder be indexed, changed, and met in one way."""

    def run(folder: Path, change: Change) -> list[str]:
        (folder / "current").symlink_to("a.md")
        with Engine.open(folder, config=FAKE) as engine:
            assert engine.sync().ok
            if stamps == "trusted":
                time.sleep(0.02)  # more than a tick of the clock that files are stamped by
            monkeypatch.setattr(files, "RACY_NS", 2_000_000_000)
            if request.param == "cold command":
                engine.close()
            left_out = change(folder)
            if request.param == "sync":
                assert engine.sync().ok
                check(folder, engine, fresh=False)
            elif request.param == "open engine":
                check(folder, engine, fresh=True)
            else:
                check_command(folder, monkeypatch, capfd)
        with Engine.open(folder, config=FAKE) as again:
            compare(folder, again, left_out)
        return left_out

    yield run


def check(folder: Path, engine: Engine, *, fresh: bool) -> None:
    """Assert that every hit has the text of its file."""
    for query in QUERIES:
        for hit in engine.search(query, top_k=20, fresh=fresh):
            text = (folder / from_uri(hit.source_doc_id)).read_text()
            assert text[hit.span.start : hit.span.end] == hit.text
            lines = text.split("\n")[hit.span.line_start - 1 : hit.span.line_end]
            assert "\n".join(lines).startswith(hit.text.rstrip("\n"))
            assert hit.freshness in (("fresh", "refreshed") if fresh else ("unverifiable",))


def check_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Assert the same of the command's first answer."""
    from ragstone.surfaces.cli.app import run

    monkeypatch.setenv("RAGSTONE_RAG_EMBEDDING_PROVIDER", "fake")
    capfd.readouterr()
    assert (
        run(["search", *QUERIES[0].split(), "-k", "20", "--json", "--folder", str(folder)]) == 0
    )
    result: dict[str, Any] = json.loads(capfd.readouterr().out)
    for hit in result["results"]:
        text = (folder / from_uri(hit["path"])).read_text()
        assert text[slice(*hit["span"])] == hit["text"]
        assert hit["freshness"] in ("fresh", "refreshed")


def compare(folder: Path, engine: Engine, left_out: list[str]) -> None:
    """Assert that the index has the texts of the folder and nothing else."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    names = {
        to_uri(path.relative_to(folder).as_posix()): path
        for path in files
        if ".ragstone" not in path.parts
    }
    truth = {
        name: path.read_text()
        for name, path in names.items()
        if name not in left_out and ".git/" not in name
    }
    stored = {document.uri: engine.admin.text(document.uri) for document in engine.sources()}
    for extra in (".ragstoneignore",):
        stored.pop(extra, None)
    assert stored == truth


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_nothing_stale_is_found_and_nothing_is_left_behind(
    plant: Callable[..., Path], meet: Callable[[Path, Change], list[str]], change: Change
) -> None:
    meet(plant(FILES), change)


def test_a_checkout_of_another_branch_is_another_truth(
    plant: Callable[..., Path],
    git: Callable[..., bytes],
    meet: Callable[[Path, Change], list[str]],
) -> None:
    folder = plant({**FILES, ".gitignore": "*.log\n", "noise.log": "granite basalts"})
    git("init", "-q", "-b", "first")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    git("checkout", "-q", "-b", "second")
    same_size(folder)
    moved(folder)
    new_ones(folder)
    git("rm", "-q", "-r", "docs")
    git("add", ".")
    git("commit", "-q", "-m", "second")
    git("checkout", "-q", "first")

    def checkout(folder: Path) -> list[str]:
        git("checkout", "-q", "second")
        return [".gitignore", "noise.log"]

    meet(folder, checkout)


def test_an_ignored_file_stays_ignored_when_it_changes(
    plant: Callable[..., Path], git: Callable[..., bytes]
) -> None:
    folder = plant({**FILES, ".gitignore": "*.log\nbuild/\n"})
    git("init", "-q")
    with Engine.open(folder, config=FAKE) as engine:
        engine.sync()
        plant(
            {
                "noise.log": "basalts",
                "build/out.md": "basalts",
                "node_modules/p/readme.md": "basalts",
            }
        )
        assert engine.search("basalts", mode="words") == []
        plant({"build/out.md": "basalts again", "node_modules/p/readme.md": "basalts again"})
        assert engine.search("basalts", mode="words") == []
        plant({"kept.md": "basalts"})
        assert [hit.citation for hit in engine.search("basalts", mode="words")] == ["kept.md:1"]


def _swap_words(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert len(old) == len(new) and old in text
    path.write_text(text.replace(old, new))
