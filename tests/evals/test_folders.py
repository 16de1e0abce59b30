"""Questions about folders: any folder of `*.jsonl` is a set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals import folders
from evals.sets import Absent
from tests.evals.test_loaders import always, hit


def write_set(tmp_path: Path, *documents: str) -> tuple[Path, Path]:
    data, trees = tmp_path / "data", tmp_path / "trees"
    data.mkdir()
    (trees / "mixed" / "boat" / "docs").mkdir(parents=True)
    (trees / "mixed" / "boat" / "sail.py").write_text("def hoist(): ...\n", encoding="utf-8")
    (trees / "mixed" / "boat" / "docs" / "use.md").write_text("# Use\n", encoding="utf-8")
    question = {"question": "how do I sail?", "documents": list(documents)}
    (data / "boat.jsonl").write_text(json.dumps(question) + "\n", encoding="utf-8")
    return data, trees


def test_a_folder_has_its_code_and_its_documents(tmp_path: Path) -> None:
    data, trees = write_set(tmp_path, "docs/use.md")
    (corpus,) = folders.load(data, repos=trees, name="mixed").corpora
    assert [document.uri for document in corpus.documents["default"]] == [
        "docs/use.md",
        "sail.py",
    ]


def test_the_first_right_document_counts_among_distinct_documents(tmp_path: Path) -> None:
    data, trees = write_set(tmp_path, "docs/")
    (case,) = folders.load(data, repos=trees, name="mixed").corpora[0].cases
    answer = always(hit("sail.py", 0, 1), hit("sail.py", 1, 2), hit("docs/use.md", 0, 1))
    scores = case.score(answer)
    assert scores == {"mrr": 0.5, "top_1": 0.0, "top_3": 1.0, "found_in_5_hits": 1.0}
    assert case.score(always(hit("sail.py", 0, 1)))["mrr"] == 0.0


def test_a_document_without_its_page_is_not_the_answer(tmp_path: Path) -> None:
    data, trees = write_set(tmp_path, "report.pdf#12")
    (case,) = folders.load(data, repos=trees, name="mixed").corpora[0].cases
    assert case.score(always(hit("report.pdf", 0, 1)))["found_in_5_hits"] == 0.0


def test_a_set_without_its_trees_is_absent(tmp_path: Path) -> None:
    data, _ = write_set(tmp_path, "docs/use.md")
    with pytest.raises(Absent, match="--repos"):
        folders.load(data, repos=tmp_path / "nowhere", name="mixed")
