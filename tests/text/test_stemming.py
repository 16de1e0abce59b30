"""Stems are those of Porter's paper."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text.stemming import stem

# Porter's own examples, step by step, carried through to the end of the algorithm.
EXAMPLES = """
caresses caress   ponies poni        ties ti            cats cat           feed feed          agreed agre
plastered plaster bled bled          motoring motor     sing sing          conflated conflat  troubled troubl
sized size        hopping hop        tanned tan         falling fall       hissing hiss       fizzed fizz
failing fail      filing file        happy happi        sky sky            relational relat   conditional condit
rational ration   valenci valenc     digitizer digit    operator oper      feudalism feudal   decisiveness decis
hopefulness hope  callousness callous formaliti formal  sensibiliti sensibl triplicate triplic formative form
formalize formal  electrical electr  hopeful hope       goodness good      revival reviv      allowance allow
inference infer   airliner airlin    gyroscopic gyroscop adjustable adjust defensible defens  irritant irrit
replacement replac adjustment adjust dependent depend   adoption adopt     communism commun   activate activ
effective effect  bowdlerize bowdler probate probat     rate rate          cease ceas         controlling control
rolling roll      generalizations gener oscillators oscil yes ye           type type          synchronous synchron
""".split()


@pytest.mark.parametrize(
    ("word", "expected"), list(zip(EXAMPLES[::2], EXAMPLES[1::2], strict=True))
)
def test_the_stem_is_the_papers(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize("word", ["", "a", "is", "y" * 1000, "as"])
def test_very_short_and_very_long_words_stay(word: str) -> None:
    assert stem(word) == word


@given(st.text("abcdefghijklmnopqrstuvwxyz", max_size=80))
def test_a_stem_is_never_longer_than_its_word_and_never_empty(word: str) -> None:
    assert len(stem(word)) <= len(word)
    assert bool(stem(word)) == bool(word)
