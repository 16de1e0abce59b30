"""Cross-validation: what is chosen on some parts is tested on another, and never on what it was chosen on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from evals import tune
from evals.replay import Recording, record, scores
from evals.sets import Ask, Case, Corpus, EvalSet
from evals.tune import Part, changed, choose, gain, left_out, parts_of, told
from ragstone.retrieval.ranking.confidence import Calibration
from ragstone.retrieval.ranking.fusion import CandidateLists
from ragstone.retrieval.ranking.parameters import RANKING_PARAMETERS, RankingParameters
from ragstone.types import Document, Scored

GRID = {"meaning.question": (0.1, 0.45, 0.9)}


def fake(answer: str) -> Recording:
    """Return a question whose answer leads the list of this name, and is last in the other."""
    rows = {
        "words": [Scored(1, 1.0), Scored(2, 0.2)],
        "minilm": [Scored(2, 1.0), Scored(1, 0.2)],
    }
    wanted = {"words": 1, "minilm": 2}[answer]

    def score(ask: Ask) -> Mapping[str, float]:
        return {"first": float(ask(1, False)[0].doc_id == str(wanted))}

    from tests.retrieval.ranking.test_confidence import row
    from tests.retrieval.ranking.test_order import row as outline

    outlines = {1: outline(1, "a.py", order=4), 2: outline(2, "b.py", order=4)}
    whole = {number: row(number, f"text {number}") for number in outlines}
    return Recording(
        Case("which is it?", "default", score),
        "",
        CandidateLists(
            rows, {"minilm": 1.0}, calibrations={"minilm": Calibration(chunks=3000)}
        ),
        whole,
        outlines,
    )


def part(name: str, *answers: str) -> Part:
    return Part(name, name, "first", [fake(answer) for answer in answers])


def test_a_number_moves_to_where_the_answers_are() -> None:
    chosen = choose([part("one", "minilm", "minilm", "words")], RANKING_PARAMETERS, GRID)
    assert told(chosen, RANKING_PARAMETERS) == {"meaning.question": 0.9}


def test_a_number_that_gains_nothing_stays() -> None:
    assert choose([part("one", "words")], RANKING_PARAMETERS, GRID) == RANKING_PARAMETERS


def test_each_set_counts_the_same_however_many_parts_it_has() -> None:
    many = [Part(f"m{n}", "many", "first", [fake("words"), fake("minilm")]) for n in range(5)]
    better = changed(RANKING_PARAMETERS, "meaning.question", 0.9)
    assert gain(
        [*many, part("one", "words", "minilm")], better, RANKING_PARAMETERS
    ) == pytest.approx(0.0)


def test_the_part_left_out_does_not_help_to_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []

    def spy(parts: Sequence[Part], base: RankingParameters) -> RankingParameters:
        seen.append({one.name for one in parts})
        return changed(base, "meaning.question", 0.9)

    monkeypatch.setattr(tune, "choose", spy)
    parts = [part("a", "words"), part("b", "minilm")]
    folds = left_out(parts, RANKING_PARAMETERS)
    assert seen == [{"b"}, {"a"}]
    assert [fold["chosen-plain"]["difference"] for fold in folds] == [-1.0, 1.0]
    assert [fold["in_force-chosen"]["difference"] for fold in folds] == [1.0, -1.0]
    assert "meaning.question 0.9" in tune.table(
        {"left_out": folds, "all": {"chosen": {}, "gain_over_in_force": 0.0}}
    )


def test_repositories_are_parts_a_few_at_a_time() -> None:
    names = ["a", "b", "c", "d"]
    chosen = EvalSet(
        "code_search", [Corpus(name, {}, []) for name in names], "first", by_corpus=True
    )
    recordings = [replace(fake("words"), group=name) for name in names]
    assert [
        [one.group for one in part.recordings] for part in parts_of(chosen, recordings)
    ] == [
        ["a", "b", "c"],
        ["d"],
    ]


def test_a_replay_gives_what_the_search_gave(tmp_path: Path) -> None:
    from ragstone import Engine

    documents = [
        Document(uri=f"{name}.md", text=f"About {name} and water.")
        for name in ("rivers", "lakes", "seas")
    ]
    seen: list[list[str]] = []

    def score(ask: Ask) -> Mapping[str, float]:
        seen.append([hit.source_doc_id for hit in ask(3, True)])
        return {"first": 1.0}

    case = Case("what about lakes?", "default", score)
    chosen = EvalSet("small", [Corpus("small", {"default": documents}, [case])], "first")
    (recording,) = record(chosen, "fake", keep=tmp_path)
    scores(recording, RANKING_PARAMETERS)
    with Engine.open(tmp_path / "small", config={"rag.embedding_provider": "fake"}) as engine:
        assert seen == [
            [hit.source_doc_id for hit in engine.search("what about lakes?", top_k=3)]
        ]
