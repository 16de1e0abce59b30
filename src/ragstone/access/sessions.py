"""Sessions of a browser: a cookie in place of a key, and a second token that pages of other sites cannot know."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from dataclasses import dataclass
from typing import Final

from cachetools import TTLCache

SESSION_SECONDS: Final = 12 * 3600
_MAX_SESSIONS: Final = 10_000
_TOKEN_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A session of one key. It ends with the key, after half a day, or with the server."""

    key_id: str
    csrf_token: str

    def has_token(self, token: str) -> bool:
        """Return whether a request comes from a page of ours: it sends the token of the session."""
        return hmac.compare_digest(self.csrf_token.encode(), token.encode("utf-8", "replace"))


class BrowserSessions:
    """Opens and finds sessions; safe to use from several threads."""

    def __init__(self) -> None:
        """Start with the session of the user of this machine, which has a token and no cookie."""
        self.local = BrowserSession("", secrets.token_hex(_TOKEN_BYTES))
        self._lock = threading.Lock()
        self._sessions: TTLCache[str, BrowserSession] = TTLCache(
            _MAX_SESSIONS, SESSION_SECONDS, time.monotonic
        )

    def open(self, key_id: str) -> tuple[str, BrowserSession]:
        """Return the cookie of a new session of a key, and the session."""
        cookie = secrets.token_hex(_TOKEN_BYTES)
        session = BrowserSession(key_id, secrets.token_hex(_TOKEN_BYTES))
        with self._lock:
            self._sessions[cookie] = session
        return cookie, session

    def find(self, cookie: str) -> BrowserSession | None:
        """Return the session of a cookie, or None."""
        with self._lock:
            return self._sessions.get(cookie)

    def close(self, cookie: str) -> None:
        """End a session, if there is such a session."""
        with self._lock:
            self._sessions.pop(cookie, None)
