"""An index that this user did not make is not believed, and one that this user made keeps working."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.errors import StoreError
from ragstone.sources.folder.roots import find_root
from ragstone.store.rows import hash_of
from tests.security.homes import FAKE, STRANGER, as_another_user, git, on_another_machine


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with an index that this user made."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "README.md").write_text("Deploy with the release script.\n", encoding="utf-8")
    sync(root)
    return root


def sync(root: Path) -> None:
    with Engine.open(root, config=FAKE) as engine:
        engine.sync()


def search(root: Path, query: str = "deploy release") -> list[str]:
    with Engine.open(root, config=FAKE) as engine:
        return [hit.text for hit in engine.search(query, mode="words")]


def forget_seal(root: Path) -> None:
    """Leave the home as a version without seals wrote it."""
    (root / ".ragstone" / "seal").unlink()


def test_an_index_that_git_tracks_is_refused(project: Path) -> None:
    git(project, "init", "-q")
    git(project, "add", "-f", ".ragstone", "README.md")
    with pytest.raises(StoreError, match="git tracks") as caught:
        search(project)
    assert "git rm -r --cached" in caught.value.hint


def test_an_index_that_came_with_an_archive_is_refused(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "project"), "zip", project))
    time.sleep(2.1)  # longer than the coarse clock of a file system
    on_another_machine(monkeypatch, tmp_path)
    unpacked = tmp_path / "unpacked"
    shutil.unpack_archive(archive, unpacked)
    with pytest.raises(StoreError, match="not made by you on this machine") as caught:
        search(unpacked)
    assert "ragstone sync" in caught.value.hint and "ragstone trust" in caught.value.hint
    shutil.rmtree(unpacked / ".ragstone")
    sync(unpacked)
    assert search(unpacked) == ["Deploy with the release script."]


def test_a_doctored_index_is_not_cited_as_the_text_of_a_file(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    time.sleep(2.1)  # longer than the coarse clock of a file system
    shutil.copytree(project, clone)
    with closing(sqlite3.connect(clone / ".ragstone" / "ragstone.db")) as db:
        for number, key, body in db.execute("SELECT id, hash, body FROM texts").fetchall():
            doctored = body.replace("script", "secret")
            values = (doctored, hash_of(doctored)[: len(key)], number)
            db.execute("UPDATE texts SET body = ?, hash = ? WHERE id = ?", values)
        db.commit()
    on_another_machine(monkeypatch, tmp_path)
    with pytest.raises(StoreError, match="not made by you on this machine"):
        search(clone)


def test_an_index_that_arrives_later_than_the_key_is_refused_whatever_its_times(
    project: Path, tmp_path: Path
) -> None:
    sync(tmp_path / "project")
    copy = tmp_path / "copy"
    time.sleep(2.1)
    shutil.copytree(project, copy)
    forget_seal(copy)
    with closing(sqlite3.connect(copy / ".ragstone" / "ragstone.db")) as db:
        db.execute("UPDATE documents SET added_at = ?", (time.time(),))
        db.commit()
    with pytest.raises(StoreError, match="not made by you"):
        search(copy)


def test_a_home_of_an_earlier_version_keeps_working(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_seal(project)
    on_another_machine(monkeypatch, tmp_path)  # no key yet, as before the upgrade
    assert search(project) == ["Deploy with the release script."]
    assert (project / ".ragstone" / "seal").exists()
    assert search(project)


def test_a_moved_project_and_a_copy_on_this_machine_keep_working(
    project: Path, tmp_path: Path
) -> None:
    moved = project.rename(tmp_path / "moved")
    assert search(moved)
    shutil.copytree(moved, tmp_path / "copy")
    assert search(tmp_path / "copy")


def test_an_index_of_another_user_is_refused(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_another_user(monkeypatch)
    with pytest.raises(StoreError, match="belongs to another user") as caught:
        search(project)
    assert "RAGSTONE_RAG_STORE_PATH" in caught.value.hint


def test_a_home_that_the_user_names_is_used(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_another_machine(monkeypatch, tmp_path)
    monkeypatch.setenv("RAGSTONE_RAG_STORE_PATH", ".ragstone")
    assert search(project)


def test_a_refused_home_is_not_changed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = project / ".ragstone"
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    as_another_user(monkeypatch)
    with pytest.raises(StoreError):
        search(project)
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*")} == before


@pytest.mark.parametrize("marker", [".ragstone", ".git", "ragstone.toml", "package.json"])
def test_a_marker_of_another_user_in_a_parent_folder_is_ignored(
    tmp_path: Path, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "shared" / "private"
    private.mkdir(parents=True)
    (tmp_path / "shared" / marker).mkdir()
    real_stat = os.stat

    def stat_of_stranger(path: str | Path, *, follow_symlinks: bool = True) -> os.stat_result:
        status = real_stat(path, follow_symlinks=follow_symlinks)
        if Path(path).name != marker:
            return status
        return os.stat_result((*status[:4], STRANGER, *status[5:]))

    assert find_root(private) == tmp_path / "shared"
    monkeypatch.setattr(os, "stat", stat_of_stranger)
    assert find_root(private) == private


def test_the_nearest_repository_comes_before_an_index_above_it(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    (inner / ".git").mkdir(parents=True)
    (inner / "docs").mkdir()
    (tmp_path / "outer" / ".ragstone").mkdir()
    assert find_root(inner / "docs") == inner
