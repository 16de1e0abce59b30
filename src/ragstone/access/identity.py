"""The identity of a caller, and the one function that decides whether it may do something."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, get_args

from ragstone.errors import AccessError, InputError, NotFound, Unauthenticated

KeyScope = Literal["read", "write", "admin"]
KEY_SCOPES: Final[tuple[KeyScope, ...]] = get_args(KeyScope)
"""`admin` includes the others; `read` and `write` do not include each other."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller: its project, its scopes, and the id of its key. The user of this machine has no key."""

    project: str
    scopes: frozenset[KeyScope]
    key_id: str = ""

    @property
    def is_local(self) -> bool:
        """Return whether the caller is the user of this machine."""
        return not self.key_id

    def allows(self, scope: KeyScope) -> bool:
        """Return whether a scope is granted."""
        return scope in self.scopes or "admin" in self.scopes


def local_identity(project: str) -> Identity:
    """Return the identity of the user of this machine, who may do everything in a project."""
    return Identity(project, frozenset(KEY_SCOPES))


def authorize(
    identity: Identity | None,
    scope: KeyScope,
    *,
    project: str | None = None,
    key_sent: bool = False,
) -> Identity:
    """Return the identity if it may use this scope in this project; raise an `AccessError` or `NotFound` if not.

    Another project is `NotFound`: a caller cannot learn which projects exist.
    """
    if identity is None and key_sent:
        raise Unauthenticated(
            "this key is not valid: it is unknown, expired or revoked",
            hint="`ragstone keys create` makes a new one",
        )
    if identity is None:
        raise Unauthenticated(
            "this server needs a key", hint="send `Authorization: Bearer KEY`"
        )
    if project is not None and project != identity.project:
        raise NotFound(f"there is no project {project!r}", hint="a key belongs to one project")
    if not identity.allows(scope):
        raise AccessError(
            f"the key does not have the scope {scope!r}",
            hint=f"`ragstone keys create --scope {scope}` makes one that has it",
        )
    return identity


def check_scopes(scopes: Iterable[str]) -> frozenset[KeyScope]:
    """Return scopes as a set; `InputError` if one is unknown or there is none."""
    known = frozenset(scope for scope in KEY_SCOPES if scope in set(scopes))
    if not known or known != set(scopes):
        raise InputError(
            f"the scopes of a key are not {', '.join(map(str, scopes)) or 'empty'}",
            hint=f"use some of: {', '.join(KEY_SCOPES)}",
        )
    return known
