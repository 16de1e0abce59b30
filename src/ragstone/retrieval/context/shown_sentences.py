"""Sentences that a session was shown: their hashes, and checks whether a piece repeats them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final

from ragstone.retrieval.context.passages import exact_slices
from ragstone.text import query_terms
from ragstone.types import Cited, Hit

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_HASH_LENGTH: Final = 16


def hash_sentences(piece: Cited | Hit) -> list[str]:
    """Return a hash for each sentence or line of a piece.

    So a piece is recognised if it is cut differently later, for example as part of a longer piece.
    """
    uri = piece.uri if isinstance(piece, Cited) else piece.source_doc_id
    sentences = dict.fromkeys(sentence.strip() for sentence in _split_sentences(piece))
    hashes = []
    for sentence in sentences:
        content = f"{uri}\0{sentence}".encode("utf-8", "surrogatepass")
        hashes.append(sha256(content).hexdigest()[:_HASH_LENGTH])
    return hashes


def was_shown(piece: Cited | Hit, shown_hashes: Collection[str]) -> bool:
    """Return whether every sentence of a piece was shown."""
    if not shown_hashes or not piece.text.strip():
        return False
    return all(digest in shown_hashes for digest in hash_sentences(piece))


def was_answer_shown(part: Cited, terms: Sequence[str], shown_hashes: Collection[str]) -> bool:
    """Return whether every sentence of a part that has a term of the query was shown.

    The other sentences fill the room around the answer. The random fence changes that room from call to call, so a
    part that only has more of them is not new.
    """
    if not shown_hashes:
        return False
    sentences = _split_sentences(part)
    query_term_set = set(terms)
    answering = [
        sentence
        for sentence in sentences
        if not query_term_set.isdisjoint(query_terms(sentence))
    ]
    compared = answering or sentences
    return all(_is_sentence_shown(part, sentence, shown_hashes) for sentence in compared)


def _is_sentence_shown(part: Cited, sentence: str, shown_hashes: Collection[str]) -> bool:
    return was_shown(replace(part, text=sentence, slices=()), shown_hashes)


def _split_sentences(piece: Cited | Hit) -> list[str]:
    sentences: list[str] = []
    for part in exact_slices(piece):
        sentences += _SENTENCE_END.split(part.text)
    return [sentence for sentence in sentences if sentence.strip()]
