"""A collection as lines of JSON: a header, a line per document, a line per vector.

Imported lines are not trusted. Each is checked, and a vector is used only if its text is here and its space is the
active one; a vector that was stored by another codec is encoded again.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ragstone.errors import ConfigError, InputError
from ragstone.indexing.reconcile import Reconciler
from ragstone.sources.given import GivenDocuments
from ragstone.types import AddReport, Document, Mark, PutResult, SpaceInfo

if TYPE_CHECKING:
    from ragstone.indexing.writer import DocumentWriter
    from ragstone.protocols import Codec, DocumentStore
    from ragstone.types import CollectionKey, StoredDocument

FORMAT: Final = 1
_PAGE: Final = 200
_RESTORE_PAGE: Final = 5000
_CHECK_PAGE: Final = 4096
_HINT: Final = "give a file that `ragstone export` wrote; the documents before this line are stored"
_TEXT_FIELDS: Final = ("document", "text", "kind", "language", "title", "beside")

CodecOf = Callable[[SpaceInfo], "Codec"]


def export_lines(
    store: DocumentStore, key: CollectionKey, *, vectors: bool = True
) -> Iterator[str]:
    """Yield the lines of a collection; with vectors, so that an import embeds nothing."""
    space = _active_space(store, key) if vectors else None
    if space is None:
        yield _line(ragstone_export=FORMAT, collection=key.name, space=None)
    else:
        fingerprint = space.space.fingerprint
        yield _line(
            ragstone_export=FORMAT, collection=key.name, space=fingerprint, storage=space.storage
        )
    after: tuple[str, str] | None = None
    while page := store.documents(key.scope, after=after, limit=_PAGE):
        for stored in page:
            yield _document_line(stored, store.text(key, stored.uri))
        after = (page[-1].collection, page[-1].uri)
    if space is not None:
        yield from _vector_lines(store, key, space)


def import_lines(writer: DocumentWriter, lines: Iterable[str], codec_of: CodecOf) -> AddReport:
    """Import lines and return what changed; documents before a bad line are stored, and the error says so."""
    numbered = enumerate(lines, start=1)
    header = _parse(*next(numbered, (1, "")))
    if header.get("ragstone_export") != FORMAT:
        raise InputError(
            "this is not a Ragstone export", hint="the first line must say ragstone_export: 1"
        )
    imported = _Import(writer)
    try:
        for number, line in numbered:
            imported.add(number, _parse(number, line))
    finally:
        imported.store_waiting()
    space = _active_space(writer.store, writer.key)
    is_same_space = space is not None and space.space.fingerprint == header.get("space")
    vectors: dict[str, bytes] = {}
    if space is not None and is_same_space:
        vectors = _readable_vectors(imported.vectors, space, header.get("storage"), codec_of)
    return AddReport(
        documents=len(imported.results),
        chunks_added=sum(result.added for result in imported.results),
        chunks_skipped=sum(result.kept for result in imported.results),
        embedded=_restore_vectors(writer, space, vectors) if space is not None and vectors else 0,
        per_document=tuple(imported.results),
        notes=_missing_note(
            len(imported.vectors) - len(vectors), len(imported.vectors), is_same_space
        ),
        remarks=writer.remarks(imported.results),
    )


@dataclass(slots=True)
class _Import:
    """The documents and vectors of an import that were read so far."""

    writer: DocumentWriter
    results: list[PutResult] = field(default_factory=list)
    vectors: dict[str, bytes] = field(default_factory=dict)
    """Encoded vectors by the hash of their text."""
    _waiting: dict[str, list[Document]] = field(default_factory=dict)
    """Documents to store, by the source they came from."""

    def add(self, number: int, row: dict[str, object]) -> None:
        """Add the row of one line; documents are stored in groups."""
        if "document" in row:
            self._waiting.setdefault(_source(number, row), []).append(_document(number, row))
        elif "vector" in row:
            self.vectors[str(row.get("text"))] = _decode_vector(number, row["vector"])
        if sum(map(len, self._waiting.values())) >= _PAGE:
            self.store_waiting()

    def store_waiting(self) -> None:
        """Store the documents that were read and not stored yet."""
        for source, documents in self._waiting.items():
            given = GivenDocuments(documents, name=source)
            self.results += Reconciler(self.writer, given, full=True).run().results
        self._waiting.clear()


def _document_line(stored: StoredDocument, text: str | None) -> str:
    fields: dict[str, object] = {
        "document": stored.uri,
        "text": text,
        "kind": stored.kind,
        "language": stored.language,
        "title": stored.title,
        "metadata": dict(stored.metadata),
        "source": stored.source,
    }
    if stored.marks:
        fields["marks"] = [
            [mark.start, mark.number, mark.label, mark.unit] for mark in stored.marks
        ]
    if stored.beside:
        fields["beside"] = stored.beside
    return _line(**fields)


def _vector_lines(store: DocumentStore, key: CollectionKey, space: SpaceInfo) -> Iterator[str]:
    rows = store.vectors.rows(key.project, space.id)
    ids = store.vectors.ids_in(key.scope, space.id)
    for start in range(0, len(ids), _PAGE):
        page = rows.by_id(ids[start : start + _PAGE])
        copies = store.copies(key.scope, [row.text_id for row in page])
        chunks = store.chunks(key.project, [chunk_ids[0] for chunk_ids in copies.values()])
        hashes = {chunk.text_id: chunk.chunk.hash.hex() for chunk in chunks.values()}
        for row in page:
            if row.text_id in hashes:
                yield _line(vector=base64.b64encode(row.data).decode(), text=hashes[row.text_id])


def _readable_vectors(
    vectors: dict[str, bytes], space: SpaceInfo, storage: object, codec_of: CodecOf
) -> dict[str, bytes]:
    """Return the valid vectors as the space stores them. Their codec is named, or found by the length of a row."""
    own = codec_of(space)
    unknown = dict(vectors)
    readable: dict[str, bytes] = {}
    for codec in _possible_codecs(space, storage, codec_of):
        texts = [text for text, data in unknown.items() if len(data) == codec.row_bytes]
        for start in range(0, len(texts), _CHECK_PAGE):
            page = texts[start : start + _CHECK_PAGE]
            valid = codec.sound([unknown[text] for text in page])
            good = [text for text, is_valid in zip(page, valid, strict=True) if is_valid]
            rows = [unknown.pop(text) for text in good]
            if rows and codec.name != own.name:
                rows = own.encode(codec.decode(rows))
            readable.update(zip(good, rows, strict=True))
        if not unknown:
            break
    return readable


def _possible_codecs(space: SpaceInfo, storage: object, codec_of: CodecOf) -> Iterator[Codec]:
    """Yield every codec, the most likely first."""
    from ragstone.vectors.codecs import CODECS  # NumPy loads here

    known = CODECS
    named = [storage] if isinstance(storage, str) and storage in known else []
    for name in dict.fromkeys((*named, space.storage, *known)):
        try:
            yield codec_of(replace(space, storage=name))
        except ConfigError:  # a plug-in that does not load: its vectors are left out
            continue


def _missing_note(missing: int, total: int, is_same_space: bool) -> tuple[str, ...]:
    if not missing:
        return ()
    reason = "cannot be read" if is_same_space else "are of another model"
    return (
        f"{missing} of {total} vectors {reason} and were left out; `ragstone sync` makes new ones",
    )


def _restore_vectors(writer: DocumentWriter, space: SpaceInfo, vectors: dict[str, bytes]) -> int:
    """Store imported vectors for the texts they belong to, and return how many."""
    store, key = writer.store, writer.key
    count = last_id = 0
    while pending := store.vectors.pending(key.scope, space.id, after=last_id, limit=_RESTORE_PAGE):
        last_id = pending[-1].text_id
        rows = []
        for text in pending:
            digest = hashlib.sha256(text.text.encode("utf-8", "surrogatepass")).hexdigest()
            if digest in vectors:
                rows.append((text.text_id, vectors[digest]))
        count += store.vectors.put(key.project, space.id, rows)
    return count


def _active_space(store: DocumentStore, key: CollectionKey) -> SpaceInfo | None:
    spaces = store.vectors.spaces(key.scope)
    return next((info for info in spaces if info.state == "active"), None)


def _line(**fields: object) -> str:
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":"))


def _parse(number: int, line: str) -> dict[str, object]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"line {number} is not JSON", hint=_HINT) from error
    if not isinstance(row, dict):
        raise InputError(f"line {number} is not an object", hint=_HINT)
    return row


def _document(number: int, row: dict[str, object]) -> Document:
    texts = {name: row.get(name, "") for name in _TEXT_FIELDS}
    metadata = row.get("metadata", {})
    if not all(isinstance(value, str) for value in texts.values()) or not isinstance(
        metadata, dict
    ):
        raise InputError(
            f"line {number} is not a document",
            hint="document and text are strings, metadata an object",
        )
    fields = {name: str(value) for name, value in texts.items()}
    uri = fields.pop("document")
    if not uri.strip():
        raise InputError(f"line {number} has no uri", hint="`document` names it")
    text = fields.pop("text")
    return Document(
        uri,
        text,
        kind=fields["kind"] or "text",
        language=fields["language"],
        title=fields["title"],
        metadata=metadata,
        marks=_marks(number, row.get("marks", []), len(text)),
        beside=fields["beside"],
    )


def _marks(number: int, value: object, length: int) -> tuple[Mark, ...]:
    """Return the places where pages begin; `InputError` if they make no sense."""
    try:
        if not isinstance(value, list):
            raise TypeError("marks are a list")
        marks = tuple(
            Mark(int(start), int(page), str(label), str(unit)) for start, page, label, unit in value
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"line {number} has marks that are none", hint=_HINT) from error
    if any(not 0 <= mark.start <= length for mark in marks):
        raise InputError(f"line {number} has marks outside its text", hint=_HINT)
    return marks


def _source(number: int, row: dict[str, object]) -> str:
    source = row.get("source", "")
    if not isinstance(source, str):
        raise InputError(f"line {number} has a source that is no name", hint=_HINT)
    return source


def _decode_vector(number: int, value: object) -> bytes:
    try:
        return base64.b64decode(str(value), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(f"line {number} has a damaged vector", hint=_HINT) from error
