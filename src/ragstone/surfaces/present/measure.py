"""Measurements of a folder as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.surfaces.present import Json, pick

if TYPE_CHECKING:
    from ragstone.engine.measure.benchmark import Benchmark
    from ragstone.engine.measure.evaluation import Evaluation, SettingScore
    from ragstone.engine.measure.scores import Quality


def evaluation_json(evaluation: Evaluation) -> Json:
    """Return the scores, the questions and the advice."""
    return {
        "success": True,
        "scores": [_score_json(score) for score in evaluation.scores],
        **pick(evaluation, "advice", "documents", "total_documents", "model", "seed", "notes"),
        "seconds": round(evaluation.seconds, 1),
        "questions": [
            pick(question, "kind", "text", "uris", "lines") for question in evaluation.questions
        ],
    }


def benchmark_json(benchmark: Benchmark) -> Json:
    """Return the figures of speed, size and memory."""
    return {
        "success": True,
        **pick(benchmark, "files", "chunks", "characters", "model"),
        "sync": pick(benchmark, "sync_seconds", "unchanged_seconds", "vectors_per_second"),
        "search": {
            name: pick(times, "median", "slow") for name, times in benchmark.searches.items()
        },
        **pick(benchmark, "cold_search_seconds", "disk_bytes", "memory_bytes", "notes"),
        "seconds": round(benchmark.seconds, 1),
    }


def _score_json(score: SettingScore) -> Json:
    return {
        "setting": score.name,
        "in_use": score.is_current,
        **_quality_json(score.quality),
        "difference": pick(score.difference, "mrr", "low", "high", "is_certain"),
        "by_kind": {kind: _quality_json(quality) for kind, quality in score.by_kind.items()},
    }


def _quality_json(quality: Quality) -> Json:
    return pick(quality, "questions", "recall_at_1", "recall_at_5", "recall_at_10", "mrr")
