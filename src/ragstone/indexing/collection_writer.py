"""How documents of one collection are cut, and the writer that stores them and announces them.

A search loads this module to compare recipes, so it imports no reader and no chunker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from ragstone.chunk.sizes import describe_recipe, overlap_in_unit, size_in_unit
from ragstone.errors import QuotaError
from ragstone.indexing.events import CHUNK_INDEXED, DOCUMENT_REMOVED
from ragstone.read.file_formats import OCR_VERSION, READERS_VERSION
from ragstone.sources.secrets import rules as secret_rules
from ragstone.types import NO_LIMITS, Limits, OcrLimits, Skip

if TYPE_CHECKING:
    from ragstone.config import Settings
    from ragstone.indexing.events import EventBus
    from ragstone.protocols import DocumentStore, Source
    from ragstone.types import CollectionKey, KnownFile, PreparedDocument, PutResult, Scalar


SECRETS_OFF: Final = "secrets are not looked for (sources.secrets is off): keys and passwords are stored in clear"
_REMOVED_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class ChunkingConfig:
    """The chunker, its sizes in its own unit (None for its defaults), and whether secrets are redacted first."""

    chunker: str = "auto"
    size: int | None = None
    overlap: int | None = None
    redact_secrets: bool = True
    ocr: OcrLimits | None = None
    """Limits for the text of pictures and scanned pages; None if it is not recognised."""

    @classmethod
    def from_settings(cls, settings: Settings, own: Mapping[str, Scalar]) -> Self:
        """Return the chunking of a collection: its own values win over the settings, in either unit."""
        rag = settings.rag
        chunker = str(own.get("chunker", rag.chunker))
        size = size_in_unit(chunker, _number(own, "chunk_size"), _number(own, "max_tokens"))
        if size is None:
            size = size_in_unit(chunker, rag.chunk_size, settings.chunk.max_tokens)
        overlap = overlap_in_unit(
            chunker, _number(own, "chunk_overlap"), _number(own, "overlap_tokens")
        )
        if overlap is None:
            overlap = overlap_in_unit(chunker, rag.chunk_overlap, settings.chunk.overlap_tokens)
        return cls(
            chunker,
            size,
            overlap,
            settings.sources.secrets == "redact",
            settings.ocr,
        )

    @property
    def recipe(self) -> str:
        """Return the name of this way to read and cut; a document with another recipe is prepared again."""
        secrets = secret_rules.recipe() if self.redact_secrets else "secrets/off"
        chunking = describe_recipe(self.chunker, self.size, self.overlap)
        recipe = f"{chunking};{READERS_VERSION};{secrets}"
        return recipe if self.ocr is None else f"{recipe};{OCR_VERSION}"


@dataclass(frozen=True, slots=True)
class DocumentWriter:
    """Writes to one collection."""

    store: DocumentStore
    key: CollectionKey
    chunking: ChunkingConfig
    events: EventBus
    limits: Limits = NO_LIMITS
    """The limits of the project's plan."""

    def stored_files(self, source: Source) -> dict[str, KnownFile]:
        """Return the stored documents of a source, by uri; only those in its scope."""
        return self.store.known_files(self.key, source.name, uris=source.scope, below=True)

    def put(self, documents: Sequence[PreparedDocument]) -> list[PutResult]:
        """Store documents in one transaction, emit an event for each, and return the chunk counts."""
        try:
            results = self.store.put(self.key, documents, limits=self.limits)
        except QuotaError as error:
            self.events.audit("quota", collection=self.key.name, reason=error.message)
            raise
        for result in results:
            self.events.emit(
                CHUNK_INDEXED,
                collection=self.key.name,
                uri=result.uri,
                added=result.added,
                kept=result.kept,
                removed=result.removed,
            )
        return results

    def remove(self, uris: Sequence[str]) -> int:
        """Remove documents, emit an event for each transaction, and return how many existed."""
        removed = 0
        for start in range(0, len(uris), _REMOVED_AT_ONCE):
            batch = uris[start : start + _REMOVED_AT_ONCE]
            count = self.store.remove(self.key, batch)
            if count:
                self.events.emit(
                    DOCUMENT_REMOVED,
                    collection=self.key.name,
                    uris=list(batch),
                    documents=count,
                )
            removed += count
        return removed

    def remarks(self, results: Iterable[PutResult] = ()) -> tuple[Skip, ...]:
        """Return the remarks on stored documents; the first says if secrets are not redacted."""
        remarks = []
        if not self.chunking.redact_secrets:
            remarks.append(Skip(".", SECRETS_OFF))
        for result in results:
            remarks += [Skip(result.uri, remark) for remark in result.remarks]
        return tuple(remarks)


def _number(values: Mapping[str, Scalar], name: str) -> int | None:
    value = values.get(name)
    return value if isinstance(value, int) else None
