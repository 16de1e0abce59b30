"""What the environment says beside settings: where programs are, what they may know, colour, how many cores."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

_PASSED_ON: Final = (
    *("HOME", "USER", "LOGNAME", "TZ"),
    # Where managers of versions keep the program that a name stands for.
    *("PYENV_ROOT", "RBENV_ROOT", "NVM_DIR", "ASDF_DIR", "ASDF_DATA_DIR", "RUSTUP_HOME", "CARGO_HOME", "JAVA_HOME"),
)


def search_path(environ: Mapping[str, str] | None = None) -> list[str]:
    """Return the folders that programs are looked for in; relative ones would depend on where somebody stands."""
    environ = os.environ if environ is None else environ
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    return list(dict.fromkeys(folder for folder in folders if os.path.isabs(folder)))


def passed_on(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the few variables that a program needs to find itself; no keys, no tokens."""
    environ = os.environ if environ is None else environ
    known = {name: environ[name] for name in _PASSED_ON if environ.get(name)}
    return known | {"PATH": os.pathsep.join(search_path(environ))}


def wants_colour(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether a terminal may be shown colour: not where NO_COLOR says so, or where it knows none."""
    environ = os.environ if environ is None else environ
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def cores() -> int:
    """Return how many cores this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1
