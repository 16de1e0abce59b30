"""The names in a question: what looks like an identifier, and plain words that stand beside a word such as `table`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.text import STOPWORDS

CLASSES: Final = frozenset({"class", "short_class"})
ROUTES: Final = frozenset({"route_name", "uri"})

CUES: Final[dict[str, frozenset[str]]] = {
    "table": frozenset({"table", "former_table"}),
    "column": frozenset({"column"}),
    "field": frozenset({"column"}),
    "route": ROUTES,
    "endpoint": ROUTES,
    "uri": ROUTES,
    "url": ROUTES,
    "resource": frozenset({"route_resource", *CLASSES}),
    "resources": frozenset({"route_resource"}),
    "apiresource": frozenset({"route_resource"}),
    "middleware": frozenset({"middleware", *CLASSES}),
    "event": frozenset({"event", *CLASSES}),
    "config": frozenset({"config"}),
    "setting": frozenset({"config"}),
    "migration": frozenset({"migration", *CLASSES}),
    "file": frozenset({"file"}),
} | dict.fromkeys(
    "model entity class trait interface controller policy observer job listener subscriber request notification"
    " mailable mail command provider seeder factory enum rule".split(),
    CLASSES,
)
"""Words beside which a plain word is a name, each with the kinds of alias it may be."""

_METHODS: Final = r"(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|ANY)"
_URI: Final = r"(?:\{[^}\s]*\}|[^\s?,;'\"`(){}])+"
_ENDPOINT: Final = re.compile(rf"(?<![\w/.])({_METHODS}(?:[|/,]\s?{_METHODS})*)\s+[`'\"]?({_URI})")
_QUOTED: Final = re.compile(r"(?<!\w)(?:`([^`\n]+)`|\"([^\"\n]+)\"|'([^'\n]+)'|“([^”\n]+)”)(?!\w)")
_AROUND: Final = ",.;:!?()[]\"'`“”…"
_CAMEL: Final = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2,}[a-z]")
_CAPITAL: Final = re.compile(r"[A-Z][a-z][a-z0-9]*$")
_FILLERS: Final = frozenset({"named", "called", "name", "path", "the"})
_STOP: Final = STOPWORDS | frozenset(
    {"now", "api", "new", "every", "all", "each", "use", "used", "one", "full", "own", "form"}
)
_OF_TABLES: Final = frozenset("column columns field fields key keys index indexes schema migration migrations".split())
_OF: Final = frozenset({"of", "for", "in", "on"})
_LONGEST_PHRASE: Final = 4
_MOST: Final = 4_000


@dataclass(frozen=True, slots=True)
class Mention:
    """One name as it is written, with the forms it may have in the graph, likeliest first."""

    text: str
    at: int
    forms: tuple[str, ...]
    kinds: frozenset[str] = frozenset()
    """Kinds of alias it may be; any where empty."""
    methods: tuple[str, ...] = ()
    """HTTP methods written before a URI."""
    cue: str = ""
    """The word beside it that says what it is."""
    plain: bool = False
    """Whether it is made of common words: then only the longest of them that is known counts."""


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    at: int
    named: bool = False
    """Whether it was in quotation marks."""

    @property
    def lower(self) -> str:
        return self.text.lower()


def mentions(question: str) -> list[Mention]:
    """Return the names of a question, in order; most of them will turn out to be none."""
    text = question[:_MOST]
    found: list[Mention] = []
    for match in _ENDPOINT.finditer(text):
        methods = tuple(re.findall(r"[A-Z]+", match[1]))
        uri = match[2].rstrip(_AROUND)
        if uri:
            found.append(Mention(f"{match[1]} {uri}", match.start(), _endpoint(uri), ROUTES, methods, "route"))
            text = text[: match.start()] + " " * (match.end() - match.start()) + text[match.end() :]
    words = list(_words(text))
    for position, word in enumerate(words):
        found += _identifier(words, position, word)
        found += _phrases(words, position, word)
        found += _parts_of(words, position, word)
    return sorted(found, key=lambda one: (one.at, -len(one.text)))


def without(question: str, names: Iterable[Mention]) -> str:
    """Return the question in lower case with its names taken out: what is left says what is asked."""
    text = question[:_MOST]
    for name in sorted(names, key=lambda one: -len(one.text)):
        text = re.sub(rf"\b{re.escape(name.text)}\b", " ", text) if name.plain else text.replace(name.text, " ")
    return " ".join(text.lower().split())


def normalised(uri: str) -> str:
    """Return a URI with bare parameters: `/api/songs/{song:slug?}` and `api/songs/<int:song>` → `api/songs/{}`."""
    return re.sub(r"\{[^}]*\}|<[^>\s]+>", "{}", uri).strip("/") or "/"


def _endpoint(uri: str) -> tuple[str, ...]:
    plain = normalised(re.sub(r"^https?://[^/]+", "", uri).split("#")[0])
    return tuple(dict.fromkeys((plain, uri.strip("/") or "/", f"{plain}/{{}}", f"{plain}{{}}")))


def _words(text: str) -> Iterator[_Word]:
    """Yield words without what surrounds them; what is quoted is one word."""
    pieces: list[tuple[int, str, bool]] = []
    rest = text
    for match in _QUOTED.finditer(text):
        inner = next(group for group in match.groups() if group)
        if len(inner.split()) == 1:
            pieces.append((match.start() + 1, inner, True))
            rest = rest[: match.start()] + " " * (match.end() - match.start()) + rest[match.end() :]
    pieces += [(match.start(), match[0], False) for match in re.finditer(r"\S+", rest)]
    for at, piece, named in sorted(pieces):
        bare = re.sub(r"['’]s$", "", piece.strip(_AROUND).removesuffix("()").strip(_AROUND))
        bare = re.sub(
            r"\((?:[^()]*)\)?$", "", bare
        )  # `Playlist::playables($x)`, and what `Route::apiResource('…'` leaves
        if bare:
            yield _Word(bare, at, named)


def _identifier(words: Sequence[_Word], position: int, word: _Word) -> Iterator[Mention]:
    """Yield a word that is a name by its looks."""
    text = word.text
    cue = _beside(words, position)
    if "/" in text and "\\" not in text:
        yield Mention(text, word.at, _endpoint(text), cue=cue)
    elif word.named or re.search(r"\\|::|->|@|_|\w[.:]\w|\{", text) or _CAMEL.search(text):
        yield Mention(text, word.at, _spellings(text), cue=cue)
    elif position and _CAPITAL.match(text) and text.lower() not in _STOP and not _said_with(words, position):
        yield Mention(text, word.at, (text,), CLASSES | {"event"}, cue=cue)


def _said_with(words: Sequence[_Word], position: int) -> bool:
    """Return whether a word only says what the name before it is: `the Playlist Model`."""
    if position < 2 or not _cue(words[position]):
        return False
    before = words[position - 1].text
    return bool(_CAPITAL.match(before) or _CAMEL.search(before))


def _spellings(text: str) -> tuple[str, ...]:
    """Return a name as aliases may have it."""
    bare = text.lstrip("\\").replace("->", "::").removesuffix("::class")
    forms = [bare]
    if "::" in bare:
        forms.append(bare.replace("::", "@"))
    if "." in bare and "/" not in bare:
        forms.append(bare.replace(".", "::"))
    return tuple(forms)


def _beside(words: Sequence[_Word], position: int) -> str:
    """Return the cue word before or after a word, as it stands in `CUES`."""
    before = position - 1
    while before >= 0 and words[before].lower in _FILLERS:
        before -= 1
    for at in (before, position + 1):
        if 0 <= at < len(words) and (cue := _cue(words[at])):
            return cue
    return ""


def _cue(word: _Word) -> str:
    text = word.lower.rpartition("::")[2]  # `Route::apiResource('photos')` says what `photos` is
    if text in CUES:
        return text
    single = text.removesuffix("s")
    return single if single in CUES else "policy" if text == "policies" else ""


def _phrases(words: Sequence[_Word], position: int, word: _Word) -> Iterator[Mention]:
    """Yield what plain words beside a cue may name: `the radio stations table`, `table users`."""
    cue = _cue(word)
    if not cue or word.named:
        return
    if cue == "resource" and position and words[position - 1].lower == "api":
        cue = "apiresource"  # routes, and not a class that makes JSON
    named = position + 1 < len(words) and words[position + 1].lower in ("named", "called")
    # What follows "which observer" or "which middleware" is most likely a verb.
    behind = _after(words, position) if named or not CUES[cue] & CLASSES else ()
    for group in (*_before(words, position), *behind):
        if all(_plain(one, cue) for one in group):
            text = " ".join(one.text for one in group)
            forms = tuple(_joined([one.lower for one in group], cue))
            yield Mention(text, group[0].at, forms, CUES[cue], cue=cue, plain=True)


def _parts_of(words: Sequence[_Word], position: int, word: _Word) -> Iterator[Mention]:
    """Yield the table that `columns of users` and `migrations for users` are about."""
    if word.lower not in _OF_TABLES or position + 2 >= len(words) or words[position + 1].lower not in _OF:
        return
    if word.lower.startswith("key") and (not position or words[position - 1].lower not in ("foreign", "primary")):
        return  # there are other keys than those of tables
    for group in _after(words, position + 1):
        if all(_plain(one, "table") for one in group):
            forms = tuple(_joined([one.lower for one in group], "table"))
            text = " ".join(one.text for one in group)
            yield Mention(text, group[0].at, forms, CUES["table"], cue="table", plain=True)


def _before(words: Sequence[_Word], position: int) -> Iterator[Sequence[_Word]]:
    last = position
    while last and words[last - 1].lower in ("api", "rest", "eloquent", "database", "db", "http", "model"):
        last -= 1  # "the users API resource", "the songs database table"
    for length in range(_LONGEST_PHRASE, 0, -1):
        if last - length >= 0:
            yield words[last - length : last]


def _after(words: Sequence[_Word], position: int) -> Iterator[Sequence[_Word]]:
    first = position + 1
    while first < len(words) and words[first].lower in _FILLERS:
        first += 1
    for length in (2, 1):
        if first + length <= len(words):
            yield words[first : first + length]


def _plain(word: _Word, cue: str) -> bool:
    """Return whether a word may be a name beside a cue; a cue itself names a table or routes: `the jobs table`."""
    other = _cue(word)
    if word.lower in _STOP or other == cue or (other and cue not in ("table", "route", "resource", "apiresource")):
        return False
    return bool(re.fullmatch(r"[A-Za-z][A-Za-z-]*", word.text))


def _joined(parts: Sequence[str], cue: str) -> Iterator[str]:
    """Yield the ways a name of several words is written, as it is first and with another number at its end."""
    for last in dict.fromkeys((parts[-1], *_other_numbers(parts[-1]))):
        whole = [*parts[:-1], last]
        yield from dict.fromkeys(between.join(whole) for between in ("_", "-", ".", "/", ""))
        if cue not in ("table", "column", "route"):
            yield "".join([*whole, cue])


def _other_numbers(word: str) -> tuple[str, ...]:
    """Return the singular or plural that plain rules give; a wrong one names nothing and does no harm."""
    if word.endswith("ies"):
        return (f"{word[:-3]}y",)
    if word.endswith("es"):
        return (word[:-1], word[:-2])
    if word.endswith("s"):
        return (word[:-1],)
    return (f"{word[:-1]}ies",) if word.endswith("y") else (f"{word}s", f"{word}es")
