"""How documents of one collection are cut, and the writer that stores them and announces them.

A search loads this module to compare recipes, so it imports no reader and no chunker.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ragstone.chunk.recipes import describe_recipe
from ragstone.errors import QuotaError
from ragstone.indexing.events import CHUNK_INDEXED
from ragstone.read.formats import READERS_VERSION
from ragstone.sources.secrets import rules as secret_rules
from ragstone.types import NO_LIMITS, Limits, Skip

if TYPE_CHECKING:
    from ragstone.indexing.events import EventBus
    from ragstone.protocols import DocumentStore, Source
    from ragstone.types import CollectionKey, KnownFile, PreparedDocument, PutResult


@dataclass(frozen=True, slots=True)
class ChunkingConfig:
    """The chunker and its sizes (None for the chunker's defaults), and whether secrets are redacted first."""

    chunker: str = "auto"
    size: int | None = None
    overlap: int | None = None
    redact_secrets: bool = True

    @property
    def recipe(self) -> str:
        """Return the name of this way to read and cut; a document with another recipe is prepared again."""
        secrets = secret_rules.recipe() if self.redact_secrets else "secrets/off"
        chunking = describe_recipe(self.chunker, self.size, self.overlap)
        return f"{chunking};{READERS_VERSION};{secrets}"


SECRETS_OFF: Final = "secrets are not looked for (sources.secrets is off): keys and passwords are stored in clear"
_REMOVED_AT_ONCE: Final = 500


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
                uri=result.uri,
                added=result.added,
                kept=result.kept,
                removed=result.removed,
            )
        return results

    def remove(self, uris: Sequence[str]) -> int:
        """Remove documents and return how many existed."""
        removed = 0
        for start in range(0, len(uris), _REMOVED_AT_ONCE):
            removed += self.store.remove(self.key, uris[start : start + _REMOVED_AT_ONCE])
        return removed

    def remarks(self, results: Iterable[PutResult] = ()) -> tuple[Skip, ...]:
        """Return the remarks on stored documents; the first says if secrets are not redacted."""
        remarks = []
        if not self.chunking.redact_secrets:
            remarks.append(Skip(".", SECRETS_OFF))
        for result in results:
            remarks += [Skip(result.uri, remark) for remark in result.remarks]
        return tuple(remarks)
