from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.sources.folder.git import list_files
from ragstone.sources.folder.tree import repository_of

Plant = Callable[..., Path]
Scan = Callable[..., tuple[list[str], dict[str, str]]]
Git = Callable[..., bytes]


def test_tracked_files_count_even_when_ignored_and_deleted_ones_do_not(
    git: Git, plant: Plant, scan: Scan
) -> None:
    folder = plant({"kept.log": "x", "gone.md": "x", "a.md": "x"})
    git("init", "-q")
    git("add", ".")
    plant({".gitignore": "*.log\n", "new.log": "x", "new.md": "x"})
    (folder / "gone.md").unlink()
    assert scan() == (["a.md", "kept.log", "new.md"], {})


def test_a_part_of_a_repository_can_be_the_root(git: Git, plant: Plant, scan: Scan) -> None:
    folder = plant(
        {
            ".gitignore": "*.log\n/sub/only-here\n",
            "sub/a.md": "x",
            "sub/b.log": "x",
            "sub/only-here/c": "x",
        }
    )
    git("init", "-q")
    assert scan(root=folder / "sub") == (["a.md"], {})
    assert scan(root=folder / "sub", git=False) == (["a.md"], {})


def test_a_root_that_git_ignores_is_read_because_it_was_named(
    git: Git, plant: Plant, scan: Scan
) -> None:
    folder = plant(
        {".gitignore": "out/\n", "out/a.md": "x", "out/.gitignore": "b.md\n", "out/b.md": "x"}
    )
    git("init", "-q")
    assert scan(root=folder / "out") == (["a.md"], {})


def test_the_exclude_file_of_a_repository_counts(git: Git, plant: Plant, scan: Scan) -> None:
    git("init", "-q")
    plant({".git/info/exclude": "mine.md\n", "mine.md": "x", "a.md": "x"})
    assert scan() == (["a.md"], {})
    assert scan(git=False) == (["a.md"], {})


def test_repositories_inside_are_read_by_their_own_rules(
    git: Git, plant: Plant, scan: Scan
) -> None:
    folder = plant(
        {
            ".gitignore": "*.log\n",
            "a.md": "x",
            "inner/.gitignore": "skip.md\n",
            "inner/b.md": "x",
            "inner/skip.md": "x",
            "inner/kept.log": "x",
            "inner/.ragstoneignore": "c.md\n",
            "inner/c.md": "x",
            "inner/deep/er/d.md": "x",
        }
    )
    git("init", "-q")
    git("init", "-q", at=folder / "inner")
    git("init", "-q", at=folder / "inner/deep/er")
    expected = [
        "a.md",
        "inner/b.md",
        "inner/deep/er/d.md",
    ]
    assert scan() == ([*expected, "inner/kept.log"], {})
    assert scan(git=False) == ([*expected, "inner/kept.log"], {})


def test_a_submodule_is_read_too(git: Git, plant: Plant, scan: Scan) -> None:
    folder = plant({"a.md": "x", "module/b.md": "x"})
    git("init", "-q")
    git("init", "-q", at=folder / "module")
    git("add", ".", at=folder / "module")
    git("commit", "-q", "-m", "one", at=folder / "module")
    git("add", ".")
    assert b"160000" in git("ls-files", "-s")
    assert scan() == (["a.md", "module/b.md"], {})


def test_a_file_in_conflict_is_found_once(git: Git, plant: Plant, scan: Scan) -> None:
    plant({"a.md": "one"})
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    git("checkout", "-q", "-b", "other")
    plant({"a.md": "two"})
    git("commit", "-q", "-a", "-m", "two")
    git("checkout", "-q", "main")
    plant({"a.md": "three"})
    git("commit", "-q", "-a", "-m", "three")
    with pytest.raises(Exception, match="merge"):
        git("merge", "-q", "other")
    assert scan() == (["a.md"], {})


def test_a_broken_repository_falls_back_to_our_own_walk(plant: Plant, scan: Scan) -> None:
    folder = plant({".git/HEAD": "nonsense", ".gitignore": "b.md\n", "a.md": "x", "b.md": "x"})
    assert list_files(folder) is None
    assert scan() == (["a.md"], {})


def test_a_repository_of_another_user_falls_back_to_our_own_walk(
    git: Git, plant: Plant, scan: Scan
) -> None:
    if os.name == "nt" or os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    git("init", "-q")
    folder = plant({".gitignore": "b.md\n", "a.md": "x", "b.md": "x"})
    for path in (folder, folder / ".git"):
        os.chown(path, 65534, 65534)
    assert list_files(folder) is None
    assert scan() == (["a.md"], {})


def test_a_machine_without_git_falls_back_to_our_own_walk(
    git: Git, plant: Plant, scan: Scan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    git("init", "-q")
    folder = plant({".gitignore": "b.md\n", "a.md": "x", "b.md": "x"})
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list_files(folder) is None
    assert scan() == (["a.md"], {})


def test_no_command_in_a_repositorys_config_is_run(git: Git, plant: Plant, scan: Scan) -> None:
    folder = plant(
        {
            "a.md": "x",
            "evil.sh": "#!/bin/sh\ntouch was-run\n",
            "hooks/post-index-change": "#!/bin/sh\ntouch was-run\n",
        }
    )
    for name in ("evil.sh", "hooks/post-index-change"):
        (folder / name).chmod(0o755)
    git("init", "-q")
    git("add", "a.md")
    git("config", "core.fsmonitor", str(folder / "evil.sh"))
    git("config", "core.hooksPath", str(folder / "hooks"))
    git("config", "core.pager", str(folder / "evil.sh"))
    git("config", "pager.ls-files", "true")
    git("config", "alias.ls-files", f"!{folder / 'evil.sh'}")
    git("config", "core.untrackedCache", "true")
    git("ls-files", "-o")
    assert (folder / "was-run").exists(), "the trap does not work, so the test proves nothing"
    (folder / "was-run").unlink()
    assert scan()[0] == ["a.md", "evil.sh", "hooks/post-index-change"]
    assert not (folder / "was-run").exists()


def test_a_program_called_git_in_the_folder_is_not_run(
    plant: Plant, git: Git, scan: Scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = plant({"git": "#!/bin/sh\ntouch was-run\n", "a.md": "x"})
    (folder / "git").chmod(0o755)
    git("init", "-q")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    assert scan() == (["a.md", "git"], {})


def test_a_hooks_environment_does_not_lead_git_astray(
    git: Git, plant: Plant, scan: Scan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plant({".gitignore": "b.md\n", "a.md": "x", "b.md": "x"})
    git("init", "-q")
    other = tmp_path / "other"
    other.mkdir()
    git("init", "-q", at=other)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    assert scan() == (["a.md"], {})


def test_names_that_look_like_options_or_patterns_are_names(
    git: Git, plant: Plant, scan: Scan
) -> None:
    plant({"--help/a.md": "x", ":(top)x/b.md": "x", "c.md": "x"})
    git("init", "-q")
    assert scan(include=["--help"]) == (["--help/a.md"], {})
    assert scan(only=[":(top)x"]) == ([":(top)x/b.md"], {})


def test_the_repository_of_a_folder_is_found_above_it(
    git: Git, plant: Plant, tmp_path: Path
) -> None:
    folder = plant({"a/b/c.md": "x"})
    assert repository_of(folder / "a/b") is None
    git("init", "-q")
    assert repository_of(folder / "a/b") == folder
