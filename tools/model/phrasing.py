"""How a person might ask: the words of a pair as written, plainly, as a question, or only a few of them."""

from __future__ import annotations

import random
import re

from ragstone.text import STOPWORDS

_WORD = re.compile(r"[^\W\d_]{3,}")
_QUESTIONS = ("how to {}", "where is {} defined", "{} implementation", "how do I {}")
_SHARES = (0.35, 0.55, 0.75)
"""As written below the first, plain below the second, as a question below the third, else key words."""
_MOST_KEY_WORDS = 6


def phrase(query: str, chance: random.Random) -> str:
    """Return one phrasing of a query."""
    drawn = chance.random()
    plain = query.rstrip(".!:").lower()
    if drawn < _SHARES[0]:
        return query
    if drawn < _SHARES[1]:
        return plain
    if drawn < _SHARES[2]:
        return chance.choice(_QUESTIONS).format(plain)
    words = [word for word in _WORD.findall(plain) if word not in STOPWORDS]
    if len(words) < 2:
        return plain
    count = chance.randint(2, min(_MOST_KEY_WORDS, len(words)))
    chosen = sorted(chance.sample(range(len(words)), count))
    return " ".join(words[place] for place in chosen)
