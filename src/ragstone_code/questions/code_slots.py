"""The places in a question where a plain word is a name of code: `what calls pause`, `where is load defined`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from ragstone.text import STOPWORDS

CODE_NOUNS: Final = frozenset(
    "function method class decorator constructor exception helper generator coroutine subroutine".split()
)
"""Nouns beside which a plain word is a name of code."""
_COMMON_WORDS: Final = (
    frozenset(
        "anything anywhere anybody anyone everything nothing something someone new this one all each every itself code"
        " function functions method methods classes test tests else directly user users used called named defined base"
        " parent abstract same following controller public private static async".split()
    )
    | STOPWORDS
    | CODE_NOUNS
)
"""Words that a question uses for other things than names."""
_NOUN: Final = f"(?:{'|'.join(sorted(CODE_NOUNS))})"
_NAME: Final = r"(?P<name>[^\W\d]\w*)(?:\(\))?"
_NAMED: Final = rf"(?:(?:the )?{_NOUN} (?:named |called )?|the (?=\w+ {_NOUN}\b))?{_NAME}"
"""A name with or without its noun; after `the` there is a noun: `calls the function pause`, `calls pause`."""
_END: Final = (
    r"(?=\W*$|[,;:]"
    rf"| (?:{_NOUN}|in|from|of|at|on|with|and|or|itself|directly|anywhere|somewhere|here)\b)"
)
_WHO: Final = (
    r"\b(?:who|what|where|anything|anybody|anyone|something"
    r"|(?:which|what) (?:\w+ )?(?:code|functions?|methods?|class(?:es)?|tests?|files?|modules?|places?|exceptions?))"
    r" (?:else |all |directly |do |does |can |may |could )*"
)
_DONE: Final = r"(?:is|are|was|were|gets?|being)"


@dataclass(frozen=True, slots=True)
class _Slot:
    """A wording whose `name` is code."""

    wording: re.Pattern[str]
    is_certain: bool = True
    """Whether the word is a name also if nothing has it: `what uses stripe` may mean a product."""


def _slot(wording: str, *, is_certain: bool = True) -> _Slot:
    return _Slot(re.compile(wording, re.IGNORECASE), is_certain)


_SLOTS: Final = (
    _slot(
        rf"{_WHO}(?:calls?|invokes?|overrides?|raises?|throws?|instantiates?) {_NAMED}{_END}"
    ),
    _slot(
        rf"{_WHO}(?:uses?|creates?|extends?|implements?|subclass(?:es)?|inherits? from|depends? on|imports?"
        rf"|tests?|covers?|exercises?) {_NAMED}{_END}",
        is_certain=False,
    ),
    _slot(
        rf"\bwhere(?:['’]s| (?:else )?{_DONE}) {_NAMED}(?: {_NOUN})?"
        r" (?:defined|declared|called|invoked|raised|thrown|overridden)\b"
    ),
    _slot(
        rf"\bwhere(?:['’]s| (?:else )?{_DONE}) {_NAMED}(?: {_NOUN})? (?:implemented|located|used|created|instantiated|tested)\b",
        is_certain=False,
    ),
    _slot(rf"^\W*where(?:['’]s| is| are) {_NAMED}(?: {_NOUN})?\W*$", is_certain=False),
    _slot(
        r"\b(?:definition|implementation|callers?|callees?|overrides|overriders|signature|parameters|arguments"
        rf"|subclasses|usages?|users|uses|tests|methods|parents?) (?:of|for) {_NAMED}{_END}",
        is_certain=False,
    ),
    _slot(
        rf"\b(?:do|does|did|can) {_NAMED}(?: {_NOUN})? "
        r"(?:call|invoke|override|raise|throw|return|inherit|extend|reach)\b"
    ),
    _slot(
        rf"\b(?:do|does|did) {_NAMED}(?: {_NOUN})? (?:use|depend on|do|have|need|take|accept)\b",
        is_certain=False,
    ),
    _slot(
        rf"^\W*(?:is|are|was) {_NAMED}(?: {_NOUN})? (?:ever |really |directly |still )?"
        r"(?:called|invoked|used|tested|covered|raised|thrown|overridden|defined|instantiated)\b",
        is_certain=False,
    ),
    _slot(rf"\b(?:reach(?:es)?|leads? to|ends? up (?:in|calling)) {_NAMED}{_END}"),
    _slot(rf"\bfrom {_NAMED} to (?P<other>[^\W\d]\w*)\b", is_certain=False),
    _slot(
        rf"\b(?:called|invoked|used|raised|thrown|created|overridden) (?:by|from|in) {_NAMED}{_END}",
        is_certain=False,
    ),
    _slot(
        rf"\b(?:do|does|did) .* (?:call|invoke|use|reach|raise|throw) {_NAMED}{_END}",
        is_certain=False,
    ),
    _slot(rf"\b(?:a|the|any) {_NOUN} (?:named |called )?{_NAME}{_END}"),
    _slot(rf"\bthe {_NAME} {_NOUN}\b", is_certain=False),
    _slot(r"(?<![\w.:>\\/-])(?P<name>[^\W\d]\w*)\(\)"),
)
_KIND: Final = "(?:method|function|constructor)"
_OF_OWNER: Final = r"(?:of|in|on|from) (?:the )?(?:class )?(?P<owner>[^\W\d]\w*)"
_MEMBERS: Final = (
    re.compile(rf"\b{_NAME} {_KIND} {_OF_OWNER}", re.IGNORECASE),
    re.compile(rf"\b{_KIND} {_NAME} {_OF_OWNER}", re.IGNORECASE),
    re.compile(rf"\b(?P<owner>[^\W\d]\w*)['’]s {_NAME} {_KIND}\b", re.IGNORECASE),
)
"""Wordings of a method and its class: `the connect method of SSHClient`."""


@dataclass(frozen=True, slots=True)
class CodeWord:
    """A word of a question that is a name of code."""

    name: str
    at: int
    text: str
    """The part of the question that names the code: `connect method of SSHClient`."""
    owner: str = ""
    """The class that the question puts beside a method."""
    is_certain: bool = True
    """Whether the word is a name also if nothing has it."""
    is_common: bool = False
    """Whether questions use the word for other things, such as `helper`: only code with exactly this name has it."""


def find_code_words(question: str) -> Iterator[CodeWord]:
    """Yield the words of a question whose place says that they are code; a word may come twice."""
    for pattern in _MEMBERS:
        for match in pattern.finditer(question):
            if _can_be_code(match["name"]) and not _is_common(match["owner"]):
                word = CodeWord(match["name"], match.start(), match[0], match["owner"])
                yield _mark_common(word)
    for slot in _SLOTS:
        for match in slot.wording.finditer(question):
            yield from _words_of_slot(slot, match)


def _words_of_slot(slot: _Slot, match: re.Match[str]) -> Iterator[CodeWord]:
    """Yield the words that a wording names."""
    for group in slot.wording.groupindex:
        name = match[group]
        if name and _can_be_code(name):
            word = CodeWord(name, match.start(group), name, is_certain=slot.is_certain)
            yield _mark_common(word)


def _mark_common(word: CodeWord) -> CodeWord:
    """Return the word, marked if questions use it for other things than names."""
    if _is_common(word.name):
        return replace(word, is_certain=False, is_common=True)
    return word


def _can_be_code(word: str) -> bool:
    """Return whether a word can be a name: words such as `the` and `it` never are."""
    return word.lower() not in STOPWORDS


def _is_common(word: str) -> bool:
    return word.lower() in _COMMON_WORDS
