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
    ) as opened:
        opened.sync()
        opened.record_run(
            "r1",
            "Made loans last four weeks.",
            [{"path": "app/Models/Book.php", "action": "modified"}],
        )
        yield opened


def paths(retrieval: Retrieval) -> list[str]:
    return [hit.source_doc_id for hit in retrieval.chunks]


def test_the_graphs_answer_comes_with_its_evidence_first_and_labelled(engine: Engine) -> None:
    retrieval = engine.retrieve("Which code serves route books.lend?")
    assert retrieval.answer is not None
    assert (retrieval.answer.facts["controller"], retrieval.answer.facts["method"]) == (
        C,
        "lend",
    )
    assert retrieval.answer.facts["uri"] == "api/books/{book}/loans"
    first, second = retrieval.chunks[:2]
    assert (first.source_doc_id, first.label) == ("routes/api.php", "graph")
    assert second.source_doc_id == "app/Http/Controllers/BookController.php"
    line = retrieval.answer.facts["line"]
    assert isinstance(line, int) and second.span.line_start <= line <= second.span.line_end
    assert retrieval.debug["strategy"] == "graph+hybrid"
    assert retrieval.debug["anchors"] == ["route:POST api/books/{book}/loans"]


def test_evidence_of_the_graph_is_checked_for_freshness(engine: Engine) -> None:
    retrieval = engine.retrieve("Which code serves route books.lend?", 2)
    assert [hit.freshness for hit in retrieval.chunks] == ["fresh", "fresh"]


def test_the_debug_data_explains_the_result(engine: Engine) -> None:
    retrieval = engine.retrieve("Which form request validates books.store?")
    debug: dict[str, Any] = dict(retrieval.debug)
    assert debug["intent"] == "route_request"
    assert debug["latency_ms"] > 0 and debug["total_candidates"] >= len(retrieval.chunks)
    assert set(debug["scores"]) == {hit.doc_id for hit in retrieval.chunks}
    assert {"skipped", "unknown", "conditional"} <= set(debug)


def test_a_question_without_a_name_is_answered_about_the_best_hits(engine: Engine) -> None:
    retrieval = engine.retrieve(
        "Which code runs when a reader borrows a book and a loan starts?"
    )
    assert retrieval.debug["strategy"] == "hybrid+graph"
    assert retrieval.answer is not None and retrieval.answer.confidence == "heuristic"
    assert retrieval.answer.said.startswith("Perhaps: ")
    assert "route:POST api/books/{book}/loans" in retrieval.debug["anchors"]  # type: ignore[operator]
    assert "app/Http/Controllers/BookController.php" in paths(retrieval)


def test_a_question_about_no_code_is_a_search(engine: Engine) -> None:
    retrieval = engine.retrieve("ten cents a day")
    assert retrieval.answer is None and retrieval.debug["strategy"] == "hybrid"
    assert paths(retrieval)[0] == "docs/returns.md" and not any(
        hit.label for hit in retrieval.chunks
    )


def test_a_negative_answer_says_what_is_missing(engine: Engine) -> None:
    retrieval = engine.retrieve("Which policy guards the Book model?")
    assert retrieval.answer is not None and retrieval.answer.negative
    assert retrieval.answer.facts == {"policy": None}
    assert "no policy" in retrieval.answer.said


@pytest.mark.parametrize(
    ("option", "value", "facts"),
    [
        ("route_name", "books.store", {"method": "store"}),
        ("controller_class", C, {}),
        ("table_name", "books", {"columns": ["id", "title", "author_id", "pages"]}),
    ],
)
def test_a_hint_names_the_subject_of_the_query(
    engine: Engine, option: str, value: str, facts: dict[str, Any]
) -> None:
    retrieval = engine.retrieve("tell me about it", **{option: value})  # type: ignore[arg-type]  # options by name
    assert retrieval.answer is not None
    assert {name: retrieval.answer.facts[name] for name in facts} == facts
    assert all(hit.label for hit in retrieval.chunks[:1])


def test_an_unknown_name_is_reported_and_not_guessed(engine: Engine) -> None:
    retrieval = engine.retrieve("Which code serves it?", route_name="books.burn")
    assert retrieval.answer is not None and retrieval.answer.negative
    assert "books.burn" in retrieval.answer.said
    assert retrieval.debug["unknown"] == ["route books.burn"]


@pytest.mark.parametrize("path", ["docs/returns.md", "docs", "docs/*.md"])
def test_a_required_path_is_in_the_result(engine: Engine, path: str) -> None:
    retrieval = engine.retrieve(
        "Which code serves route books.lend?", 2, must_include_paths=[path]
    )
    assert len(retrieval.chunks) == 2
    required = [hit for hit in retrieval.chunks if hit.source_doc_id == "docs/returns.md"]
    assert [hit.label for hit in required] == ["path"]


def test_a_required_path_that_does_not_exist_is_reported(engine: Engine) -> None:
    retrieval = engine.retrieve("books", must_include_paths=["docs/nowhere.md"])
    assert retrieval.debug["unknown"] == ["path docs/nowhere.md"]


def test_only_the_requested_kinds_are_returned(engine: Engine) -> None:
    retrieval = engine.retrieve(
        "Which migrations created or altered table books?", source_types=["migration"]
    )
    code = [path for path in paths(retrieval) if not path.startswith("graph:")]
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
        retrieval = engine.retrieve("books loans", source_types=["migration"], min_score=0)
        code = [path for path in paths(retrieval) if not path.startswith("graph:")]
        assert code and all(path.startswith("database/migrations/") for path in code)


def test_many_runs_do_not_displace_the_requested_hits(tmp_path: Path) -> None:
    (tmp_path / "loans.md").write_text(
        "How long loans last is up to the librarian.\n", encoding="utf-8"
    )
    with Engine.open(
        tmp_path, config={"rag.embedding_provider": "fake", "search.watch": "off"}
    ) as engine:
        engine.sync(embed=False)
        for number in range(40):
            engine.record_run(f"r{number}", f"Loans last {number} weeks, loans.")
        assert paths(engine.retrieve("loans last", 3, include_run_summaries=False)) == [
            "loans.md"
        ]


def test_a_kind_that_no_document_has_is_reported(engine: Engine) -> None:
    retrieval = engine.retrieve("books", source_types=["unicorn", "code"])
    assert retrieval.debug["unknown"] == ["kind unicorn"]


def test_there_is_no_negative_answer_if_the_graph_has_no_such_kind(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("Invoices are paid in thirty days.\n", encoding="utf-8")
    with Engine.open(
        tmp_path, config={"rag.embedding_provider": "fake", "search.watch": "off"}
    ) as engine:
        engine.sync(embed=False)
        retrieval = engine.retrieve("Which policy protects the Invoice model?")
        assert (retrieval.answer, retrieval.debug["unknown"]) == (None, ["model Invoice"])
        assert "no model at all is known here" in str(retrieval.debug["notes"])
        retrieval = engine.retrieve("What is it for?", table_name="invoices")
        assert (retrieval.answer, retrieval.debug["unknown"]) == (None, ["table invoices"])


@pytest.mark.parametrize("name", ["App\\Models\\Unicorn", "Book::vanish"])
def test_an_unknown_full_name_does_not_match_another_node(engine: Engine, name: str) -> None:
    retrieval = engine.retrieve(f"Which policy or table belongs to {name}?")
    assert retrieval.answer is None
    assert retrieval.debug["unknown"] == [name]


def test_an_unknown_table_does_not_match_another_table(engine: Engine) -> None:
    retrieval = engine.retrieve("What are the columns of table unicorns?")
    assert (retrieval.answer, retrieval.debug["unknown"]) == (None, ["table unicorns"])
    answer = engine.retrieve("What are the columns of table books?").answer
    assert answer is not None and answer.nodes[0].key == "table:books"


def test_earlier_runs_are_returned_unless_they_are_excluded(engine: Engine) -> None:
    def kinds(include: bool) -> set[str]:
        query = "loans last four weeks"
        return {
            hit.kind
            for hit in engine.retrieve(query, min_score=0, include_run_summaries=include).chunks
        }

    assert kinds(True) & {"run_summary", "file_change"}
    assert not kinds(False) & {"run_summary", "file_change"}


def test_hits_with_a_low_score_are_left_out_and_evidence_stays(engine: Engine) -> None:
    retrieval = engine.retrieve("Which code serves route books.lend?", min_score=1.0)
    assert retrieval.chunks and all(hit.label == "graph" for hit in retrieval.chunks)


def test_a_request_for_no_chunks_still_has_an_answer(engine: Engine) -> None:
    retrieval = engine.retrieve("Which table does Book use?", 0)
    assert (
        retrieval.chunks == ()
        and retrieval.answer is not None
        and retrieval.answer.facts["table"] == "books"
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
def test_invalid_options_of_a_retrieval_are_refused(
    engine: Engine, options: dict[str, Any]
) -> None:
    with pytest.raises(InputError) as error:
        engine.retrieve("books", **options)
    assert error.value.hint


def test_more_paths_than_places_cannot_be_included(engine: Engine) -> None:
    with pytest.raises(InputError, match="2 paths"):
        engine.retrieve("books", 1, must_include_paths=["docs", "README.md"])


def test_an_unknown_collection_of_a_retrieval_is_refused(engine: Engine) -> None:
    with pytest.raises(NotFound):
        engine.retrieve("books", collection="nowhere")


@pytest.mark.parametrize(
    ("query", "top_k"), [(None, 5), ("books", -1), ("books", True), ("books", "5")]
)
def test_a_query_is_a_text_and_top_k_a_number(
    engine: Engine, query: object, top_k: object
) -> None:
    with pytest.raises(InputError):
        engine.retrieve(query, top_k)  # type: ignore[arg-type]  # that is what is tried


def test_an_edit_is_seen_by_the_next_question(tmp_path: Path) -> None:
    folder = written(tmp_path)
    with Engine.open(
        folder, config={"rag.embedding_provider": "fake", "search.watch": "off"}
    ) as engine:
        engine.sync()
        question = "Which code serves POST api/books/{book}/loans?"
        assert engine.retrieve(question).answer is not None
        path = folder / "routes" / "api.php"
        path.write_text(
            path.read_text(encoding="utf-8").replace("'lend']", "'update']"), encoding="utf-8"
        )
        again = engine.retrieve(question).answer
        assert again is not None and again.facts["method"] == "update"


def test_a_disabled_engine_retrieves_nothing(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config={"rag.enabled": False}) as engine:
        retrieval = engine.retrieve("Which code serves it?")
        assert (retrieval.chunks, retrieval.answer, retrieval.debug["strategy"]) == (
            (),
            None,
            "off",
        )


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
def test_the_same_questions_are_answered_for_other_frameworks(
    tmp_path: Path, question: str, facts: dict[str, Any]
) -> None:
    (tmp_path / "service.py").write_text(SERVICE, encoding="utf-8")
    (tmp_path / "requirements.txt").write_text("fastapi\n", encoding="utf-8")
    with Engine.open(
        tmp_path, config={"rag.embedding_provider": "fake", "search.watch": "off"}
    ) as engine:
        engine.sync()
        retrieval = engine.retrieve(question)
    assert retrieval.answer is not None
    assert {name: retrieval.answer.facts.get(name) for name in facts} == facts
