"""The sets that this repository ships: each question has a right document, and the figures can tell."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evals import folders, languages, off_topic, pdf, small
from evals.__main__ import main
from evals.papers import NOTES, OWN_DATA, note_papers
from evals.reading import read_tree
from evals.reports import make_reports
from evals.run import asker
from evals.sets import Case
from ragstone import Engine
from ragstone.read.choose_reader import reader_for
from ragstone.types import Document, Hit
from tests.evals.test_loaders import always, hit

MIXED = OWN_DATA / "mixed"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_notes_hold_every_document_and_page_that_their_questions_name() -> None:
    documents = {document.uri: document for document in read_tree(NOTES, NOTES)}
    assert 30 <= len(documents) <= 60
    pages = {path: paper["pages"] for path, paper in papers().items()}
    for row in rows(MIXED / "notes.jsonl"):
        for text in row["documents"]:
            wanted = folders.Wanted.parse(str(text))
            assert wanted.path in documents, row
            assert wanted.page is None or wanted.page <= len(pages[wanted.path]), row


def papers() -> dict[str, dict[str, list[object]]]:
    return dict(json.loads((MIXED / "notes-papers.json").read_text(encoding="utf-8")))


def test_the_papers_of_the_notes_say_what_the_script_writes() -> None:
    for path, content in note_papers().items():
        reader = reader_for(path, content)
        kept = (NOTES / path).read_bytes()
        assert reader.read(kept, path) == reader.read(content, path), "python -m evals.papers"


@pytest.mark.parametrize("name", ["fastify", "notes", "paramiko", "structlog"])
def test_a_folder_has_at_least_25_different_questions(name: str) -> None:
    questions = [row["question"] for row in rows(MIXED / f"{name}.jsonl")]
    assert len(questions) == len(set(questions)) >= 25
    assert all(row["documents"] for row in rows(MIXED / f"{name}.jsonl"))


def test_questions_of_this_repository_are_added_to_those_of_a_folder(tmp_path: Path) -> None:
    chosen = folders.load(tmp_path / "absent", name="mixed", own=MIXED)
    assert [corpus.name for corpus in chosen.corpora] == ["notes"]
    assert "fastify, paramiko, structlog" in chosen.notes[0]


def test_figures_of_a_set_with_missing_folders_are_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mixed", "--data", str(tmp_path), "--embedder", "fake"]) == 0
    assert "written" not in capsys.readouterr().err


def test_small_folders_hold_the_documents_that_their_questions_name() -> None:
    answered, nonsense = [], []
    for row in small.read_folders(OWN_DATA):
        assert 1 <= len(row["documents"]) <= 20
        for question in row["questions"]:
            if question["document"] is None:
                nonsense.append(question)
            else:
                answered.append(question)
                assert question["document"] in row["documents"], question
    assert len(answered) >= 40
    assert len(nonsense) >= 10


def test_nonsense_is_silent_only_if_nothing_is_found() -> None:
    case = small.load_nonsense(OWN_DATA).corpora[0].cases[0]
    assert case.score(always()) == {"silent": 1.0, "answered": 0.0}
    assert case.score(always(hit("decision.md", 0, 1))) == {"silent": 0.0, "answered": 1.0}


def test_a_question_of_another_folder_is_right_if_its_answer_is_weak() -> None:
    (corpus, *_) = off_topic.load(OWN_DATA).corpora
    own = [case for case in corpus.cases if case.group == "large, on topic"]
    other = [case for case in off_topic.load(OWN_DATA).corpora[1].cases if case not in own]
    strong, weak = hit("a.md", 0, 1), replace(hit("a.md", 0, 1), score=0.1)
    assert own[0].score(always(strong)) == {"right": 1.0}
    assert own[0].score(always(weak)) == {"right": 0.0}
    assert other[-1].group == "tiny, off topic"
    assert other[-1].score(always(weak)) == {"right": 1.0}
    assert other[-1].score(always()) == {"right": 1.0}


def test_each_question_in_a_language_has_its_text_in_both_languages() -> None:
    chosen = languages.load(OWN_DATA)
    assert len(chosen.corpora) == 8
    for corpus in chosen.corpora:
        assert len(corpus.cases) >= 15
        uris = [document.uri for document in corpus.documents["default"]]
        for position, case in enumerate(corpus.cases):
            assert case.score(always(hit(uris[position], 0, 1)))["top_1"] == 1.0


def test_reports_are_long_and_the_same_at_each_call() -> None:
    reports, questions = make_reports()
    assert make_reports() == (reports, questions)
    assert len(reports) >= 10
    assert all(30 <= report.pages <= 80 for report in reports)
    assert len({question.text for question in questions}) >= 60


def test_the_page_of_a_report_names_the_site_and_year_of_its_question() -> None:
    reports, questions = make_reports()
    report = reports[0]
    document = reader_for(report.path, report.content).read(report.content, report.path)
    pages = document.text.split(": report on the year 2023")[1:]
    assert len(pages) == report.pages
    for question in questions:
        if question.path == report.path:
            heading = pages[question.page - 1].strip().splitlines()[0]
            site, year = heading.split(" at ")[1].split(", ")
            assert site in question.text
            assert year in question.text


def test_a_report_question_is_asked_in_its_report_and_over_all() -> None:
    (corpus,) = pdf.load(OWN_DATA).corpora
    half = len(corpus.cases) // 2
    alone, over_all = corpus.cases[0], corpus.cases[half]
    assert alone.query == over_all.query
    assert (alone.group, over_all.group) == ("one report", "all reports")
    assert alone.filters is not None
    assert over_all.filters is None


def test_a_question_with_a_page_is_asked_without_merging_neighbours() -> None:
    merged: list[bool] = []

    def ask(top_k: int, merge: bool) -> list[Hit]:
        merged.append(merge)
        return []

    folders.score_documents([folders.Wanted("a.pdf", 2)])(ask)
    folders.score_documents([folders.Wanted("a.pdf", None)])(ask)
    assert merged == [False, True]


def test_a_case_with_a_filter_searches_in_its_document_only(tmp_path: Path) -> None:
    engine = Engine.open(tmp_path, config={"rag.embedding_provider": "fake"})
    try:
        engine.add([Document("a.txt", "red sails"), Document("b.txt", "red sails at sea")])
        case = Case("red sails", "default", lambda ask: {}, filters={"path": "b.txt"})
        hits = asker(engine, case, {"mode": "words"}, [])(5, True)
        assert [found.source_doc_id for found in hits] == ["b.txt"]
    finally:
        engine.close()
