"""Questions to a small shop in Laravel, through the engine: the graph first, search behind it, every option at work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone import Engine
from ragstone.errors import InputError, NotFound
from ragstone.types import Retrieval
from tests.support.bookshop import written

C = "App\\Http\\Controllers\\BookController"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = written(tmp_path_factory.mktemp("shop"))
    with Engine.open(
        folder, config={"rag.embedding_provider": "fake", "search.watch": "off"}
    ) as made:
        made.sync()
        made.record_run(
            "r1",
            "Made loans last four weeks.",
            [{"path": "app/Models/Book.php", "action": "modified"}],
        )
        yield made


def paths(found: Retrieval) -> list[str]:
    return [hit.source_doc_id for hit in found.chunks]


def test_the_graphs_answer_comes_with_its_evidence_first_and_labelled(engine: Engine) -> None:
    found = engine.retrieve("Which code serves route books.lend?")
    assert found.answer is not None
    assert (found.answer.facts["controller"], found.answer.facts["method"]) == (C, "lend")
    assert found.answer.facts["uri"] == "api/books/{book}/loans"
    first, second = found.chunks[:2]
    assert (first.source_doc_id, first.label) == ("routes/api.php", "graph")
    assert second.source_doc_id == "app/Http/Controllers/BookController.php"
    line = found.answer.facts["line"]
    assert isinstance(line, int) and second.span.line_start <= line <= second.span.line_end
    assert found.debug["strategy"] == "graph+hybrid"
    assert found.debug["anchors"] == ["route:POST api/books/{book}/loans"]


def test_what_the_graph_shows_was_looked_at_in_its_file(engine: Engine) -> None:
    found = engine.retrieve("Which code serves route books.lend?", 2)
    assert [hit.freshness for hit in found.chunks] == ["fresh", "fresh"]


def test_the_debug_says_how_it_came_about(engine: Engine) -> None:
    found = engine.retrieve("Which form request validates books.store?")
    debug: dict[str, Any] = dict(found.debug)
    assert debug["intent"] == "route_request"
    assert debug["latency_ms"] > 0 and debug["total_candidates"] >= len(found.chunks)
    assert set(debug["scores"]) == {hit.doc_id for hit in found.chunks}
    assert {"skipped", "unknown", "conditional"} <= set(debug)


def test_a_question_without_a_name_is_searched_and_what_is_found_is_asked(engine: Engine) -> None:
    found = engine.retrieve("Which code runs when a reader borrows a book and a loan starts?")
    assert found.debug["strategy"] == "hybrid+graph"
    assert found.answer is not None and found.answer.confidence == "heuristic"
    assert found.answer.said.startswith("Perhaps: ")
    assert "route:POST api/books/{book}/loans" in found.debug["anchors"]  # type: ignore[operator]
    assert "app/Http/Controllers/BookController.php" in paths(found)


def test_a_question_that_asks_nothing_of_code_is_a_search(engine: Engine) -> None:
    found = engine.retrieve("ten cents a day")
    assert found.answer is None and found.debug["strategy"] == "hybrid"
    assert paths(found)[0] == "docs/returns.md" and not any(hit.label for hit in found.chunks)


def test_none_is_said_with_where_it_was_looked_for(engine: Engine) -> None:
    found = engine.retrieve("Which policy guards the Book model?")
    assert found.answer is not None and found.answer.negative
    assert found.answer.facts == {"policy": None}
    assert "no policy" in found.answer.said


@pytest.mark.parametrize(
    ("option", "value", "facts"),
    [
        ("route_name", "books.store", {"method": "store"}),
        ("controller_class", C, {}),
        ("table_name", "books", {"columns": ["id", "title", "author_id", "pages"]}),
    ],
)
def test_a_name_given_beside_the_query_is_what_it_is_about(
    engine: Engine, option: str, value: str, facts: dict[str, Any]
) -> None:
    found = engine.retrieve("tell me about it", **{option: value})  # type: ignore[arg-type]  # options by name
    assert found.answer is not None
    assert {name: found.answer.facts[name] for name in facts} == facts
    assert all(hit.label for hit in found.chunks[:1])


def test_a_name_that_is_not_there_is_told_and_not_guessed(engine: Engine) -> None:
    found = engine.retrieve("Which code serves it?", route_name="books.burn")
    assert found.answer is not None and found.answer.negative
    assert "books.burn" in found.answer.said
    assert found.debug["unknown"] == ["route books.burn"]


@pytest.mark.parametrize("path", ["docs/returns.md", "docs", "docs/*.md"])
def test_a_path_that_must_be_there_is_there(engine: Engine, path: str) -> None:
    found = engine.retrieve("Which code serves route books.lend?", 2, must_include_paths=[path])
    assert len(found.chunks) == 2
    kept = [hit for hit in found.chunks if hit.source_doc_id == "docs/returns.md"]
    assert [hit.label for hit in kept] == ["path"]


def test_a_path_that_is_not_there_is_told(engine: Engine) -> None:
    found = engine.retrieve("books", must_include_paths=["docs/nowhere.md"])
    assert found.debug["unknown"] == ["path docs/nowhere.md"]


def test_only_the_kinds_that_are_asked_for_are_shown(engine: Engine) -> None:
    found = engine.retrieve(
        "Which migrations created or altered table books?", source_types=["migration"]
    )
    code = [path for path in paths(found) if not path.startswith("graph:")]
    assert code and all(path.startswith("database/migrations/") for path in code)
    routes = engine.retrieve("books of the shop", source_types=["route"], min_score=0)
    assert routes.chunks and all(
        hit.kind == "route" or "routes/" in hit.source_doc_id for hit in routes.chunks
    )


def test_a_kind_is_found_though_other_kinds_fit_the_question_better(tmp_path: Path) -> None:
    folder = written(tmp_path)
    for number in range(60):
        (folder / "docs" / f"loan{number}.md").write_text(
            f"Books and their loans, part {number}.\n", encoding="utf-8"
        )
    with Engine.open(
        folder, config={"rag.embedding_provider": "fake", "search.watch": "off"}
    ) as engine:
        engine.sync(embed=False)
        found = engine.retrieve("books loans", source_types=["migration"], min_score=0)
        code = [path for path in paths(found) if not path.startswith("graph:")]
        assert code and all(path.startswith("database/migrations/") for path in code)


def test_many_runs_do_not_take_the_places_of_what_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "loans.md").write_text(
        "How long loans last is up to the librarian.\n", encoding="utf-8"
    )
    with Engine.open(
        tmp_path, config={"rag.embedding_provider": "fake", "search.watch": "off"}
    ) as engine:
        engine.sync(embed=False)
        for number in range(40):
            engine.record_run(f"r{number}", f"Loans last {number} weeks, loans.")
        assert paths(engine.retrieve("loans last", 3, include_run_summaries=False)) == ["loans.md"]


def test_a_kind_that_nothing_has_is_told(engine: Engine) -> None:
    found = engine.retrieve("books", source_types=["unicorn", "code"])
    assert found.debug["unknown"] == ["kind unicorn"]


def test_none_is_not_said_where_nothing_could_be_looked_at(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("Invoices are paid in thirty days.\n", encoding="utf-8")
    with Engine.open(
        tmp_path, config={"rag.embedding_provider": "fake", "search.watch": "off"}
    ) as engine:
        engine.sync(embed=False)
        found = engine.retrieve("Which policy protects the Invoice model?")
        assert (found.answer, found.debug["unknown"]) == (None, ["model Invoice"])
        assert "no model at all is known here" in str(found.debug["notes"])
        found = engine.retrieve("What is it for?", table_name="invoices")
        assert (found.answer, found.debug["unknown"]) == (None, ["table invoices"])


@pytest.mark.parametrize("name", ["App\\Models\\Unicorn", "Book::vanish"])
def test_a_full_name_that_is_nothings_is_not_taken_for_another(engine: Engine, name: str) -> None:
    found = engine.retrieve(f"Which policy or table belongs to {name}?")
    assert found.answer is None
    assert found.debug["unknown"] == [name]


def test_a_table_that_is_not_there_is_not_taken_for_another(engine: Engine) -> None:
    found = engine.retrieve("What are the columns of table unicorns?")
    assert (found.answer, found.debug["unknown"]) == (None, ["table unicorns"])
    known = engine.retrieve("What are the columns of table books?").answer
    assert known is not None and known.nodes[0].key == "table:books"


def test_earlier_runs_are_told_unless_they_are_not_wanted(engine: Engine) -> None:
    def kinds(include: bool) -> set[str]:
        query = "loans last four weeks"
        return {
            hit.kind
            for hit in engine.retrieve(query, min_score=0, include_run_summaries=include).chunks
        }

    assert kinds(True) & {"run_summary", "file_change"}
    assert not kinds(False) & {"run_summary", "file_change"}


def test_what_scores_too_low_is_left_out_but_evidence_stays(engine: Engine) -> None:
    found = engine.retrieve("Which code serves route books.lend?", min_score=1.0)
    assert found.chunks and all(hit.label == "graph" for hit in found.chunks)


def test_no_chunks_can_be_asked_for_and_the_answer_stays(engine: Engine) -> None:
    found = engine.retrieve("Which table does Book use?", 0)
    assert (
        found.chunks == () and found.answer is not None and found.answer.facts["table"] == "books"
    )


@pytest.mark.parametrize(
    "options",
    [
        {"min_score": 2},
        {"min_score": "high"},
        {"source_types": "code"},
        {"source_types": []},
        {"source_types": [""]},
        {"must_include_paths": "docs"},
        {"must_include_paths": [3]},
        {"route_name": " "},
        {"table_name": 7},
        {"include_run_summaries": 1},
        {"min_scores": 0.1},
        {"collection": 3},
    ],
)
def test_options_that_make_no_sense_are_told(engine: Engine, options: dict[str, Any]) -> None:
    with pytest.raises(InputError) as told:
        engine.retrieve("books", **options)
    assert told.value.hint


def test_more_paths_than_places_cannot_be_included(engine: Engine) -> None:
    with pytest.raises(InputError, match="2 paths"):
        engine.retrieve("books", 1, must_include_paths=["docs", "README.md"])


def test_a_collection_that_is_not_there_is_told(engine: Engine) -> None:
    with pytest.raises(NotFound):
        engine.retrieve("books", collection="nowhere")


@pytest.mark.parametrize(
    ("query", "top_k"), [(None, 5), ("books", -1), ("books", True), ("books", "5")]
)
def test_a_query_is_a_text_and_top_k_a_number(engine: Engine, query: object, top_k: object) -> None:
    with pytest.raises(InputError):
        engine.retrieve(query, top_k)  # type: ignore[arg-type]  # that is what is tried


def test_an_edit_is_seen_by_the_next_question(tmp_path: Path) -> None:
    folder = written(tmp_path)
    with Engine.open(
        folder, config={"rag.embedding_provider": "fake", "search.watch": "off"}
    ) as engine:
        engine.sync()
        asked = "Which code serves POST api/books/{book}/loans?"
        assert engine.retrieve(asked).answer is not None
        path = folder / "routes" / "api.php"
        path.write_text(
            path.read_text(encoding="utf-8").replace("'lend']", "'update']"), encoding="utf-8"
        )
        again = engine.retrieve(asked).answer
        assert again is not None and again.facts["method"] == "update"


def test_switched_off_it_finds_nothing(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config={"rag.enabled": False}) as engine:
        found = engine.retrieve("Which code serves it?")
        assert (found.chunks, found.answer, found.debug["strategy"]) == ((), None, "off")


SERVICE = """
from fastapi import APIRouter, Depends, FastAPI
from pydantic import BaseModel


class LoanIn(BaseModel):
    book: str


def reader():
    return 1


router = APIRouter(prefix="/loans", dependencies=[Depends(reader)])


@router.post("/{shelf}", name="lend")
def lend_book(shelf: str, loan: LoanIn):
    return loan


app = FastAPI()
app.include_router(router, prefix="/api")
"""


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        (
            "Which code handles POST /api/loans/<shelf>?",
            {"controller": "service.lend_book", "line": 18},
        ),
        ("What guards the route lend?", {"middleware": ["reader"]}),
        ("What validates POST api/loans/{any}?", {"request": "service.LoanIn"}),
    ],
)
def test_the_same_questions_are_answered_of_other_frameworks(
    tmp_path: Path, question: str, facts: dict[str, Any]
) -> None:
    (tmp_path / "service.py").write_text(SERVICE, encoding="utf-8")
    (tmp_path / "requirements.txt").write_text("fastapi\n", encoding="utf-8")
    with Engine.open(
        tmp_path, config={"rag.embedding_provider": "fake", "search.watch": "off"}
    ) as engine:
        engine.sync()
        found = engine.retrieve(question)
    assert found.answer is not None
    assert {name: found.answer.facts.get(name) for name in facts} == facts
