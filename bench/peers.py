"""The peers: what each is called, what installs it, and the environment they live in, apart from ours."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench.measure import Absent, tell
from bench.provenance import ROOT

ENVIRONMENT = ROOT / ".cache" / "peers-venv"


@dataclass(frozen=True, slots=True)
class Peer:
    """A package we measure beside ours."""

    name: str
    module: str
    packages: tuple[str, ...]
    heavy: bool = False
    """Brings torch: installed only when asked for by name."""


PEERS = (
    Peer("chroma", "chromadb", ("chromadb", "rank-bm25")),
    Peer("llama-index", "llama_index.core", ("onnxruntime", "llama-index-core")),
    Peer("lancedb", "lancedb", ("lancedb",)),
    Peer("sqlite-vec", "sqlite_vec", ("apsw", "sqlite-vec")),
    Peer("faiss", "faiss", ("faiss-cpu",)),
    Peer("hnswlib", "hnswlib", ("hnswlib",)),
    Peer("qdrant-edge", "qdrant_edge", ("qdrant-edge-py",)),
    Peer("fastembed", "fastembed", ("fastembed",)),
    Peer(
        "sentence-transformers",
        "sentence_transformers",
        ("torch==2.13.0", "sentence-transformers"),
        heavy=True,
    ),
    Peer("txtai", "txtai", ("torch==2.13.0", "txtai"), heavy=True),
)


def named(name: str) -> Peer:
    """Return a peer by name."""
    for peer in PEERS:
        if peer.name == name:
            return peer
    raise Absent(
        f"there is no peer called {name!r}; known: {', '.join(peer.name for peer in PEERS)}"
    )


def interpreter() -> Path:
    """Return the Python of the peers' environment, whether it is there or not."""
    folder, program = (
        ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    )
    return ENVIRONMENT / folder / program


@cache
def installed(name: str) -> bool:
    """Return whether a peer can be imported in the peers' environment."""
    if not interpreter().exists():
        return False
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({named(name).module!r}) is None)"
    return (
        subprocess.run(
            [str(interpreter()), "-c", code], capture_output=True, check=False
        ).returncode
        == 0
    )


@cache
def version(package: str) -> str:
    """Return a package's version in the peers' environment, nothing where it is not installed."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run(
        [str(interpreter()), "-c", code], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def install(names: list[str]) -> None:
    """Make the peers' environment and put peers in; without names, all that are not heavy."""
    chosen = [named(name) for name in names] or [peer for peer in PEERS if not peer.heavy]
    if not interpreter().exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    for peer in chosen:
        # One package after the other: torch first keeps its version, whatever the next one would like.
        for package in ("numpy", *peer.packages):
            tell(f"installing {package}")
            command = [
                str(interpreter()),
                "-m",
                "pip",
                "install",
                "-q",
                "--prefer-binary",
                package,
            ]
            if subprocess.run(command, check=False).returncode != 0:
                tell(f"{peer.name} could not be installed and will be left out")
                break
