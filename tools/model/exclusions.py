"""What must not be trained on: packages and passages that the benchmarks are made of, known by their hashes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

LINE_BYTES = 8
LEAST_LINE = 40
"""Shorter lines are in every project and prove nothing."""
MOST_SHARED = 1 / 3
"""The share of known lines from which a passage is left out."""
_SEPARATORS = re.compile(r"[-_./]+")


@dataclass(frozen=True, slots=True)
class Exclusions:
    """Hashes of the names and of the long lines of benchmark repositories and documents."""

    names: frozenset[str] = frozenset()
    lines: frozenset[bytes] = frozenset()

    @classmethod
    def read(
        cls, names: Path | None, lines: Path | None, trees: Iterable[Path] = ()
    ) -> Exclusions:
        """Return the exclusions of two files of hashes and of all texts below some folders."""
        known_names = names.read_text(encoding="ascii").split() if names else ()
        known_lines = lines.read_bytes() if lines else b""
        hashes = {
            known_lines[start : start + LINE_BYTES]
            for start in range(0, len(known_lines), LINE_BYTES)
        }
        for tree in trees:
            hashes.update(_hashes_below(tree))
        return cls(frozenset(known_names), frozenset(hashes))

    def has_name(self, package: str) -> bool:
        """Return whether the name of a package, or a run of the parts of its name, is a benchmark's."""
        parts = [part for part in _SEPARATORS.split(package.strip("@")) if part]
        runs = {
            "-".join(parts[start:end])
            for start in range(len(parts))
            for end in range(start + 1, len(parts) + 1)
        }
        return any(_hash_name(name) in self.names for name in {package, *runs})

    def has_passage(self, passage: str) -> bool:
        """Return whether more than a third of the long lines of a passage are a benchmark's."""
        hashes = list(long_line_hashes(passage))
        return sum(line in self.lines for line in hashes) > len(hashes) * MOST_SHARED


def long_line_hashes(text: str) -> Iterator[bytes]:
    """Yield the hash of each line that is long enough to be told apart."""
    for line in text.splitlines():
        stripped = line.strip()
        if len(stripped) >= LEAST_LINE:
            yield hashlib.sha256(stripped.encode("utf-8", "replace")).digest()[:LINE_BYTES]


def _hash_name(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def _hashes_below(tree: Path) -> Iterator[bytes]:
    for path in tree.rglob("*"):
        if path.is_file() and not path.is_symlink():
            yield from long_line_hashes(path.read_text(encoding="utf-8", errors="ignore"))
