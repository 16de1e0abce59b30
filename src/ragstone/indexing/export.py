"""A collection as lines of JSON: one line that says what it is, one per document, one per vector.

Imported lines are not trusted: each is checked, and a vector is taken only where its text is here and
its space is the one in use; one that was kept in another way than here is written anew.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ragstone.errors import InputError
from ragstone.types import AddReport, CollectionKey, Document, Mark, PutResult, SpaceInfo

if TYPE_CHECKING:
    from ragstone.indexing.pipeline import Writer
    from ragstone.protocols import Codec, DocumentStore

FORMAT: Final = 1
_PAGE: Final = 200
_RESTORED: Final = 5000  # vectors given back at a time: so many that the store need not look at each of their texts
_VECTORS: Final = 4096  # looked at in one go
_WROTE: Final = "give a file that `ragstone export` wrote; what stood before this line is stored"


def export_lines(store: DocumentStore, key: CollectionKey, *, vectors: bool = True) -> Iterator[str]:
    """Yield the collection's lines; vectors ride along so that reading them back costs no embedding."""
    space = _active(store, key) if vectors else None
    kept = {"space": space.space.fingerprint, "storage": space.storage} if space else {"space": None}
    yield _line(ragstone_export=FORMAT, collection=key.name, **kept)
    scope = key.scope
    after: tuple[str, str] | None = None
    while page := store.documents(scope, after=after, limit=_PAGE):
        for stored in page:
            text = store.text(key, stored.uri)
            about: dict[str, Any] = {"kind": stored.kind, "language": stored.language, "title": stored.title}
            marks = [[mark.start, mark.number, mark.label, mark.unit] for mark in stored.marks]
            about |= {"metadata": dict(stored.metadata), "source": stored.source}
            about |= ({"marks": marks} if marks else {}) | ({"beside": stored.beside} if stored.beside else {})
            yield _line(document=stored.uri, text=text, **about)
        after = (page[-1].collection, page[-1].uri)
    if space:
        yield from _vector_lines(store, key, space)


def import_lines(
    store: DocumentStore, writer: Writer, lines: Iterable[str], codec_of: Callable[[SpaceInfo], Codec]
) -> AddReport:
    """Take lines in and return what changed; documents before a bad line are stored, and the error says so."""
    numbered = enumerate(lines, start=1)
    head = _parsed(*next(numbered, (1, "")))
    if head.get("ragstone_export") != FORMAT:
        raise InputError("this is not a Ragstone export", hint="the first line must say ragstone_export: 1")
    results: list[PutResult] = []
    vectors: dict[str, bytes] = {}
    waiting: dict[str, list[Document]] = {}
    try:
        for number, line in numbered:
            row = _parsed(number, line)
            if "document" in row:
                waiting.setdefault(_source(number, row), []).append(_document(number, row))
            elif "vector" in row:
                vectors[str(row.get("text"))] = _bytes(number, row["vector"])
            if sum(map(len, waiting.values())) >= _PAGE:
                results += _put(writer, waiting)
    finally:
        results += _put(writer, waiting)
    space = _active(store, writer.key)
    same = space is not None and space.space.fingerprint == head.get("space")
    good = _readable(vectors, space, head.get("storage"), codec_of) if vectors and space and same else {}
    return AddReport(
        documents=len(results),
        chunks_added=sum(result.added for result in results),
        chunks_skipped=sum(result.kept for result in results),
        embedded=_restore(store, writer, space, good) if space and good else 0,
        per_document=tuple(results),
        notes=_left_out(len(vectors) - len(good), len(vectors), same=same),
        remarks=writer.remarks(results),
    )


def _put(writer: Writer, waiting: dict[str, list[Document]]) -> list[PutResult]:
    """Store what waits, each document for the source it came from, and return what each changed."""
    results = [result for source, given in waiting.items() for result in writer.add(given, source=source)]
    waiting.clear()
    return results


def _vector_lines(store: DocumentStore, key: CollectionKey, space: SpaceInfo) -> Iterator[str]:
    rows = store.vectors.rows(key.project, space.id)
    ids = store.vectors.ids_in(key.scope, space.id)
    for start in range(0, len(ids), _PAGE):
        page = rows.by_id(ids[start : start + _PAGE])
        places = store.copies(key.scope, [row.text_id for row in page])
        chunks = store.chunks(key.project, [found[0] for found in places.values()])
        hashes = {chunk.text_id: chunk.chunk.hash.hex() for chunk in chunks.values()}
        for row in page:
            if row.text_id in hashes:
                yield _line(vector=base64.b64encode(row.data).decode(), text=hashes[row.text_id])


def _readable(
    vectors: dict[str, bytes], space: SpaceInfo, told: object, codec_of: Callable[[SpaceInfo], Codec]
) -> dict[str, bytes]:
    """Return the vectors that are ones as the space keeps them; how they were kept is told, or seen by their length."""
    own, left, good = codec_of(space), dict(vectors), dict[str, bytes]()
    for codec in _codecs(space, told, codec_of):
        fitting = [text for text, data in left.items() if len(data) == codec.row_bytes]
        for start in range(0, len(fitting), _VECTORS):
            page = fitting[start : start + _VECTORS]
            sound = codec.sound([left[text] for text in page])
            texts = [text for text, is_one in zip(page, sound, strict=True) if is_one]
            rows = [left.pop(text) for text in texts]
            if rows and codec.name != own.name:
                rows = own.encode(codec.decode(rows))
            good.update(zip(texts, rows, strict=True))
        if not left:
            break
    return good


def _codecs(space: SpaceInfo, told: object, codec_of: Callable[[SpaceInfo], Codec]) -> Iterator[Codec]:
    """Yield every codec there is, the likeliest first: two have rows of one length only below nine numbers."""
    from ragstone.vectors.codecs import CODECS  # NumPy: an export without vectors does not load it

    likely = told if isinstance(told, str) and told in CODECS else space.storage
    for name in dict.fromkeys((likely, space.storage, *CODECS)):
        yield codec_of(replace(space, storage=name))


def _left_out(missing: int, given: int, *, same: bool) -> tuple[str, ...]:
    """Return what has to be said about vectors that were not taken."""
    if not missing:
        return ()
    why = "cannot be read" if same else "are of another model"
    return (f"{missing} of {given} vectors {why} and were left out; `ragstone sync` makes new ones",)


def _restore(store: DocumentStore, writer: Writer, space: SpaceInfo, vectors: dict[str, bytes]) -> int:
    """Give imported vectors to the texts they belong to and return how many."""
    scope = writer.key.scope
    done, after = 0, 0
    while pending := store.vectors.pending(scope, space.id, after=after, limit=_RESTORED):
        after = pending[-1].text_id
        digests = ((text.text_id, hashlib.sha256(text.text.encode("utf-8", "surrogatepass"))) for text in pending)
        found = [(text_id, vectors[key]) for text_id, digest in digests if (key := digest.hexdigest()) in vectors]
        done += store.vectors.put(writer.key.project, space.id, found)
    return done


def _active(store: DocumentStore, key: CollectionKey) -> SpaceInfo | None:
    spaces = store.vectors.spaces(key.scope)
    return next((info for info in spaces if info.state == "active"), None)


def _line(**fields: Any) -> str:
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":"))


def _parsed(number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"line {number} is not JSON", hint=_WROTE) from error
    if not isinstance(row, dict):
        raise InputError(f"line {number} is not an object", hint=_WROTE)
    return row


def _document(number: int, row: dict[str, Any]) -> Document:
    texts = {key: row.get(key, "") for key in ("document", "text", "kind", "language", "title", "beside")}
    metadata = row.get("metadata", {})
    if not all(isinstance(value, str) for value in texts.values()) or not isinstance(metadata, dict):
        raise InputError(f"line {number} is not a document", hint="document and text are strings, metadata an object")
    if not texts["document"].strip():
        raise InputError(f"line {number} has no uri", hint="`document` names it")
    uri = texts.pop("document")
    return Document(
        uri=uri,
        metadata=metadata,
        marks=_marks(number, row.get("marks", []), len(texts["text"])),
        **{key: value for key, value in texts.items() if value or key == "text"},
    )


def _marks(number: int, told: object, length: int) -> tuple[Mark, ...]:
    """Return where pages begin, or raise `InputError` where that makes no sense."""
    try:
        if not isinstance(told, list):
            raise TypeError("marks are a list")
        marks = tuple(Mark(int(start), int(page), str(label), str(unit)) for start, page, label, unit in told)
    except (TypeError, ValueError) as error:
        raise InputError(f"line {number} has marks that are none", hint=_WROTE) from error
    if any(not 0 <= mark.start <= length for mark in marks):
        raise InputError(f"line {number} has marks outside its text", hint=_WROTE)
    return marks


def _source(number: int, row: dict[str, Any]) -> str:
    source = row.get("source", "")
    if not isinstance(source, str):
        raise InputError(f"line {number} has a source that is no name", hint=_WROTE)
    return source


def _bytes(number: int, value: object) -> bytes:
    try:
        return base64.b64decode(str(value), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(f"line {number} has a damaged vector", hint=_WROTE) from error
