"""Pairs of a query and the passage that answers it, mined from the files of packages."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from model.exclusions import Exclusions
from model.phrasing import phrase
from ragstone.code.symbols import read_facts
from ragstone.types import Symbol

MOST_OF_PACKAGE = 260
MOST_OF_FILE = 24
MOST_OF_QUERY = 3
LARGEST_FILE = 300_000
LONGEST_PASSAGE = 1_600
"""Characters; the model reads at most 256 tokens of a passage."""
_LEAST_QUERY_WORDS = 3
_LEAST_PASSAGE = 60
_MINIFIED_LINE = 400
_SKIPPED = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|spec|vendor|third_party|node_modules|_?generated|fixtures)(?:/|$)"
    r"|(?:^|/)(?:test_[^/]*|[^/]*[._-](?:test|spec|min)\.[^/]*|[^/]*_test\.\w+|[^/]*_pb2?\.[^/]*)$",
    re.I,
)
_PROSE_SUFFIXES = (".md", ".rst", ".markdown")
_HEADING = re.compile(r"^#{1,4}[ \t]+(\S.*?)[ \t#]*$", re.M)
_MARKUP = re.compile(r"\[([^\]\n]*)\]\([^)\n]*\)|[`*_#<>|]|:\w+:|https?://\S+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_COMMENT_MARKS = re.compile(r"^\s*(?:///?!?|/\*+!?|\*+/?|#+|--+|\"\"\"|''')\s?", re.M)
_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_EMPTY_DOC = re.compile(r"\n\s*(?:\"\"\"|''')\s*(?:\"\"\"|''')(?=\n)|\n\s*(?=\n)")
_KINDS_WITH_BODY = frozenset({"function", "method", "class", "struct", "interface", "trait"})


@dataclass(frozen=True, slots=True)
class Pair:
    """A query, the passage that answers it, and where both come from."""

    package: str
    kind: str
    query: str
    passage: str


def mine(package: str, folder: Path, exclusions: Exclusions, seed: int) -> list[Pair]:
    """Return the pairs of an unpacked package, the same for the same seed."""
    chance = random.Random(f"{seed} {package}")  # noqa: S311 - a sample, no secret
    found: list[Pair] = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        text = _read(path, name)
        if text:
            pairs = _usable(_pairs_of(package, name, text), exclusions)
            found += _sample(pairs, MOST_OF_FILE, chance)
    pairs = _sample(_limit_queries(found), MOST_OF_PACKAGE, chance)
    return [
        Pair(pair.package, pair.kind, phrase(pair.query, chance), pair.passage)
        for pair in pairs
    ]


def write_pairs(path: Path, pairs: Iterable[Pair]) -> Counter[str]:
    """Write pairs as JSON Lines and return how many there are of each kind."""
    kinds: Counter[str] = Counter()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for pair in pairs:
            kinds[pair.kind] += 1
            file.write(json.dumps(asdict(pair), ensure_ascii=False) + "\n")
    return kinds


def read_pairs(path: Path) -> list[Pair]:
    """Return the pairs of a file."""
    with path.open(encoding="utf-8") as file:
        return [Pair(**json.loads(line)) for line in file]


def _read(path: Path, name: str) -> str:
    """Return the text of a file worth reading, or nothing."""
    if path.is_symlink() or not path.is_file() or _SKIPPED.search(name):
        return ""
    if path.stat().st_size > LARGEST_FILE:
        return ""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""
    lines = text.count("\n") + 1
    return "" if len(text) / lines > _MINIFIED_LINE else text


def _pairs_of(package: str, name: str, text: str) -> Iterator[Pair]:
    if name.endswith(_PROSE_SUFFIXES):
        yield from _prose_pairs(package, text)
        return
    facts = read_facts(text, name)
    if facts is None:
        return
    lines = text.splitlines()
    for symbol in facts.symbols:
        if symbol.kind in _KINDS_WITH_BODY:
            yield from _symbol_pairs(package, symbol, lines)
    words = _split_name(name.rpartition(".")[0])
    body = "\n".join(lines[len(lines) // 3 :])
    yield Pair(package, "path to piece", words, body)


def _symbol_pairs(package: str, symbol: Symbol, lines: list[str]) -> Iterator[Pair]:
    """Yield doc comment → code without it, and first sentence of a long doc comment → its rest."""
    code = "\n".join(lines[symbol.line - 1 : symbol.line_end])
    doc = _plain(_COMMENT_MARKS.sub("", symbol.doc))
    if not doc:
        masked = re.sub(rf"\b{re.escape(symbol.name)}\b", "it", code)
        yield Pair(package, "name to body", _split_name(symbol.name), masked)
        return
    first, *rest = _SENTENCE_END.split(doc, maxsplit=1)
    yield Pair(package, "doc to code", first, _without_doc(code, symbol.doc))
    if rest:
        yield Pair(package, "doc to its rest", first, rest[0])


def _without_doc(code: str, doc: str) -> str:
    """Return code without the lines that its doc comment has in common with it."""
    documented = {line.strip() for line in _COMMENT_MARKS.sub("", doc).splitlines()}
    kept = [
        line
        for line in code.splitlines()
        if not (stripped := _COMMENT_MARKS.sub("", line).strip(" \"'*/"))
        or stripped not in documented
    ]
    return _EMPTY_DOC.sub("", "\n".join(kept))


def _prose_pairs(package: str, text: str) -> Iterator[Pair]:
    headings = list(_HEADING.finditer(text))
    ends = [*(heading.start() for heading in headings), len(text)][1:]
    for heading, end in zip(headings, ends, strict=False):  # no heading: one end too many
        section = _plain(text[heading.end() : end])
        yield Pair(package, "heading to section", _plain(heading[1]), section)


def _split_name(name: str) -> str:
    """Return the words of a name or path: `src/HTTPServer.run_all` → `src http server run all`."""
    return " ".join(_NAME_PART.findall(name)).lower()


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", _MARKUP.sub(r"\1", text)).strip()


def _usable(pairs: Iterable[Pair], exclusions: Exclusions) -> list[Pair]:
    """Return the pairs that are long enough and not a benchmark's, with their passages cut to length."""
    found: list[Pair] = []
    for pair in pairs:
        passage = pair.passage.strip()[:LONGEST_PASSAGE]
        if exclusions.has_passage(pair.passage) or exclusions.has_passage(passage):
            continue
        if len(pair.query.split()) >= _LEAST_QUERY_WORDS and len(passage) >= _LEAST_PASSAGE:
            found.append(Pair(pair.package, pair.kind, pair.query, passage))
    return found


def _limit_queries(pairs: Iterable[Pair]) -> list[Pair]:
    """Return pairs without the fourth and later ones of the same query."""
    seen: Counter[str] = Counter()
    kept: list[Pair] = []
    for pair in pairs:
        seen[pair.query.lower()] += 1
        if seen[pair.query.lower()] <= MOST_OF_QUERY:
            kept.append(pair)
    return kept


def _sample(pairs: list[Pair], most: int, chance: random.Random) -> list[Pair]:
    return pairs if len(pairs) <= most else chance.sample(pairs, most)
