"""Decides whether this user made an index. An index that came with a clone, or from another user, is not used.

A home has a seal that only this user can make, with a key outside of the project. A home without a valid seal, such as
one of an earlier version, is still used if the clock of the file system shows that it was made in this place.

The machine and folder that sync a collection own its files. Elsewhere they are missing, and a sync would remove their
documents.
"""

from __future__ import annotations

import hmac
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone.config import user_ids
from ragstone.config.trust import UserKey, user_key
from ragstone.errors import Conflict, ReadError, StoreError
from ragstone.protocols import SharedStore
from ragstone.sources.files import safe_open
from ragstone.sources.folder.git import run_git
from ragstone.sources.folder.tree import repository_of
from ragstone.store.home_folder import DATABASE, IGNORE_FILE, SEAL
from ragstone.store.summary import DatabaseSummary, read_summary

if TYPE_CHECKING:
    from ragstone.indexing.collection import IndexedCollection

_MESSAGE: Final = "this user made this index"
_MAX_SEAL_BYTES: Final = 100
_COARSE_CLOCK_SECONDS: Final = 2.0
"""File systems round their times, some of them to two seconds."""


def require_own(home: Path) -> None:
    """Raise `StoreError` if a home has a database that this user did not make."""
    if not os.path.lexists(home / DATABASE):
        return
    _require_owner(home)
    is_known_untracked = _require_untracked(home)
    key = user_key()
    if _has_seal(home, key):
        return
    if not is_known_untracked or not _was_made_here(home, key):
        raise StoreError(
            f"{home} was not made by you on this machine, so its index is not used",
            hint="remove the folder and `ragstone sync` makes a new one; or run `ragstone trust` if it is yours",
        )


def is_own(home: Path) -> bool:
    """Return whether the database of a home may be used."""
    try:
        require_own(home)
    except StoreError:
        return False
    return True


def require_trustable(home: Path, summary: DatabaseSummary | None) -> None:
    """Raise `StoreError` if a home cannot be used even if the user trusts it."""
    _require_owner(home)
    _require_untracked(home)
    if summary is None:
        raise StoreError(
            f"{home / DATABASE} is not a database of Ragstone",
            hint="remove the folder, then `ragstone sync` makes a new index",
        )


def mark_own(home: Path) -> None:
    """Write the seal of this user, if the home can be written and has none."""
    key = user_key()
    if key is None or _has_seal(home, key):
        return
    seal = home / SEAL
    try:
        seal.unlink(missing_ok=True)
        descriptor = os.open(seal, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError:
        return  # read-only, or another process writes the seal
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(key.sign(_MESSAGE))


def _require_owner(home: Path) -> None:
    ids = user_ids()
    for path in (home, home / DATABASE):
        if ids and os.lstat(path).st_uid not in ids:
            raise StoreError(
                f"{home} belongs to another user of this machine, so its index is not used",
                hint="set RAGSTONE_RAG_STORE_PATH to a folder of yours, or to this one if you trust its owner",
            )


def _require_untracked(home: Path) -> bool:
    """Raise `StoreError` if git tracks a file of the home; return False if git does not answer."""
    if repository_of(home.parent) is None:
        return True
    completed = run_git(home.parent, ("ls-files", "-z", "--", home.name))
    if completed is None or completed.returncode != 0:
        return False
    if completed.stdout:
        raise StoreError(
            f"git tracks {home}, and an index that came with a clone is not used",
            hint=f"run `git rm -r --cached {home.name}`, remove the folder, then `ragstone sync` makes your own",
        )
    return True


def _has_seal(home: Path, key: UserKey | None) -> bool:
    if key is None:
        return False
    try:
        seal = safe_open(home, SEAL, max_bytes=_MAX_SEAL_BYTES).data
    except ReadError:
        return False
    return hmac.compare_digest(seal, key.sign(_MESSAGE).encode())


def _was_made_here(home: Path, key: UserKey | None) -> bool:
    """Return whether a home without a seal was made in this place.

    Ragstone writes the ignore file before the first document, and a clone or copy gets new change times. So in a home
    that was made here that file is older than every document. It is also older than the key, because a home that was
    made later has a seal.
    """
    try:
        written = os.lstat(home / IGNORE_FILE).st_ctime
    except OSError:
        return False
    if key is not None and written > key.made_at + _COARSE_CLOCK_SECONDS:
        return False
    summary = read_summary(home / DATABASE)
    if summary is None:
        return False
    if summary.first is None or summary.last is None:
        return summary.is_empty
    is_first = written <= summary.first + _COARSE_CLOCK_SECONDS
    return is_first and summary.last <= time.time() + _COARSE_CLOCK_SECONDS


def require_takeover(collection: IndexedCollection, *, full: bool) -> None:
    """Raise `Conflict` if a sync would replace the documents of another folder unasked."""
    root = collection.state.root
    if not isinstance(collection.components.store, SharedStore):
        raise Conflict(
            f"the index in {collection.components.home} has the documents of {root}",
            hint="name another project with `--project`, or another home with RAGSTONE_STORE_PATH",
        )
    if not full:
        raise Conflict(
            f"the collection {collection.key.name!r} has the documents of {root}",
            hint="sync there, name another project with `--project`, or `ragstone sync --full` takes it over",
        )
