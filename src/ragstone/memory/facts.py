"""Which turns say what of a subject, read from a few plain sentence forms; whatever is not plain says nothing.

A later turn supersedes an earlier one only where both fill the same slot (whose, what) with another value, and the form
of the sentence says that there is one value at a time. Missing a change costs a stale line; inventing one costs trust.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ragstone.words import terms

_LONGEST: Final = 4000
"""Characters of a turn that are looked at: what is longer is a paste, not a statement."""
_NOW: Final = r"(?:(?:is|are|was|were) (?:now|currently) |(?:is|are|'s|'re) (?:now |currently )?)"
_END: Final = r"(?=[.,;!?\n]|$| (?:and|but|because|since|so|now|instead|these days|at the moment|from now on)\b)"
_WORDS: Final = r"[\w'#+./:@-]+(?: [\w'#+./:@-]+){0,5}?"
_UNSURE: Final = re.compile(
    r"\b(?:not|never|no longer|n't|isn't|aren't|wasn't|if|whether|would|could|might|maybe)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One value of one slot: `my favourite editor` → `helix`."""

    slot: str
    value: str
    words: str


def _form(text: str) -> re.Pattern[str]:
    return re.compile(text, re.I)


_THING: Final = r"[\w'-]+(?: [\w'-]+){0,3}?"
_PURPOSE: Final = rf"(?P<slot>(?:for|as) (?:the |our |my )?{_THING}){_END}"
_VALUE: Final = rf"(?P<value>{_WORDS})"
_WE: Final = r"(?:i|we)(?:'m| am|'re| are|'ve| have)?(?: now| currently| just)?"
_FORMS: Final = (
    _form(rf"\b(?P<slot>(?:my|our|the) {_THING}) {_NOW}{_VALUE}{_END}"),
    _form(rf"\b(?P<slot>(?:my|our|the) {_THING}) (?:has |have )?(?:changed|moved|switched) to {_VALUE}{_END}"),
    _form(rf"\b(?P<slot>{_WE} (?:live in|living in|moved to)) {_VALUE}{_END}"),
    _form(rf"\b(?P<slot>{_WE} (?:work|working) (?:at|for)) {_VALUE}{_END}"),
    _form(rf"\bcall (?P<slot>me) {_VALUE}{_END}"),
    _form(rf"\b{_WE} (?:use|using) {_VALUE} {_PURPOSE}"),
    _form(rf"\b{_WE} (?:switched|moved|changed) (?:from [\w'.+-]+ )?to {_VALUE} {_PURPOSE}"),
)
"""What is spoken of (`slot`) and what is said of it (`value`), in sentences that allow one value at a time."""
_SAME: Final = (
    (re.compile(r"^(?:i|we)\b.*\b(?:live|living|moved)\b.*$"), "home"),
    (re.compile(r"^(?:i|we)\b.*\b(?:work|working)\b.*$"), "workplace"),
)
# Words that make a slot hold many values at once, or nothing in particular.
_MANY: Final = frozenset(
    "one some point thing problem question idea issue reason way rest same first last only best".split()
)
_FILLERS: Final = frozenset("a an the very really so too quite".split())


def facts(text: str) -> list[Fact]:
    """Return what a turn says plainly; questions, conditions and denials say nothing."""
    found: list[Fact] = []
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", text[:_LONGEST]):
        if sentence.rstrip().endswith("?") or _UNSURE.search(sentence):
            continue
        for form in _FORMS:
            for match in form.finditer(sentence):
                slot, value = _slot(match["slot"]), _value(match["value"])
                if slot and value:
                    found.append(Fact(slot, value, match[0].strip(" .,;")))
    return found


def contradicts(newer: Iterable[Fact], older: Iterable[Fact]) -> str:
    """Return why one turn supersedes another: the first slot that both fill differently, or nothing."""
    before = {fact.slot: fact for fact in older}
    for fact in newer:
        known = before.get(fact.slot)
        if known is not None and known.value != fact.value and not _refines(known.value, fact.value):
            return f'"{known.words}" became "{fact.words}"'
    return ""


def wording(text: str) -> frozenset[str]:
    """Return the words of a turn as restatements are told by: order, case and small words do not count."""
    return frozenset(terms(text)) or frozenset({text.strip()})


def restates(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two wordings say the same in the same words."""
    shorter, longer = sorted((len(one), len(other)))
    return shorter >= _ALIKE * longer and len(one & other) >= _ALIKE * len(one | other)


_ALIKE: Final = 0.85


def _slot(text: str) -> str:
    lowered = " ".join(text.lower().split())
    for form, name in _SAME:
        if form.match(lowered):
            return f"{lowered.split()[0].split(chr(39))[0]} {name}"
    parts = terms(lowered)
    return "" if not parts or _MANY & set(lowered.split()) else " ".join(parts)


def _value(text: str) -> str:
    return " ".join(word for word in text.lower().strip(" .,;'").split() if word not in _FILLERS)


def _refines(older: str, newer: str) -> bool:
    """Return whether one value only says the other more exactly: `berlin` and `berlin in germany`."""
    one, two = set(older.split()), set(newer.split())
    return one <= two or two <= one
