"""Git's history, asked of real repositories."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.sources.folder.commits import commits

Plant = Callable[..., Path]
Git = Callable[..., bytes]

SONG = "class Song:\n    def play(self):\n        return 1\n\n    def stop(self):\n        return 2\n"


@pytest.fixture
def saved(git: Git, plant: Plant) -> Callable[..., Path]:
    """Return a function that writes files and commits them."""
    git("init", "-q", "-b", "main")

    def save(files: dict[str, str], subject: str, *options: str) -> Path:
        folder = plant(files)
        git("add", "-A")
        git("commit", "-q", "-m", subject, *options)
        return folder

    return save


def subjects(*arguments: object, **options: object) -> list[str]:
    return [commit.subject for commit in commits(*arguments, **options)]  # type: ignore[arg-type]


def test_the_commits_of_a_file_are_those_that_touched_it_newest_first(
    saved: Callable[..., Path],
) -> None:
    folder = saved({"song.py": SONG}, "A song", "--date=2024-02-03T04:05:06Z")
    saved({"other.py": "x = 1\n"}, "Something else")
    saved(
        {"song.py": SONG.replace("return 2", "return 3")},
        "Stopping returns three",
        "--author=Ann Lee <ann@lee.org>",
    )
    newest, oldest = commits(folder, "song.py")
    assert (newest.subject, newest.author, newest.paths) == (
        "Stopping returns three",
        "Ann Lee",
        ("song.py",),
    )
    assert (oldest.subject, oldest.when) == ("A song", 1706933106.0)
    assert len(oldest.hash) == 40
    assert not oldest.boundary
    assert subjects(folder, "song.py", limit=1) == ["Stopping returns three"]
    assert commits(folder, "song.py", limit=0) == ()


def test_the_commits_of_lines_are_those_that_touched_these(saved: Callable[..., Path]) -> None:
    folder = saved({"song.py": SONG}, "A song")
    saved({"song.py": SONG.replace("return 2", "return 3")}, "Stopping returns three")
    assert subjects(folder, "song.py", lines=(2, 3)) == ["A song"]
    assert subjects(folder, "song.py", lines=(5, 6)) == ["Stopping returns three", "A song"]
    assert subjects(folder, "song.py", lines=(5, 600)) == ["Stopping returns three", "A song"]
    assert subjects(folder, "song.py", lines=(60, 61)) == []


def test_lines_are_those_of_the_file_as_it_is_now(
    saved: Callable[..., Path], plant: Plant
) -> None:
    folder = saved({"song.py": SONG}, "A song")
    saved({"song.py": SONG.replace("return 2", "return 3")}, "Stopping returns three")
    plant(
        {
            "song.py": "import os\n\n\n"
            + SONG.replace("return 2", "return 4").replace("\n", "\r\n")
        }
    )
    assert subjects(folder, "song.py", lines=(5, 6)) == ["A song"]
    assert subjects(folder, "song.py", lines=(8, 9)) == ["Stopping returns three", "A song"]
    assert subjects(folder, "song.py", lines=(1, 2)) == []


def test_a_renamed_file_keeps_its_history(saved: Callable[..., Path], git: Git) -> None:
    folder = saved({"old name.py": SONG}, "A song")
    (folder / "deep").mkdir()
    git("mv", "old name.py", "deep/näw.py")
    saved({}, "Moved")
    assert [(commit.subject, commit.paths) for commit in commits(folder, "deep/näw.py")] == [
        ("Moved", ("deep/näw.py",)),
        ("A song", ("old name.py",)),
    ]
    by_lines = commits(folder, "deep/näw.py", lines=(1, 3))
    assert [(commit.subject, commit.paths) for commit in by_lines][-1] == (
        "A song",
        ("old name.py",),
    )


def test_a_deleted_file_still_has_its_history(saved: Callable[..., Path]) -> None:
    folder = saved({"deep/song.py": SONG, "a.md": "x"}, "A song")
    (folder / "deep/song.py").unlink()
    (folder / "deep").rmdir()
    saved({}, "No song")
    assert subjects(folder, "deep/song.py") == ["No song", "A song"]
    assert subjects(folder, "deep/song.py", lines=(1, 2)) == []


def test_a_root_inside_a_repository_names_paths_from_itself(saved: Callable[..., Path]) -> None:
    folder = saved({"app/song.py": SONG}, "A song")
    assert [
        (commit.subject, commit.paths) for commit in commits(folder / "app", "song.py")
    ] == [("A song", ("song.py",))]


def test_a_folder_that_is_no_repository_has_none(plant: Plant) -> None:
    folder = plant({"a.py": "x"})
    assert commits(folder, "a.py") == ()
    assert commits(folder / "nowhere", "a.py") == ()


def test_a_branch_without_commits_and_an_unknown_file_have_none(git: Git, plant: Plant) -> None:
    folder = plant({"a.py": "x\n"})
    git("init", "-q")
    assert commits(folder, "a.py") == ()
    assert commits(folder, "a.py", lines=(1, 1)) == ()
    git("commit", "-q", "--allow-empty", "-m", "Nothing")
    assert commits(folder, "a.py") == ()
    assert commits(folder, "a.py", lines=(1, 1)) == ()


def test_a_shallow_clone_marks_the_start_of_its_history(
    saved: Callable[..., Path], git: Git, tmp_path: Path
) -> None:
    folder = saved({"song.py": SONG}, "A song")
    for number in (5, 6, 7):
        saved({"song.py": SONG.replace("return 2", f"return {number}")}, f"Returns {number}")
    git("clone", "-q", "--depth", "2", f"file://{folder}", str(tmp_path / "shallow"))
    assert [
        (commit.subject, commit.boundary) for commit in commits(tmp_path / "shallow", "song.py")
    ] == [
        ("Returns 7", False),
        ("Returns 6", True),
    ]


def test_a_file_of_a_submodule_has_the_history_of_the_submodule(
    saved: Callable[..., Path], git: Git
) -> None:
    folder = saved({"a.md": "x"}, "Outer")
    inner = folder / "module"
    inner.mkdir()
    (inner / "b.py").write_text("x = 1\n")
    git("init", "-q", at=inner)
    git("add", ".", at=inner)
    git("commit", "-q", "-m", "Inner", at=inner)
    saved({}, "Took the module")
    assert [(commit.subject, commit.paths) for commit in commits(folder, "module/b.py")] == [
        ("Inner", ("module/b.py",))
    ]
    assert subjects(folder, "module") == ["Took the module"]


def test_addresses_and_secrets_are_not_kept(saved: Callable[..., Path]) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    folder = saved(
        {"a.py": "x\n"}, f"Take out {secret} again", "--author=ann@lee.org <ann@lee.org>"
    )
    (only,) = commits(folder, "a.py")
    assert secret not in only.subject
    assert only.subject.startswith("Take out [SECRET:")
    assert only.author == "ann"


@pytest.mark.parametrize("path", ["../a.py", "/etc/passwd", "a/../../b", "", "a\0b", "./a.py"])
def test_a_path_that_leads_elsewhere_has_no_history(
    saved: Callable[..., Path], path: str
) -> None:
    folder = saved({"a.py": "x\n"}, "One")
    assert commits(folder, path) == ()


def test_a_link_out_of_the_folder_is_not_followed(
    saved: Callable[..., Path], git: Git, tmp_path: Path
) -> None:
    folder = saved({"a.py": "x\n"}, "One")
    other = tmp_path / "other"
    other.mkdir()
    git("init", "-q", at=other)
    (other / "b.py").write_text("x\n")
    git("add", ".", at=other)
    git("commit", "-q", "-m", "Elsewhere", at=other)
    os.symlink(other, folder / "out")
    assert commits(folder, "out/b.py") == ()


def test_odd_names_are_names(saved: Callable[..., Path]) -> None:
    folder = saved({"--help/:(top)a:1,2.py": "one\ntwo\n"}, "Odd")
    assert subjects(folder, "--help/:(top)a:1,2.py") == ["Odd"]
    assert subjects(folder, "--help/:(top)a:1,2.py", lines=(1, 2)) == ["Odd"]


def test_no_command_in_a_repositorys_config_is_run(
    saved: Callable[..., Path], git: Git
) -> None:
    evil = '#!/bin/sh\ntouch was-run\ncat "$1"\n'
    folder = saved(
        {"song.py": SONG, ".gitattributes": "*.py diff=evil filter=evil\n", "evil.sh": evil},
        "A song",
    )
    (folder / "evil.sh").chmod(0o755)
    for name in (
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.clean",
        "gpg.program",
        "core.pager",
    ):
        git("config", name, str(folder / "evil.sh"))
    git("config", "diff.external", str(folder / "evil.sh"))
    git("config", "log.showSignature", "true")
    saved({"song.py": SONG.replace("return 2", "return 3")}, "Stopping returns three")
    git("log", "-p", "--", "song.py")
    assert (folder / "was-run").exists(), "the trap does not work, so the test proves nothing"
    (folder / "was-run").unlink()
    assert len(commits(folder, "song.py")) == 2
    assert len(commits(folder, "song.py", lines=(5, 6))) == 2
    assert not (folder / "was-run").exists()
