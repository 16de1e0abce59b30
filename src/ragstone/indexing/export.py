"""A collection as lines of JSON: a header, a line per document, a line per vector.

Imported lines are not trusted. Each is checked, and a vector is used only if its text is here and its space is the
active one; a vector that was stored by another codec is encoded again.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ragstone.errors import ConfigError, InputError
from ragstone.indexing.reconcile import Reconciler
from ragstone.sources.added_files import ADDED
from ragstone.sources.in_memory import GivenDocuments
from ragstone.text.counts import plural
from ragstone.types import AddReport, Document, Mark, PutResult, SpaceInfo
from ragstone.vectors.codecs import CODECS

if TYPE_CHECKING:
    from ragstone.indexing.collection_writer import DocumentWriter
    from ragstone.protocols import Codec, DocumentStore
    from ragstone.types import CollectionKey, StoredDocument

FORMAT: Final = 1
_PAGE: Final = 200
_RESTORE_PAGE: Final = 5000
_CHECK_PAGE: Final = 4096
_HINT: Final = (
    "give a file that `ragstone export` wrote; the documents before this line are stored"
)
_TEXT_FIELDS: Final = ("document", "text", "kind", "language", "title", "beside")

CodecOf = Callable[[SpaceInfo], "Codec"]


def export_lines(
    store: DocumentStore, key: CollectionKey, *, vectors: bool = True
) -> Iterator[str]:
    """Yield the lines of a collection; with vectors, so that an import embeds nothing."""
    space = _active_space(store, key) if vectors else None
    header: dict[str, object] = {
        "ragstone_export": FORMAT,
        "collection": key.name,
        "space": None,
    }
    if space is not None:
        header["space"] = space.space.fingerprint
        header["storage"] = space.storage
    yield _line(header)
    after: tuple[str, str] | None = None
    while page := store.documents(key.scope, after=after, limit=_PAGE):
        for stored in page:
            yield _document_line(stored, store.text(key, stored.uri))
        after = (page[-1].collection, page[-1].uri)
    if space is not None:
        yield from _vector_lines(store, key, space)


def import_lines(writer: DocumentWriter, lines: Iterable[str], codec_of: CodecOf) -> AddReport:
    """Import lines and return the counts; documents before a bad line are stored, and the error says so."""
    numbered = enumerate(lines, start=1)
    header = _parse(*next(numbered, (1, "")))
    if header.get("ragstone_export") != FORMAT:
        hint = "the first line must say ragstone_export: 1"
        raise InputError("this is not a Ragstone export", hint=hint)
    imported = _Import(writer)
    try:
        for number, line in numbered:
            imported.add(number, _parse(number, line))
    finally:
        imported.store_waiting()
    embedded, notes = _import_vectors(imported, header, codec_of)
    return AddReport(
        documents=len(imported.results),
        chunks_added=sum(result.added for result in imported.results),
        chunks_skipped=sum(result.kept for result in imported.results),
        embedded=embedded,
        per_document=tuple(imported.results),
        notes=notes,
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
            waiting = self._waiting.setdefault(_source(number, row), [])
            waiting.append(_document(number, row))
        elif "vector" in row:
            text_hash = str(row.get("text"))
            self.vectors[text_hash] = _decode_vector(number, row["vector"])
        count = sum(len(documents) for documents in self._waiting.values())
        if count >= _PAGE:
            self.store_waiting()

    def store_waiting(self) -> None:
        """Store the documents that were read and not stored yet."""
        for source, documents in self._waiting.items():
            given = GivenDocuments(documents, name=source)
            self.results += Reconciler(self.writer, given, full=True).run().results
        self._waiting.clear()


def _import_vectors(
    imported: _Import, header: dict[str, object], codec_of: CodecOf
) -> tuple[int, tuple[str, ...]]:
    """Store the vectors of an import; return how many were stored, and a note about the others."""
    total = len(imported.vectors)
    space = _active_space(imported.writer.store, imported.writer.key)
    if space is None or space.space.fingerprint != header.get("space"):
        return 0, _missing_note(total, total, "had another model")
    vectors = _readable_vectors(imported.vectors, space, header.get("storage"), codec_of)
    count = _restore_vectors(imported.writer, space, vectors)
    return count, _missing_note(total - len(vectors), total, "cannot be read")


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
    return _line(fields)


def _vector_lines(store: DocumentStore, key: CollectionKey, space: SpaceInfo) -> Iterator[str]:
    rows = store.vectors.rows(key.project, space.id)
    ids = store.vectors.ids_in(key.scope, space.id)
    for start in range(0, len(ids), _PAGE):
        page = rows.by_id(ids[start : start + _PAGE])
        hashes = _text_hashes(store, key, [row.text_id for row in page])
        for row in page:
            if row.text_id in hashes:
                vector = base64.b64encode(row.data).decode()
                yield _line({"vector": vector, "text": hashes[row.text_id]})


def _text_hashes(
    store: DocumentStore, key: CollectionKey, text_ids: Sequence[int]
) -> dict[int, str]:
    """Return the hashes of texts by id; a text that no chunk has any longer is left out."""
    copies = store.copies(key.scope, text_ids)
    first_copies = [chunk_ids[0] for chunk_ids in copies.values()]
    chunks = store.chunks(key.project, first_copies)
    return {row.text_id: row.chunk.hash.hex() for row in chunks.values()}


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
            rows = _valid_rows(codec, {text: unknown[text] for text in page})
            for text in rows:
                del unknown[text]
            if codec.name != own.name:
                rows = _encode_again(rows, codec, own)
            readable.update(rows)
        if not unknown:
            break
    return readable


def _valid_rows(codec: Codec, rows: dict[str, bytes]) -> dict[str, bytes]:
    """Return the rows that the codec can read."""
    valid = codec.sound(list(rows.values()))
    readable: dict[str, bytes] = {}
    for (text, data), is_valid in zip(rows.items(), valid, strict=True):
        if is_valid:
            readable[text] = data
    return readable


def _encode_again(rows: dict[str, bytes], codec: Codec, own: Codec) -> dict[str, bytes]:
    """Return rows of one codec as rows of another."""
    if not rows:
        return {}
    vectors = codec.decode(list(rows.values()))
    return dict(zip(rows, own.encode(vectors), strict=True))


def _possible_codecs(space: SpaceInfo, storage: object, codec_of: CodecOf) -> Iterator[Codec]:
    """Yield every codec, the most likely first."""
    names = [space.storage, *CODECS]
    if isinstance(storage, str) and storage in CODECS:
        names.insert(0, storage)
    for name in dict.fromkeys(names):
        try:
            yield codec_of(replace(space, storage=name))
        except ConfigError:  # a plug-in that does not load: its vectors are left out
            continue


def _missing_note(missing: int, total: int, reason: str) -> tuple[str, ...]:
    if not missing:
        return ()
    vectors = plural(total, "vector")
    note = f"{missing} of {vectors} {reason} and must be made again: `ragstone sync` does it"
    return (note,)


def _restore_vectors(
    writer: DocumentWriter, space: SpaceInfo, vectors: dict[str, bytes]
) -> int:
    """Store imported vectors for the texts they belong to, and return how many."""
    store, key = writer.store, writer.key
    count = last_id = 0
    if not vectors:
        return 0
    while pending := store.vectors.pending(
        key.scope, space.id, after=last_id, limit=_RESTORE_PAGE
    ):
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


def _line(fields: dict[str, object]) -> str:
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
    values = {name: row.get(name, "") for name in _TEXT_FIELDS}
    fields = {name: value for name, value in values.items() if isinstance(value, str)}
    metadata = row.get("metadata", {})
    if len(fields) < len(values) or not isinstance(metadata, dict):
        hint = "document and text are strings, metadata an object"
        raise InputError(f"line {number} is not a document", hint=hint)
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
        marks = []
        for start, page, label, unit in value:
            marks.append(Mark(int(start), int(page), str(label), str(unit)))
    except (TypeError, ValueError) as error:
        raise InputError(f"line {number} has marks that are none", hint=_HINT) from error
    if any(not 0 <= mark.start <= length for mark in marks):
        raise InputError(f"line {number} has marks outside its text", hint=_HINT)
    return tuple(marks)


def _source(number: int, row: dict[str, object]) -> str:
    source = row.get("source", "")
    if not isinstance(source, str):
        raise InputError(f"line {number} has a source that is no name", hint=_HINT)
    # Its path is one of another machine, or chosen by the author of the export: it must not be opened here.
    return "" if source == ADDED else source


def _decode_vector(number: int, value: object) -> bytes:
    try:
        return base64.b64decode(str(value), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(f"line {number} has a damaged vector", hint=_HINT) from error
