"""Exit codes, HTTP statuses and MCP error codes of failures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from ragstone import errors
from ragstone.errors import RagstoneError
from ragstone.surfaces.present import Json


class FailureCodes(NamedTuple):
    """The exit code, HTTP status and MCP (JSON-RPC) error code of one error class."""

    exit: int
    http: int
    mcp: int
    meaning: str


OK: Final = 0
UNSOUND: Final = 1
USAGE: Final = 2
PARTIAL: Final = 3
DISK: Final = 5
BUG: Final = 70
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141

FAILURE_CODES: Final[Mapping[type[RagstoneError], FailureCodes]] = {
    errors.RagstoneError: FailureCodes(1, 500, -32603, "any other failure"),
    errors.ConfigError: FailureCodes(2, 500, -32603, "settings that cannot be used"),
    errors.MissingExtra: FailureCodes(2, 501, -32603, "an optional package is not installed"),
    errors.MissingKey: FailureCodes(2, 501, -32603, "the service of a model needs a key"),
    errors.InputError: FailureCodes(2, 400, -32602, "an invalid argument"),
    errors.TooLarge: FailureCodes(2, 413, -32602, "a request has too many bytes"),
    errors.SlowRequest: FailureCodes(2, 408, -32602, "a request did not arrive in time"),
    errors.NotFound: FailureCodes(
        4, 404, -32002, "no such project, collection, document or chunk"
    ),
    errors.Conflict: FailureCodes(6, 409, -32009, "the request contradicts the stored state"),
    errors.StaleSpace: FailureCodes(
        6, 409, -32009, "another model or setting made the stored vectors"
    ),
    errors.ReadError: FailureCodes(7, 422, -32602, "a file that cannot be turned into text"),
    errors.ProviderError: FailureCodes(8, 502, -32010, "a model or a remote service failed"),
    errors.StoreError: FailureCodes(
        5, 500, -32603, "the database cannot be opened, read or written"
    ),
    errors.StoreBusy: FailureCodes(
        75, 503, -32011, "another writer held the database for too long: try again"
    ),
    errors.StoreOffline: FailureCodes(
        75, 503, -32011, "the server of the database does not answer: try again"
    ),
    errors.StoreDamaged: FailureCodes(5, 500, -32603, "the database is damaged"),
    errors.StoreTooNew: FailureCodes(5, 500, -32603, "a newer Ragstone wrote the database"),
    errors.QuotaError: FailureCodes(9, 429, -32012, "a plan's limit is reached"),
    errors.AccessError: FailureCodes(10, 403, -32013, "not allowed"),
    errors.Unauthenticated: FailureCodes(10, 401, -32013, "a valid key is missing"),
    errors.TimedOut: FailureCodes(
        1, 504, -32603, "a request took too long; its work may still be done"
    ),
    errors.Overloaded: FailureCodes(
        75, 429, -32011, "the server has too much to do: try again"
    ),
}

_MEMORY_HINT: Final = "close other programs, or index a smaller folder"

EXIT_CODES: Final[Mapping[int, str]] = {
    OK: "success; a search without hits is a success",
    UNSOUND: "`doctor` found a fault, or a failure without a code of its own",
    USAGE: "wrong input or settings",
    PARTIAL: "some of the work failed; the rest is stored",
    4: "no such document, collection or index",
    DISK: "the database or the disk cannot be used",
    6: "a conflict: vectors of another model",
    7: "a file that cannot be turned into text",
    8: "a model or a remote service failed",
    9: "a limit of the plan is reached",
    10: "not allowed",
    BUG: "a bug in Ragstone",
    75: "the database is busy or does not answer: try again",
    INTERRUPTED: "interrupted; stored work stays",
    PIPE_CLOSED: "the reader of the output closed the pipe",
}
"""Every exit code of the command line and its meaning."""


def completion_code(*, is_complete: bool) -> int:
    """Return the exit code of a command that did all of its work, or a part of it."""
    return OK if is_complete else PARTIAL


def failure_codes(error: RagstoneError) -> FailureCodes:
    """Return the codes of an error; a plug-in's class has those of its nearest base class."""
    return next(FAILURE_CODES[kind] for kind in type(error).__mro__ if kind in FAILURE_CODES)


def system_failure(error: BaseException) -> RagstoneError | None:
    """Return the error for a failure of the machine that is no bug of ours; None for any other exception."""
    if isinstance(error, MemoryError):
        return RagstoneError("there is not enough memory", hint=_MEMORY_HINT)
    return None


def failure_json(error: RagstoneError) -> Json:
    """Return a failure as JSON."""
    return {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "retryable": error.retryable,
    }
