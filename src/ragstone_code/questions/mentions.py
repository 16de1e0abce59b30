"""The names in a question: identifiers, and plain words next to a word such as `table`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.text import STOPWORDS
from ragstone_code.questions.code_slots import CodeWord, find_code_words
from ragstone_code.questions.uris import uri_forms

CLASS_ALIASES: Final = frozenset({"class", "short_class"})
ROUTE_ALIASES: Final = frozenset({"route_name", "uri"})
RUN_ALIASES: Final = frozenset({"run"})

CUES: Final[dict[str, frozenset[str]]] = {
    "table": frozenset({"table", "former_table"}),
    "column": frozenset({"column"}),
    "field": frozenset({"column"}),
    "route": ROUTE_ALIASES,
    "endpoint": ROUTE_ALIASES,
    "uri": ROUTE_ALIASES,
    "url": ROUTE_ALIASES,
    "resource": frozenset({"route_resource", *CLASS_ALIASES}),
    "resources": frozenset({"route_resource"}),
    "apiresource": frozenset({"route_resource"}),
    "middleware": frozenset({"middleware", *CLASS_ALIASES}),
    "event": frozenset({"event", *CLASS_ALIASES}),
    "config": frozenset({"config"}),
    "setting": frozenset({"config"}),
    "migration": frozenset({"migration", *CLASS_ALIASES}),
    "file": frozenset({"file"}),
} | dict.fromkeys(
    "model entity class trait interface controller policy observer job listener subscriber request notification"
    " mailable mail command provider seeder factory enum rule".split(),
    CLASS_ALIASES,
)
"""Cue words: a plain word next to one is a name. The values are the kinds of alias that the name can be."""

_HTTP_METHOD: Final = r"(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|ANY)"
_URI: Final = r"(?:\{[^}\s]*\}|[^\s?,;'\"`(){}])+"
_ENDPOINT: Final = re.compile(
    rf"(?<![\w/.])({_HTTP_METHOD}(?:[|/,]\s?{_HTTP_METHOD})*)\s+[`'\"]?({_URI})"
)
_QUOTED: Final = re.compile(
    r"(?<!\w)(?:`([^`\n]+)`|\"([^\"\n]+)\"|'([^'\n]+)'|“([^”\n]+)”)(?!\w)"
)
_PUNCTUATION: Final = ",.;:!?()[]\"'`“”…"
_CAMEL_CASE: Final = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2,}[a-z]")
_CAPITALISED: Final = re.compile(r"[A-Z][a-z][a-z0-9]*$")
_IDENTIFIER: Final = re.compile(r"\\|::|->|@|_|\w[.:]\w|\{")
_HYPHENATED: Final = re.compile(r"[A-Za-z]\w*(?:-\w+)+")
_RUN_ID: Final = re.compile(r"run[-#]\w*\d\w*")
_HYPHENATED_CUES: Final = frozenset({"route", "endpoint", "middleware", "command"})
_HYPHENATED_KINDS: Final = ROUTE_ALIASES | {"middleware", "command", "schedule"}
"""Kinds of alias that a word with hyphens can be."""
_FILLERS: Final = frozenset({"named", "called", "name", "path", "the"})
_NOT_NAMES: Final = STOPWORDS | frozenset(
    {"now", "api", "new", "every", "all", "each", "use", "used", "one", "full", "own", "form"}
)
_TABLE_PARTS: Final = frozenset(
    "column columns field fields key keys index indexes schema migration migrations".split()
)
_PREPOSITIONS: Final = frozenset({"of", "for", "in", "on"})
_TECHNOLOGIES: Final = frozenset({"api", "rest", "eloquent", "database", "db", "http", "model"})
"""Words between a name and its cue: `the users API resource`, `the songs database table`."""
_CUES_FOR_CUE_NAMES: Final = ("table", "route", "resource", "apiresource")
"""Cues whose name can be a cue word itself: `the jobs table`."""
_MAX_PHRASE_WORDS: Final = 4
_MAX_QUESTION: Final = 4_000


@dataclass(frozen=True, slots=True)
class Mention:
    """A name as the question writes it, with the spellings it can have in the graph."""

    text: str
    at: int
    forms: tuple[str, ...]
    """Possible spellings, the most likely first."""
    kinds: frozenset[str] = frozenset()
    """Kinds of alias it can be; any kind if empty."""
    methods: tuple[str, ...] = ()
    """HTTP methods in front of a URI."""
    cue: str = ""
    """The word next to the name that tells its kind."""
    code: CodeWord | None = None
    """Set if the place of a plain word in the sentence says that it is code."""
    plain: bool = False
    """Whether it consists of common words; then only the longest known phrase counts."""

    @property
    def name(self) -> str:
        """Return the name without the words around it: `Invoice.pay` for `the pay method of Invoice`."""
        if self.code is None:
            return self.text
        return ".".join(filter(None, (self.code.owner, self.code.name)))


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of the question without surrounding punctuation."""

    text: str
    at: int
    quoted: bool = False

    @property
    def lower(self) -> str:
        """Return the word in lower case."""
        return self.text.lower()


def find_mentions(question: str) -> list[Mention]:
    """Return everything in a question that can be a name, in order; most candidates match no node."""
    mentions, text = _take_endpoints(question[:_MAX_QUESTION])
    words = list(_split_words(text))
    for position in range(len(words)):
        mentions += _identifier_mentions(words, position)
        mentions += _run_mentions(words, position)
        mentions += _cued_mentions(words, position)
        mentions += _table_mentions(words, position)
    for word in find_code_words(text):
        mentions.append(
            Mention(word.text, word.at, (word.name,), code=word, plain=not word.owner)
        )
    return sorted(mentions, key=lambda mention: (mention.at, -len(mention.text)))


def remove_mentions(question: str, mentions: Iterable[Mention]) -> str:
    """Return the question in lower case without these names; the rest tells the intent."""
    text = question[:_MAX_QUESTION]
    for mention in sorted(mentions, key=lambda mention: -len(mention.text)):
        if mention.plain:
            text = re.sub(
                rf"\b{re.escape(mention.text)}\b",
                " ",
                text,
            )
        else:
            text = text.replace(mention.text, " ")
    return " ".join(text.lower().split())


def _take_endpoints(text: str) -> tuple[list[Mention], str]:
    """Return the mentions such as `GET api/songs`, and the text with blanks in their place."""
    mentions: list[Mention] = []
    for match in _ENDPOINT.finditer(text):
        uri = match[2].rstrip(_PUNCTUATION)
        if not uri:
            continue
        methods = tuple(re.findall(r"[A-Z]+", match[1]))
        name = f"{match[1]} {uri}"
        mentions.append(
            Mention(
                name,
                match.start(),
                uri_forms(uri),
                ROUTE_ALIASES,
                methods,
                "route",
            )
        )
        text = _blank_out(text, match)
    return mentions, text


def _blank_out(text: str, match: re.Match[str]) -> str:
    """Return a text with spaces in place of a match, so that positions stay the same."""
    return text[: match.start()] + " " * (match.end() - match.start()) + text[match.end() :]


def _split_words(text: str) -> Iterator[_Word]:
    """Yield the words without surrounding punctuation; a quoted name is one word."""
    pieces: list[tuple[int, str, bool]] = []
    rest = text
    for match in _QUOTED.finditer(text):
        inner = next(group for group in match.groups() if group)
        if len(inner.split()) == 1:
            pieces.append((match.start() + 1, inner, True))
            rest = _blank_out(rest, match)
    for match in re.finditer(r"\S+", rest):
        pieces.append((match.start(), match[0], False))
    for at, piece, quoted in sorted(pieces):
        bare = _strip_word(piece)
        if bare:
            yield _Word(bare, at, quoted)


def _strip_word(piece: str) -> str:
    """Return a word without punctuation, possessive `'s` and call brackets."""
    bare = piece.strip(_PUNCTUATION).removesuffix("()").strip(_PUNCTUATION)
    bare = re.sub(r"['’]s$", "", bare)
    # `Playlist::playables($x)`, and the rest of `Route::apiResource('…'`
    return re.sub(r"\((?:[^()]*)\)?$", "", bare)


# ── identifiers ───────────────────────────────────────────────────────────────────────────────────


def _identifier_mentions(words: Sequence[_Word], position: int) -> Iterator[Mention]:
    """Yield a word that looks like an identifier, a path or a class name."""
    word = words[position]
    text = word.text
    cue = _nearest_cue(words, position)
    if "/" in text and "\\" not in text:
        yield Mention(text, word.at, uri_forms(text), cue=cue)
    elif word.quoted or _IDENTIFIER.search(text) or _CAMEL_CASE.search(text):
        yield Mention(text, word.at, _spellings(text), cue=cue)
    elif _HYPHENATED.fullmatch(text):
        # `sign-up` is a common word, but `the route sign-up` names a route.
        is_named = cue in _HYPHENATED_CUES and _is_after_cue(words, position)
        yield Mention(text, word.at, (text,), _HYPHENATED_KINDS, cue=cue, plain=not is_named)
    elif position and _is_class_like(words, position):
        yield Mention(
            text,
            word.at,
            (text,),
            CLASS_ALIASES | {"event"},
            cue=cue,
        )


def _run_mentions(words: Sequence[_Word], position: int) -> Iterator[Mention]:
    """Yield a word that can be the id of a recorded run: it has a digit or a sign, or `run` is before it."""
    word = words[position]
    is_named = position > 0 and words[position - 1].lower == "run"
    if is_named or not word.text.isalpha():
        cue = "run" if is_named or _RUN_ID.fullmatch(word.text) else ""
        yield Mention(word.text, word.at, (word.text,), RUN_ALIASES, cue=cue, plain=True)


def _is_after_cue(words: Sequence[_Word], position: int) -> bool:
    """Return whether the word before a word is a cue: `the route sign-up`."""
    before = position - 1
    while before >= 0 and words[before].lower in _FILLERS:
        before -= 1
    return before >= 0 and bool(_cue_of(words[before]))


def _is_class_like(words: Sequence[_Word], position: int) -> bool:
    """Return whether a word is capitalised like a class and is no cue after a name: `the Playlist Model`."""
    word = words[position]
    if not _CAPITALISED.match(word.text) or word.lower in _NOT_NAMES:
        return False
    if position < 2 or not _cue_of(word):
        return True
    previous = words[position - 1].text
    return not _CAPITALISED.match(previous) and not _CAMEL_CASE.search(previous)


def _spellings(text: str) -> tuple[str, ...]:
    """Return the spellings of an identifier as aliases can have them."""
    bare = text.lstrip("\\").replace("->", "::").removesuffix("::class")
    forms = [bare]
    if "::" in bare:
        forms.append(bare.replace("::", "@"))
    if "." in bare and "/" not in bare:
        forms.append(bare.replace(".", "::"))
    return tuple(forms)


def _nearest_cue(words: Sequence[_Word], position: int) -> str:
    """Return the cue word before or after a word; empty if there is none."""
    before = position - 1
    while before >= 0 and words[before].lower in _FILLERS:
        before -= 1
    for neighbour in (before, position + 1):
        if 0 <= neighbour < len(words):
            cue = _cue_of(words[neighbour])
            if cue:
                return cue
    return ""


def _cue_of(word: _Word) -> str:
    """Return the cue that a word is, in the singular; empty if it is none."""
    text = word.lower.rpartition("::")[
        2
    ]  # `Route::apiResource('photos')` tells the kind of `photos`
    if text in CUES:
        return text
    if text == "policies":
        return "policy"
    singular = text.removesuffix("s")
    return singular if singular in CUES else ""


# ── plain words ───────────────────────────────────────────────────────────────────────────────────


def _cued_mentions(words: Sequence[_Word], position: int) -> Iterator[Mention]:
    """Yield the plain words next to a cue that can be a name: `the radio stations table`, `table users`."""
    word = words[position]
    cue = _cue_of(word)
    if not cue or word.quoted:
        return
    if cue == "resource" and position and words[position - 1].lower == "api":
        cue = "apiresource"  # an API resource is a set of routes, not a class that makes JSON
    phrases = [*_phrases_before(words, position)]
    is_named = position + 1 < len(words) and words[position + 1].lower in ("named", "called")
    if (
        is_named or not CUES[cue] & CLASS_ALIASES
    ):  # the word after "which observer" is most likely a verb
        phrases += _phrases_after(words, position)
    yield from _phrase_mentions(phrases, cue)


def _table_mentions(words: Sequence[_Word], position: int) -> Iterator[Mention]:
    """Yield the table in `columns of users` and `migrations for users`."""
    word = words[position].lower
    if word not in _TABLE_PARTS or position + 2 >= len(words):
        return
    if words[position + 1].lower not in _PREPOSITIONS:
        return
    if word.startswith("key"):
        previous = words[position - 1].lower if position else ""
        if previous not in ("foreign", "primary"):
            return  # other things than tables have keys too
    yield from _phrase_mentions(_phrases_after(words, position + 1), "table")


def _phrase_mentions(phrases: Iterable[Sequence[_Word]], cue: str) -> Iterator[Mention]:
    """Yield the phrases that can be a name with this cue."""
    for phrase in phrases:
        if all(_can_be_name(word, cue) for word in phrase):
            text = " ".join(word.text for word in phrase)
            forms = tuple(_joined_forms([word.lower for word in phrase], cue))
            yield Mention(
                text,
                phrase[0].at,
                forms,
                CUES[cue],
                cue=cue,
                plain=True,
            )


def _phrases_before(words: Sequence[_Word], position: int) -> Iterator[Sequence[_Word]]:
    """Yield the phrases directly before a cue, the longest first."""
    end = position
    while end and words[end - 1].lower in _TECHNOLOGIES:
        end -= 1
    for length in range(_MAX_PHRASE_WORDS, 0, -1):
        if end >= length:
            yield words[end - length : end]


def _phrases_after(words: Sequence[_Word], position: int) -> Iterator[Sequence[_Word]]:
    """Yield the phrases of two and of one word after a cue."""
    start = position + 1
    while start < len(words) and words[start].lower in _FILLERS:
        start += 1
    for length in (2, 1):
        if start + length <= len(words):
            yield words[start : start + length]


def _can_be_name(word: _Word, cue: str) -> bool:
    """Return whether a plain word can be part of a name next to a cue."""
    own_cue = _cue_of(word)
    if word.lower in _NOT_NAMES or own_cue == cue:
        return False
    if own_cue and cue not in _CUES_FOR_CUE_NAMES:
        return False
    return bool(re.fullmatch(r"[A-Za-z][A-Za-z-]*", word.text))


def _joined_forms(words: Sequence[str], cue: str) -> Iterator[str]:
    """Yield the spellings of a name of several words, as written and with the last word in the other number."""
    for last in dict.fromkeys((words[-1], *_other_numbers(words[-1]))):
        parts = [*words[:-1], last]
        yield from dict.fromkeys(
            separator.join(parts) for separator in ("_", "-", ".", "/", "")
        )
        if cue not in ("table", "column", "route"):
            yield "".join([*parts, cue])


def _other_numbers(word: str) -> tuple[str, ...]:
    """Return the singular or plural by simple rules; a wrong form matches nothing and does no harm."""
    if word.endswith("ies"):
        return (f"{word[:-3]}y",)
    if word.endswith("es"):
        return (word[:-1], word[:-2])
    if word.endswith("s"):
        return (word[:-1],)
    if word.endswith("y"):
        return (f"{word[:-1]}ies",)
    return (f"{word}s", f"{word}es")
