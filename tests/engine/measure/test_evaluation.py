"""`ragstone eval` and `ragstone bench` measure a folder and leave its index alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragstone import Engine, InputError
from ragstone.engine.measure import evaluation, trial
from ragstone.engine.measure.benchmark import BenchmarkRequest, measure_folder
from ragstone.engine.measure.evaluation import EvaluationRequest, SettingScore, evaluate_folder
from ragstone.engine.measure.scores import Difference, measure_quality
from ragstone.surfaces.cli.app import run


def state(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the size and time of every file in a folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def test_an_evaluation_scores_every_setting_with_the_same_questions(valley: Path) -> None:
    result = evaluate_folder(valley, EvaluationRequest(seconds=20))
    names = {score.name for score in result.scores}
    assert names == {"words", "vectors", "both, weighted", "both, rrf"}
    assert [score.name for score in result.scores if score.is_current] == ["both, weighted"]
    assert {score.quality.questions for score in result.scores} == {12}
    words = next(score for score in result.scores if score.name == "words")
    assert words.quality.mrr > 0.9
    assert result.advice
    again = evaluate_folder(valley, EvaluationRequest(seconds=20))
    assert again.questions == result.questions


def test_a_measurement_changes_nothing_in_the_folder(valley: Path) -> None:
    evaluate_folder(valley, EvaluationRequest(seconds=20))
    assert not (valley / ".ragstone").exists()
    with Engine.open(valley) as engine:
        engine.sync()
    before = state(valley)
    evaluate_folder(valley, EvaluationRequest(seconds=20))
    measure_folder(valley, BenchmarkRequest(seconds=20))
    assert state(valley) == before


def test_a_folder_that_gives_few_questions_says_what_would_give_some(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("A short note.", encoding="utf-8")
    with pytest.raises(InputError, match="gives 0 questions") as caught:
        evaluate_folder(tmp_path, EvaluationRequest(seconds=20))
    assert "headings" in caught.value.hint


def test_a_large_folder_is_measured_in_part(
    valley: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        (valley / f"other{number}.txt").write_text(f"Filler {number}. " * 40, encoding="utf-8")
    monkeypatch.setattr(evaluation, "_MARGIN", -1000.0)
    result = evaluate_folder(valley, EvaluationRequest(seconds=20))
    assert (result.documents, result.total_documents) == (12, 42)
    assert "12 of 42 documents" in result.notes[0]


def test_the_time_for_reading_is_limited(valley: Path) -> None:
    timer = trial.Timer(seconds=10.0)
    report = timer.stop_after(0.0, None)
    with pytest.raises(trial.OutOfTime):
        report("index", 1, 2)
    with trial.open_trial(valley) as engine:
        assert not trial.read_folder(engine, trial.Timer(seconds=0.0), 0.0, None)


def test_advice_says_if_no_difference_is_certain() -> None:
    def score(name: str, mrr: float, low: float, *, is_current: bool = False) -> SettingScore:
        quality = measure_quality([1])
        return SettingScore(name, quality, {}, Difference(mrr, low, 0.2), is_current)

    current = score("both, weighted", 0.0, 0.0, is_current=True)
    certain = evaluation.advise([score("both, rrf", 0.1, 0.05), current])
    assert 'search.fusion = "rrf"' in certain
    assert "--mode words" in evaluation.advise([score("words", 0.1, 0.05), current])
    assert "No other setting" in evaluation.advise([score("words", 0.1, -0.05), current])
    assert "in use is the best" in evaluation.advise([current])


def test_a_benchmark_has_speed_size_and_memory(valley: Path) -> None:
    figures = measure_folder(valley, BenchmarkRequest(seconds=20))
    assert (figures.files, set(figures.searches)) == (12, {"words", "vectors", "both"})
    assert figures.vectors_per_second > 0 and figures.disk_bytes > 0
    assert figures.cold_search_seconds is not None and figures.cold_search_seconds > 0
    assert all(0 < times.median <= times.slow for times in figures.searches.values())


def test_both_commands_print_a_table_and_json(
    valley: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["-C", str(valley), "--seconds", "20"]
    assert run(["eval", *place]) == 0
    shown = capsys.readouterr()
    assert "both, weighted" in shown.out
    assert "compare these figures only with each other" in shown.err
    assert run(["eval", *place, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert {"setting", "in_use", "recall_at_5", "mrr", "difference", "by_kind"} <= set(
        scores[0]
    )
    assert run(["bench", *place, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sync"]["vectors_per_second"] > 0
    assert run(["eval", "-C", "/"]) != 0
    assert "consent" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["eval", "bench"])
def test_a_measurement_takes_two_minutes_unless_another_time_is_given(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, "--help"]) == 0
    assert "[default: 120.0;" in " ".join(capsys.readouterr().out.split())


def test_both_measurements_report_their_progress(valley: Path) -> None:
    stages: list[str] = []

    def note(stage: str, done: int, total: int) -> None:
        stages.append(stage)

    evaluate_folder(valley, EvaluationRequest(seconds=20), note)
    assert {"index", "questions"} <= set(stages)
    stages.clear()
    measure_folder(valley, BenchmarkRequest(seconds=20), note)
    assert {"index", "searches"} <= set(stages)
