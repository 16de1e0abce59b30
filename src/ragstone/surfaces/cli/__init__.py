"""The `ragstone` command: this page loads next to nothing, so that Ctrl-C finds somebody at home from the start."""

from __future__ import annotations

import gc
import sys

TYPE_CHECKING = False  # what `typing` calls so, without the time that importing it takes
if TYPE_CHECKING:
    from typing import NoReturn

    from ragstone.surfaces.cli.door import COMMANDS as COMMANDS
    from ragstone.surfaces.cli.door import commands as commands
    from ragstone.surfaces.cli.door import run as run

_DOOR = ("COMMANDS", "commands", "run")
_INTERRUPTED = 130
_EARLY = "stopped before anything was done"


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    gc.set_threshold(100_000, 20, 20)  # looking for circles finds hardly any, and takes an eighth of a first index
    try:
        from ragstone.surfaces.cli.door import run  # takes the most part of a short run: Ctrl-C may well meet it

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = _stopped(sys.argv[1:])
    gc.freeze()  # what is left is taken apart without looking for circles once more
    sys.exit(code)


def _stopped(arguments: list[str]) -> int:
    """Tell of a Ctrl-C that came while the command was still being loaded."""
    sys.stderr.write(f"interrupted: {_EARLY}\n")
    if "--json" in arguments:
        about = f'{{"code": "interrupted", "message": "{_EARLY}", "hint": "", "retryable": true}}'
        sys.stdout.write(f'{{"success": false, "error": {about}}}\n')
    return _INTERRUPTED


def __getattr__(name: str) -> object:
    """Return what the door holds, imported now."""
    if name not in _DOOR:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ragstone.surfaces.cli import door

    return getattr(door, name)
