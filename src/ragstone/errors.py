"""Every failure a caller can meet, as one tree.

RagstoneError
├── ConfigError            settings that cannot be used
│   └── MissingExtra       an optional package is not installed
├── InputError             an argument that makes no sense
├── NotFound               no such project, collection, document, chunk
├── Conflict               two truths meet
│   └── StaleSpace         vectors were made by another model or setting
├── ReadError              a file or page that cannot be turned into text
├── ProviderError          a remote service or model failed (`retryable` says whether to try again)
├── StoreError             the database cannot be opened, read or written
│   ├── StoreBusy          another writer held the store for too long (retryable)
│   ├── StoreDamaged       the file is not a sound database
│   └── StoreTooNew        the file was written by a newer Ragstone
├── QuotaError             a plan's limit is reached
└── AccessError            not allowed

Each carries a sentence for a person (`message`), what to do about it (`hint`) and a stable `code`.
"""

from __future__ import annotations

from typing import ClassVar, Literal

Reason = Literal[
    "password", "no-text-layer", "damaged", "too-big", "timeout", "memory", "unsupported", "crash", "unreadable"
]
"""Why a file gave no text, for a program to tell apart."""


class RagstoneError(Exception):
    """The root of the tree."""

    code: ClassVar[str] = "error"
    retryable: bool = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        """Keep the sentence and the hint."""
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Return the sentence, followed by the hint where there is one."""
        return f"{self.message} ({self.hint})" if self.hint else self.message


class ConfigError(RagstoneError):
    """Settings that cannot be used."""

    code = "config"


class MissingExtra(ConfigError):
    """An optional package is not installed."""

    code = "missing_extra"


class InputError(RagstoneError):
    """An argument that makes no sense."""

    code = "input"


class NotFound(RagstoneError):
    """No such project, collection, document or chunk."""

    code = "not_found"


class Conflict(RagstoneError):
    """Two truths meet."""

    code = "conflict"


class StaleSpace(Conflict):
    """Vectors were made by another model or setting."""

    code = "stale_space"


class ReadError(RagstoneError):
    """A file or page that cannot be turned into text; `reason` says in one word why."""

    code = "read"

    def __init__(self, message: str, *, hint: str = "", reason: Reason = "unreadable") -> None:
        """Keep the sentence, the hint and the reason."""
        super().__init__(message, hint=hint)
        self.reason: Reason = reason


class ProviderError(RagstoneError):
    """A remote service or model failed."""

    code = "provider"

    def __init__(self, message: str, *, hint: str = "", retryable: bool = False) -> None:
        """Keep the sentence, the hint and whether trying again can help."""
        super().__init__(message, hint=hint)
        self.retryable = retryable


class StoreError(RagstoneError):
    """The database cannot be opened, read or written."""

    code = "store"


class StoreBusy(StoreError):
    """Another writer held the store for too long."""

    code = "store_busy"
    retryable = True


class StoreDamaged(StoreError):
    """The file is not a sound database."""

    code = "store_damaged"


class StoreTooNew(StoreError):
    """The file was written by a newer Ragstone."""

    code = "store_too_new"


class QuotaError(RagstoneError):
    """A plan's limit is reached."""

    code = "quota"


class AccessError(RagstoneError):
    """Not allowed."""

    code = "access"
