"""A folder with files of every kind, and ways to prepare them with and without a worker process."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from ragstone.indexing.collection_writer import ChunkingConfig
from ragstone.indexing.prepare import ItemPreparer, Outcome
from ragstone.indexing.worker import BatchWorker, share_items
from ragstone.sources.folder.selection import FileLimits
from ragstone.sources.folder.source import FolderSource
from ragstone.types import Item

LIMITS = FileLimits(50_000, 10_000)
PYTHON = """def f{0}(x):
    return x + {0}


class C{0}:
    def m(self):
        return 'é{0}'
"""


def write_tree(folder: Path, seed: int, count: int = 60) -> None:
    """Write files of seven kinds in turn: code, prose, binary data, three encodings, broken code."""
    rng = random.Random(seed)
    for number in range(count):
        path = folder / rng.choice(("src", "docs/deep", ".")) / f"f{number:03}"
        path.parent.mkdir(parents=True, exist_ok=True)
        suffix, data = file_content(number, rng)
        path.with_suffix(suffix).write_bytes(data)


def file_content(number: int, rng: random.Random) -> tuple[str, bytes]:
    """Return the suffix and the bytes of a file; the number decides its kind."""
    kind = number % 7
    if kind == 0:
        code = PYTHON.format(number) * rng.randrange(1, 60)
        return ".py", code.encode("utf-8")
    if kind == 1:
        prose = f"# Title {number}\n\n" + "Some words. " * rng.randrange(300)
        return ".md", prose.encode("utf-8")
    if kind == 2:
        return ".dat", rng.randbytes(500) + b"\0\1\2"
    if kind == 3:
        return ".txt", "caf\xe9 \xfcber na\xefve\r\n".encode("cp1252") * 9
    if kind == 4:
        return ".txt", "wide \ud83d alone \U0001f600".encode("utf-16", "surrogatepass")
    if kind == 5:
        return ".txt", b"\xff\xfea\0b"  # half a character at the end
    return ".py", b"x = (\n" * rng.randrange(200)


def preparer_for(folder: Path, **sizes: int) -> ItemPreparer:
    source = FolderSource(folder, limits=LIMITS, git=False)
    return ItemPreparer(source, ChunkingConfig(**sizes))  # type: ignore[arg-type]  # only sizes


def scan_items(preparer: ItemPreparer) -> list[Item]:
    return [entry for entry in preparer.source.scan() if isinstance(entry, Item)]


def prepare_alone(preparer: ItemPreparer, items: Sequence[Item]) -> list[Outcome]:
    """Return the outcomes of this process, by uri."""
    return by_uri(map(preparer.prepare_item, items))


def prepare_with_worker(
    preparer: ItemPreparer,
    items: Sequence[Item],
    *,
    command: Sequence[str] | None = None,
    seconds: float = 30.0,
) -> tuple[list[Outcome], BatchWorker]:
    """Return the outcomes of this process and a worker together, by uri, and the worker."""
    pending = deque(items)
    with closing(BatchWorker(preparer, pending, command=command, seconds=seconds)) as worker:
        outcomes = list(share_items(preparer, pending, worker))
    return by_uri(outcomes), worker


def prepare_in_worker(preparer: ItemPreparer, items: Sequence[Item]) -> list[Outcome]:
    """Return the outcomes of the worker process alone, by uri; fail if it leaves an item out."""
    pending = deque(items)
    outcomes: list[Outcome] = []
    with closing(BatchWorker(preparer, pending)) as worker:
        while not worker.is_finished:
            for item, outcome in worker.take_batch(wait=True) or ():
                assert outcome is not None, item
                outcomes.append(outcome)
    assert not pending
    return by_uri(outcomes)


def by_uri(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes in order, without stamps: a file has none until it is old enough to be trusted."""
    return sorted(
        (replace(outcome, stamp=None) for outcome in outcomes), key=lambda outcome: outcome.uri
    )
