"""Failures of a vector service: converted to `ProviderError`, and followed by a pause."""

from __future__ import annotations

import re
import time
from typing import Final

from ragstone.errors import ProviderError

PAUSE_SECONDS: Final = 5.0
"""Seconds without a request after a failed one, so that searches do not wait for a server that is gone."""
_WEB_PAGE: Final = re.compile(r"<(!doctype )?html\b", re.IGNORECASE)


class RequestGuard:
    """Remembers the last failure of a service. A search then compares the stored vectors instead."""

    def __init__(self, service: str, url: str = "", *, hint: str = "") -> None:
        """Take the name and the address of the service for its messages; it has no address if it is in this process."""
        self._service = service
        self._hint = hint
        if url:
            self._service += f" at {url.partition('://')[2].rpartition('@')[2]}"
            self._hint = "start it, or check rag.vector_store.url; it gets the missing rows when it answers"
        self._failed_at: float | None = None
        self._message = ""

    def check(self) -> None:
        """Raise `ProviderError` if the last request failed a moment ago."""
        if self._failed_at is None or time.monotonic() - self._failed_at >= PAUSE_SECONDS:
            return
        raise ProviderError(self._message, hint=self._hint, retryable=True)

    def record(self, error: Exception) -> ProviderError:
        """Start a pause and return the error to raise."""
        self._failed_at = time.monotonic()
        # The text of a Milvus error has codes around its message.
        message = getattr(error, "message", "") or str(error)
        reason = " ".join(str(message).split()) or type(error).__name__
        if _WEB_PAGE.match(reason):
            reason = "it answers with a web page, so it is another service"
        self._message = f"{self._service} failed: {reason}"
        return ProviderError(self._message, hint=self._hint, retryable=True)
