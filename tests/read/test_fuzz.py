"""I2: for any bytes a reader gives a document or a typed reason, and chunkers keep every word of it.

5,000 inputs with every run, `TORTURE_INPUTS` of them with `make torture-read`. A failing input is written to a file
whose name the failure gives, with the seed that makes it again.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.chunk.chunkers import chunker_for
from ragstone.chunk.sizes import NAMES
from ragstone.errors import ReadError
from ragstone.read.choose_reader import is_binary, reader_for
from ragstone.read.confined_reader import ConfinedReader
from ragstone.read.file_formats import FORMATS, Format, find_format
from ragstone.sources.folder.ignore_rules import IgnoreRules
from ragstone.text.identifiers import query_terms, terms
from ragstone.text.tokens import estimate
from ragstone.types import Document
from tests.read.samples import ENCODINGS, SAMPLES, damaged, some_text
from tests.support.formats import get_format

pytestmark = pytest.mark.torture

INPUTS = int(os.environ.get("TORTURE_INPUTS", "5000"))
PARTS = 4
NATIVE = frozenset({"pdf", "html", "epub"})
"""Formats whose parsers are not Python and may end the process: always read in a child."""
UNCAUGHT = "it cannot be read: "
"""What the child says of an exception that a reader let through."""
SUFFIXES = (
    "txt",
    "md",
    "py",
    "json",
    "yaml",
    "toml",
    "csv",
    "tsv",
    "xml",
    "rst",
    "log",
    "unknown",
    "ini",
    "js",
)


@pytest.fixture
def child() -> Iterator[ConfinedReader]:
    warm = ConfinedReader()
    yield warm
    warm.close()


def test_every_format_has_a_sample_to_damage() -> None:
    files = {suffix for one in FORMATS for suffix in one.suffixes if one.name not in SAMPLES}
    assert files <= set(SUFFIXES), "formats that no fuzz reaches"


@pytest.mark.parametrize("part", range(PARTS))
def test_any_bytes_become_a_document_or_a_reason(
    part: int, seed: int, child: ConfinedReader, tmp_path: Path
) -> None:
    counts: Counter[str] = Counter()
    for number in range(part, INPUTS, PARTS):
        rng = random.Random(f"{seed}:{number}")
        uri, data = made(rng)
        try:
            counts[outcome(uri, data, child, rng)] += 1
        except BaseException as error:
            kept = (
                Path(os.environ.get("TORTURE_KEEP", tmp_path)) / f"input-{seed}-{number}-{uri}"
            )
            kept.write_bytes(data)
            raise AssertionError(
                f"input {number} of seed {seed} ({kept}): {type(error).__name__}: {error}"
            ) from error
    print(dict(counts))
    assert sum(counts.values()) == len(range(part, INPUTS, PARTS))
    assert counts["read"] > INPUTS / PARTS / 10
    assert (
        sum(count for reason, count in counts.items() if reason not in ("read", "binary"))
        > INPUTS / PARTS / 100
    )


def made(rng: random.Random) -> tuple[str, bytes]:
    """Return a name and bytes: a text in some encoding, or a file of some format; often damaged."""
    if rng.random() < 0.4:
        name = f"a.{rng.choice(SUFFIXES)}"
        data = some_text(rng).encode(rng.choice(ENCODINGS), "replace")
        return name, data if rng.random() < 0.5 else damaged(data, rng)
    name = rng.choice(list(SAMPLES))
    data = SAMPLES[name](rng)
    data = data if rng.random() < 0.15 else damaged(data, rng)
    return (
        f"a.{rng.choice(get_format(name).suffixes)}" if rng.random() < 0.97 else "unnamed",
        data,
    )


def outcome(uri: str, data: bytes, child: ConfinedReader, rng: random.Random) -> str:
    """Return what became of a file: `read`, `binary` or the reason; an `AssertionError` if a promise was broken."""
    if is_binary(data, uri):
        return "binary"
    found = find_format(uri, data)
    try:
        if found is None:
            document = reader_for(uri, data).read(data, uri)
        else:
            document = _read(
                found, data, uri, child if found.name in NATIVE or rng.random() < 0.05 else None
            )
    except ReadError as error:
        assert error.message
        assert not error.message.startswith(UNCAUGHT), error.message
        assert error.reason not in ("timeout", "memory"), error.reason
        return error.reason
    holds(document, rng)
    return "read"


def _read(format_: Format, data: bytes, uri: str, child: ConfinedReader | None) -> Document:
    if child is not None:
        return child.read(format_.name, data, uri)
    return format_.load()(data, uri)


def holds(document: Document, rng: random.Random) -> None:
    """Check that a document is sound and that chunkers keep every word of it."""
    text = document.text
    starts = [mark.start for mark in document.marks]
    assert starts == sorted(starts)
    assert all(0 <= start <= len(text) for start in starts)
    encoded = text.encode("utf-8", "surrogatepass")
    sizes = [("auto", None, None), (rng.choice(NAMES), rng.choice((1, 7, 60, 500)), 0)]
    for name, size, overlap in sizes:
        chunks = chunker_for(document, name=name, size=size, overlap=overlap).chunk(document)
        reached = 0
        for chunk in chunks:
            span = chunk.span
            assert text[span.start : span.end] == chunk.text
            assert encoded[span.byte_start : span.byte_end] == chunk.text.encode(
                "utf-8", "surrogatepass"
            )
            assert (span.page is None) == (not starts or span.start < starts[0])
            assert not text[reached : max(span.start, reached)].strip(), (
                f"{name} leaves something out"
            )
            reached = max(reached, span.end)
        assert not text[reached:].strip(), f"{name} leaves the end out"
    assert estimate(text) >= 0
    assert len(terms(text)) >= 0
    assert len(query_terms(text[:500])) <= 64
    IgnoreRules(text[:500].splitlines()).verdict("some/folder/file.txt")
