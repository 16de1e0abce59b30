"""Facts in turns, such as "my editor is helix", and the later facts that contradict them.

Only a few plain sentence forms are read. A later turn supersedes an earlier one only if both fill the same slot with
different values of the same shape, and if one more condition holds: the slot has one value at a time (a name, a
deadline, a port), or the later sentence says that the value changed ("moved to", "was cut to", "is now"). A change may
speak of "the meeting" if the earlier turn said "our meeting". A missed change leaves an old line in the results; a
wrong one costs the user's trust.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from ragstone.memory.old_values import split_old_value
from ragstone.memory.values import (
    Shape,
    figure_kinds,
    is_identity,
    is_refinement,
    shape_of,
    without_fillers,
    words_without_figures,
)
from ragstone.text import terms

_MAX_CHARACTERS: Final = 4000
"""The part of a turn that is read: a longer turn is pasted text, not a statement."""
_NOW: Final = r"(?:is|are|'s|'re)(?P<now> now| currently)?"
_AT_A_TIME: Final = (
    r"(?P<from_now>now )?(?P<begins>begins?|starts?|leaves?|departs?|takes? place|happens?)"
)
_SINCE_NOW: Final = r"(?P<since_now> now| instead| these days| from now on)?"
_AUXILIARIES: Final = r"(?: (?:has|have|had|was|were|is|are|got|been|being|just|now|recently))*"
_CHANGED: Final = (
    r"(?P<now>changed|moved|switched|pushed|postponed|delayed|rescheduled|shifted|brought|put|raised|lowered|reduced|"
    r"increased|cut|went|gone|dropped|fell|rose|(?P<end>extended|shortened))"
)
_TO: Final = r"(?: back| forward| up| down| out)? to"
_END: Final = r"(?=[.,;!?\n]|$| (?:and|but|because|since|so|now|instead|these days|at the moment|from now on|last)\b)"
_WORDS: Final = r"[\w'#+./:@-]+(?: [\w'#+./:@-]+){0,5}?"
_UNSURE: Final = re.compile(
    r"\b(?:not|never|no longer|if|whether|would|could|might|maybe|perhaps|used to|when|until)\b|n't\b",
    re.I,
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_MIN_OVERLAP: Final = 0.85
"""The share of words that two turns have in common if one restates the other."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One value of one slot: `favourite editor` of `my` → `helix`."""

    slot: str
    value: str
    words: str
    shape: Shape = "word"
    owner: str = ""
    """`my`, `our` or `the`; empty if the slot names its owner."""
    context: str = ""
    """The words around a figure: `on port` of `on port 5432`."""
    single: bool = False
    """Whether the slot always has one value at a time."""
    changed: bool = False
    """Whether the sentence says that the value was different before."""
    old_value: str = ""
    """The old value, if the sentence names it: `8080` of "is now 9090, no longer 8080"."""


def _form(text: str) -> re.Pattern[str]:
    """Return the expression for a sentence form, in any case."""
    return re.compile(text, re.I)


_THING: Final = r"[\w'-]+(?: [\w'-]+){0,3}?"
_OWNED: Final = rf"(?P<slot>(?:my|our|the) {_THING})"
_PURPOSE: Final = rf"(?P<slot>(?:for|as) (?:the |our |my )?{_THING}){_END}"
_VALUE: Final = rf"(?P<value>{_WORDS})"
_I: Final = r"(?:i|we)(?:'m| am|'re| are|'ve| have)?(?P<now> now| currently)?(?: just)?"
_IS: Final = _form(rf"\b{_OWNED}(?: |(?=')){_NOW} {_VALUE}{_SINCE_NOW}{_END}")
_BEGINS: Final = _form(rf"\b{_OWNED} {_AT_A_TIME} {_VALUE}{_SINCE_NOW}{_END}")
_BECAME: Final = _form(rf"\b{_OWNED}{_AUXILIARIES} {_CHANGED}{_TO} {_VALUE}{_END}")
_CHANGED_BY_US: Final = _form(
    rf"\b(?:i|we)(?:'ve)?{_AUXILIARIES} {_CHANGED} {_OWNED}{_TO} {_VALUE}{_END}"
)
_HAS_NEW: Final = _form(
    rf"\b(?P<who>i|we)(?:'ve| have)?(?: got)? an? (?P<slot>new {_THING})(?:,|:| -| –) (?:it's |it is )?{_VALUE}{_END}"
)
_LIVES: Final = _form(rf"\b(?P<slot>{_I} (?:live|living) in) {_VALUE}{_END}")
_MOVED: Final = _form(
    rf"\b(?P<slot>(?:i|i've|i have)(?: just)? (?P<now>moved) to) {_VALUE}{_END}"
)
_WORKS: Final = _form(rf"\b(?P<slot>{_I} (?:work|working) (?:at|for)) {_VALUE}{_END}")
_CALLED: Final = _form(rf"\bcall (?P<slot>me) {_VALUE}{_END}")
_USES: Final = _form(rf"\b{_I} (?:use|using) {_VALUE} {_PURPOSE}")
_SWITCHED: Final = _form(
    rf"\b{_I} (?P<to>switched|moved|changed) (?:from [\w'.+-]+ )?to {_VALUE} {_PURPOSE}"
)
# Sentences about a person by name, such as "Marit lives in Bergen"; a pronoun may mean another person each time.
_PRONOUN: Final = (
    r"(?:I|We|You|He|She|It|They|This|That|There|Everyone|Everybody|Someone|Somebody|Who)\b"
)
_NAMED: Final = rf"^\W*(?!{_PRONOUN})(?P<slot>[A-Z][\w-]+(?: [A-Z][\w-]+)?)(?: now| currently)?"
_NAMED_LIVES: Final = re.compile(rf"{_NAMED} (?:lives|is living) in {_VALUE}{_END}")
_NAMED_MOVED: Final = re.compile(rf"{_NAMED}(?: has| just| recently)* moved to {_VALUE}{_END}")
_NAMED_WORKS: Final = re.compile(rf"{_NAMED} (?:works|is working) (?:at|for) {_VALUE}{_END}")
_SPEAKER: Final = re.compile(r"(?:i|we|me)\b")
_OF_PERSONS: Final = (
    (_NAMED_LIVES, "home"),
    (_NAMED_MOVED, "home"),
    (_NAMED_WORKS, "workplace"),
)
_PERSONAL: Final = (
    (_LIVES, "home"),
    (_MOVED, "home"),
    (_WORKS, "workplace"),
    (_CALLED, "called"),
)

# Things with one value at a time. Many values can be true of other things, such as a sister or the weather.
_SINGLE_VALUED: Final = frozenset(
    "name surname nickname email mail e-mail phone number address url host hostname port version deadline date "
    "birthday age budget price rent salary limit timeout size password username handle login boss manager employer "
    "company hometown city country timezone zone editor ide browser shell database db framework language license "
    "branch colour color day time".split()
)
# Events that a team speaks of as the one event, so that another day or hour of it is a new one.
_EVENTS: Final = frozenset(
    "meeting standup stand-up sync retro retrospective review demo release launch kickoff kick-off workshop interview "
    "appointment exam wedding party".split()
)
_OWNERS: Final = {"i": "my", "we": "our"}
_FAVOURED: Final = frozenset(
    "favourite favorite preferred default current primary main".split()
)
# Words for things that have many values at once, or no value in particular.
_MANY_VALUED: Final = frozenset(
    "one some point thing problem question idea issue reason way rest same first last only best next other old".split()
)
_VAGUE: Final = frozenset(
    "now work fun free it this that them everything school years hours while moment time".split()
)


def find_facts(text: str) -> list[Fact]:
    """Return the facts that a turn states plainly; questions, conditions and denials state none."""
    facts: list[Fact] = []
    for sentence in _SENTENCE_END.split(text[:_MAX_CHARACTERS]):
        is_question = sentence.rstrip().endswith("?")
        stated, old_value = split_old_value(sentence)
        if is_question or _UNSURE.search(stated):
            continue
        for fact in _sentence_facts(stated):
            is_changed = fact.changed or bool(old_value)
            facts.append(replace(fact, changed=is_changed, old_value=_plain(old_value)))
    return facts


def find_contradiction(newer: Iterable[Fact], older: Iterable[Fact]) -> str:
    """Return the first contradiction between two turns in words; empty if there is none."""
    latest_first = list(older)[::-1]
    for fact in newer:
        same_slot = (earlier for earlier in latest_first if _has_same_slot(fact, earlier))
        older_fact = next(same_slot, None)
        if older_fact is not None and _excludes(fact, older_fact):
            return f'"{older_fact.words}" became "{fact.words}"'
    return ""


def distinct_words(text: str) -> frozenset[str]:
    """Return the terms of a turn, or its text if it has none."""
    return frozenset(terms(text)) or frozenset({text.strip()})


def is_restatement(words: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two turns with these distinct words say the same."""
    shorter, longer = sorted((len(words), len(other)))
    if shorter < _MIN_OVERLAP * longer:
        return False
    return len(words & other) >= _MIN_OVERLAP * len(words | other)


def _sentence_facts(sentence: str) -> list[Fact]:
    readers = (
        (_owned_fact, (_IS, _BEGINS, _BECAME)),
        (_moved_fact, (_CHANGED_BY_US,)),
        (_new_fact, (_HAS_NEW,)),
        (_usage_fact, (_USES, _SWITCHED)),
    )
    facts: list[Fact | None] = []
    for read_fact, forms in readers:
        for form in forms:
            facts += [read_fact(match) for match in form.finditer(sentence)]
    for form, slot in (*_PERSONAL, *_OF_PERSONS):
        facts += [_personal_fact(match, slot) for match in form.finditer(sentence)]
    return [fact for fact in facts if fact is not None]


def _has_same_slot(fact: Fact, older: Fact) -> bool:
    """Return whether two facts are about the same thing; a new figure may be of "the meeting" instead of "our meeting"."""
    if fact.slot != older.slot:
        return False
    if fact.owner == older.owner and fact.context == older.context:
        return True
    if not fact.changed or fact.shape != "figure":
        return False
    is_same_owner = fact.owner == older.owner or "the" in (fact.owner, older.owner)
    is_same_context = without_fillers(fact.context) == without_fillers(older.context)
    return is_same_owner and is_same_context


def _excludes(fact: Fact, older: Fact) -> bool:
    """Return whether a fact and an older one of the same slot cannot both be true."""
    if fact.value == older.value or fact.shape != older.shape:
        return False
    if is_refinement(fact.value, older.value):
        return False
    if not set(fact.old_value.split()) <= set(older.value.split()):
        return False  # the sentence names another old value
    kinds = figure_kinds(fact.value), figure_kinds(older.value)
    if fact.shape == "figure" and kinds[0].isdisjoint(kinds[1]):
        return False
    return fact.changed or (fact.single and older.single)


def _owned_fact(match: re.Match[str]) -> Fact | None:
    """Return the fact of a sentence such as "my editor is helix", or None if it identifies nothing."""
    owner, *words = match["slot"].lower().split()
    thing = [word for word in words if word not in ("new", "current")]
    value = match["value"].strip(" .,;'")
    if not thing or not value or _MANY_VALUED.intersection(thing):
        return None
    is_favoured = not _FAVOURED.isdisjoint(words)
    is_single_valued = thing[-1] in _SINGLE_VALUED
    shape = shape_of(value)
    if not _is_statement(match, shape, is_favoured=is_favoured, is_single=is_single_valued):
        return None
    is_exact = shape == "figure" and _is_specific(owner, thing)
    context = ""
    if is_exact and not is_single_valued:
        context = words_without_figures(value)
    return Fact(
        " ".join(terms(" ".join(thing))),
        _plain(value),
        _sentence_words(match),
        shape,
        owner,
        context,
        single=any((is_favoured, is_single_valued, is_exact)),
        changed=_says_changed(match),
    )


def _is_statement(
    match: re.Match[str], shape: Shape, *, is_favoured: bool, is_single: bool
) -> bool:
    """Return whether a sentence gives a thing a value: a figure, an address, a name, or a favourite."""
    groups = match.groupdict()
    is_identified = is_identity(match["value"])
    if groups.get("begins"):
        return shape == "figure"
    if groups.get("end") and not is_single:
        return False  # "the workshop was extended to Wednesday" changes its end only
    if shape == "word":
        return is_favoured and is_identified
    return shape != "figure" or is_identified


def _moved_fact(match: re.Match[str]) -> Fact | None:
    """Return the fact of "we changed the port to 9090"; a name may be a place or a tool, so it states none."""
    fact = _owned_fact(match)
    if fact is None or fact.shape not in ("figure", "address"):
        return None
    return fact


def _new_fact(match: re.Match[str]) -> Fact | None:
    """Return the fact of "I have a new phone number: 555-0199", or None if one may have several of the thing."""
    thing = match["slot"].lower().split()[1:]
    value = match["value"]
    shape = shape_of(value)
    if thing[-1] not in _SINGLE_VALUED or shape == "word":
        return None
    owner = _OWNERS[match["who"].lower()]
    slot = " ".join(terms(" ".join(thing)))
    words = _sentence_words(match)
    return Fact(slot, _plain(value), words, shape, owner, single=True, changed=True)


def _says_changed(match: re.Match[str]) -> bool:
    """Return whether a sentence says that a value changed: "my new boss", "is now", "has moved to"."""
    groups = match.groupdict()
    if "new" in match["slot"].lower().split():
        return True
    return any(groups.get(name) for name in ("now", "from_now", "since_now"))


def _is_specific(owner: str, thing: list[str]) -> bool:
    """Return whether a thing is a certain one: "my shift", "the staging database", "the demo", not "the train"."""
    return owner != "the" or len(thing) > 1 or thing[0] in _EVENTS


def _personal_fact(match: re.Match[str], slot: str) -> Fact | None:
    """Return the fact where a person lives or works, or how to call them; None if the value is no name."""
    value = match["value"]
    if shape_of(value) != "name":
        return None
    person = match["slot"].lower()
    if _SPEAKER.match(person):
        person = re.split(r"[ ']", person)[0]
    return Fact(f"{person} {slot}", _plain(value), _sentence_words(match), "name", single=True)


def _usage_fact(match: re.Match[str]) -> Fact | None:
    """Return the fact which tool is used for a purpose, or None if the purpose is vague.

    A purpose can have several tools, so only "now" and "switched" contradict an earlier fact.
    """
    purpose = terms(match["slot"])
    words = match["slot"].lower().split()
    if not purpose or not _VAGUE.isdisjoint(words):
        return None
    changed = bool(match["now"] or match.groupdict().get("to"))
    slot = " ".join(("for", *purpose))
    return Fact(slot, _plain(match["value"]), _sentence_words(match), changed=changed)


def _sentence_words(match: re.Match[str]) -> str:
    return match[0].strip(" .,;")


def _plain(text: str) -> str:
    """Return a value in lower case, without fillers."""
    return " ".join(without_fillers(text))
