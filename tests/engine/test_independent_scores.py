"""Documents elsewhere change nothing: not in another collection, project or session."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import Engine, Workspace
from ragstone.types import Document

FAKE = {"rag.embedding_provider": "fake"}
TEXTS = {
    "ferry.md": "The ferry leaves the harbour at nine and returns at noon.",
    "bell.md": "The bell of the harbour rings twice when the ferry returns.",
    "rope.md": "Ropes are stored in the shed behind the harbour office.",
    "crane.md": "The crane lifts boats out of the water in November.",
}
QUESTION = "when does the ferry return to the harbour"


def search(engine: Engine) -> list[tuple[str, float]]:
    hits = engine.search(QUESTION, collection="default")
    return [(hit.source_doc_id, hit.score) for hit in hits]


def test_documents_elsewhere_change_neither_order_nor_score(tmp_path: Path) -> None:
    for name in ("mine", "other"):
        (tmp_path / name).mkdir()
    with Workspace.open(tmp_path / "mine", config=FAKE) as workspace:
        mine = Engine.open(tmp_path / "mine", config=FAKE, workspace=workspace)
        mine.add([Document(uri=uri, text=text) for uri, text in TEXTS.items()])
        before = search(mine)
        noise = [Document(uri=f"{n}", text=f"The ferry of day {n} returns.") for n in range(80)]
        mine.add(noise, collection="log")
        for number in range(40):
            mine.remember("chat", "user", f"When does ferry number {number} return?")
        other = Engine.open(
            tmp_path / "other", config=FAKE, workspace=workspace, project="other"
        )
        other.add(noise)
        after = search(mine)
    assert [name for name, _ in after] == [name for name, _ in before]
    assert [score for _, score in after] == pytest.approx(
        [score for _, score in before], abs=0.01
    )
