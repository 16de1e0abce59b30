"""A process of our own beside this one: the same Python, our package, and nothing of the folder being read."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

_PACKAGES: Final = ("pypdfium2", "selectolax", "yaml", "charset_normalizer")
"""What readers need beside Python and this package."""


def python() -> str | None:
    """Return the Python that runs this program, unless the program brings its own under another name."""
    name = os.path.basename(sys.executable or "").lower()
    return sys.executable if name.startswith(("python", "pypy")) and not hasattr(sys, "frozen") else None


def command(module: str) -> list[str]:
    """Return the command that runs a module's `main` with no folders to import from but Python's own and ours.

    Ours come last: nothing there can pose as a module of Python's, and nothing that lies in the folder being read is
    ever imported.
    """
    program = f"import sys; sys.path.extend(sys.argv[1:]); from {module} import main; main()"
    return [python() or "", "-I", "-S", "-B", *_byte_code(), "-c", program, *_folders()]


def started(command: Sequence[str]) -> subprocess.Popen[bytes] | None:
    """Return the process, or None where the system would not start it."""
    environment = {"SYSTEMROOT": os.path.expandvars("%SystemRoot%")} if os.name == "nt" else {}
    try:
        return subprocess.Popen(  # noqa: S603 - our own program run by our own Python, no shell
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError):
        return None


def _byte_code() -> tuple[str, ...]:
    """Return where our byte code is kept, if that is not beside our modules: else they would be compiled each time."""
    place = sys.pycache_prefix
    return ("-X", f"pycache_prefix={place}") if place and os.path.isabs(place) else ()


@cache
def _folders() -> tuple[str, ...]:
    """Return the folder of this package and those of the packages that readers need; never the current one."""
    here = str(Path(os.path.abspath(__file__)).parents[2])
    found = {folder: None for name in _PACKAGES if (folder := _folder_of(name))}
    return (here, *(folder for folder in found if folder != here))


def _folder_of(package: str) -> str | None:
    """Return the folder that a package would be imported from, None where there is none or it is the current one."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.origin or not spec.submodule_search_locations:
        return None
    folder = os.path.dirname(os.path.dirname(os.path.abspath(spec.origin)))
    try:
        current = os.getcwd()
    except OSError:  # it was removed
        return folder
    return None if folder == os.path.abspath(current) else folder
