"""An index of terms in a folder, made by the package tantivy.

The package is imported when it is first needed, and here alone. Every failure in it becomes `IndexUnusable`, so that
FTS5 can answer instead. Every commit is atomic, and the largest chunk id in it says how far the index reaches.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

from ragstone.store.words.checksums import CHECKSUM_FILE, check_files, write_checksums
from ragstone.store.words.scope import TermCounts, file_rarity
from ragstone.store.words.terms import ChunkTerms

TantivyObject: TypeAlias = Any
"""An object of the package `tantivy`, which has no types."""
FORMAT: Final = 1
"""Raised with every change of the fields or of their content."""
WEIGHTS: Final = (4, 1, 8, 1)
"""How often the terms of symbol, header, path and body count: the column weights of FTS5."""
_TERMS, _CHUNK, _COLLECTION = "terms", "chunk", "collection"
_ANALYZER: Final = "spaces"
_SMALL_HEAP, _LARGE_HEAP = 15_000_000, 48_000_000  # the first is the least that tantivy accepts
_MANY_ENTRIES: Final = 30_000  # fewer fit into three segments with the small heap

CommitMark = tuple[int, int, int]


class IndexUnusable(Exception):
    """The package is missing, or the files are not those that it wrote."""


@contextmanager
def _translated() -> Iterator[None]:
    """Raise `IndexUnusable` for any failure of tantivy."""
    try:
        yield
    except (
        ImportError,
        AttributeError,
        OSError,
        ValueError,
        TypeError,
        ArithmeticError,
        RuntimeError,
    ) as error:
        raise IndexUnusable(str(error)) from error
    except BaseException as error:
        # A panic of the Rust code on damaged files is no Exception, and its class cannot be imported.
        if type(error).__name__ == "PanicException":
            raise IndexUnusable(str(error)) from None
        raise


def _tantivy() -> TantivyObject:
    return import_module("tantivy")


@cache
def _schema() -> TantivyObject:
    builder = _tantivy().SchemaBuilder()
    builder.add_text_field(_TERMS, stored=False, tokenizer_name=_ANALYZER, index_option="freq")
    builder.add_unsigned_field(_CHUNK, stored=False, indexed=False, fast=True)
    builder.add_unsigned_field(_COLLECTION, stored=False, indexed=True, fast=False)
    return builder.build()


def _open(folder: Path) -> TantivyObject:
    tantivy = _tantivy()
    index = tantivy.Index(_schema(), str(folder), reuse=True)
    index.register_tokenizer(
        _ANALYZER, tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    )
    index.config_reader("manual", 0)  # no thread that watches the files
    return index


class IndexReader:
    """The last commit of an index."""

    def __init__(self, folder: Path) -> None:
        """Open the index; `IndexUnusable` if there is none or it is damaged."""
        self.folder = folder
        self.mark = commit_mark(folder)
        if self.mark is None:
            raise IndexUnusable("there is no index")
        state = check_files(folder)
        if state != "intact":
            raise IndexUnusable(f"the files are {state}")
        with _translated():
            index = _open(folder)
            index.reload()
            self._searcher = index.searcher()
            self.entries = int(self._searcher.num_docs)
            self.last_chunk = self._largest_chunk()

    def _largest_chunk(self) -> int:
        everything = _tantivy().Query.all_query()
        hits = self._searcher.search(everything, 1, count=False, order_by_field=_CHUNK).hits
        if not hits:
            return 0
        return int(self._searcher.fast_field_values(_CHUNK, [hits[0][1]])[0])

    def count(self, term: str) -> int:
        """Return how many entries have a term."""
        with _translated():
            return int(self._searcher.doc_freq(_TERMS, term))

    def count_terms(self, collections: Sequence[int], terms: Sequence[str]) -> TermCounts:
        """Return how many entries some collections have, and how many have each term."""
        with _translated():
            inside = _in_collections(collections)
            counts = {}
            for term in terms:
                query = _both(_unscored(_term_query(term)), inside)
                counts[term] = self._searcher.search(query, 1).count
            return TermCounts(self._searcher.search(inside, 1).count, counts)

    def search(
        self,
        terms: Sequence[str],
        collections: Sequence[int] | None,
        limit: int,
        rarities: Mapping[str, float],
    ) -> list[tuple[int, float]]:
        """Return (chunk id, score) of the best entries with any of the terms; `rarities` replace those of the index."""
        with _translated():
            query = self._query(terms, rarities)
            if query is None:
                return []
            if collections is not None:
                query = _both(query, _in_collections(collections))
            hits = self._searcher.search(query, limit, count=False).hits
            scores = [score for score, _ in hits]
            addresses = [address for _, address in hits]
            chunks = self._searcher.fast_field_values(_CHUNK, addresses)
            return list(zip(chunks, scores, strict=True))

    def _query(self, terms: Sequence[str], rarities: Mapping[str, float]) -> TantivyObject:
        """Return the query for entries with any of the terms, None if no entry has one."""
        tantivy = _tantivy()
        parts = []
        for term in terms:
            count = self._searcher.doc_freq(_TERMS, term)
            if count:
                # The boost replaces the rarity that tantivy uses.
                odds = (self.entries - count + 0.5) / (count + 0.5)
                rarity = rarities.get(term, file_rarity(self.entries, count))
                boosted = tantivy.Query.boost_query(
                    _term_query(term), rarity / math.log1p(odds)
                )
                parts.append((tantivy.Occur.Should, boosted))
        return tantivy.Query.boolean_query(parts) if parts else None


def _term_query(term: str) -> TantivyObject:
    return _tantivy().Query.term_query(_schema(), _TERMS, term)


def _in_collections(collections: Sequence[int]) -> TantivyObject:
    """Return the query for entries of some collections, which adds nothing to a score."""
    kind = _tantivy().Query
    if len(collections) == 1:  # the usual case, which tantivy answers in half the time
        entries = kind.term_query(_schema(), _COLLECTION, collections[0])
    else:
        entries = kind.term_set_query(_schema(), _COLLECTION, list(collections))
    return _unscored(entries)


def _unscored(query: TantivyObject) -> TantivyObject:
    """Return a query that finds the same entries and adds nothing to a score."""
    return _tantivy().Query.const_score_query(query, 0.0)


def _both(first: TantivyObject, second: TantivyObject) -> TantivyObject:
    """Return the query for entries that two queries find."""
    must = _tantivy().Occur.Must
    return _tantivy().Query.boolean_query([(must, first), (must, second)])


def write_entries(
    folder: Path, entries: Iterable[ChunkTerms], *, expected: int, replace: bool
) -> None:
    """Add entries with ascending chunk ids in one commit; `replace` removes those that are there."""
    with _translated():
        tantivy = _tantivy()
        writer = _open(folder).writer(
            _LARGE_HEAP if expected > _MANY_ENTRIES else _SMALL_HEAP, 1
        )
        if replace:
            writer.delete_all_documents()
    for entry in entries:
        document = tantivy.Document()
        document.add_unsigned(_CHUNK, entry.id)
        document.add_unsigned(_COLLECTION, entry.collection)
        document.add_text(_TERMS, _weighted_terms(entry))
        with _translated():
            writer.add_document(document)
    with _translated():
        writer.commit()
        writer.wait_merging_threads()
    for name in os.listdir(folder):
        with suppress(OSError):  # a merge may have removed the file
            os.chmod(folder / name, 0o600)
    with _translated():
        write_checksums(folder)


def _weighted_terms(entry: ChunkTerms) -> str:
    """Return the terms of all parts of a chunk, each as often as its part weighs."""
    parts = (entry.symbol, entry.header, entry.path, entry.body)
    return "".join((terms + " ") * weight for terms, weight in zip(parts, WEIGHTS, strict=True))


def commit_mark(folder: Path) -> CommitMark | None:
    """Return a value that changes with every commit to a folder, None if there was no commit."""
    try:
        status = os.stat(folder / CHECKSUM_FILE)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
