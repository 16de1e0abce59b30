"""Keys of a server: 256 random bits, shown once, stored as a digest, found by a public id."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, cast

from ragstone.access.identity import Identity, KeyScope, check_scopes
from ragstone.errors import InputError, NotFound
from ragstone.protocols import KeyStore
from ragstone.types import StoredKey

PREFIX: Final = "rag"
_ID_BYTES: Final = 8
_SECRET_BYTES: Final = 32
_MAX_NAME: Final = 200
_MAX_TOKEN: Final = 200


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made. The token is shown once; the store has only its digest."""

    key: StoredKey
    token: str


class KeyRing:
    """Makes keys and recognises them. The pepper is a secret outside of the database."""

    def __init__(self, store: KeyStore, pepper: bytes) -> None:
        """Take the store of keys and the pepper."""
        self._store = store
        self._pepper = pepper

    def exists(self) -> bool:
        """Return whether a key was ever made: from then on every caller needs one."""
        return self._store.any()

    def create(
        self,
        project: str,
        *,
        name: str = "",
        scopes: Iterable[str] = ("read", "write"),
        expires_at: float | None = None,
    ) -> NewKey:
        """Store a new key and return it with its token."""
        checked = check_scopes(list(scopes))
        if len(name) > _MAX_NAME or not name.isprintable():
            raise InputError("the name of a key is one short line", hint="--name laptop")
        now = time.time()
        if expires_at is not None and expires_at <= now:
            raise InputError("the key would have expired already", hint="choose a later time")
        key_id = secrets.token_hex(_ID_BYTES)
        secret = secrets.token_hex(_SECRET_BYTES)
        key = StoredKey(
            key_id, project, name, tuple(sorted(checked)), self._digest(secret), now, expires_at
        )
        self._store.add(key)
        return NewKey(key, f"{PREFIX}_{key_id}_{secret}")

    def list(self, project: str) -> list[StoredKey]:
        """Return the keys of a project, oldest first."""
        return self._store.list(project)

    def revoke(self, project: str, key_id: str) -> StoredKey:
        """Revoke a key of a project and return it; `NotFound` if there is none. It ends at once, everywhere."""
        is_known = self._store.revoke(project, key_id, time.time())
        key = self._store.get(key_id)
        if not is_known or key is None:
            raise NotFound(
                f"there is no key {key_id!r}", hint="`ragstone keys list` lists them"
            )
        return key

    def identify(self, token: str) -> Identity | None:
        """Return the identity of a token, or None if it is wrong, expired or revoked."""
        prefix, _, rest = token[:_MAX_TOKEN].partition("_")
        key_id, _, secret = rest.partition("_")
        key = self._store.get(key_id) if prefix == PREFIX else None
        # An unknown id takes as long as a wrong secret.
        expected = key.digest if key else bytes(_SECRET_BYTES)
        is_right = hmac.compare_digest(self._digest(secret), expected)
        if key is None or not is_right:
            return None
        return _identity(key)

    def identify_id(self, key_id: str) -> Identity | None:
        """Return the identity of a key that a session was opened with, or None if the key has ended."""
        key = self._store.get(key_id)
        return None if key is None else _identity(key)

    def _digest(self, secret: str) -> bytes:
        return hmac.digest(self._pepper, secret.encode("utf-8", "replace"), "sha256")


def _identity(key: StoredKey) -> Identity | None:
    """Return the identity of a key, or None if it is expired or revoked."""
    if not is_active(key):
        return None
    scopes = frozenset(cast(KeyScope, scope) for scope in key.scopes)
    return Identity(key.project, scopes, key.id)


def is_active(key: StoredKey) -> bool:
    """Return whether a key is neither revoked nor expired."""
    if key.revoked_at is not None:
        return False
    return key.expires_at is None or time.time() < key.expires_at
