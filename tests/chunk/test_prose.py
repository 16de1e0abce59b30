"""Plain text: characters, sentences, tokens, paragraphs."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ragstone.chunk.prose import CharacterChunker, ProseChunker, SentenceChunker, TokenChunker
from ragstone.text.sentences import sentence_starts
from ragstone.text.tokens import estimate
from ragstone.types import Document, Mark

STORY = " ".join(
    f"Sentence number {number} tells what happened on day {number}." for number in range(200)
)
PARAGRAPHS = "\n\n".join(
    f"Paragraph {number} says this. " + "It goes on for a while. " * 4 for number in range(30)
)


def sentences(text: str) -> list[str]:
    starts = [*sentence_starts(text), len(text)]
    return [text[start:stop].strip() for start, stop in pairwise(starts)]


def test_characters_are_cut_at_the_size_and_share_the_overlap() -> None:
    text = "".join(chr(97 + number % 26) for number in range(2500))
    chunks = CharacterChunker().chunk(Document("a", text))
    assert [(chunk.span.start, chunk.span.end) for chunk in chunks] == [
        (0, 1000),
        (800, 1800),
        (1600, 2500),
    ]


def test_a_text_of_exactly_the_size_is_one_chunk() -> None:
    assert len(CharacterChunker(size=100, overlap=20).chunk(Document("a", "x" * 100))) == 1
    assert len(CharacterChunker(size=100, overlap=20).chunk(Document("a", "x" * 101))) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Smith met J. Doe. They spoke.", ["Dr. Smith met J. Doe.", "They spoke."]),
        ("Use a tool, e.g. Ruff. It helps.", ["Use a tool, e.g. Ruff.", "It helps."]),
        ("He said “Go.” Then left.", ["He said “Go.”", "Then left."]),
        ("Version 3.11 is out. it works", ["Version 3.11 is out. it works"]),
        ("这是第一句。这是第二句！好吗？", ["这是第一句。", "这是第二句！", "好吗？"]),
        ("A title\n\nA paragraph", ["A title", "A paragraph"]),
        ("Buy:\n- milk\n- bread", ["Buy:", "- milk", "- bread"]),
        ("1. First thing\n2. Second thing", ["1. First thing", "2. Second thing"]),
        ("Really?! Yes... Maybe.", ["Really?!", "Yes...", "Maybe."]),
    ],
)
def test_sentences_end_at_full_stops_but_not_at_abbreviations(
    text: str, expected: list[str]
) -> None:
    assert sentences(text) == expected


def test_sentences_stay_whole_and_the_overlap_goes_back_to_a_start() -> None:
    chunks = SentenceChunker(size=300, overlap=60).chunk(Document("a", STORY))
    for before, chunk in pairwise(chunks):
        assert chunk.text.startswith("Sentence") and chunk.text.endswith(".")
        assert len(chunk.text) <= 300
        assert before.span.end - chunk.span.start >= 60


def test_a_sentence_above_the_size_falls_back_to_characters() -> None:
    chunks = SentenceChunker(size=100, overlap=20).chunk(Document("a", "x" * 1000))
    assert all(50 <= len(chunk.text) <= 100 for chunk in chunks)
    assert all(before.span.end - after.span.start >= 20 for before, after in pairwise(chunks))


def test_tokens_never_cut_through_a_sentence_that_fits() -> None:
    chunks = TokenChunker(size=60, overlap=15).chunk(Document("a", STORY))
    assert len(chunks) > 20
    for before, chunk in pairwise(chunks):
        assert chunk.text.startswith("Sentence") and chunk.text.endswith(".")
        assert estimate(chunk.text) <= 66
        assert chunk.span.start < before.span.end


def test_prose_keeps_paragraphs_whole_and_does_not_overlap() -> None:
    chunks = ProseChunker(size=100).chunk(Document("a", PARAGRAPHS))
    assert all(chunk.text.startswith("Paragraph") for chunk in chunks)
    assert all(before.span.end <= after.span.start for before, after in pairwise(chunks))
    assert all(estimate(chunk.text) <= 110 for chunk in chunks)


def test_a_paragraph_above_the_size_is_parted_between_sentences_into_even_parts() -> None:
    chunks = ProseChunker(size=100).chunk(
        Document("a", "This is one of many sentences here. " * 30)
    )
    assert all(
        chunk.text.startswith("This") and chunk.text.endswith("here.") for chunk in chunks
    )
    assert min(estimate(chunk.text) for chunk in chunks) >= 40


def test_a_line_without_sentences_is_parted_between_words() -> None:
    text = "word " * 2000
    chunks = ProseChunker(size=50).chunk(Document("a", text))
    assert len(chunks) > 20
    assert all(set(chunk.text.split()) == {"word"} for chunk in chunks)


def test_a_title_stays_with_its_paragraph() -> None:
    body = "The text under it has a few words. " * 6
    text = "\n\n".join(f"Title {number}\n\n{body}" for number in range(12))
    assert all(
        chunk.text.startswith("Title")
        for chunk in ProseChunker(size=80).chunk(Document("a", text))
    )


def test_a_text_that_shrank_gives_no_chunk_beyond_its_end() -> None:
    chunks = ProseChunker(size=50).chunk(Document("a", PARAGRAPHS[:500]))
    assert chunks[-1].span.end <= 500


def test_prose_never_mixes_pages() -> None:
    pages = ["A short page.", "Another one.\n\nWith two paragraphs.", "", "A long page. " * 60]
    text, marks, at = "\n\f\n".join(pages), [], 0
    for number, page in enumerate(pages, 1):
        marks.append(Mark(at, number))
        at += len(page) + 3
    chunks = ProseChunker(size=40, overlap=0).chunk(Document("a.pdf", text, marks=tuple(marks)))
    assert [chunk.text for chunk in chunks[:2]] == pages[:2]
    assert {chunk.span.page for chunk in chunks[2:]} == {4}
    assert all("\f" not in chunk.text for chunk in chunks)


def test_further_chunks_of_a_page_have_its_beginning_as_header() -> None:
    pages = ["Consolidated balance sheet 2023\n\n", "Notes to the accounts\n\n"]
    body = "\n\n".join(f"Row {n} has some figures of the year." for n in range(60))
    text = "".join(page + body + "\n\n" for page in pages)
    marks = (Mark(0, 1), Mark(len(pages[0] + body) + 2, 2))
    chunks = ProseChunker().chunk(Document(uri="report.pdf", text=text, marks=marks))
    for number, start in ((1, "Consolidated balance sheet 2023"), (2, "Notes to the accounts")):
        first, *others = [chunk for chunk in chunks if chunk.span.page == number]
        assert first.header == ""
        assert others
        assert all(chunk.header.startswith(start) for chunk in others)
        assert all(len(chunk.header) <= 100 for chunk in others)


def test_text_without_pages_has_no_header() -> None:
    text = "\n\n".join(f"Paragraph {n} says a little." for n in range(80))
    chunks = ProseChunker().chunk(Document(uri="a.txt", text=text))
    assert len(chunks) > 1
    assert {chunk.header for chunk in chunks} == {""}
