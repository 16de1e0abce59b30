"""The environment besides settings: the search path, variables for child processes, colour, cores."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

COMPLETION_VARIABLE: Final = "_RAGSTONE_COMPLETE"
_CHILD_VARIABLES: Final = (
    "HOME",
    "USER",
    "LOGNAME",
    "TZ",
    # Version managers find the program of a name through these.
    "PYENV_ROOT",
    "RBENV_ROOT",
    "NVM_DIR",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "RUSTUP_HOME",
    "CARGO_HOME",
    "JAVA_HOME",
)


def search_path(environ: Mapping[str, str] | None = None) -> list[str]:
    """Return the folders in which programs are found; relative ones depend on the working folder and are left out."""
    if environ is None:
        environ = os.environ
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    absolute = [folder for folder in folders if os.path.isabs(folder)]
    return list(dict.fromkeys(absolute))


def child_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the few variables that a child process needs; no keys, no tokens."""
    if environ is None:
        environ = os.environ
    variables = {name: environ[name] for name in _CHILD_VARIABLES if environ.get(name)}
    return variables | {"PATH": os.pathsep.join(search_path(environ))}


def wants_colour(*, is_terminal: bool, environ: Mapping[str, str] | None = None) -> bool:
    """Return whether output gets colours: NO_COLOR forbids them, FORCE_COLOR wants them also in a pipe."""
    if environ is None:
        environ = os.environ
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return is_terminal and environ.get("TERM") != "dumb"


def completion_request(environ: Mapping[str, str] | None = None) -> str:
    """Return what a shell's completion script asks for, such as `bash_complete`; empty in an ordinary run."""
    if environ is None:
        environ = os.environ
    return environ.get(COMPLETION_VARIABLE, "")


def is_automated(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether a build server runs this program: such servers set CI."""
    if environ is None:
        environ = os.environ
    return environ.get("CI", "").lower() not in ("", "0", "false", "no")


def provider_key(
    variables: Sequence[str], environ: Mapping[str, str] | None = None
) -> str | None:
    """Return the key of a provider from the first of its usual variables that is set, such as OPENAI_API_KEY."""
    if environ is None:
        environ = os.environ
    keys = [environ[name] for name in variables if environ.get(name)]
    return next(iter(keys), None)


def cores() -> int:
    """Return how many cores this process may use."""
    get_allowed_cores = getattr(os, "sched_getaffinity", None)
    if get_allowed_cores is not None:
        return len(get_allowed_cores(0))
    return os.cpu_count() or 1
