"""How documents are cut. A search loads this module to compare recipes, so it imports no reader and no chunker."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.chunk.recipes import describe_recipe
from ragstone.read.formats import READERS_VERSION
from ragstone.sources.secrets import rules as secret_rules


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
