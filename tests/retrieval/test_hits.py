"""Hits built from ranked chunks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from ragstone import Document, Engine
from ragstone.types import Mark


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


@pytest.mark.parametrize(
    ("unit", "cited"),
    [("", "p."), ("slide", "slide "), ("sheet", "sheet "), ("chapter", "chapter ")],
)
def test_a_hit_is_never_joined_from_two_pages(tmp_path: Path, unit: str, cited: str) -> None:
    pages = [f"The gondola of harbour number{n} is painted colour{n}.\n" for n in range(9)]
    starts = [sum(map(len, pages[:number])) for number in range(9)]
    marks = tuple(Mark(start, page, "", unit) for page, start in enumerate(starts, start=1))
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.add(Document("boats.pdf", "".join(pages), marks=marks))
        for number in range(9):
            hit = engine.search(f"gondola harbour number{number}", 9)[0]
            assert hit.text.strip() == pages[number].strip()
            assert hit.citation.startswith(f"boats.pdf {cited}{number + 1}")


def test_a_hit_says_when_its_document_was_stored(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.add(Document("boats.md", "The gondola is black."))
        (hit,) = engine.search("gondola")
        (stored,) = engine.sources()
    moment = datetime.fromisoformat(hit.ingested_at)
    assert moment.timestamp() == int(stored.added_at)
    assert moment.tzinfo is not None


def test_candidates_that_are_left_out_are_named_by_path_and_lines(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        engine.add(
            [
                Document("boats.md", "# Boats\n\nThe gondola is black.\n"),
                Document("ferry.md", "The gondola pier.\nThe ferry.\n"),
                Document("tax.md", "Quarterly tax returns are due in April.\n"),
            ]
        )
        explanation = engine.explain("gondola", 1)
    assert explanation.dropped
    for candidate in explanation.dropped:
        path, _, lines = candidate.citation.partition(":")
        assert path in ("boats.md", "ferry.md", "tax.md")
        assert lines[0] == "1"
        assert candidate.doc_id.startswith(f"{path}__chunk_")


def test_the_scores_of_hits_and_of_dropped_candidates_are_on_one_scale(
    engine: Engine,
) -> None:
    texts = [f"The harbour master counts boats on day {n}." for n in range(9)]
    engine.add([Document(f"{n}.md", text) for n, text in enumerate(texts)])
    explanation = engine.explain("harbour light tower master plan", 2, merge=False)
    lowest = min(hit.score for hit in explanation.hits)
    lower = [entry.score for entry in explanation.dropped if entry.reason == "ranked lower"]
    assert lower
    assert max(lower) <= lowest + 1e-9


def test_hits_of_one_long_section_have_different_citations(tmp_path: Path) -> None:
    paragraphs = [
        f"<p>{f'The gondola has part{number} of wood. ' * 12}</p>" for number in range(8)
    ]
    page = f"<html><body><h1>Boats</h1>{''.join(paragraphs)}</body></html>"
    (tmp_path / "boats.html").write_text(page, encoding="utf-8")
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.sync()
        hits = engine.search("gondola", 8, merge=False)
    assert len(hits) == 8
    assert len({hit.citation for hit in hits}) == 8
    assert all(hit.citation.startswith("boats.html section Boats, text line") for hit in hits)


def test_a_text_repeated_on_one_page_does_not_name_that_page_again(tmp_path: Path) -> None:
    repeated = "The gondola is rowed by one man with one long oar. " * 30
    other = "The ferry takes cars and lorries over the wide river. " * 30
    text = f"{repeated}\n\n{other}\n\n{repeated}\n\n{other}\n\n"
    marks = (Mark(0, 1), Mark(len(text), 2))
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.add(Document("boats.pdf", text + text, marks=marks))
        (hit, *_) = engine.search("gondola oar", merge=False)
    assert hit.citation == "boats.pdf p.1"
    assert hit.duplicates == ("boats.pdf p.2",)
