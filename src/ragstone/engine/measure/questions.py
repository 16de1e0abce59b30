"""Makes questions from a folder itself, and takes their wording out of the texts that answer them.

A docstring asks for its function, a heading for its section, the subject of a commit for the files it changed. The
docstring or heading is removed from the indexed text, so a search cannot find it by the same words.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from ragstone.indexing.parser_process import parse_facts
from ragstone.sources.folder.commit_log import ChangedFiles
from ragstone.text import terms
from ragstone.text.sentences import sentence_starts
from ragstone.types import Document, Hit, StoredDocument, Symbol

QuestionKind = Literal["docstring", "heading", "commit"]
KINDS: Final[tuple[QuestionKind, ...]] = ("docstring", "heading", "commit")
_MIN_TERMS: Final = 3
_MAX_CHARACTERS: Final = 200
_MIN_SECTION: Final = 100
"""Characters of a section that a heading can ask for."""
_MAX_CHANGED: Final = 3
"""A commit that changed more files asks for none of them in particular."""
_FUNCTIONS: Final = frozenset({"function", "method", "constructor"})
_PROSE: Final = frozenset({"markdown"})
_HEADING: Final = re.compile(r"^(#{1,4})[ \t]+(.+?)[ \t]*#*$", re.M)
_SCOPE: Final = re.compile(r"^[\w()/.,*-]+!?: ")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the places that answer it: documents, and the lines of the only one if they matter."""

    kind: QuestionKind
    text: str
    uris: tuple[str, ...]
    lines: tuple[int, int] | None = None

    def is_answered_by(self, hit: Hit) -> bool:
        """Return whether a hit is in one of the places."""
        if hit.source_doc_id not in self.uris:
            return False
        if self.lines is None:
            return True
        return hit.span.line_start <= self.lines[1] and self.lines[0] <= hit.span.line_end


@dataclass(slots=True)
class QuestionSet:
    """Questions, and the documents without their wording."""

    questions: list[Question] = field(default_factory=list)
    masked: dict[str, str] = field(default_factory=dict)
    """The new text of each document that had the wording of a question, by uri."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """A question before the choice, with the slices of its document that hold its wording."""

    question: Question
    wording: tuple[tuple[int, int], ...] = ()


def make_questions(
    texts: Mapping[str, str],
    documents: Sequence[StoredDocument],
    changes: Iterable[ChangedFiles],
    *,
    seed: int,
    most: int,
) -> QuestionSet:
    """Return up to `most` questions, equally many of each kind if there are enough; the same seed gives the same."""
    drafts: dict[QuestionKind, list[_Draft]] = {
        "docstring": _docstring_drafts(texts, documents),
        "heading": _heading_drafts(texts, documents),
        "commit": _commit_drafts(texts, changes),
    }
    chooser = random.Random(seed)  # noqa: S311 - a sample, no secret
    for kind in KINDS:
        chooser.shuffle(drafts[kind])
    return _mask(texts, _take_in_turns(drafts, most))


def as_document(stored: StoredDocument, text: str) -> Document:
    """Return a stored document with another text."""
    return Document(stored.uri, text, stored.kind, stored.language, stored.title)


def _take_in_turns(drafts: Mapping[QuestionKind, Sequence[_Draft]], most: int) -> list[_Draft]:
    """Return drafts, one of each kind in turn, until there are enough."""
    chosen: list[_Draft] = []
    longest = max(map(len, drafts.values()), default=0)
    for position in range(longest):
        for kind in KINDS:
            if position < len(drafts[kind]) and len(chosen) < most:
                chosen.append(drafts[kind][position])
    return chosen


def _mask(texts: Mapping[str, str], drafts: Sequence[_Draft]) -> QuestionSet:
    result = QuestionSet()
    slices: dict[str, list[tuple[int, int]]] = {}
    for draft in drafts:
        result.questions.append(draft.question)
        if draft.wording:
            slices.setdefault(draft.question.uris[0], []).extend(draft.wording)
    for uri, bounds in slices.items():
        result.masked[uri] = _blank(texts[uri], bounds)
    return result


def _blank(text: str, bounds: Iterable[tuple[int, int]]) -> str:
    """Return a text without some slices; its lines keep their numbers."""
    parts: list[str] = []
    end = 0
    for start, stop in sorted(bounds):
        parts.append(text[end : max(start, end)])
        parts.append("\n" * text.count("\n", max(start, end), stop))
        end = max(end, stop)
    return "".join([*parts, text[end:]])


# ── docstrings ────────────────────────────────────────────────────────────────────────────────────


def _docstring_drafts(
    texts: Mapping[str, str], documents: Sequence[StoredDocument]
) -> list[_Draft]:
    drafts: list[_Draft] = []
    for document in documents:
        text = texts.get(document.uri, "")
        facts = parse_facts(text, document.uri, document.language)
        for symbol in facts.symbols if facts else ():
            draft = _docstring_draft(document.uri, text, symbol)
            if draft is not None:
                drafts.append(draft)
    return _without_repeats(drafts)


def _docstring_draft(uri: str, text: str, symbol: Symbol) -> _Draft | None:
    """Return the question of a documented function; None if its comment is short or cannot be found."""
    if symbol.kind not in _FUNCTIONS:
        return None
    wording = _first_sentence(symbol.doc)
    if not _is_long_enough(wording):
        return None
    lines = _doc_lines(text, symbol)
    if not lines:
        return None
    place = (symbol.line, symbol.line_end)
    return _Draft(Question("docstring", wording, (uri,), place), tuple(lines))


def _doc_lines(text: str, symbol: Symbol) -> list[tuple[int, int]]:
    """Return the slices of a symbol that hold the lines of its comment; none if a line is not there."""
    slices: list[tuple[int, int]] = []
    place = symbol.start
    for line in symbol.doc.splitlines():
        wording = line.strip()
        if not wording:
            continue
        start = text.find(wording, place, symbol.end)
        if start < 0:
            return []
        place = start + len(wording)
        slices.append((start, place))
    return slices


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    starts = [*sentence_starts(paragraph), len(paragraph)]
    return paragraph[: starts[1]].strip() if len(starts) > 1 else paragraph


# ── headings ──────────────────────────────────────────────────────────────────────────────────────


def _heading_drafts(
    texts: Mapping[str, str], documents: Sequence[StoredDocument]
) -> list[_Draft]:
    drafts: list[_Draft] = []
    for document in documents:
        if document.language in _PROSE and document.uri in texts:
            drafts += _section_drafts(document.uri, texts[document.uri])
    return _without_repeats(drafts)


def _section_drafts(uri: str, text: str) -> list[_Draft]:
    drafts = []
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    for heading, end in zip(headings, ends, strict=True):
        wording = heading[2].strip()
        body = text[heading.end() : end].strip()
        if len(terms(wording)) < _MIN_TERMS - 1 or len(body) < _MIN_SECTION:
            continue
        first_line = text.count("\n", 0, heading.start()) + 1
        last_line = first_line + text[heading.start() : end].rstrip().count("\n")
        question = Question("heading", wording, (uri,), (first_line, last_line))
        drafts.append(_Draft(question, tuple(_occurrences(text, wording))))
    return drafts


def _occurrences(text: str, wording: str) -> list[tuple[int, int]]:
    """Return where a heading is in its document: a table of contents repeats it."""
    return [match.span() for match in re.finditer(re.escape(wording), text)]


# ── commits ───────────────────────────────────────────────────────────────────────────────────────


def _commit_drafts(texts: Mapping[str, str], changes: Iterable[ChangedFiles]) -> list[_Draft]:
    drafts = []
    for change in changes:
        uris = tuple(path for path in change.paths if path in texts)
        if not 1 <= len(uris) <= _MAX_CHANGED or len(change.paths) > _MAX_CHANGED:
            continue
        wording = _without_names(_SCOPE.sub("", change.subject), uris)
        if _is_long_enough(wording):
            drafts.append(_Draft(Question("commit", wording, uris)))
    return _without_repeats(drafts)


def _without_names(subject: str, uris: Sequence[str]) -> str:
    """Return a subject without the words that are the name of a file or folder that it asks for."""
    names: set[str] = set()
    for uri in uris:
        names.update(word.lower() for word in _WORD.findall(uri))
    words = [word for word in subject.split() if not _is_name(word, names)]
    return " ".join(words)


def _is_name(word: str, names: set[str]) -> bool:
    parts = [part.lower() for part in _WORD.findall(word)]
    return bool(parts) and all(part in names for part in parts)


# ── common ────────────────────────────────────────────────────────────────────────────────────────


def _is_long_enough(wording: str) -> bool:
    return len(terms(wording)) >= _MIN_TERMS and len(wording) <= _MAX_CHARACTERS


def _without_repeats(drafts: Sequence[_Draft]) -> list[_Draft]:
    """Return the drafts whose question is asked once: a repeated one has several answers."""
    counts = Counter(draft.question.text.lower() for draft in drafts)
    return [draft for draft in drafts if counts[draft.question.text.lower()] == 1]
