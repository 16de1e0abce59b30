"""What this user trusts: a secret that marks index folders as made here, and settings of project files.

Both are in the folder of the user's settings file, so nothing that comes with a clone can contain them.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ragstone.config.environment import settings_folder
from ragstone.config.files import read_bytes
from ragstone.errors import ConfigError

_KEY_FILE: Final = "key"
_KEY_BYTES: Final = 32
_TRUSTED_FILE: Final = "trusted.json"
_MAX_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class UserKey:
    """The secret of this user on this machine, and the time it was made."""

    secret: bytes
    made_at: float

    def sign(self, message: str) -> str:
        """Return the mark of a message that only the holder of the secret can make."""
        return hmac.new(self.secret, message.encode(), "sha256").hexdigest()


def user_key(environ: Mapping[str, str] | None = None) -> UserKey | None:
    """Return the key of this user, made on first use; None if there is no folder that can hold it."""
    folder = settings_folder(environ)
    if folder is None:
        return None
    path = folder / _KEY_FILE
    with suppress(OSError):
        if not path.exists():
            _write_private(path, secrets.token_bytes(_KEY_BYTES), replace=False)
        secret = path.read_bytes()
        if len(secret) == _KEY_BYTES:
            return UserKey(secret, path.stat().st_mtime)
    return None


def trusted_values(
    folder: Path, environ: Mapping[str, str] | None = None
) -> Mapping[str, object]:
    """Return the settings of a folder's project files that the user trusts, by name."""
    values = _read_trusted(environ).get(os.path.realpath(folder), {})
    return values if isinstance(values, dict) else {}


def trust_values(
    folder: Path, values: Mapping[str, object], environ: Mapping[str, str] | None = None
) -> None:
    """Remember that the user trusts these settings of a folder, and no others."""
    settings = settings_folder(environ)
    if settings is None:
        hint = "set HOME, or set the values in the environment instead"
        raise ConfigError("There is no home folder to remember it in.", hint=hint)
    trusted = {**_read_trusted(environ), os.path.realpath(folder): dict(values)}
    path = settings / _TRUSTED_FILE
    try:
        _write_private(path, json.dumps(trusted, indent=2).encode(), replace=True)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}.") from error


def _read_trusted(environ: Mapping[str, str] | None) -> dict[str, object]:
    folder = settings_folder(environ)
    if folder is None:
        return {}
    data = read_bytes(folder / _TRUSTED_FILE, _MAX_BYTES)
    with suppress(ValueError, RecursionError):
        trusted = json.loads(data or b"{}")
        if isinstance(trusted, dict):
            return trusted
    return {}


def _write_private(path: Path, data: bytes, *, replace: bool) -> None:
    """Write a whole file that only this user can read; without `replace` an existing file stays."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        if replace:
            os.replace(draft, path)
        else:
            with suppress(FileExistsError):  # another process was faster
                os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
