"""The golden ids were made by the reference (`tokenizers` 0.23, the model's own tokenizer.json, no truncation)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.embed import wordpiece
from ragstone.embed.wordpiece import VOCABULARY, WordPiece, normalise, pieces
from ragstone.errors import ConfigError

GOLDEN = json.loads((Path(__file__).parent / "golden_tokens.json").read_text(encoding="utf-8"))
TOKENIZER = WordPiece.from_file(VOCABULARY)
ANY_TEXT = st.text(st.characters(codec=None), max_size=300)
WORDY_TEXT = st.lists(st.text("abcxyz019_-.é中 \n", max_size=30), max_size=60).map(" ".join)


@pytest.mark.parametrize("case", GOLDEN, ids=[ascii(case["text"][:30]) for case in GOLDEN])
def test_ids_are_those_of_the_reference(case: dict[str, object]) -> None:
    text, ids = case["text"], case["ids"]
    assert isinstance(text, str)
    assert TOKENIZER.encode(text) == ids
    assert TOKENIZER.encode(text) == ids, "and again, now from the cache"


def test_names_of_special_tokens_in_a_text_are_plain_text() -> None:
    special = {TOKENIZER.pad, TOKENIZER.unknown, TOKENIZER.first, TOKENIZER.last}
    ids = TOKENIZER.encode("[PAD] [CLS] [SEP] [MASK]")
    assert len(ids) > 8
    assert not special & set(ids)


def test_letters_are_lowered_one_by_one_and_lose_their_accents() -> None:
    assert normalise("ÉTÉ ΣΑΣ") == "ete σασ"
    assert pieces("don't, stop") == ["don", "'", "t", ",", "stop"]


@given(ANY_TEXT)
def test_any_text_gives_ids_of_the_vocabulary_and_never_padding(text: str) -> None:
    ids = TOKENIZER.encode(text)
    assert all(0 < number < 30_522 for number in ids)
    assert TOKENIZER.count(text) == len(ids)


@given(ANY_TEXT, ANY_TEXT)
def test_a_blank_separates_texts_completely(left: str, right: str) -> None:
    assert TOKENIZER.encode(f"{left} {right}") == TOKENIZER.encode(left) + TOKENIZER.encode(
        right
    )


@given(WORDY_TEXT, st.integers(3, 60))
def test_windows_hold_every_id_in_order_and_none_is_too_long(text: str, size: int) -> None:
    windows = list(TOKENIZER.windows(text, size))
    assert [number for window in windows for number in window] == TOKENIZER.encode(text)
    assert all(0 < len(window) <= size for window in windows)


def test_windows_end_between_words() -> None:
    text = " ".join(["floccinaucinihilipilification"] * 40)
    whole = TOKENIZER.encode("floccinaucinihilipilification")
    for window in TOKENIZER.windows(text, 50):
        assert window == whole * (len(window) // len(whole))


def test_windows_of_one_text_are_of_about_the_same_length() -> None:
    lengths = [len(window) for window in TOKENIZER.windows("word " * 260, 254)]
    assert len(lengths) == 2
    assert min(lengths) > 100


def test_a_huge_text_without_a_blank_has_the_ids_of_its_pieces() -> None:
    text = "alpha.beta(42);" * 20_000
    assert TOKENIZER.encode(text) == list(TOKENIZER.word_ids("alpha.beta(42);")) * 20_000


def test_a_huge_run_of_letters_is_one_unknown_token_per_part() -> None:
    assert set(TOKENIZER.encode("z" * 1_000_000)) == {TOKENIZER.unknown}


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordpiece, "CACHED_WORDS", 10)
    tokenizer = WordPiece.from_file(VOCABULARY)
    text = " ".join(f"word{number}" for number in range(200))
    assert tokenizer.encode(text) == TOKENIZER.encode(text)
    assert tokenizer._cached_ids.cache_info().currsize <= 10
    cached = tokenizer._cached_ids.cache_info()
    tokenizer.encode("w" * 65)
    assert tokenizer._cached_ids.cache_info() == cached, "long words are not cached"


def test_a_missing_vocabulary_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing.txt cannot be read"):
        WordPiece.from_file(tmp_path / "nothing.txt")


def test_a_vocabulary_without_markers_is_a_clear_error() -> None:
    with pytest.raises(ConfigError, match=r"no \[PAD\]"):
        WordPiece(["a", "b"])
