"""Runs git. Nothing that came with a clone, not even its configuration, may start a program."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from ragstone.sources.folder.tree import repository_of

if TYPE_CHECKING:
    import subprocess

_MAX_PREFIXES = 100
_OPTIONS = (
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    # An empty value switches the monitor off in every version of git; old ones would run "false" as a command.
    *("-c", "core.fsmonitor="),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "protocol.allow=never"),
)
_PAUSE_SECONDS = 60.0
_ask_again_at: dict[Path, float] = {}
"""The repositories in which git took too long, each with the time from which on it may be asked again."""


def list_files(folder: Path, prefixes: Sequence[str] = ()) -> list[str] | None:
    """Return the tracked and new paths below a folder, without ignored ones; None if git cannot list all of them.

    A path that ends in `/`, or that is a folder, is an inner repository.
    """
    if len(prefixes) > _MAX_PREFIXES:
        prefixes = ()
    if not _can_read_ignore_files(folder):
        return None
    arguments = ("ls-files", "-c", "-o", "--exclude-standard", "-z", "--", *prefixes)
    completed = run_git(folder, arguments)
    if completed is None or completed.returncode != 0:
        return None
    # Git only warns about a folder that it cannot open; our own walk reports it.
    if b"could not open directory" in completed.stderr:
        return None
    names = completed.stdout.decode("utf-8", "surrogateescape").split("\0")
    return sorted({name for name in names if name and not name.startswith("../")})


def ignored_folders(root: Path, folders: Sequence[Path]) -> list[Path]:
    """Return the folders below a root that git ignores; none without git or a repository."""
    if not folders or repository_of(root) is None or not _can_read_ignore_files(root):
        return []
    # The command takes plain paths, and refuses to run with `--literal-pathspecs`.
    options = ("--no-literal-pathspecs", "-c", "core.quotePath=false")
    completed = run_git(root, (*options, "check-ignore", "--", *map(str, folders)))
    if completed is None:
        return []
    ignored = set(completed.stdout.decode("utf-8", "surrogateescape").splitlines())
    return [folder for folder in folders if str(folder) in ignored]


def _can_read_ignore_files(folder: Path) -> bool:
    """Return whether the ignore files of a repository are files; git would wait for the other end of a FIFO."""
    top = repository_of(folder) or folder
    paths = [top / ".gitignore", top / ".git" / "info" / "exclude"]
    completed = run_git(folder, ("config", "--type=path", "--get", "core.excludesFile"))
    if completed is not None and completed.stdout:
        paths.append(top / os.fsdecode(completed.stdout.rstrip(b"\n")))
    return not any(map(_is_special, paths))


def _is_special(path: Path) -> bool:
    """Return whether a path is neither missing, nor a file, nor a folder."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode) and not _is_null_device(path)


def _is_null_device(path: Path) -> bool:
    return os.path.realpath(path) == os.devnull


def run_git(
    folder: Path, arguments: Sequence[str], *, root: Path | None = None
) -> subprocess.CompletedProcess[bytes] | None:
    """Return the result of git in a folder, or None if git is not installed, cannot be started or takes too long.

    A program called git inside the folder, or inside `root`, is not run. After git took too long in a repository, it is
    not asked there again for a while: the same file would stop it again.
    """
    # A search may not need git.
    from ragstone.sources.folder.limited_process import run_limited

    program = _program(root or folder)
    top = repository_of(folder) or folder
    if program is None or monotonic() < _ask_again_at.get(top, 0.0):
        return None
    completed = run_limited([program, *_OPTIONS, *arguments], folder, _environment())
    if completed is None:
        _ask_again_at[top] = monotonic() + _PAUSE_SECONDS
    return completed


def _program(folder: Path) -> str | None:
    """Return the path of git, or None if there is none outside the folder."""
    path = shutil.which("git")
    if path is None:
        return None
    program = Path(path).resolve()
    if program.is_relative_to(folder.resolve()):
        return None
    return str(program)


def _environment() -> dict[str, str]:
    """Return the variables for git; a GIT_DIR or GIT_INDEX_FILE of a hook must not point it elsewhere."""
    variables = {
        "LC_ALL": "C",
        "PATH": os.defpath,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
    }
    try:
        variables["HOME"] = str(Path.home())  # the global ignore file of the user applies
    except RuntimeError:
        variables["GIT_CONFIG_NOSYSTEM"] = "1"
    if os.name == "nt":
        variables["SYSTEMROOT"] = os.path.expandvars("%SystemRoot%")
    return variables
