"""Cosines mean the same for every model and for collections of any size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ragstone import Engine
from ragstone.embed.minilm import MiniLM
from ragstone.protocols import Progress
from ragstone.retrieval.ranking.confidence import Background
from ragstone.types import Document, Matrix, Role

NOTES = (
    "Anna is on holiday until Monday.",
    "The key of the interface is replaced every 90 days.",
    "Deploys happen on Thursdays after lunch.",
    "Customers in Brazil are billed in reais.",
)
OFF_TOPIC = ("banana smoothie recipe", "flurbo grontz", "how tall is the eiffel tower")
NEAR = 0.7
"""The cosine of unrelated texts in the model `CrowdedModel`."""


class CrowdedModel:
    """MiniLM with one more number that is the same for all texts, so that all texts look alike."""

    def __init__(self, model: MiniLM) -> None:
        space = model.space
        self.space = replace(
            space, embedder="minilm", model="crowded", dimension=space.dimension + 1
        )
        self.max_tokens = model.max_tokens
        self._model = model

    def embed(
        self, texts: Sequence[str], role: Role = "document", *, progress: Progress | None = None
    ) -> Matrix:
        rows = np.asarray(self._model.embed(texts, role, progress=progress))
        same = np.full((len(rows), 1), np.sqrt(NEAR / (1 - NEAR)), np.float32)
        crowded = np.hstack([rows, same])
        scaled: Matrix = crowded / np.linalg.norm(crowded, axis=1, keepdims=True)
        return scaled

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)


def use_crowded_model(engine: Engine) -> None:
    pool = engine.workspace.components.embedders
    model = pool.get("minilm")
    assert isinstance(model, MiniLM)
    (key,) = pool._embedders
    pool._embedders[key] = CrowdedModel(model)


@pytest.fixture(params=["plain", "crowded"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path) as opened:
        if request.param == "crowded":
            use_crowded_model(opened)
        yield opened


def add_notes(engine: Engine, *more: str) -> None:
    for number, text in enumerate((*NOTES, *more)):
        engine.add(Document(uri=f"note{number}.md", text=text))


def test_one_note_answers_a_question_in_other_words(engine: Engine) -> None:
    engine.add(Document(uri="note.md", text="We decided to use Postgres 16"))
    assert [hit.source_doc_id for hit in engine.search("which database did we choose")] == [
        "note.md"
    ]


def test_a_young_memory_answers_a_question_in_other_words(engine: Engine) -> None:
    engine.remember("s", "user", "We decided to use Postgres 16")
    (recalled,) = engine.recall("s", "which database did we choose")
    assert recalled.turn.content == "We decided to use Postgres 16"


def test_the_right_note_of_a_small_folder_is_first(engine: Engine) -> None:
    add_notes(engine, "We decided to use Postgres 16")
    hits = engine.search("which database did we choose")
    assert hits[0].source_doc_id == f"note{len(NOTES)}.md"


@pytest.mark.parametrize("question", OFF_TOPIC)
def test_a_question_off_topic_gets_no_citation_and_a_question_back(
    engine: Engine, question: str
) -> None:
    add_notes(engine)
    assert engine.search(question) == []
    context = engine.context(question)
    assert context.cited == ()
    assert context.needs_clarification
    assert context.question


def test_scores_and_order_are_those_of_the_plain_model(tmp_path: Path) -> None:
    answers = []
    for name in ("plain", "crowded"):
        (tmp_path / name).mkdir()
        with Engine.open(tmp_path / name) as engine:
            if name == "crowded":
                use_crowded_model(engine)
            add_notes(engine, "We decided to use Postgres 16")
            hits = engine.search("what currency do we bill in South America")
            answers.append([(hit.source_doc_id, hit.score) for hit in hits])
    plain, crowded = answers
    assert [name for name, _ in plain] == [name for name, _ in crowded]
    assert [score for _, score in plain] == pytest.approx(
        [score for _, score in crowded], abs=0.03
    )


def test_a_match_by_an_everyday_word_counts_less_than_one_by_a_rare_word(
    engine: Engine,
) -> None:
    for number in range(30):
        engine.add(Document(uri=f"{number}.md", text=f"harbour report of day {number}"))
    engine.add(Document(uri="lamp.md", text="a lamp for the lighthouse keeper"))
    shares = []
    for question in ("harbour lighthouse keeper", "harbour zeppelin captain"):
        best = engine.search(question, top_k=1)[0]
        assert best.trace is not None
        (words,) = [part for part in best.trace.lists if part.name == "words"]
        shares.append(words.normalised)
    assert shares[0] == 1.0
    assert shares[1] < 0.6


def test_every_text_of_a_folder_about_one_subject_can_be_a_hit(engine: Engine) -> None:
    for number in range(60):
        engine.add(Document(uri=f"{number}.md", text=f"harbour report of day {number}"))
    assert len(engine.search("harbour report", mode="vectors", top_k=5)) == 5


@pytest.mark.parametrize("cosine", [1.0, 1.0000001])
def test_a_model_that_gives_every_text_the_same_vector_has_a_scale(cosine: float) -> None:
    background = Background.of([cosine] * 24)
    assert background.deviations(cosine) == pytest.approx(0.0, abs=1e-3)
