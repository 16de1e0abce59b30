"""Pairs of a query and the passage that answers it, mined from the files of packages."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from model.comments import is_commented, read_comments
from model.exclusions import Exclusions
from model.phrasing import phrase
from model.synopsis import read_synopsis
from ragstone.code.symbols import read_facts
from ragstone.types import Symbol

MOST_OF_PACKAGE = 260
MOST_OF_RARE = 2_600
"""At most so many pairs of a package in a language that few packages are written in."""
MOST_OF_FILE = 24
MOST_OF_KIND = {
    "doc to code": 220,
    "comment to code": 60,
    "path to piece": 24,
    "module doc to piece": 24,
    "heading to section": 60,
    "name to body": 10,
    "doc to its rest": 10,
}
"""At most so many pairs of a kind in a package: a large one must not be all names and paths."""
FILES_READ = 80
"""Files of a package that are read; of a rare language ten times as many."""
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
_PROSE_SUFFIXES = (".md", ".rst", ".markdown", ".rst.txt", ".rmd", ".mdx")
_RARE_SUFFIXES = frozenset(
    {".cs", ".kt", ".kts", ".swift", ".scala", ".ex", ".exs", ".zig", ".sh", ".bash", ".lua"}
)
_TOP_LINES = 3
"""A comment that begins in these lines speaks about the whole file."""
_HEADING = re.compile(
    r"^#{1,4}[ \t]+(\S.*?)[ \t#]*$|^(\w.*)\n([=\-~^\"'`*+#.])\3{3,}[ \t]*$", re.M
)
_MANUAL_TITLE = re.compile(r"\\title\{([^{}]+)\}")
_MANUAL_TEXT = re.compile(r"\\(?:description|details)\{((?:[^{}]|\{[^{}]*\})+)\}")
_MARKUP = re.compile(
    r"\[([^\]\n]*)\]\([^)\n]*\)|</?\w[^<>\n]{0,200}>|[`*_#<>|]|:\w+:|https?://\S+"
)
_TAG = re.compile(r"\s[@:]\w+")
_MODULE_DOC = re.compile(r"^r?(\"\"\"|''')(.{0,2000}?)\1", re.S | re.M)
_PATH_PARTS = 3
"""Of a path, the last parts are about the file; the first ones are the same in all packages."""
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
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))
    names = [name for name in names if _is_source(name)]
    chance.shuffle(names)
    rare = [name for name in names if Path(name).suffix in _RARE_SUFFIXES]
    common = [name for name in names if Path(name).suffix not in _RARE_SUFFIXES]
    found = _usable(_synopsis_pairs(package, folder), exclusions)
    for chosen, most in ((common, MOST_OF_PACKAGE), (rare, MOST_OF_RARE)):
        share = most // MOST_OF_PACKAGE
        pairs: list[Pair] = []
        for name in chosen[: FILES_READ * share]:
            text = _read(folder / name)
            usable = _usable(_pairs_of(package, name, text), exclusions)
            pairs += _sample(usable, MOST_OF_FILE, chance)
            if len(pairs) > 2 * most:
                break
        found += _sample(_limit(pairs, share), most, chance)
    return [
        Pair(pair.package, pair.kind, phrase(pair.query, chance), pair.passage)
        for pair in found
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


def _is_source(name: str) -> bool:
    if _SKIPPED.search(name):
        return False
    return name.lower().endswith((*_PROSE_SUFFIXES, ".rd")) or is_commented(name)


def _read(path: Path) -> str:
    """Return the text of a file worth reading, or nothing."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_FILE:
        return ""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""
    lines = text.count("\n") + 1
    return "" if len(text) / lines > _MINIFIED_LINE else text


def _pairs_of(package: str, name: str, text: str) -> Iterator[Pair]:
    if name.lower().endswith(_PROSE_SUFFIXES):
        yield from _prose_pairs(package, text)
        return
    if name.endswith(".Rd"):
        yield from _manual_pairs(package, text)
        return
    lines = text.splitlines()
    facts = read_facts(text, name)
    symbols = facts.symbols if facts else ()
    documented = {_plain(_COMMENT_MARKS.sub("", symbol.doc))[:40] for symbol in symbols}
    yield from _comment_pairs(package, name, lines, documented)
    body = "\n".join(lines[len(lines) // 3 :])
    module_doc = _MODULE_DOC.search(text[:4_000])
    if module_doc and name.endswith(".py"):
        first = _SENTENCE_END.split(_plain(module_doc[2]), maxsplit=1)[0]
        yield Pair(package, "module doc to piece", first, body)
    for symbol in symbols:
        if symbol.kind in _KINDS_WITH_BODY:
            yield from _symbol_pairs(package, symbol, lines)
    path = "/".join(name.rpartition(".")[0].split("/")[-_PATH_PARTS:])
    yield Pair(package, "path to piece", _split_name(path), body)


def _comment_pairs(
    package: str, name: str, lines: list[str], documented: set[str]
) -> Iterator[Pair]:
    """Yield comment inside a body → the code below it, and the comment at the top → a piece of the file."""
    for comment in read_comments(name, lines):
        text = _plain(comment.text)
        if text[:40] in documented:
            continue
        first = _SENTENCE_END.split(_TAG.split(text)[0], maxsplit=1)[0]
        if comment.line <= _TOP_LINES:
            body = "\n".join(lines[len(lines) // 3 :])
            yield Pair(package, "module doc to piece", first, body)
        else:
            yield Pair(package, "comment to code", first, comment.code)


def _synopsis_pairs(package: str, folder: Path) -> Iterator[Pair]:
    """Yield what a package is for in a line → its description."""
    synopsis, description = read_synopsis(folder)
    yield Pair(package, "synopsis to description", synopsis, _plain(description))


def _manual_pairs(package: str, text: str) -> Iterator[Pair]:
    """Yield title → description of a manual page in R's format."""
    title = _MANUAL_TITLE.search(text)
    if title:
        described = " ".join(_MANUAL_TEXT.findall(text))
        yield Pair(package, "heading to section", _plain(title[1]), _plain(described))


def _symbol_pairs(package: str, symbol: Symbol, lines: list[str]) -> Iterator[Pair]:
    """Yield doc comment → code without it, and first sentence of a long doc comment → its rest."""
    code = "\n".join(lines[symbol.line - 1 : symbol.line_end])
    doc = _TAG.split(_plain(_COMMENT_MARKS.sub("", symbol.doc)))[0]
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
        yield Pair(package, "heading to section", _plain(heading[1] or heading[2]), section)


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


def _limit(pairs: Iterable[Pair], share: int) -> list[Pair]:
    """Return pairs without the fourth and later ones of a query, and not too many of a kind."""
    seen: Counter[str] = Counter()
    kept: list[Pair] = []
    for pair in pairs:
        query, kind = pair.query.lower(), f"\n{pair.kind}"
        if seen[query] < MOST_OF_QUERY and seen[kind] < MOST_OF_KIND[pair.kind] * share:
            seen.update((query, kind))
            kept.append(pair)
    return kept


def _sample(pairs: list[Pair], most: int, chance: random.Random) -> list[Pair]:
    return pairs if len(pairs) <= most else chance.sample(pairs, most)
