"""`python -m evals.fetch TREES`: get the source archives that the set `mixed` asks about, by name and version."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PYTHON_PACKAGES = {
    "click": "8.5.1",
    "flask": "3.1.3",
    "paramiko": "5.1.0",
    "structlog": "26.1.0",
}
MONOREPO = "fastify"
NODE_PACKAGES = {
    "fastify": "fastify@5.12.8",
    "cookie": "@fastify/cookie@11.1.5",
    "cors": "@fastify/cors@11.4.1",
    "jwt": "@fastify/jwt@10.2.7",
    "multipart": "@fastify/multipart@10.1.8",
    "rate-limit": "@fastify/rate-limit@11.2.0",
    "static": "@fastify/static@10.1.11",
    "websocket": "@fastify/websocket@11.3.6",
}
"""The packages of one project, side by side as in a monorepo."""


def main(arguments: list[str]) -> int:
    """Unpack every archive below `TREES/mixed`; a folder that is there stays."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m evals.fetch TREES\n")
        return 2
    trees = Path(arguments[0]) / "mixed"
    for name, version in PYTHON_PACKAGES.items():
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:"]
        fetch([*pip, f"{name}=={version}"], trees / name)
    for name, package in NODE_PACKAGES.items():
        fetch(["npm", "pack", package], trees / MONOREPO / name)
    return 0


def fetch(command: list[str], target: Path) -> None:
    """Run a command that leaves one archive in its folder, and unpack the archive without its top folder."""
    if target.is_dir():
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(command, cwd=folder, check=True)
        (archive,) = Path(folder).glob("*.t*gz")
        unpacked = Path(folder) / "unpacked"
        with tarfile.open(archive) as file:
            file.extractall(unpacked, filter="data")
        (top,) = unpacked.iterdir()
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(top, target)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
