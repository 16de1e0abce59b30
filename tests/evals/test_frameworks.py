"""The evaluation of questions about whole applications, on a small shop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.table import quality_table
from evals import frameworks
from evals.__main__ import ABSENT, main
from evals.papers import OWN_DATA
from tests.support.bookshop import written

QUESTIONS = (
    {
        "kind": "model_table",
        "question": "Which table does the Book model use?",
        "says": ["books"],
    },
    {"kind": "yes_no", "question": "Does the Book model have an observer?", "answer": "no"},
    {"kind": "unknown", "question": "Who dispatches ShredBooks?", "unknown": "ShredBooks"},
    {
        "kind": "action",
        "question": "Which table does the Book model use?",
        "says": ["books", "x"],
    },
    {
        "kind": "action",
        "question": "Which table does the Book model use?",
        "without": ["books"],
    },
    {"kind": "paraphrase", "question": "the book model", "evidence": ["app/Models/Book.php"]},
)


def test_every_question_gets_a_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path / "trees" / "shop")
    rows = [json.dumps({"repo": "owner/shop", **question}) for question in QUESTIONS]
    rows.append(json.dumps({"repo": "owner/other", **QUESTIONS[0]}))
    (tmp_path / "frameworks.jsonl").write_text("\n".join(rows), encoding="utf-8")
    options = [
        "--data",
        str(tmp_path),
        "--repos",
        str(tmp_path / "trees"),
        "--embedder",
        "fake",
    ]
    assert main(["frameworks", *options, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [row["score"] for row in result["questions_each"]] == [1.0, 1.0, 1.0, 0.5, 0.0, 1.0]
    assert result["by_kind"]["action"] == 0.25
    assert result["notes"] == ["not there, left out: owner/other"]
    assert "owner/shop" in frameworks.table(result)
    assert any("owner/shop" in line for line in quality_table(result))


def test_without_trees_the_set_is_skipped_with_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["frameworks", "--json"]) == ABSENT
    assert "--repos" in json.loads(capsys.readouterr().out)["skipped"]


def test_every_question_of_the_set_can_be_scored() -> None:
    lines = (OWN_DATA / "frameworks.jsonl").read_text(encoding="utf-8").splitlines()
    expectations = {"says", "without", "answer", "negative", "unknown", "evidence"}
    for line in lines:
        question = json.loads(line)
        assert question["repo"].count("/") == 1
        assert not expectations.isdisjoint(question), question
