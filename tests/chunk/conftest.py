"""The contract of every chunker as one check."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragstone.protocols import Chunker
from ragstone.types import Chunk, Document

Check = Callable[[Chunker, str], list[Chunk]]


def _check(chunker: Chunker, text: str) -> list[Chunk]:
    document = Document("any", text, kind="code")
    chunks = chunker.chunk(document)
    assert chunks == chunker.chunk(document)
    assert [chunk.order for chunk in chunks] == list(range(len(chunks)))
    covered = bytearray(len(text))
    before = 0
    for chunk in chunks:
        span = chunk.span
        assert before <= span.start < span.end
        before = span.start
        assert text[span.start : span.end] == chunk.text
        assert chunk.text.strip()
        assert not chunk.text[-1].isspace()
        assert not chunk.text.split("\n")[0].isspace()
        assert chunk.text.lstrip(" \t") == chunk.text.lstrip()
        assert span.byte_start == len(text[: span.start].encode("utf-8", "surrogatepass"))
        assert span.byte_end == len(text[: span.end].encode("utf-8", "surrogatepass"))
        assert span.line_start == text.count("\n", 0, span.start) + 1
        assert span.line_end == text.count("\n", 0, span.end) + 1
        covered[span.start : span.end] = b"\1" * (span.end - span.start)
    missed = [at for at, sign in enumerate(text) if not covered[at] and not sign.isspace()]
    assert not missed
    return chunks


@pytest.fixture(scope="session")
def keeps_its_promises() -> Check:
    """Return the check of CH-7: exact slices in order that cover all text; it returns the chunks."""
    return _check
