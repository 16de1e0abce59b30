"""Files that a user added by their paths, inside or outside of the folder, as a source.

Each document keeps the path of its file in its metadata, so that a search and a sync can check the file again.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, Self

from ragstone.errors import ReadError
from ragstone.sources.files import Identity, safe_open, stamp_of, to_uri
from ragstone.sources.folder.selection import FileLimits
from ragstone.types import Item, LoadedItem, Metadata, Skip, Stamp
from ragstone.types.documents import Value

ADDED: Final = "added"
"""The source name of documents that came from added files."""
PATH: Final = "added_from"
"""The metadata with the absolute path of the file."""
DEVICE: Final = "added_device"
"""The metadata with the number of the drive that the file was on."""
KEYS: Final = "added_keys"
"""The metadata with the names that the user gave; all others come from the reader."""
GONE: Final = "the file is gone, so its text was removed"


class FileState(NamedTuple):
    """An added file as it is now: its stamp, or why it cannot be checked. Without both it is gone."""

    stamp: Stamp | None
    problem: str = ""

    @property
    def is_gone(self) -> bool:
        """Return whether the file was deleted or moved."""
        return self.stamp is None and not self.problem


@dataclass(frozen=True, slots=True)
class AddedFile:
    """A file that a user added, with the metadata that the user gave."""

    uri: str
    path: str
    """The absolute path, without links in its folders."""
    device: int | None = None
    metadata: Metadata = field(default_factory=dict)

    @classmethod
    def from_metadata(cls, uri: str, stored: Metadata) -> Self | None:
        """Return the file of a stored document; None if its metadata names no path."""
        path, device = stored.get(PATH), stored.get(DEVICE)
        if not isinstance(path, str) or not os.path.isabs(path):
            return None
        keys = stored.get(KEYS) or ()
        names = keys if isinstance(keys, list | tuple) else ()
        metadata = {str(name): stored[str(name)] for name in names if str(name) in stored}
        return cls(uri, path, device if isinstance(device, int) else None, metadata)

    def state(self) -> FileState:
        """Return the state of the file. A missing folder or drive is a problem: the file may come back."""
        try:
            return FileState(stamp_of(os.lstat(self.path)))
        except (FileNotFoundError, NotADirectoryError):
            return FileState(None, self._absence_problem())
        except OSError as error:
            return FileState(None, f"cannot be looked at: {error.strerror or error}")

    def _absence_problem(self) -> str:
        """Return why a missing file may still exist; empty if its folder and its drive are there."""
        folder = os.path.dirname(self.path)
        try:
            device = os.stat(folder).st_dev
        except OSError:
            return f"the folder {folder} is not there now"
        if self.device is not None and device != self.device:
            return f"the drive of {folder} is not there now"
        return ""


class AddedFiles:
    """A list of added files. A file that cannot be reached now is skipped with the reason and keeps its text."""

    name = ADDED

    def __init__(
        self, files: Iterable[AddedFile], *, limits: FileLimits, never: Collection[Identity]
    ) -> None:
        """Take the files, the size limits, and the identities of files that are never opened."""
        self._files = {file.uri: file for file in files}
        self._limits = limits
        self._never = never
        self._unreachable: set[str] = set()
        self.scope: list[str] | None = list(self._files)

    def scan(self) -> Iterator[Item | Skip]:
        """Yield every file, or why it cannot be reached."""
        self._unreachable.clear()
        for uri, file in self._files.items():
            state = file.state()
            if state.problem:
                self._unreachable.add(uri)
                yield Skip(uri, state.problem)
            else:
                yield Item(uri, state.stamp)

    def load(self, item: Item) -> LoadedItem:
        """Return the bytes of a file, or that it is gone; raise `ReadError` if it cannot be read."""
        file = self._files[item.uri]
        state = file.state()
        if state.is_gone:
            return LoadedItem(state="gone", remark=GONE)
        excess = state.stamp and self._limits.explain_excess(item.uri, state.stamp.size)
        if excess:
            raise ReadError(excess, reason="too-big")
        root = Path(file.path).anchor
        relative = Path(file.path).relative_to(root).as_posix()
        # No link is followed: a link in place of a folder would lead to a file that was never added.
        content = safe_open(
            Path(root),
            relative,
            max_bytes=self._limits.max_bytes(item.uri),
            never=self._never,
        )
        return LoadedItem(
            content.data,
            content.lasting_stamp,
            file_name=_name_for_reader(file),
            metadata=_stored_metadata(file),
        )

    def covers(self, uri: str) -> bool:
        """Return whether a file that the last scan did not list is gone."""
        return uri not in self._unreachable


def canonical_path(file: str) -> str:
    """Return an absolute path without links in its parent folders; the last part may be a link."""
    parent, name = os.path.split(os.path.abspath(file))
    return os.path.join(os.path.realpath(parent), name)


def file_uri(file: str, base: Path) -> str:
    """Return a file's uri: its path relative to the sources' base folder, or the absolute path outside of it."""
    path = Path(canonical_path(file))
    real_base = Path(os.path.realpath(base))
    if path.is_relative_to(real_base):
        path = path.relative_to(real_base)
    return to_uri(path.as_posix())


def require_file(path: str) -> None:
    """Raise `ReadError` if a path that a user named is no file, or an empty one."""
    if os.path.isdir(path):
        raise ReadError("it is a folder", hint="`ragstone sync` indexes folders")
    if not os.path.lexists(path):
        raise ReadError("there is no such file", hint="check the path")
    if os.path.isfile(path) and not os.path.getsize(path):
        raise ReadError("it is empty", hint="add it when it has text")


def _name_for_reader(file: AddedFile) -> str:
    """Return the name that chooses the reader: the name of the document if it has an ending, or the file's path."""
    has_ending = "." in file.uri.rpartition("/")[2]
    return file.uri if has_ending else file.path


def _stored_metadata(file: AddedFile) -> Metadata:
    device = os.stat(os.path.dirname(file.path)).st_dev
    metadata: dict[str, Value] = {**file.metadata, PATH: file.path, DEVICE: device}
    if file.metadata:
        metadata[KEYS] = tuple(sorted(file.metadata))
    return metadata
