"""Which turns say what of a subject, read from a few plain sentence forms; whatever is not plain says nothing.

A later turn supersedes an earlier one only where both fill the same slot (whose, what) with another value of the same
shape, and either the slot can hold one value only (a name, a deadline, a port) or the later one says that something
changed. Missing a change costs a stale line; inventing one costs trust.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from ragstone.text import terms

Shape = Literal["figure", "address", "name", "word"]

_LONGEST: Final = 4000
"""Characters of a turn that are looked at: what is longer is a paste, not a statement."""
_NOW: Final = r"(?:is|are|'s|'re)(?P<now> now| currently)?"
_END: Final = r"(?=[.,;!?\n]|$| (?:and|but|because|since|so|now|instead|these days|at the moment|from now on|last)\b)"
_WORDS: Final = r"[\w'#+./:@-]+(?: [\w'#+./:@-]+){0,5}?"
_UNSURE: Final = re.compile(
    r"\b(?:not|never|no longer|if|whether|would|could|might|maybe|perhaps|used to|when|until)\b|n't\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One value of one slot: `my favourite editor` → `helix`."""

    slot: str
    value: str
    words: str
    shape: Shape = "word"
    single: bool = False
    """Whether the slot holds one value at a time, whatever is said."""
    changed: bool = False
    """Whether the sentence says that it was another one before."""


def _form(text: str) -> re.Pattern[str]:
    return re.compile(text, re.I)


_THING: Final = r"[\w'-]+(?: [\w'-]+){0,3}?"
_OWNED: Final = rf"(?P<slot>(?:my|our|the) {_THING})"
_PURPOSE: Final = rf"(?P<slot>(?:for|as) (?:the |our |my )?{_THING}){_END}"
_VALUE: Final = rf"(?P<value>{_WORDS})"
_I: Final = r"(?:i|we)(?:'m| am|'re| are|'ve| have)?(?P<now> now| currently)?(?: just)?"
_IS: Final = _form(rf"\b{_OWNED}(?: |(?=')){_NOW} {_VALUE}{_END}")
_BECAME: Final = _form(
    rf"\b{_OWNED} (?:has |have |was |were )?(?P<now>changed|moved|switched) to {_VALUE}{_END}"
)
_LIVES: Final = _form(rf"\b(?P<slot>{_I} (?:live|living) in) {_VALUE}{_END}")
_MOVED: Final = _form(rf"\b(?P<slot>(?:i|i've|i have)(?: just)? (?P<now>moved) to) {_VALUE}{_END}")
_WORKS: Final = _form(rf"\b(?P<slot>{_I} (?:work|working) (?:at|for)) {_VALUE}{_END}")
_CALLED: Final = _form(rf"\bcall (?P<slot>me) {_VALUE}{_END}")
_USES: Final = _form(rf"\b{_I} (?:use|using) {_VALUE} {_PURPOSE}")
_SWITCHED: Final = _form(
    rf"\b{_I} (?P<to>switched|moved|changed) (?:from [\w'.+-]+ )?to {_VALUE} {_PURPOSE}"
)
_PERSONAL: Final = ((_LIVES, "home"), (_MOVED, "home"), (_WORKS, "workplace"), (_CALLED, "called"))

# What there is one of at a time. Everything else (a sister, a meeting, the weather) is many things at once.
_ONE: Final = frozenset(
    "name surname nickname email mail e-mail phone number address url host hostname port version deadline date "
    "birthday age budget price rent salary limit timeout size password username handle login boss manager employer "
    "company hometown city country timezone zone editor ide browser shell database db framework language license "
    "branch colour color day time".split()
)
_FAVOURED: Final = frozenset("favourite favorite preferred default current primary main".split())
# Words that make a slot hold many values at once, or nothing in particular.
_MANY: Final = frozenset(
    "one some point thing problem question idea issue reason way rest same first last only best next other old".split()
)
_VAGUE: Final = frozenset(
    "now work fun free it this that them everything school years hours while moment time".split()
)
_FILLERS: Final = frozenset("a an the very really so too quite on at in to from by".split())
_FIGURE: Final = re.compile(
    r"(?:\W*\d[\w:.,/%-]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight|am|pm|o'clock|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|"
    r"aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)",
    re.I,
)
_ADDRESS: Final = re.compile(
    r"[^\s@]+@[^\s@]+|\w+://\S+|[\w-]+(?:\.[\w-]+){1,}(?:[/:]\S*)?|/\S+", re.A
)
# What is said of a thing rather than what it is: "slow", "closed", "amazing".
_QUALITY: Final = re.compile(
    r"(?:\w+(?:ed|ing|ful|less|able|ible|ous|y)|good|great|fine|nice|bad|awful|slow|fast|quick|dead|down|up|open|back|"
    r"ready|gone|done|broken|full|cheap|dear|new|old|big|small|hard|wrong|right|better|worse|different|here|there|off|"
    r"on|out|late|early|red|hot|cold)",
    re.I,
)


def facts(text: str) -> list[Fact]:
    """Return what a turn says plainly; questions, conditions and denials say nothing."""
    found: list[Fact] = []
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", text[:_LONGEST]):
        if sentence.rstrip().endswith("?") or _UNSURE.search(sentence):
            continue
        for form in (_IS, _BECAME):
            found += [fact for match in form.finditer(sentence) if (fact := _owned(match))]
        for form, slot in _PERSONAL:
            found += [fact for match in form.finditer(sentence) if (fact := _personal(match, slot))]
        for form in (_USES, _SWITCHED):
            found += [fact for match in form.finditer(sentence) if (fact := _used(match))]
    return found


def contradicts(newer: Iterable[Fact], older: Iterable[Fact]) -> str:
    """Return why one turn supersedes another: the first slot that both fill differently, or nothing."""
    before = {fact.slot: fact for fact in older}
    for fact in newer:
        known = before.get(fact.slot)
        if known is not None and _excludes(fact, known):
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


def _excludes(fact: Fact, known: Fact) -> bool:
    """Return whether a value cannot stand beside an earlier one."""
    if fact.value == known.value or fact.shape != known.shape or _refines(known.value, fact.value):
        return False
    return fact.changed or (fact.single and known.single)


def _owned(match: re.Match[str]) -> Fact | None:
    """Return what a sentence such as "my editor is helix" says, None where it says nothing of that kind."""
    spoken = match["slot"].lower().split()
    fresh = "new" in spoken
    words = [word for word in spoken[1:] if word not in ("new", "current")]
    value = match["value"].strip(" .,;'")
    shape = _shape(value)
    if not words or _MANY & set(words) or not value:
        return None
    favoured = bool(_FAVOURED & set(spoken))
    if shape == "word" and not (favoured and not _QUALITY.fullmatch(value.split()[0])):
        return None
    exact = shape == "figure" and (spoken[0] != "the" or len(words) > 1)
    single = favoured or words[-1] in _ONE or exact
    frame = _frame(value) if exact and words[-1] not in _ONE else ""
    slot = " ".join(terms(" ".join((spoken[0], *words)))) + frame
    return Fact(slot, _plain(value), _said(match), shape, single, fresh or bool(match["now"]))


def _personal(match: re.Match[str], slot: str) -> Fact | None:
    """Return where somebody lives or works, or what to call them; only names count."""
    value = match["value"]
    if _shape(value) != "name":
        return None
    who = re.split(r"[ ']", match["slot"].lower())[0]
    return Fact(f"{who} {slot}", _plain(value), _said(match), "name", single=True)


def _used(match: re.Match[str]) -> Fact | None:
    """Return what is used for a purpose; many things may be, so only "now" and "switched" take an earlier one back."""
    purpose = terms(match["slot"])
    if not purpose or _VAGUE & set(match["slot"].lower().split()):
        return None
    changed = bool(match["now"] or match.groupdict().get("to"))
    return Fact(" ".join(("for", *purpose)), _plain(match["value"]), _said(match), changed=changed)


def _shape(value: str) -> Shape:
    words = [word for word in value.split() if word.lower() not in _FILLERS]
    if any(_FIGURE.fullmatch(word) for word in words):
        return "figure"
    if any(_ADDRESS.fullmatch(word) for word in words):
        return "address"
    return "name" if words and words[0][0].isupper() else "word"


def _frame(value: str) -> str:
    """Return what a figure stands with: "on port 5432" and "on port 5433" are of one kind, "5 years" is of another."""
    return " " + " ".join(word for word in value.lower().split() if not _FIGURE.fullmatch(word))


def _said(match: re.Match[str]) -> str:
    return match[0].strip(" .,;")


def _plain(text: str) -> str:
    return " ".join(word for word in text.lower().strip(" .,;'").split() if word not in _FILLERS)


def _refines(older: str, newer: str) -> bool:
    """Return whether one value only says the other more exactly: `berlin` and `berlin in germany`."""
    one, two = set(older.split()), set(newer.split())
    return one <= two or two <= one
