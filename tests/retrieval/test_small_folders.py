"""Folders of a few documents answer, and nonsense gets hardly anything; with the built-in model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragstone import Document, Engine
from ragstone.types import Mode

QUESTIONS = Path(__file__).parents[2] / "evals" / "data" / "small.jsonl"


def test_small_folders_answer_and_nonsense_does_not(tmp_path: Path) -> None:
    answered, weak = [], []
    for number, line in enumerate(QUESTIONS.read_text("utf-8").splitlines()):
        row = json.loads(line)
        folder = tmp_path / str(number)
        folder.mkdir()
        with Engine.open(folder) as engine:
            engine.add([Document(uri, text) for uri, text in row["documents"].items()])
            for question in row["questions"]:
                hits = engine.search(question["question"], 3)
                if question["document"] is None:
                    weak.append(max((hit.score for hit in hits), default=0.0))
                else:
                    found = {hit.source_doc_id for hit in hits}
                    answered.append(question["document"] in found)
    assert sum(answered) >= 0.9 * len(answered)
    assert sum(score > 0 for score in weak) <= 0.25 * len(weak)
    assert max(weak) < 0.15


def test_one_word_of_an_everyday_question_does_not_beat_the_meaning(tmp_path: Path) -> None:
    texts = {
        "ramp.md": "The network of ramps at the back door is icy in winter.",
        "cash.md": "If the line is dead, the till keeps on working and sends its receipts later.",
        "hotel.md": "We bring the bread to the hotel. Bring back the crates, and bring the key.",
        "ovens.md": "The ovens are cleaned on Mondays.",
        "orders.md": "Orders for cakes are taken by telephone until noon.",
    }
    with Engine.open(tmp_path) as engine:
        engine.add([Document(uri, text) for uri, text in texts.items()])
        hits = engine.search("what happens at the checkout when the network is down")
    assert hits[0].source_doc_id == "cash.md"


def test_hits_that_are_only_the_nearest_say_that_nothing_fits_well(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        engine.add("The hotel has twelve rooms, and breakfast starts at seven.", uri="hotel.md")
        weak = engine.explain("which room in the castle did the ghost of the old king haunt")
        sure = engine.explain("when does breakfast start in the hotel")
    assert weak.hits
    assert any("nothing fits well" in note for note in weak.notes)
    assert not any("nothing fits well" in note for note in sure.notes)


@pytest.mark.parametrize("mode", ["words", "hybrid"])
def test_nonsense_answered_by_words_only_says_that_nothing_fits_well(
    tmp_path: Path, mode: Mode
) -> None:
    text = "The hotel has twelve rooms, and breakfast starts at seven."
    with Engine.open(tmp_path) as engine:
        engine.add(text, uri="hotel.md", embed=False)
        weak = engine.explain("which twelve rooms has a purple haunted castle", mode=mode)
        sure = engine.explain("when does breakfast start in the hotel", mode=mode)
    assert weak.hits
    assert any("nothing fits well" in note for note in weak.notes)
    assert not any("nothing fits well" in note for note in sure.notes)
