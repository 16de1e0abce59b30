"""What is said arrives as it was said, whatever stands in it."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ragstone.indexing.prepare import Cut, Job, Outcome, prepared
from ragstone.indexing.worker_protocol import (
    hear_items,
    hear_job,
    hear_outcomes,
    tell_items,
    tell_job,
    tell_outcomes,
)
from ragstone.read.wire import receive, send
from ragstone.sources.folder.source import FolderSource
from ragstone.types import Document, Item, Mark, Stamp

SOURCE = FolderSource(Path("somewhere"), limits=(10, 20), documents=(30, {"pdf"}), never_open=[Path("own.db")])
JOB = Job(SOURCE, Cut("prose", 9, 2), {"a": "1f"})
STAMP = Stamp(1, 2**63, 3, 2**64 - 1)
TEXT = st.text(st.characters(codec=None) | st.sampled_from("a \n.\ud83d\ude00"))


@given(st.lists(TEXT, max_size=4), TEXT)
def test_any_text_survives_the_way(texts: list[str], title: str) -> None:
    told = [
        Outcome(f"u{number}", "ready", STAMP, prepared(document, JOB.cut, source="files", stamp=STAMP))
        for number, text in enumerate(texts)
        for document in [Document(f"u{number}", text, "prose", title=title.replace("\ud83d", ""), marks=(Mark(0, 1),))]
    ]
    stream = BytesIO()
    send(stream, *tell_outcomes([None, *told, Outcome("x", "failed", reason="vanished")]))
    heard = receive(BytesIO(stream.getvalue()))
    assert heard is not None
    assert hear_outcomes(*heard, JOB) == [None, *told, Outcome("x", "failed", reason="vanished")]


def test_a_job_and_its_items_arrive_as_they_were_told() -> None:
    heard = hear_job(tell_job(JOB))
    assert (heard.source.root, heard.source.limits, list(heard.source.never_open)) == (
        JOB.source.root,
        JOB.source.limits,
        JOB.source.never_open,
    )
    assert heard.source.documents == JOB.source.documents
    assert heard.cut == JOB.cut
    items = [Item("a", STAMP), Item("b", STAMP)]
    assert hear_items(tell_items(items, JOB)) == (items, {"a": "1f"})
