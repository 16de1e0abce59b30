"""Files before they were changed: the bytes that `ragstone uninstall` gives back."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Self

from ragstone.config import user_config_folder
from ragstone.errors import ConfigError, InputError

_MAX_BYTES: Final = 5_000_000
_OWNER_ONLY: Final = 0o600


@dataclass(frozen=True, slots=True)
class Backup:
    """The text of a file before and after an installation; None is a file that did not exist."""

    path: str
    before: str | None
    after: str | None
    new_folders: Sequence[str] = ()
    """Folders that the installation made for the file, the innermost first."""

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Return the backup of a file, or None if there is none that can be read."""
        try:
            return cls(**json.loads(backup_file(path).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def save(self) -> None:
        """Write the backup, for the user alone: settings of agents may hold keys."""
        file = backup_file(Path(self.path))
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(asdict(self), stream)


def backup_file(path: Path) -> Path:
    """Return the place of a file's backup in the user's settings folder."""
    folder = user_config_folder()
    if folder is None:
        raise ConfigError("there is no home folder for the backups", hint="set HOME")
    name = hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return folder / "ragstone" / "installed" / f"{name}.json"


def load_text(path: Path) -> str | None:
    """Return the text of a file with its line ends, None if there is none; `InputError` if it is not a text file."""
    try:
        if path.exists() and not path.is_file():
            raise InputError("it is not a regular file")
        with path.open("rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"it cannot be read: {error.strerror or error}") from error
    if len(data) > _MAX_BYTES:
        raise InputError(f"it is larger than {_MAX_BYTES:,} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("it is not UTF-8 text") from error


def missing_folders(path: Path) -> list[str]:
    """Return the folders that must be made for a file, the innermost first."""
    return [str(folder) for folder in path.parents if not folder.exists()]


def write_change(path: Path, after: str | None) -> None:
    """Write or remove a file; the new text replaces the old one in one step, and its permissions stay."""
    if after is None:
        path.unlink(missing_ok=True)
        return
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    draft = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    draft.write_bytes(after.encode("utf-8"))
    if mode is not None:
        draft.chmod(mode)
    draft.replace(target)


def remove_empty_folders(folders: Iterable[str]) -> None:
    """Remove the folders that an installation made, up to the first that holds something else."""
    for folder in folders:
        try:
            os.rmdir(folder)
        except OSError:
            return
