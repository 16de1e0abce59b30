"""Sentences of every script: they end at the full stops of Unicode, or at spaces if the script has none."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ragstone import Document, Engine
from ragstone.chunk.prose import SentenceChunker
from ragstone.text.sentences import sentence_starts

TEXTS = {
    "hindi": ["पत्थर भारी है। ", "नाव नदी पर है। ", "क्या वह डूबती है? ", "नहीं॥"],
    "arabic": ["الحجر ثقيل. ", "هل القارب على النهر؟ ", "نعم، إنه هناك. ", "لا يغرق."],
    "urdu": ["پتھر بھاری ہے۔ ", "کیا کشتی دریا پر ہے؟ ", "نہیں۔"],
    "thai": ["ก้อนหินหนัก ", "เรืออยู่บนแม่น้ำ ", "มันไม่จม"],
    "chinese": ["石头很重。", "船在河上！", "它会沉吗？", "「不会。」", "完了。"],
    "japanese": ["石は重い。", "舟は川の上です。", "沈みますか？", "（いいえ。）", "おわり"],
    "burmese": ["ကျောက်တုံးလေးသည်။ ", "လှေသည်မြစ်ပေါ်တွင်ရှိသည်။"],
    "amharic": ["ድንጋዩ ከባድ ነው። ", "ጀልባው ወንዙ ላይ ነው።"],
    "english": ["The stone is heavy. ", "Dr. Stone has a boat! ", "Does it sink?"],
}


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in pairwise([*sentence_starts(text), len(text)])]


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_is_split_into_its_sentences(language: str) -> None:
    assert sentences("".join(TEXTS[language])) == TEXTS[language]


@pytest.mark.parametrize("language", TEXTS)
def test_chunks_and_their_overlap_begin_at_a_sentence(language: str) -> None:
    parts = TEXTS[language] * 8
    document = Document("a.txt", " ".join(part.strip() for part in parts))
    starts = set(sentence_starts(document.text))
    longest = max(map(len, parts))
    chunker = SentenceChunker(size=longest * 4, overlap=longest * 2)
    chunks = chunker.chunk(document)
    assert len(chunks) > 1
    assert {chunk.span.start for chunk in chunks} <= starts
    for before, after in pairwise(chunks):
        assert before.span.start < after.span.start < before.span.end


def test_a_space_between_thai_words_and_numbers_ends_no_sentence() -> None:
    assert sentences("หนัก 12 กิโลกรัม") == ["หนัก 12 กิโลกรัม"]


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("नदी पर नाव", "hindi"),
        ("القارب", "arabic"),
        ("แม่น้ำ", "thai"),
        ("河上", "chinese"),
        ("舟は川", "japanese"),
    ],
)
def test_words_of_a_language_find_its_document(
    engine: Engine, query: str, language: str
) -> None:
    for name, parts in TEXTS.items():
        engine.add(Document(f"{name}.txt", "".join(parts)))
    hits = engine.search(query, mode="words")
    assert hits[0].source_doc_id == f"{language}.txt"
