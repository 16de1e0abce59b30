"""The environment besides settings: the search path, variables for child processes, colour, cores."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ragstone.errors import ConfigError

COMPLETION_VARIABLE: Final = "_RAGSTONE_COMPLETE"
_DEPTH_VARIABLE: Final = "_RAGSTONE_REMOTE_DEPTH"
"""Counts how many Ragstones started each other as MCP servers. It is not a setting."""
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
_USER_FOLDERS: Final = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA")
"""Folders of the user: a Ragstone that is started proves by a file there that an index is the user's own."""


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


def remote_depth(environ: Mapping[str, str] | None = None) -> int:
    """Return how many Ragstones above this one started the next as an MCP server."""
    if environ is None:
        environ = os.environ
    depth = environ.get(_DEPTH_VARIABLE, "")
    return int(depth) if depth.isdecimal() else 0


def remote_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables for an MCP server that is started: no settings, no keys, and the depth."""
    variables = os.environ if environ is None else environ
    folders = {name: variables[name] for name in _USER_FOLDERS if variables.get(name)}
    depth = {_DEPTH_VARIABLE: str(remote_depth(environ) + 1)}
    return child_environment(environ) | folders | depth


def wants_colour(*, is_terminal: bool, environ: Mapping[str, str] | None = None) -> bool:
    """Return whether output gets colours: NO_COLOR forbids them, FORCE_COLOR wants them also in a pipe."""
    if environ is None:
        environ = os.environ
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return is_terminal and environ.get("TERM") != "dumb"


def completion_request() -> str:
    """Return the request of a shell's completion script, such as `bash_complete`; empty in an ordinary run."""
    return os.environ.get(COMPLETION_VARIABLE, "")


def is_automated(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether a build server runs this program: such servers set CI."""
    if environ is None:
        environ = os.environ
    return environ.get("CI", "").lower() not in ("", "0", "false", "no")


def provider_key(variables: Sequence[str]) -> str | None:
    """Return the key of a provider from the first of its usual variables that is set, such as OPENAI_API_KEY."""
    for name in variables:
        key = check_key(os.environ.get(name, ""), name)
        if key:
            return key
    return None


def check_key(key: str, name: str) -> str:
    """Return a key without the white space around it; raise `ConfigError` if no HTTP header can carry it."""
    key = key.strip()
    if not key.isascii() or not key.isprintable():
        raise ConfigError(
            f"{name} has a character that no key has.",
            hint="copy the key again: letters, digits and ASCII signs on one line",
        )
    return key


def silence_onnxruntime() -> None:
    """Stop onnxruntime from sending usage data; it reads the variable when it is imported.

    Without it, version 1.31 writes a device id into the user's cache and calls its maker's server.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def cores() -> int:
    """Return how many cores this process may use."""
    get_allowed_cores = getattr(os, "sched_getaffinity", None)
    if get_allowed_cores is not None:
        return len(get_allowed_cores(0))
    return os.cpu_count() or 1


def user_config_folder(environ: Mapping[str, str] | None = None) -> Path | None:
    """Return the folder in which programs keep the user's settings; None if there is no home folder."""
    if environ is None:
        environ = os.environ
    config_home = Path(environ.get("XDG_CONFIG_HOME", ""))
    if config_home.is_absolute():
        return config_home
    variable = "HOME"
    if sys.platform == "win32":
        variable = "APPDATA"
    if not environ.get(variable):
        return None
    home = Path(environ[variable])
    if sys.platform == "win32":
        return home
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    return home / ".config"


def settings_folder(environ: Mapping[str, str] | None = None) -> Path | None:
    """Return the folder of the user's settings of Ragstone, whether it exists or not; None if there is no home folder."""
    folder = user_config_folder(environ)
    return None if folder is None else folder / "ragstone"


def user_ids() -> frozenset[int]:
    """Return the ids of this user; under `sudo` also the id of the user who called it. Empty on Windows."""
    get_id = getattr(os, "geteuid", None)
    if get_id is None:
        return frozenset()
    caller = os.environ.get("SUDO_UID", "")
    if get_id() == 0 and caller.isdecimal():
        return frozenset({0, int(caller)})
    return frozenset({get_id()})
