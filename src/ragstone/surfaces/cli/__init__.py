"""The `ragstone` command line.

Only the standard library loads here, so Ctrl-C is handled from the first moment of a run.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False  # `typing` takes longer to import than this whole module
if TYPE_CHECKING:
    from typing import NoReturn

_EXIT_INTERRUPTED = 130
_INTERRUPTED = "stopped before anything was done"


def main() -> NoReturn:
    """Run the command line and exit with its exit code."""
    _open_closed_streams()
    # Indexing builds few cycles: collecting rarely makes a first index 12 % faster.
    gc.set_threshold(100_000, 20, 20)
    try:
        # Imported inside `try`: loading takes most of a short run.
        from ragstone.surfaces.cli.app import run

        exit_code = run(sys.argv[1:])
    except KeyboardInterrupt:
        exit_code = _report_early_interrupt(sys.argv[1:])
    # The last collection of the interpreter would look at every object: a tenth of a short search. PyTorch's
    # libraries print a page of complaints about objects that nothing collected.
    if "torch" not in sys.modules:
        gc.freeze()
    sys.exit(exit_code)


def _open_closed_streams() -> None:
    """Open standard streams that were closed (`>&-`), so that no file of ours gets their number.

    The number of stdout gets a file that cannot be written: a command whose answer is lost must not succeed.
    """
    for name, flags, mode in (
        ("stdin", os.O_RDONLY, "r"),
        ("stdout", os.O_RDONLY, "w"),
        ("stderr", os.O_WRONLY, "w"),
    ):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, flags)
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8"))


def _report_early_interrupt(arguments: list[str]) -> int:
    """Report a Ctrl-C that arrived while the command was loading, and return the exit code."""
    sys.stderr.write(f"interrupted: {_INTERRUPTED}\n")
    if "--json" in arguments or "--jsonl" in arguments:
        error = f'{{"code": "interrupted", "message": "{_INTERRUPTED}", "hint": "", "retryable": true}}'
        sys.stdout.write(f'{{"success": false, "error": {error}}}\n')
    return _EXIT_INTERRUPTED
