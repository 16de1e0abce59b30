"""Requests and replies of the worker process keep every field."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.code.symbols import read_facts
from ragstone.indexing.collection_writer import ChunkingConfig
from ragstone.indexing.prepare import ItemPreparer, Outcome, prepare_document
from ragstone.indexing.worker_protocol import (
    BatchReply,
    BatchRequest,
    build_preparer,
    build_request,
    decode_outcomes,
)
from ragstone.read.messages import decode, encode, parse, read_message, write_message
from ragstone.sources.folder.selection import FileLimits
from ragstone.sources.folder.source import FolderSource
from ragstone.types import Document, Item, Mark, Stamp

SOURCE = FolderSource(
    Path("somewhere"), limits=FileLimits(10, 20, 30, {"pdf"}), databases=[Path("own.db")]
)
PREPARER = ItemPreparer(SOURCE, ChunkingConfig("prose", 9, 2), {"a": "1f"}, keep_facts=True)
STAMP = Stamp(1, 2**63, 3, 2**64 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(TEXTS, max_size=4), TEXTS)
def test_outcomes_survive_encoding_and_decoding(texts: list[str], title: str) -> None:
    outcomes: list[Outcome | None] = [None, Outcome("x", "failed", reason="vanished")]
    for number, text in enumerate(texts):
        document = Document(f"u{number}", text, "prose", title=title, marks=(Mark(0, 1),))
        unstamped, _ = prepare_document(document, PREPARER.chunking, source="files")
        prepared = replace(unstamped, stamp=STAMP)
        facts = read_facts("class Song:\n    def play(self): sing()\n", f"u{number}.py")
        outcomes.append(Outcome(document.uri, "ready", STAMP, prepared, facts=facts))
    stream = BytesIO()
    write_message(stream, BatchReply(tuple(outcomes)))
    message = read_message(BytesIO(stream.getvalue()))
    assert message is not None
    items = [Item(outcome.uri if outcome else "none", STAMP) for outcome in outcomes]
    assert decode_outcomes(message[0], items) == outcomes


def test_a_request_carries_the_source_the_settings_and_the_items() -> None:
    items = (Item("a", STAMP), Item("b", STAMP))
    request = decode(BatchRequest, parse(encode(build_request(PREPARER, items))))
    preparer = build_preparer(request)
    assert isinstance(preparer.source, FolderSource)
    assert preparer.source.root == SOURCE.root
    assert preparer.source.limits == SOURCE.limits
    assert list(preparer.source.databases) == SOURCE.databases
    assert preparer.chunking == PREPARER.chunking
    assert preparer.keep_facts
    assert (request.items, preparer.known_hashes) == (items, {"a": "1f"})


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome("other", "failed"),
        Outcome("a", "ready"),
        Outcome("a", "odd"),  # type: ignore[arg-type]  # the verdict of a process that sends nonsense
    ],
)
def test_an_outcome_that_does_not_match_its_item_is_an_error(outcome: Outcome) -> None:
    header = parse(encode(BatchReply((outcome,))))
    with pytest.raises(ValueError, match="match"):
        decode_outcomes(header, [Item("a", STAMP)])
