"""Count the source files that one sync and one search pass through.

    python tools/trace_files.py [--list]

A file counts if one of its functions runs. Module bodies that run at import do not count. Each verb runs once before
it is traced, so that nothing is imported or opened for the first time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import ragstone
from ragstone import Engine

PACKAGE = str(Path(ragstone.__file__).parent)
CONFIG = {"rag.embedding_provider": "minilm"}


def trace(work: Callable[[], object]) -> set[str]:
    """Return the files of the package whose functions run while `work` runs, in any thread."""
    files: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        is_ours = code.co_filename.startswith(PACKAGE)
        if event == "call" and is_ours and code.co_name != "<module>":
            files.add(code.co_filename.removeprefix(PACKAGE).lstrip("/\\"))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return files


def trace_sync() -> set[str]:
    """Return the files that a sync of one README passes through."""
    with tempfile.TemporaryDirectory() as folder:
        readme = Path(folder, "README.md")
        with Engine.open(folder, config=CONFIG) as engine:
            readme.write_text("# Harbour\n\nThe ferry leaves at nine.\n", encoding="utf-8")
            engine.sync()
            readme.write_text("# Harbour\n\nThe ferry leaves at ten.\n", encoding="utf-8")
            return trace(engine.sync)


def trace_search() -> set[str]:
    """Return the files that a hybrid search passes through."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "README.md").write_text(
            "# Harbour\n\nThe ferry leaves at nine.\n", encoding="utf-8"
        )
        with Engine.open(folder, config=CONFIG) as engine:
            engine.sync()
            time.sleep(2.5)  # a file that was written just now is read again to prove a hit
            engine.search("when does the boat leave")
            return trace(lambda: engine.search("departure of the ferry"))


def main() -> None:
    """Print the counts, and with --list the files."""
    parser = argparse.ArgumentParser(
        description="Count the source files that a sync and a search pass through."
    )
    parser.add_argument("--list", action="store_true", help="print the files too")
    options = parser.parse_args()
    for name, files in (("sync", trace_sync()), ("search", trace_search())):
        print(f"{name}: {len(files)} files")
        if options.list:
            print("  " + "\n  ".join(sorted(files)))


if __name__ == "__main__":
    main()
