from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ragstone.errors import StoreError
from ragstone.store.home_folder import DATABASE, VECTORS, make_home

posix = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@posix
def test_a_new_home_is_private(tmp_path: Path) -> None:
    assert _mode(make_home(tmp_path / ".ragstone")) == 0o700


@posix
def test_a_home_that_others_could_see_is_closed_to_them(tmp_path: Path) -> None:
    home = tmp_path / ".ragstone"
    (home / VECTORS).mkdir(parents=True)
    for folder in (home, home / VECTORS):
        folder.chmod(0o755)
    make_home(home)
    assert (_mode(home), _mode(home / VECTORS)) == (0o700, 0o700)


@posix
def test_a_home_that_was_made_read_only_stays_so(tmp_path: Path) -> None:
    home = make_home(tmp_path / ".ragstone")
    home.chmod(0o555)
    make_home(home)
    assert _mode(home) == 0o500


@posix
def test_a_folder_with_another_name_keeps_its_permissions(tmp_path: Path) -> None:
    home = tmp_path / "shared"
    (home / VECTORS).mkdir(parents=True)
    for folder in (home, home / VECTORS):
        folder.chmod(0o755)
    make_home(home)
    assert (_mode(home), _mode(home / VECTORS)) == (0o755, 0o755)


def test_version_control_ignores_the_home_folder(
    tmp_path: Path,
) -> None:
    ignore = make_home(tmp_path / ".ragstone") / ".gitignore"
    lines = ignore.read_text(encoding="utf-8").splitlines()
    assert lines[-1] == "*"
    assert all(line.startswith("#") for line in lines[:-1])
    assert "ragstone export" in ignore.read_text(encoding="utf-8")
    ignore.write_text("mine\n", encoding="utf-8")
    make_home(tmp_path / ".ragstone")
    assert ignore.read_text(encoding="utf-8") == "mine\n"


@posix
def test_no_file_is_made_through_a_link(tmp_path: Path) -> None:
    home, outside = tmp_path / ".ragstone", tmp_path / "outside"
    home.mkdir()
    (home / ".gitignore").symlink_to(outside)
    make_home(home)
    assert not outside.exists()


def test_a_file_is_no_home(tmp_path: Path) -> None:
    (tmp_path / ".ragstone").write_text("x")
    for home in (tmp_path / ".ragstone", tmp_path / ".ragstone" / "below"):
        with pytest.raises(StoreError, match="not a folder"):
            make_home(home)
    assert DATABASE not in {path.name for path in tmp_path.iterdir()}


@posix
def test_a_link_in_place_of_the_home_is_not_followed_and_its_target_stays_as_it_is(
    tmp_path: Path,
) -> None:
    victim, home = tmp_path / "victim", tmp_path / ".ragstone"
    victim.mkdir()
    victim.chmod(0o755)
    home.symlink_to(victim)
    with pytest.raises(StoreError, match="symbolic link") as caught:
        make_home(home)
    assert "RAGSTONE_RAG_STORE_PATH" in caught.value.hint
    assert (_mode(victim), list(victim.iterdir())) == (0o755, [])


@posix
def test_a_link_that_the_user_named_is_followed_but_no_mode_is_changed_through_it(
    tmp_path: Path,
) -> None:
    target, home = tmp_path / "target", tmp_path / ".ragstone"
    target.mkdir()
    target.chmod(0o755)
    home.symlink_to(target)
    assert make_home(home, trusted=True) == home
    assert (_mode(target), (target / ".gitignore").exists()) == (0o755, True)


@posix
@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize(
    "name", [DATABASE, f"{DATABASE}-wal", f"{DATABASE}.lock", "embed.lock", VECTORS, f"{VECTORS}/1-ab",
             f"{VECTORS}/1-ab/planes"]
)  # fmt: skip
def test_a_link_inside_the_home_is_refused(tmp_path: Path, name: str, trusted: bool) -> None:
    home, victim = make_home(tmp_path / ".ragstone"), tmp_path / "victim"
    victim.mkdir()
    victim.chmod(0o755)
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).symlink_to(victim)
    with pytest.raises(StoreError, match="symbolic link"):
        make_home(home, trusted=trusted)
    assert (_mode(victim), list(victim.iterdir())) == (0o755, [])
