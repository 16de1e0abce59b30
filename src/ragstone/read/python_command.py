"""The command that starts a second Python with our package and nothing from the folder that is indexed."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

_READER_PACKAGES: Final = (
    "pypdfium2",
    "selectolax",
    "yaml",
    "charset_normalizer",
    "rapidocr",
)


def find_python() -> str | None:
    """Return the Python that runs this program, or None if the program is frozen into an executable."""
    name = os.path.basename(sys.executable or "").lower()
    if hasattr(sys, "frozen") or not name.startswith(("python", "pypy")):
        return None
    return sys.executable


def build_command(
    module: str, packages: Iterable[str] = (), arguments: Sequence[str] = ()
) -> list[str]:
    """Return the command that runs a module's `main` in an isolated Python, which can also import some packages.

    Our folders come last on its path, so nothing there can shadow a standard module. The current
    folder is never on it, so nothing in the folder that is indexed is imported.
    """
    call = f"main({', '.join(map(repr, arguments))})"
    program = f"import sys; sys.path.extend(sys.argv[1:]); from {module} import main; {call}"
    return [
        find_python() or "",
        "-I",
        "-S",
        "-B",
        *_bytecode_options(),
        "-c",
        program,
        *dict.fromkeys((*_package_folders(), *filter(None, map(_find_folder, packages)))),
    ]


def build_background_command(module: str, *arguments: str) -> list[str] | None:
    """Return the command that runs a module's `main` with all packages of this program; None without a Python.

    It makes vectors, and a plug-in may bring the model. `-P` keeps the current folder off its path.
    """
    python = find_python()
    if python is None:
        return None
    own_folder = str(Path(os.path.abspath(__file__)).parents[2])
    program = f"import sys; sys.path.append(sys.argv.pop(1)); from {module} import main; main()"
    return [python, "-P", "-c", program, own_folder, *arguments]


def _bytecode_options() -> tuple[str, ...]:
    """Return the options that name the byte-code cache if it is not next to our modules."""
    folder = sys.pycache_prefix
    if folder and os.path.isabs(folder):
        return ("-X", f"pycache_prefix={folder}")
    return ()


@cache
def _package_folders() -> tuple[str, ...]:
    """Return the folder of this package and those of the packages that readers need."""
    own_folder = str(Path(os.path.abspath(__file__)).parents[2])
    folders = [own_folder, *map(_find_folder, _READER_PACKAGES)]
    return tuple(dict.fromkeys(filter(None, folders)))


def _find_folder(package: str) -> str:
    """Return the folder that a package is imported from; empty if it is missing or in the current folder."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return ""
    if spec is None or not spec.origin:
        return ""
    folder = os.path.dirname(os.path.abspath(spec.origin))
    if spec.submodule_search_locations:  # a package, and no single module
        folder = os.path.dirname(folder)
    try:
        current = os.getcwd()
    except OSError:  # it was removed
        return folder
    return "" if folder == os.path.abspath(current) else folder
