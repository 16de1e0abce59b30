"""Turns that say that an earlier statement no longer holds: "no longer", "instead of", "from A to B", "is now".

A sentence with a word of change is compared with earlier sentences of the same speaker:

- "no longer" and "stopped using" end a statement with the same words;
- "no longer A, but B" replaces a statement that is B with A in place of the new value;
- "from A to B", "instead of A" and "prefer B to A" replace a statement that has the value A and is about the same thing;
- "B, not A" replaces a statement that has A, if B is of the same sort;
- "is now B, no longer A" and "is B (was A)" replace a statement that is the same with A in place of B;
- "We changed our mind: now five attempts" replaces a decision about another number of attempts;
- "now" and "Correction:" replace a statement that differs in one value of the same sort; after "Correction:" the rest of
  the statement may be left out.

A missed change leaves an old line in the results; a wrong one costs the user's trust.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ragstone.memory.old_values import split_old_value
from ragstone.memory.values import DAYS, MONTHS, is_quality, shape_of
from ragstone.text import stem

_MAX_CHARACTERS: Final = 4000
"""The part of a turn that is read: a longer turn is pasted text, not a statement."""
_MAX_WORDS: Final = 30
"""Words of a sentence that is read as a statement."""
_MAX_VALUE_WORDS: Final = 3
_SENTENCE_END: Final = re.compile(
    rf"(?<=[.!?;])(?<!\d\.)\s+|(?<=\d\.)\s+(?!(?:{'|'.join(sorted(MONTHS))})\b)|\n+", re.I
)
"""The end of a sentence; the full stop in "5. Mai" ends none."""
_WORD: Final = re.compile(r"[\w@+'./:#-]*\w")
_UNSURE: Final = re.compile(
    r"\b(?:if|whether|would|could|might|maybe|perhaps|used to|until|should|"
    r"wenn|falls|ob|würden?|könnten?|vielleicht|sollten?|bis)\b|\?\s*$",
    re.I,
)
_DENIED: Final = re.compile(r"\b(?:not|never|no longer|nicht|nie|kein\w*)\b|n't\b", re.I)
_ENDED: Final = re.compile(
    r"\bno longer\b|\bnot\b.*\bany ?more\b|n't\b.*\bany ?more\b|\bstopped \w+ing\b", re.I
)
_CLAUSE_END: Final = re.compile(r",\s+(?:and |but |because )?|\s+(?:and|but|because)\s+", re.I)
_CHANGED: Final = re.compile(
    r"\b(?:now|currently|these days|jetzt|inzwischen|mittlerweile|ab sofort)\b|"
    r"^\W*(?:correction|actually|update|edit|sorry|korrektur)\b",
    re.I,
)
_CORRECTION: Final = re.compile(r"^\W*(?:correction|korrektur)\b", re.I)
_CHANGED_MIND: Final = re.compile(
    r"^\W*(?:(?P<who>we|i)(?: have|'ve)? changed (?:our|my) minds?|on second thoughts?)\s*[:,–—-]+(?P<decision>[^?]+)$",
    re.I,
)
_MIND_ALONE: Final = re.compile(r"\b(changed (?:our|my) minds?)[.;](?=\s)", re.I)
"""The sentence "We changed our mind.", whose decision is in the next sentence."""
_DECISION: Final = re.compile(
    r"\b(?:we|i)(?:'ll| will)? (?:(?:all|both|finally) )?(?:agreed?|decided?|settled?|chose|choose|picked|pick|plan|planned|"
    r"want|wanted|allow|keep|use|set|make|do|take|go|need|have)\b",
    re.I,
)
_CHANGE_PHRASE: Final = re.compile(r"\b(?:these days|at the moment|ab sofort|ab jetzt)\b", re.I)
_GERMAN: Final = re.compile(
    r"\b(?:der|das|ist|sind|ich|wir|uns|unser\w*|mein\w*|jetzt)\b", re.I
)
"""Words of a German sentence: capitals in it do not show names."""
_MOVED: Final = re.compile(
    rf"\bfrom (?P<old>[^.,;]+?) to (?P<new>[\w'.+-]+(?: (?-i:[A-Z\d])[\w'.+-]*){{0,{_MAX_VALUE_WORDS}}})",
    re.I,
)
_INSTEAD: Final = re.compile(
    r"\b(?:instead of|in place of|rather than) (?:the )?(?P<old>[\w'.+-]+(?: [A-Z\d][\w'.+-]*)*)"
)
_PREFERRED: Final = re.compile(
    r"\bprefer (?!to\b|\w+ing to (?!\w+ing\b))(?:the )?[^.,;]+? (?:over|to) (?P<old>[\w'.+-]+(?: [\w'.+-]+)?)"
    r"(?: now| these days)?\W*$",
    re.I,
)
_NOT_OLD: Final = re.compile(
    r", (?:and )?not (?:(?:on|in|at|by|with|every|the) )*(?P<old>[\w'.+-]+(?: [\w'.+-]+){0,2}?)\W*$",
    re.I,
)
_IS_NOW: Final = re.compile(r"\b(?:is|are)(?: now)? (?P<value>[\w'-]+)\W*$", re.I)
_SUBJECTS: Final = {
    **dict.fromkeys(("i", "me", "my", "mine", "i'm", "i've"), "i"),
    **dict.fromkeys(("we", "us", "our", "ours", "we're", "we've"), "we"),
}
"""The speaker as one word, and the speaker's group as one word."""
_EMPTY_WORDS: Final = frozenset(
    "a an the is are was were be been am has have had do does did of to in on at for by with and as it its this that "
    "there then so also just will been".split()
)
_GERMAN_EMPTY_WORDS: Final = _EMPTY_WORDS | frozenset(
    "der die das den dem des ein eine einen einem einer ist sind war am im um zum zur in an auf bei es".split()
)
_CHANGE_WORDS: Final = frozenset(
    "now currently longer anymore any more no not instead rather than place correction actually update edit sorry "
    "from these last week month year today moved changed switched migrated replaced stopped don't doesn't isn't "
    "jetzt inzwischen mittlerweile korrektur".split()
)
_FREQUENCIES: Final = frozenset(
    "hourly daily nightly weekly fortnightly biweekly monthly quarterly yearly annually".split()
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that states something; its words by their stems, as they are written."""

    sentence: str
    words: dict[str, str]


@dataclass(frozen=True, slots=True)
class ValueChange:
    """The stems of the value of an older claim and of the value in its place in a newer claim."""

    old: frozenset[str]
    new: frozenset[str]


def find_claims(text: str) -> list[Claim]:
    """Return the sentences of a turn that state something; questions, conditions and denials state nothing."""
    sentences = [split_old_value(sentence)[0] for sentence in _plain_sentences(text)]
    return [_claim(sentence) for sentence in sentences if not _DENIED.search(sentence)]


def find_changes(text: str) -> list[Claim]:
    """Return the sentences of a turn that may replace an earlier statement."""
    forms = (_ENDED, _CHANGED, _CHANGED_MIND, _MOVED, _INSTEAD, _PREFERRED, _NOT_OLD)
    sentences = _plain_sentences(_MIND_ALONE.sub(r"\1:", text))
    return [
        _claim(sentence)
        for sentence in sentences
        if split_old_value(sentence)[1] or any(form.search(sentence) for form in forms)
    ]


def find_replacement(changes: Iterable[Claim], claims: Iterable[Claim]) -> str:
    """Return how the first of these changes replaces an earlier claim, in words; empty if none does."""
    earlier = list(claims)
    for change in changes:
        for claim in earlier:
            if _replaces(change, claim):
                return f'"{claim.sentence}" became "{change.sentence}"'
    return ""


def find_value_change(newer: Claim, older: Claim) -> ValueChange | None:
    """Return the values in which two claims differ, if they are the same sentence otherwise, and of the same sort.

    Both may be true ("I like tea", "I like coffee"), so this is used for the order of turns only.
    """
    old = frozenset(older.words.keys() - newer.words.keys())
    new = frozenset(newer.words.keys() - older.words.keys())
    shared = newer.words.keys() & older.words.keys() - set(_SUBJECTS.values())
    if not old or not new or not shared:
        return None
    sorts = {_sort_of(older.words[word]) for word in old}
    sorts |= {_sort_of(newer.words[word]) for word in new}
    is_one_value = len(old) == len(new) == 1 or sorts == {"figure"}
    if len(sorts) != 1 or not is_one_value:
        return None
    return ValueChange(old, new)


def _replaces(change: Claim, claim: Claim) -> bool:
    if _changes_amount(change, claim):
        return True
    stated_text, old_text = split_old_value(change.sentence)
    if not old_text:
        return _replaces_unnamed(change, claim)
    stated, old = _claim(stated_text), _stems(old_text)
    if not old <= claim.words.keys():
        return False  # it names another old value
    forms = _takes_place_of(stated, claim, old), _corrects_briefly(stated, claim)
    return any(forms) or _replaces_unnamed(change, claim)


def _replaces_unnamed(change: Claim, claim: Claim) -> bool:
    """Return whether a change replaces the claim; an old value at its end is read as any other words."""
    if _ENDED.search(change.sentence):
        return _ends_or_exchanges(change, claim)
    moved = _MOVED.search(change.sentence)
    if moved is not None and change.words.keys() == claim.words.keys():
        return False  # it only repeats the claim
    if moved is not None:
        return _moves(change, claim, moved["old"], moved["new"])
    instead = _find_rejected(change)
    if instead:
        return _exchanges(change, claim, instead)
    not_old = _NOT_OLD.search(change.sentence)
    if not_old is not None:
        return _corrects(change, claim, _stems(not_old["old"]))
    return _differs_in_one_value(change, claim) or _corrects_briefly(change, claim)


def _changes_amount(change: Claim, claim: Claim) -> bool:
    """Return whether "We changed our mind: now five attempts" is about the claim, a decision about attempts."""
    match = _CHANGED_MIND.search(change.sentence)
    if match is None or _DENIED.search(change.sentence) or not _DECISION.search(claim.sentence):
        return False
    if match["who"] and match["who"].lower() not in claim.words:
        return False
    decision = _claim(match["decision"])
    new, old = _find_amount(decision), _find_amount(claim)
    if new is None or old is None:
        return False
    things = decision.words.keys() - {new[0]} - set(_SUBJECTS.values())
    return new[1] == old[1] and new[0] != old[0] and things <= claim.words.keys()


def _find_amount(claim: Claim) -> tuple[str, str] | None:
    """Return the stems of the only number of a claim and of the word after it; None if there are no such two."""
    stems = list(claim.words)
    figures = [
        number for number, stem in enumerate(stems) if shape_of(claim.words[stem]) == "figure"
    ]
    if len(figures) != 1 or stems[-1] == stems[figures[0]]:
        return None
    return stems[figures[0]], stems[figures[0] + 1]


def _takes_place_of(stated: Claim, claim: Claim, old: set[str]) -> bool:
    """Return whether a statement is the claim with another value in place of the old value, which the claim has."""
    owners = set(_SUBJECTS.values())
    gone = claim.words.keys() - stated.words.keys()
    new = stated.words.keys() - claim.words.keys()
    has_other_owner = bool(new & owners) and bool(gone & owners)
    things = stated.words.keys() & claim.words.keys() - old - owners
    if has_other_owner or not things or not old & gone:
        return False
    if not _sorts(claim, gone - old - owners) <= {"figure", "day"}:
        return False  # the claim is about something else
    new -= owners
    return len(new) == 1 or (bool(new) and _sorts(stated, new) <= _sorts(claim, old) - {"word"})


def _sorts(claim: Claim, stems: Iterable[str]) -> set[str]:
    return {_sort_of(claim.words[stem]) for stem in stems}


def _find_rejected(claim: Claim) -> set[str]:
    """Return the stems of A in "B instead of A" and in "prefer B to A"; none if the claim has no such form."""
    match = _INSTEAD.search(claim.sentence) or _PREFERRED.search(claim.sentence)
    if match is None:
        return set()
    return _stems(match["old"])


def _exchanges(change: Claim, claim: Claim, old: set[str]) -> bool:
    """Return whether "B instead of A" is about the claim: it has A, and does not reject it as well."""
    frame = claim.words.keys() - old
    has_old = old <= claim.words.keys() and old.isdisjoint(_find_rejected(claim))
    return has_old and bool(frame) and frame <= change.words.keys() - old


def _corrects(change: Claim, claim: Claim, old: set[str]) -> bool:
    """Return whether "B, not A" is about the claim: it has A, and only values of A's sort are new."""
    things = claim.words.keys() & change.words.keys() - old - set(_SUBJECTS.values())
    new = change.words.keys() - claim.words.keys()
    if not things or not new or not old <= claim.words.keys():
        return False
    old_sorts = {_sort_of(change.words[stem]) for stem in old}
    return {_sort_of(change.words[stem]) for stem in new} <= old_sorts


def _ends_or_exchanges(change: Claim, claim: Claim) -> bool:
    """Return whether "no longer A" or "no longer A, but B" is about the claim."""
    clauses = _CLAUSE_END.split(change.sentence)
    ended = [clause for clause in clauses if _ENDED.search(clause)]
    if len(clauses) == 1 or len(ended) != 1:
        return _ends(change, claim)
    old = _claim(ended[0])
    new = set[str]()
    for clause in clauses:
        if clause != ended[0]:
            new |= _stems(clause)
    if not old.words.keys() & new - set(_SUBJECTS.values()):
        return _ends(
            old, claim
        )  # the other clauses state nothing in the place of the old statement
    gone = claim.words.keys() - new
    is_about_claim = old.words.keys() <= claim.words.keys() | new
    return bool(gone) and gone <= old.words.keys() and is_about_claim


def _ends(change: Claim, claim: Claim) -> bool:
    """Return whether "no longer" denies the claim: one of the two has all words of the other."""
    words = change.words.keys()
    things = words - set(_SUBJECTS.values())
    if words == claim.words.keys():
        return bool(things)
    return len(words & claim.words.keys()) >= 3 and words < claim.words.keys()


def _moves(change: Claim, claim: Claim, old_text: str, new_text: str) -> bool:
    """Return whether "from A to B" is about the claim: it has the old value, and nothing else is named."""
    old = _stems(old_text)
    context = change.words.keys() - old - _stems(new_text)
    if not old or not old <= claim.words.keys():
        return False
    shared = context & claim.words.keys()
    return bool(shared) and context - set(_SUBJECTS.values()) <= claim.words.keys()


def _differs_in_one_value(change: Claim, claim: Claim) -> bool:
    """Return whether both sentences are the same, except for one value of the same sort."""
    only_old = [claim.words[stem] for stem in claim.words.keys() - change.words.keys()]
    only_new = [change.words[stem] for stem in change.words.keys() - claim.words.keys()]
    shared = claim.words.keys() & change.words.keys()
    if not shared or not only_old or not only_new:
        return False
    if max(len(only_old), len(only_new)) > _MAX_VALUE_WORDS:
        return False
    sorts = {_sort_of(word) for word in (*only_old, *only_new)}
    if sorts == {"word"}:
        return len(only_old) == len(only_new) == 1 and _both_are_now(change, claim)
    return len(sorts) == 1


def _corrects_briefly(change: Claim, claim: Claim) -> bool:
    """Return whether "Correction: 90 days" or "Correction: it is 90 days" has one new value for one of the claim."""
    only_new = change.words.keys() - claim.words.keys()
    shared = change.words.keys() & claim.words.keys()
    if not _CORRECTION.search(change.sentence) or len(only_new) != 1 or not shared:
        return False
    sort = _sort_of(change.words[only_new.pop()])
    only_old = claim.words.keys() - change.words.keys()
    same_sort = [stem for stem in only_old if _sort_of(claim.words[stem]) == sort]
    return sort != "word" and len(same_sort) == 1


def _both_are_now(change: Claim, claim: Claim) -> bool:
    """Return whether both sentences end in "is X", and neither X is only a quality."""
    new = _IS_NOW.search(change.sentence)
    old = _IS_NOW.search(claim.sentence)
    if new is None or old is None:
        return False
    return not is_quality(new["value"]) and not is_quality(old["value"])


def _sort_of(word: str) -> str:
    """Return the sort of a value: figure, address, day, frequency, name; any other is a word."""
    if "@" in word or "/" in word:
        return "address"
    if any(character.isdigit() for character in word):
        return "figure"
    lower = word.lower()
    if lower in DAYS:
        return "day"
    if lower in MONTHS:
        return "figure"
    if lower in _FREQUENCIES:
        return "frequency"
    return "name" if word[0].isupper() else "word"


def _plain_sentences(text: str) -> list[str]:
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(text[:_MAX_CHARACTERS])]
    return [
        sentence
        for sentence in sentences
        if sentence and not _UNSURE.search(sentence) and sentence.count(" ") < _MAX_WORDS
    ]


def _claim(sentence: str) -> Claim:
    """Return a sentence with its words; the capital of the first word means nothing, and none does in German."""
    is_german = _GERMAN.search(sentence) is not None
    empty_words = _EMPTY_WORDS
    if is_german:
        empty_words = _GERMAN_EMPTY_WORDS
    words: dict[str, str] = {}
    for position, word in enumerate(_WORD.findall(_CHANGE_PHRASE.sub("", sentence))):
        lower = word.lower()
        if lower in empty_words or lower in _CHANGE_WORDS:
            continue
        subject = _SUBJECTS.get(lower, "")
        written = word if position and not is_german else lower
        words[subject or stem(lower)] = subject or written
    return Claim(sentence.rstrip(" .!;"), words)


def _stems(text: str) -> set[str]:
    return set(_claim(text).words)
