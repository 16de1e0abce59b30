from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ragstone.errors import InputError
from ragstone.sources.folder.roots import find_root, is_risky


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("USERPROFILE", str(place))
    return place


@pytest.mark.parametrize(
    "mark", [".git", "pyproject.toml", "package.json", "composer.json", "go.mod", "Cargo.toml"]
)
def test_the_project_is_the_folder_that_has_a_mark(home: Path, mark: str) -> None:
    deep = home / "work/project/src/deep"
    deep.mkdir(parents=True)
    (home / "work/project" / mark).touch()
    assert find_root(deep) == (home / "work/project").resolve()


def test_an_index_wins_over_a_nearer_manifest(home: Path) -> None:
    deep = home / "mono/packages/one"
    deep.mkdir(parents=True)
    (deep / "package.json").touch()
    (home / "mono/.git").mkdir()
    assert find_root(deep) == (home / "mono").resolve()
    (home / "mono/packages/.ragstone").mkdir()
    assert find_root(deep) == (home / "mono/packages").resolve()


def test_the_home_folder_is_never_chosen_by_accident(home: Path) -> None:
    (home / "notes").mkdir()
    for mark in (".git", ".ragstone"):
        (home / mark).mkdir()
    assert find_root(home / "notes") == (home / "notes").resolve()
    assert find_root(home) == home.resolve()


def test_a_file_means_its_folder_and_a_missing_one_is_refused(home: Path) -> None:
    (home / "notes").mkdir()
    (home / "notes/a.md").touch()
    assert find_root(home / "notes/a.md") == (home / "notes").resolve()
    with pytest.raises(InputError, match="no folder"):
        find_root(home / "nowhere")


def test_home_root_and_system_folders_are_risky_and_projects_are_not(home: Path) -> None:
    (home / "project").mkdir()
    assert is_risky(Path(home.anchor)) == "it is a file-system root"
    assert is_risky(home) == "it is your home folder"
    assert is_risky(home.parent) == "it holds your home folder"
    assert is_risky(Path("/proc/self")) == "it is not on a disk" or not Path("/proc").exists()
    assert is_risky(home / "project") is None


def test_a_folder_that_git_ignores_is_a_project_of_its_own(home: Path) -> None:
    repository = home / "work"
    ignored = repository / "out/reports"
    ignored.mkdir(parents=True)
    (repository / "src").mkdir()
    (repository / ".gitignore").write_text("out/\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    assert find_root(repository / "src") == repository.resolve()
    assert find_root(ignored) == ignored.resolve()
    (repository / "out/package.json").touch()
    assert find_root(ignored) == (repository / "out").resolve()
