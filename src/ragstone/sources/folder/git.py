"""What git says is in a folder. Nothing that came with a clone, its config included, may run a command."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

TIMEOUT_SECONDS = 60.0
_MOST_PREFIXES = 100
_OPTIONS = (
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    # An empty value switches the monitor off in every version of git; "false" would be run as a command by old ones.
    *("-c", "core.fsmonitor="),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "protocol.allow=never"),
)


def repository_of(folder: Path) -> Path | None:
    """Return the top of the repository that a folder is in, by looking for `.git`, or None."""
    for candidate in (folder, *folder.parents):
        if os.path.lexists(candidate / ".git"):
            return candidate
    return None


def list_files(folder: Path, prefixes: Sequence[str] = ()) -> list[str] | None:
    """Return tracked and new paths below a folder, ignored ones left out; None when git cannot say all of it.

    A path that ends in `/`, or names a folder, is another repository inside this one.
    """
    chosen = list(prefixes) if len(prefixes) <= _MOST_PREFIXES else []
    done = ran(folder, ("ls-files", "-c", "-o", "--exclude-standard", "-z", "--", *chosen))
    # A folder that git could not open is only a warning to it; our own walk names it in the report.
    if done is None or done.returncode != 0 or b"could not open directory" in done.stderr:
        return None
    names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return sorted({name for name in names if name and not name.startswith("../")})


def ran(
    folder: Path, arguments: Sequence[str], *, root: Path | None = None
) -> subprocess.CompletedProcess[bytes] | None:
    """Return what git did in a folder, or None where it is not there, cannot be started or takes too long.

    A program called git that lies in the folder, or below the root where one is given, is not run.
    """
    import subprocess  # only where git is asked

    program = _program(root or folder)
    if program is None:
        return None
    try:
        return subprocess.run(  # noqa: S603 - a fixed command, no shell; paths stand behind `--` or inside one word
            [program, *_OPTIONS, *arguments],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def _program(folder: Path) -> str | None:
    """Return where git is, unless it lies in the folder that is looked at."""
    import shutil  # as above

    found = shutil.which("git")
    if found is None:
        return None
    real = Path(found).resolve()
    return None if real.is_relative_to(folder.resolve()) else str(real)


def _environment() -> dict[str, str]:
    """Return all that git may know: a hook's GIT_DIR or GIT_INDEX_FILE must not point it elsewhere."""
    known = {
        "LC_ALL": "C",
        "PATH": os.defpath,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
    }
    try:
        known["HOME"] = str(Path.home())  # a person's own global ignore file counts
    except RuntimeError:
        known["GIT_CONFIG_NOSYSTEM"] = "1"
    if os.name == "nt":
        known["SYSTEMROOT"] = os.path.expandvars("%SystemRoot%")
    return known
