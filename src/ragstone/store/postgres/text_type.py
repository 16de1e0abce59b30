"""How the driver sends and reads texts.

PostgreSQL cannot store NUL, and UTF-8 has no lone surrogates. A text with one of them is stored as hexadecimal digits
after a mark that no other stored text begins with.
"""

from __future__ import annotations

from typing import Final

from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format

from ragstone.errors import StoreDamaged
from ragstone.store.failures import RESTORE

MARK: Final = "\ufdd0"
_MARK_BYTES: Final = MARK.encode()
_TEXT_OID: Final = 25


def escape(text: str) -> bytes:
    """Return the bytes that are stored for a text."""
    try:
        plain = text.encode()
    except UnicodeEncodeError:
        return escape_always(text)
    if b"\0" in plain or plain.startswith(_MARK_BYTES):
        return escape_always(text)
    return plain


def escape_always(text: str) -> bytes:
    """Return the bytes that are stored for a text that cannot be stored as it is."""
    return _MARK_BYTES + text.encode("utf-8", "surrogatepass").hex().encode()


def restore(stored: bytes) -> str:
    """Return the text of stored bytes."""
    try:
        if stored.startswith(_MARK_BYTES):
            digits = stored[len(_MARK_BYTES) :].decode()
            return bytes.fromhex(digits).decode("utf-8", "surrogatepass")
        return stored.decode()
    except ValueError as error:
        raise StoreDamaged(
            "the store is damaged: a text that is not text", hint=RESTORE
        ) from error


class TextDumper(Dumper):
    """Sends a text; PostgreSQL infers its type from the statement."""

    def dump(self, obj: str) -> Buffer:
        """Return the bytes that are sent."""
        return escape(obj)


class TextBinaryDumper(TextDumper):
    """Sends a text inside of an array."""

    format = Format.BINARY
    oid = _TEXT_OID


class TextLoader(Loader):
    """Reads a text that is sent as text."""

    def load(self, data: Buffer) -> str:
        """Return the text of received bytes."""
        return restore(bytes(data))


class TextBinaryLoader(TextLoader):
    """Reads a text that is sent in binary form."""

    format = Format.BINARY


def register(context: AdaptContext) -> None:
    """Let a connection use these types."""
    adapters = context.adapters
    adapters.register_dumper(str, TextBinaryDumper)
    adapters.register_dumper(
        str, TextDumper
    )  # the last one is used if the statement does not choose
    for loader in (TextLoader, TextBinaryLoader):
        adapters.register_loader("text", loader)
