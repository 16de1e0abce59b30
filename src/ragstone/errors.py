"""All errors that Ragstone raises.

RagstoneError
├── ConfigError            settings that cannot be used
│   ├── MissingExtra       an optional package is not installed
│   └── MissingKey         the service of a model needs a key
├── InputError             an invalid argument
│   ├── TooLarge           a request has too many bytes
│   └── SlowRequest        a request did not arrive in time
├── NotFound               no such project, collection, document or chunk
├── Conflict               the request contradicts the stored state
│   └── StaleSpace         another model or setting made the stored vectors
├── ReadError              a file or page that cannot be turned into text
├── ProviderError          a remote service or model failed (`retryable`: a retry may help)
├── StoreError             the database cannot be opened, read or written
│   ├── StoreBusy          another writer held the store for too long (retryable)
│   ├── StoreOffline       the server of the database does not answer (retryable)
│   ├── StoreDamaged       the file is not a sound database
│   └── StoreTooNew        a newer Ragstone wrote the file
├── QuotaError             a plan's limit is reached
├── AccessError            not allowed
│   └── Unauthenticated    a valid key is missing
├── TimedOut               the server did not finish a request in time; it may still do so
└── Overloaded             the server has too much to do (retryable)

Each has a sentence for a person (`message`), advice (`hint`) and a stable `code` for programs.
"""

from __future__ import annotations

from typing import ClassVar, Literal

Reason = Literal[
    "password",
    "no-text-layer",
    "damaged",
    "too-big",
    "timeout",
    "memory",
    "unsupported",
    "crash",
    "unreadable",
]
"""Why a file gave no text, for programs."""


class RagstoneError(Exception):
    """The base class of all errors."""

    code: ClassVar[str] = "error"
    retryable: bool = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Return the message, followed by the hint if there is one."""
        return f"{self.message.rstrip('.')} ({self.hint})" if self.hint else self.message


class ConfigError(RagstoneError):
    """Settings that cannot be used."""

    code = "config"


class MissingExtra(ConfigError):
    """An optional package is not installed."""

    code = "missing_extra"


class MissingKey(ConfigError):
    """The service of a model needs a key, and there is none."""

    code = "missing_key"


class InputError(RagstoneError):
    """An invalid argument."""

    code = "input"


class TooLarge(InputError):
    """A request has too many bytes."""

    code = "too_large"


class SlowRequest(InputError):
    """A request did not arrive in time."""

    code = "slow_request"


class NotFound(RagstoneError):
    """No such project, collection, document or chunk."""

    code = "not_found"


class Conflict(RagstoneError):
    """The request contradicts the stored state."""

    code = "conflict"


class StaleSpace(Conflict):
    """Another model or setting made the stored vectors."""

    code = "stale_space"


class ReadError(RagstoneError):
    """A file or page that cannot be turned into text."""

    code = "read"

    def __init__(self, message: str, *, hint: str = "", reason: Reason = "unreadable") -> None:
        super().__init__(message, hint=hint)
        self.reason: Reason = reason


class ProviderError(RagstoneError):
    """A remote service or model failed."""

    code = "provider"

    def __init__(self, message: str, *, hint: str = "", retryable: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable


class StoreError(RagstoneError):
    """The database cannot be opened, read or written."""

    code = "store"


class StoreBusy(StoreError):
    """Another writer held the store for too long."""

    code = "store_busy"
    retryable = True


class StoreOffline(StoreError):
    """The server of the database does not answer."""

    code = "store_offline"
    retryable = True


class StoreDamaged(StoreError):
    """The file is not a sound database."""

    code = "store_damaged"


class StoreTooNew(StoreError):
    """A newer Ragstone wrote the file."""

    code = "store_too_new"


class QuotaError(RagstoneError):
    """A plan's limit is reached."""

    code = "quota"


class AccessError(RagstoneError):
    """The operation is not allowed."""

    code = "access"


class Unauthenticated(AccessError):
    """A valid key is missing."""

    code = "unauthenticated"


class TimedOut(RagstoneError):
    """The server did not finish a request in time. It may still finish it, so a retry could do the work twice."""

    code = "timed_out"


class Overloaded(RagstoneError):
    """The server has too much to do."""

    code = "overloaded"
    retryable = True

    def __init__(self, message: str, *, hint: str = "", retry_after: float = 1.0) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after
        """Seconds after which a retry makes sense."""
