"""Export and import: a collection as lines, read back by somebody who does not trust them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Document, Engine
from ragstone.errors import InputError
from ragstone.types import Mark

FAKE = {"rag.embedding_provider": "fake"}


@pytest.fixture
def lines(tmp_path: Path) -> list[str]:
    home = tmp_path / "from"
    home.mkdir()
    with Engine.open(home, config=FAKE) as engine:
        text = "The gondola\r\n\r\ncrosses \ud800 the lagoon.\n"
        engine.add(Document(uri="a", text=text, kind="doc", metadata={"tags": ["x", "y"]}))
        engine.add(Document(uri="b", text=text, title="copy"))
        return list(engine.admin.export())


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Engine]:
    home = tmp_path / "to"
    home.mkdir()
    with Engine.open(home, config=FAKE) as engine:
        yield engine


def test_text_metadata_and_vectors_come_back_exactly(lines: list[str], other: Engine) -> None:
    report = other.admin.load(lines)
    assert (report.documents, report.embedded, report.pending) == (2, 1, 0)
    assert other.admin.text("a") == "The gondola\r\n\r\ncrosses \ud800 the lagoon.\n"
    stored = {document.uri: document for document in other.sources()}
    assert list(stored["a"].metadata["tags"]) == ["x", "y"]  # type: ignore[arg-type]
    assert (stored["a"].kind, stored["b"].title) == ("doc", "copy")


def test_reading_the_same_lines_twice_changes_nothing(lines: list[str], other: Engine) -> None:
    other.admin.load(lines)
    report = other.admin.load(lines)
    assert (report.chunks_added, report.embedded) == (0, 0)


def test_without_vectors_the_texts_are_pending(lines: list[str], other: Engine) -> None:
    report = other.admin.load([line for line in lines if '"vector"' not in line])
    assert (report.embedded, report.pending) == (0, 1)


def test_vectors_of_another_space_are_left_out(lines: list[str], other: Engine) -> None:
    head = json.loads(lines[0]) | {"space": "0" * 64}
    report = other.admin.load([json.dumps(head), *lines[1:]])
    assert report.embedded == 0
    assert [note for note in report.notes if "1 of 1 vector had another model" in note]


@pytest.mark.parametrize(
    "data", [b"1234567", b"\xff" * 260, b"\x00" * 260], ids=["short", "not numbers", "zero"]
)
def test_an_invalid_vector_is_left_out_and_made_again(
    lines: list[str], other: Engine, data: bytes
) -> None:
    bad = {"vector": base64.b64encode(data).decode()}
    report = other.admin.load(
        [json.dumps(json.loads(line) | bad) if '"vector"' in line else line for line in lines]
    )
    assert (report.documents, report.embedded, report.pending) == (2, 0, 1)
    assert other.admin.embed() == 1
    assert other.search("gondola")
    assert all(finding.ok for finding in other.admin.check())


ASKED = "gondola ferry barge raft canoe kayak dinghy trawler"
TEXTS = [
    " ".join([*ASKED.split()[:n], *(f"other{n}{m}" for m in range(8 - n))]) for n in range(9)
]


def kept_in(storage: str, home: Path) -> tuple[list[str], list[str]]:
    """Return a collection's lines, its vectors kept in this way, and what is nearest to a question."""
    home.mkdir()
    with Engine.open(home, config=FAKE | {"embed.storage": storage}) as engine:
        engine.add([Document(uri=str(n), text=text) for n, text in enumerate(TEXTS)])
        return list(engine.admin.export()), nearest(engine)


def nearest(engine: Engine) -> list[str]:
    return [hit.source_doc_id for hit in engine.search(ASKED, 5, mode="vectors")]


@pytest.mark.parametrize("storage", ["int10", "compact"])
@pytest.mark.parametrize("storage_name", ["as written", None, "int16", ["no name"]], ids=str)
def test_vectors_of_another_storage_are_converted(
    tmp_path: Path, other: Engine, storage: str, storage_name: object
) -> None:
    lines, before = kept_in(storage, tmp_path / "kept")
    head = json.loads(lines[0])
    assert head["storage"] == storage
    if storage_name is None:
        del head["storage"]  # as archives were at first
    elif storage_name != "as written":
        head["storage"] = storage_name
    report = other.admin.load([json.dumps(head), *lines[1:]])
    assert (report.embedded, report.pending, report.notes) == (len(TEXTS), 0, ())
    assert [info.storage for info in other.status().spaces] == ["int10"]
    assert nearest(other) == before
    assert other.admin.embed() == 0
    assert all(finding.ok for finding in other.admin.check())


def test_vectors_of_the_same_storage_keep_every_byte(tmp_path: Path, other: Engine) -> None:
    lines, _ = kept_in("int10", tmp_path / "kept")
    other.admin.load(lines)
    assert sorted(other.admin.export()) == sorted(lines)


def test_vectors_of_an_unknown_length_are_left_out_with_a_note(
    tmp_path: Path, other: Engine
) -> None:
    lines, _ = kept_in("compact", tmp_path / "kept")
    bad = {"vector": base64.b64encode(b"1234567").decode()}
    places = [place for place, line in enumerate(lines) if '"vector"' in line][:2]
    for place in places:
        lines[place] = json.dumps(json.loads(lines[place]) | bad)
    report = other.admin.load(lines)
    assert (report.documents, report.embedded, report.pending) == (
        len(TEXTS),
        len(TEXTS) - 2,
        2,
    )
    assert [
        note for note in report.notes if f"2 of {len(TEXTS)} vectors cannot be read" in note
    ]
    assert other.admin.embed() == 2


@pytest.mark.parametrize(
    "line",
    [
        '{"document": 3, "text": "x"}',
        '{"document": " ", "text": "x"}',
        '{"vector": "*", "text": "00"}',
        "nonsense",
        "[1]",
    ],
)
def test_a_bad_line_is_named_by_its_number(lines: list[str], other: Engine, line: str) -> None:
    with pytest.raises(InputError, match="line 2"):
        other.admin.load([lines[0], line])


def test_marks_and_side_texts_are_exported_too(tmp_path: Path, other: Engine) -> None:
    marks = (Mark(0, 1, "i"), Mark(4, 2, "", "slide"))
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add(Document("deck", "one two", marks=marks, beside="spoken before"))
        other.admin.load(list(engine.admin.export()))
    deck = {stored.uri: stored for stored in other.sources()}["deck"]
    assert (deck.marks, deck.beside) == (marks, "spoken before")


@pytest.mark.parametrize(
    "marks", ["1", "[[1]]", '[["a", 1, "", ""]]', '[[99, 1, "", ""]]', '{"a": 1}']
)
def test_invalid_marks_are_refused(other: Engine, marks: str) -> None:
    with pytest.raises(InputError, match="line 2"):
        other.admin.load(
            ['{"ragstone_export": 1}', f'{{"document": "a", "text": "b", "marks": {marks}}}']
        )
