"""Hits built from ranked chunks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from ragstone import Engine


def test_neighbours_are_joined_even_if_a_distant_chunk_of_their_file_is_damaged(
    tmp_path: Path,
) -> None:
    paragraphs = [f"Paragraph {number} of the harbour. " * 20 for number in range(9)]
    paragraphs += ["The zeppelin lands at a pier. " * 16, "The zeppelin has its crew. " * 17]
    (tmp_path / "zeppelin.md").write_text("\n\n".join(paragraphs), encoding="utf-8")
    engine = Engine.open(tmp_path, config={"rag.embedding_provider": "fake"})
    engine.sync()
    before = engine.search("zeppelin crew lands", mode="words")[0]
    assert "pier" in before.text
    assert "crew" in before.text
    engine.close()
    with closing(sqlite3.connect(engine.home / "ragstone.db")) as db, db:
        chunks = "SELECT text_id FROM chunks c JOIN documents d ON d.id = c.document WHERE d.uri = 'zeppelin.md'"
        db.execute(
            f"UPDATE texts SET body = x'00ff' WHERE id = ({chunks} ORDER BY start LIMIT 1)"
        )
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as again:
        after = again.search("zeppelin crew lands", mode="words")[0]
    assert after.text == before.text
