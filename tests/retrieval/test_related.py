"""Hits of code carry the routes, tables and symbols that the code graph knows of their lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from ragstone import Engine, Hit
from tests.support.bookshop import written
from tests.support.invoices import write_invoices

CONTROLLER = "app/Http/Controllers/BookController.php"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = written(tmp_path_factory.mktemp("shop"))
    with Engine.open(
        folder, config={"rag.embedding_provider": "fake", "search.watch": "off"}
    ) as opened:
        opened.sync()
        yield opened


def hits_of(engine: Engine, path: str) -> list[Hit]:
    hits = engine.search("book lend loan", mode="words", filters={"path": path}, merge=False)
    assert hits, path
    return hits


def values(hits: list[Hit], name: str) -> set[object]:
    names: set[object] = set()
    for hit in hits:
        value = hit.metadata.get(name) or ()
        assert isinstance(value, tuple)
        names.update(value)
    return names


def test_a_controller_carries_its_routes_the_tables_it_touches_and_its_symbols(
    engine: Engine,
) -> None:
    hits = hits_of(engine, CONTROLLER)
    assert "POST api/books/{book}/loans" in values(hits, "routes")
    assert "books" in values(hits, "tables")
    assert any("BookController" in str(symbol) for symbol in values(hits, "symbols"))
    assert {hit.metadata["framework"] for hit in hits} == {"laravel"}


def test_a_model_and_a_migration_carry_their_table(engine: Engine) -> None:
    assert "books" in values(hits_of(engine, "app/Models/Book.php"), "tables")
    assert "books" in values(hits_of(engine, "database/migrations/**"), "tables")


def test_a_file_of_routes_carries_the_routes_of_its_lines(engine: Engine) -> None:
    hits = hits_of(engine, "routes/api.php")
    assert "POST api/books/{book}/loans" in values(hits, "routes")


def test_chunks_of_a_retrieval_and_descriptions_carry_them_too(engine: Engine) -> None:
    retrieval = engine.retrieve("Which code serves route books.lend?")
    assert "POST api/books/{book}/loans" in values(list(retrieval.chunks), "routes")
    described = [hit for hit in retrieval.chunks if hit.source_doc_id.startswith("graph:route")]
    for hit in described:
        assert hit.metadata["routes"]


def test_a_project_without_a_framework_has_plain_metadata(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def lend(book):\n    return book\n", encoding="utf-8")
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.sync()
        hit = engine.search("lend", mode="words")[0]
        assert hit.metadata.keys() == {"path", "chunk_index"}


def test_a_group_of_routes_has_a_chunk_with_its_middleware_and_its_routes(
    engine: Engine,
) -> None:
    (group,) = engine.search("auth routes group", filters={"kind": "route_group"})
    assert group.citation == "routes/api.php:6 (route_group, summary by Ragstone)"
    assert "Middleware: api, auth." in group.text
    assert "POST api/books/{book}/loans" in group.text
    assert "POST api/books/{book}/loans" in values([group], "routes")
    (table,) = engine.search("books table", filters={"kind": "table"}, top_k=1)
    assert "books" in values([table], "tables")


@pytest.mark.parametrize("kind", ["route", "route_group", "table"])
def test_the_description_of_a_unit_has_the_exact_lines_that_it_is_about(
    engine: Engine, kind: str
) -> None:
    hits = engine.search("books loans auth", filters={"kind": kind})
    described = [hit for hit in hits if hit.source_doc_id.startswith("graph:")]
    assert described
    for hit in described:
        text = (engine.folder / str(hit.metadata["file"])).read_text(encoding="utf-8")
        first, last = cast("tuple[int, int]", hit.metadata["lines"])
        assert first == hit.metadata["line"] and (first, last) == hit.lines
        source = "\n".join(text.split("\n")[first - 1 : last])
        assert source.strip()
        assert hit.metadata["source"] == source


@pytest.mark.parametrize("kind", ["route", "route_group", "table"])
def test_the_chunk_of_a_unit_is_an_exact_slice_of_its_document(
    engine: Engine, kind: str
) -> None:
    hits = engine.search("books loans auth", filters={"kind": kind}, merge=False)
    assert hits
    for hit in hits:
        text = engine.admin.text(hit.source_doc_id) or ""
        assert text[hit.span.start : hit.span.end] == hit.text
        data = text.encode("utf-8")
        assert data[hit.span.byte_start : hit.span.byte_end].decode("utf-8") == hit.text
        assert hit.is_summary == hit.source_doc_id.startswith("graph:")


def test_the_text_of_a_table_has_columns_of_all_its_migrations(engine: Engine) -> None:
    (table,) = engine.search("books table", filters={"kind": "table"}, top_k=1)
    assert len(table.text.splitlines()) > 1


@pytest.mark.parametrize(
    ("kind", "name", "lines"),
    [
        ("route_group", "billing", (5, 9)),
        ("route", "invoices.send", (7, 8)),
        ("table", "invoices", (9, 13)),
        ("config", "billing", (2, 9)),
    ],
)
def test_the_source_of_a_unit_is_its_whole_statement(
    tmp_path: Path, kind: str, name: str, lines: tuple[int, int]
) -> None:
    config = {"rag.embedding_provider": "fake", "search.watch": "off"}
    with Engine.open(write_invoices(tmp_path), config=config) as engine:
        engine.sync()
        hits = engine.search(name, 20, mode="words", filters={"kind": kind}, merge=False)
        sources = {hit.lines: str(hit.metadata["source"]) for hit in hits if hit.is_summary}
        assert lines in sources
        assert sources[lines].endswith(";")
