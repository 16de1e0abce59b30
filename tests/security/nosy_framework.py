"""A framework that reaches out of its process, as a hostile file could if it took over the evaluation."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from ragstone.protocols import Framework, ProjectFiles
from ragstone.types import Graph

ATTEMPTS: dict[str, Callable[[str], object]] = {
    "read a file": lambda path: Path(path).read_bytes(),
    "read a file by its number": lambda path: os.open(path, os.O_RDONLY),
    "write a file": lambda path: Path(path).write_text("x"),
    "list a folder": lambda path: os.listdir(os.path.dirname(path)),
    "start a program": lambda path: subprocess.run([sys.executable, "-V"], check=True),
    "fork": lambda path: os.fork(),
    "connect": lambda path: socket.create_connection(("127.0.0.1", 9)),
    "remove a file": lambda path: os.remove(path),
}


class Nosy:
    """Its remarks name the attempts that got through."""

    name = "nosy"

    def detects(self, files: ProjectFiles) -> bool:
        return True

    def read(self, files: ProjectFiles) -> Graph:
        path = files.text("secret.txt") or ""
        through = [f"process {os.getpid()}"]
        for name, attempt in ATTEMPTS.items():
            try:
                attempt(path)
            except (OSError, PermissionError):
                continue
            through.append(name)
        return Graph(remarks=tuple(through))


def nosy() -> tuple[Framework, ...]:
    return (Nosy(),)
