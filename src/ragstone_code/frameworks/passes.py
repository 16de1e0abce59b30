"""Runs one pass over a program: the only place that goes on after an error of an evaluator."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, TypeVar

from ragstone.errors import RagstoneError

_FAILURES: Final = (
    RagstoneError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    RecursionError,
)
"""Errors that a pass can raise on an unusual program."""
PassResult = TypeVar("PassResult")
logger = logging.getLogger(__name__)


def run_pass(
    name: str,
    read: Callable[[], PassResult],
    default: PassResult,
    report: Callable[[str], object],
) -> PassResult:
    """Return the result of a pass; if it fails, log the traceback, report the reason and return the default."""
    try:
        return read()
    except _FAILURES as error:
        logger.warning("%s failed", name, exc_info=error)
        report(f"{type(error).__name__}: {error}")
        return default
