"""What tantivy does for the store: an index of terms in a folder, quick to ask, worth nothing by itself.

The package is loaded when it is first needed, and here alone. Whatever goes wrong in it is `Unusable`, so that FTS5
can answer instead. Every commit is atomic, and the highest chunk number in it says how far it reaches.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

MARK: Final = "meta.json"
"""The file that changes with every commit."""
FORMAT: Final = 1
"""Raised with every change of the fields or of what is put into them."""

_TERMS, _CHUNK, _COLLECTION = "terms", "chunk", "collection"
_ANALYZER: Final = "spaces"
_SMALL_HEAP, _LARGE_HEAP = 15_000_000, 48_000_000  # the first is the least that tantivy takes
_LARGE: Final = 30_000  # entries: below that the small one makes three pieces at most
_LEAST_RARITY: Final = 1e-6
_FEW_PLACES: Final = (
    16  # so many are asked for one by one: of 100,000 entries, one place takes a quarter of a set's time
)

Entry = tuple[int, int, str]
"""A chunk's number, its collection's number, and its terms, each as often as it weighs."""


Wanted = Sequence[str] | Mapping[str, float]
"""Terms, or each with the rarity that is to count instead of the one in the index."""


class Unusable(Exception):
    """The package is not there, or the files are not what it left."""


@contextmanager
def _guarded() -> Iterator[None]:
    """Raise `Unusable` for whatever tantivy raises inside."""
    try:
        yield
    except (ImportError, AttributeError, OSError, ValueError, TypeError, ArithmeticError, RuntimeError) as error:
        raise Unusable(str(error)) from error
    except BaseException as error:
        # Rust code that gives up on damaged files raises something that is no Exception and cannot be imported.
        if type(error).__name__ == "PanicException":
            raise Unusable(str(error)) from None
        raise


def _tantivy() -> Any:  # noqa: ANN401 - an optional package
    return import_module("tantivy")


@cache
def _schema() -> Any:  # noqa: ANN401 - an optional package
    builder = _tantivy().SchemaBuilder()
    builder.add_text_field(_TERMS, stored=False, tokenizer_name=_ANALYZER, index_option="freq")
    builder.add_unsigned_field(_CHUNK, stored=False, indexed=False, fast=True)
    builder.add_unsigned_field(_COLLECTION, stored=False, indexed=True, fast=False)
    return builder.build()


def _opened(folder: Path) -> Any:  # noqa: ANN401 - an optional package
    tantivy = _tantivy()
    index = tantivy.Index(_schema(), str(folder), reuse=True)
    index.register_tokenizer(_ANALYZER, tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    index.config_reader("manual", 0)  # a thread that watches the files would outlive its use
    return index


class Reader:
    """One moment of an index."""

    def __init__(self, folder: Path) -> None:
        """Open what was committed last; `Unusable` where there is nothing to open."""
        self.mark = mark(folder)
        if self.mark is None:
            raise Unusable("there is no index")
        with _guarded():
            self._index = _opened(folder)
            self._index.reload()
            self._searcher = self._index.searcher()
            self.entries = int(self._searcher.num_docs)
            self.last = self._highest()

    def _highest(self) -> int:
        every = _tantivy().Query.all_query()
        found = self._searcher.search(every, 1, count=False, order_by_field=_CHUNK).hits
        return int(self._searcher.fast_field_values(_CHUNK, [found[0][1]])[0]) if found else 0

    def counts(self, terms: Sequence[str], collections: Sequence[int]) -> tuple[int, dict[str, int]]:
        """Return how many entries some collections have, and how many of these have each of the terms."""
        with _guarded():
            tantivy, schema = _tantivy(), _schema()
            kind, must = tantivy.Query, tantivy.Occur.Must
            place, found = _place(collections), {}
            for term in terms:
                query = kind.const_score_query(kind.term_query(schema, _TERMS, term), 0.0)
                both = kind.boolean_query([(must, query), (must, place)])
                found[term] = int(self._searcher.search(both, 1).count)
            return int(self._searcher.search(place, 1).count), found

    def best(self, terms: Wanted, collections: Sequence[int] | None, limit: int) -> list[tuple[int, float]]:
        """Return (chunk, score) of entries with any of the terms, best first."""
        with _guarded():
            counted = [(term, count) for term in terms if (count := self._searcher.doc_freq(_TERMS, term))]
            # What half of the entries have tells nothing (FTS5 gives it a millionth), and going through all of them
            # takes half of the time: asked for only where the other terms leave places free.
            own = isinstance(terms, Mapping)  # rarities of a part: what is common in the file may tell much there
            telling = [(term, count) for term, count in counted if own or count <= self.entries / 2]
            hits = self._hits(terms, telling, collections, limit)
            if len(hits) < limit and len(telling) < len(counted):
                hits = self._hits(terms, counted, collections, limit)
            chunks = self._searcher.fast_field_values(_CHUNK, [place for _, place in hits])
            return [(int(chunk), float(score)) for chunk, (score, _) in zip(chunks, hits, strict=True)]

    def _hits(
        self, terms: Wanted, counted: Sequence[tuple[str, int]], collections: Sequence[int] | None, limit: int
    ) -> list[tuple[float, Any]]:
        """Return scores and places of entries with any of the terms, of which each is in so many."""
        if not counted:
            return []
        tantivy, schema = _tantivy(), _schema()
        kind, should, must = tantivy.Query, tantivy.Occur.Should, tantivy.Occur.Must
        query = kind.boolean_query(
            [
                (should, kind.boost_query(kind.term_query(schema, _TERMS, term), self._boost(terms, term, count)))
                for term, count in counted
            ]
        )
        if collections is not None:
            query = kind.boolean_query([(must, query), (must, _place(collections))])
        found: list[tuple[float, Any]] = self._searcher.search(query, limit, count=False).hits
        return found

    def _boost(self, terms: Wanted, term: str, count: int) -> float:
        """Return what makes tantivy's rarity of a term the one given, or that of FTS5: next to nothing if common."""
        odds = (self.entries - count + 0.5) / (count + 0.5)
        wanted = terms[term] if isinstance(terms, Mapping) else max(_LEAST_RARITY, math.log(odds))
        return wanted / math.log1p(odds)


def _place(collections: Sequence[int]) -> Any:  # noqa: ANN401 - an optional package
    """Return the query for entries of any of the collections, which adds nothing to a score."""
    tantivy, schema = _tantivy(), _schema()
    kind, should = tantivy.Query, tantivy.Occur.Should
    if not 0 < len(collections) <= _FEW_PLACES:
        return kind.const_score_query(kind.term_set_query(schema, _COLLECTION, list(collections)), 0.0)
    places = [kind.const_score_query(kind.term_query(schema, _COLLECTION, number), 0.0) for number in collections]
    return places[0] if len(places) == 1 else kind.boolean_query([(should, place) for place in places])


def write(folder: Path, entries: Iterable[Entry], *, expected: int, anew: bool) -> None:
    """Add entries whose chunk numbers rise, in one commit; anew: in the place of what was there."""
    with _guarded():
        tantivy = _tantivy()
        writer = _opened(folder).writer(_LARGE_HEAP if expected > _LARGE else _SMALL_HEAP, 1)
        if anew:
            writer.delete_all_documents()
    for chunk, collection, terms in entries:
        document = tantivy.Document()
        document.add_unsigned(_CHUNK, chunk)
        document.add_unsigned(_COLLECTION, collection)
        document.add_text(_TERMS, terms)
        with _guarded():
            writer.add_document(document)
    with _guarded():
        writer.commit()
        writer.wait_merging_threads()
    _make_private(folder)


def mark(folder: Path) -> tuple[int, int, int] | None:
    """Return what changes with every commit to a folder; nothing where there was none."""
    try:
        seen = os.stat(folder / MARK)
    except OSError:
        return None
    return seen.st_ino, seen.st_mtime_ns, seen.st_size


def _make_private(folder: Path) -> None:
    for name in os.listdir(folder):
        with suppress(OSError):  # a file that a merge has just replaced
            os.chmod(folder / name, 0o600)
