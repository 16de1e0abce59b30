"""Secrets: how fast texts are looked at, how many of the planted are found, how many clean chunks are flagged."""

from __future__ import annotations

import argparse
import importlib.util
import sysconfig
import time
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

from bench import measure
from bench.measure import child, tell
from bench.planted import KINDS, left, planted
from bench.texts import library_files

REPEATS = 5
SEEDS = (20, 21, 22, 23, 24)
PACKAGES = (
    "numpy",
    "rich",
    "click",
    "hypothesis",
    "_pytest",
    "pygments",
    "setuptools",
    "pip",
    "mypy",
)
LARGEST = 5_000_000
_NOT_TEXT = frozenset({"__pycache__", "site-packages", "dist-packages", "node_modules", ".git"})


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return our figures: there is no peer that looks for secrets before it stores."""
    return {"ours": child("bench.secrets", {}, cores=options.cores), "ratios": {}}


def work(spec: dict[str, Any]) -> dict[str, Any]:
    """Return speed, the share found by kind, and the share of clean chunks flagged by package."""
    tell("secrets: speed")
    result = speed()
    tell("secrets: planted")
    result |= recall()
    shares: dict[str, float] = {}
    for name, root in clean():
        tell(f"secrets: {name}")
        counted = flagged(root)
        shares[name] = round(counted["flagged"] / max(1, counted["chunks"]), 6)
        result[f"chunks of {name}"] = counted["chunks"]
    result["flagged share"] = shares
    result["flagged most"] = max(shares.values())
    return result


def speed() -> dict[str, Any]:
    """Return megabytes a second of CPU over the standard library's sources, best of some rounds."""
    from ragstone.sources.secrets.redaction import scan

    texts = [path.read_text(encoding="utf-8", errors="replace") for path in library_files()]
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1e6
    taken: list[float] = []
    for _ in range(REPEATS):
        begun = time.process_time()
        for text in texts:
            scan(text)
        taken.append(time.process_time() - begun)
    return {"megabytes": round(size, 1), "mb_per_s": round(size / min(taken), 1)}


def recall() -> dict[str, Any]:
    """Return the share of planted secrets of which nothing is left, in all and of the kinds where some were missed."""
    from ragstone.sources.secrets.redaction import redact

    made: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for seed in SEEDS:
        for suffix, one in planted(1000, seed):
            made[one.kind] += 1
            missed[one.kind] += left(one, redact(one.text, uri=f"file{suffix}")[0])
    by_kind = {kind: round(1 - missed[kind] / made[kind], 3) for kind in KINDS if missed[kind]}
    share = round(1 - missed.total() / made.total(), 4)
    return {
        "planted": made.total(),
        "kinds": len(KINDS),
        "found share": share,
        "found share where not all": by_kind,
    }


def clean() -> list[tuple[str, Path]]:
    """Return the packages at hand that hold no secrets, and where they are."""
    found = [(name, importlib.util.find_spec(name)) for name in PACKAGES]
    packages = [
        (name, Path(spec.origin).parent)
        for name, spec in found
        if spec is not None and spec.origin
    ]
    return [*packages, ("standard library", Path(sysconfig.get_paths()["stdlib"]))]


def flagged(root: Path, *, most: int | None = None) -> dict[str, int]:
    """Return how many chunks the files of a folder make, and how many of them hold what is taken for a secret."""
    from ragstone.chunk.chunkers import chunker_for
    from ragstone.errors import ReadError
    from ragstone.read.choose_reader import is_binary, reader_for
    from ragstone.sources.folder.selection import file_reason
    from ragstone.sources.secrets.redaction import scan

    counted = {"files": 0, "chunks": 0, "flagged": 0}
    for path in islice(_files(root), most):
        data = path.read_bytes()
        if is_binary(data, path.name) or file_reason(path.name, secrets=False):
            continue
        try:
            document = reader_for(path.name).read(data, path.name)
        except ReadError:
            continue
        found = scan(document.text, uri=path.name)
        spans = [chunk.span for chunk in chunker_for(document).chunk(document)]
        counted["files"] += 1
        counted["chunks"] += len(spans)
        counted["flagged"] += sum(
            any(one.start < span.end and span.start < one.end for one in found)
            for span in spans
        )
    return counted


def _files(root: Path) -> list[Path]:
    return [
        path
        for path in sorted(root.rglob("*"))
        if path.is_file()
        and path.stat().st_size <= LARGEST
        and not _NOT_TEXT & set(path.relative_to(root).parts)
    ]


if __name__ == "__main__":
    measure.answer(work)
