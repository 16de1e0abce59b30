"""Writes single settings into a project's `ragstone.toml`; its comments and its order stay."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from ragstone.config.files import read_settings_file
from ragstone.config.load import FILE_NAME, MAX_FILE_BYTES, load, untrusted_values
from ragstone.config.settings import SettingKey, setting_keys
from ragstone.config.validation import check_known, parse_value
from ragstone.errors import ConfigError

_MODE: Final = 0o644


def write_setting(root: Path, name: str, text: str) -> Path:
    """Write a setting into the project file and return the file; an empty text removes the setting.

    Tables that become empty are removed too, and so is an empty file.
    `ConfigError` if the value is not accepted; the file then has its old content.
    """
    key = _find_key(name)
    path = root / FILE_NAME
    before = read_settings_file(path, MAX_FILE_BYTES, allow_link=False)
    try:
        document = tomlkit.parse(before or "")
    except TOMLKitError as error:
        raise ConfigError(f"{FILE_NAME} is no valid TOML: {error}") from error
    if text.strip():
        value = parse_value(name, text.strip(), key.value_type, origin="the value")
        table = _find_table(document, name)
        table[name.rpartition(".")[2]] = list(value) if isinstance(value, tuple) else value
    else:
        _remove_value(document, name)
    _write_file(path, tomlkit.dumps(document))
    try:
        _check_file(root, name)
    except ConfigError:
        _restore(path, before)
        raise
    return path


def _check_file(root: Path, name: str) -> None:
    """Raise `ConfigError` if the settings are not valid with the new value, or need the user's trust."""
    if any(value.key.name == name for value in untrusted_values(root)):
        raise ConfigError(
            f"this value of {name} loosens a protection",
            hint=f"write it into {FILE_NAME} yourself, then run `ragstone trust`",
        )
    load(root)


def _find_key(name: str) -> SettingKey:
    """Return a setting that a project file may have."""
    keys = setting_keys()
    check_known(name, keys, f"there is no setting {name!r}")
    key = keys[name]
    if key.rules.secret or key.rules.personal:
        raise ConfigError(
            f"{name} is not taken from a project file",
            hint=f"set it in your user file, or as {key.variable}",
        )
    return key


def _find_table(document: tomlkit.TOMLDocument, name: str) -> tomlkit.TOMLDocument:
    """Return the table of a setting; it is made if it is missing."""
    table = document
    for part in name.split(".")[:-1]:
        if part not in table:
            table[part] = tomlkit.table()
        table = table[part]
    return table


def _remove_value(document: tomlkit.TOMLDocument, name: str) -> None:
    """Remove a setting from the document, and the tables that are empty then."""
    *parts, last = name.split(".")
    tables = [document]
    for part in parts:
        if part not in tables[-1]:
            return
        tables.append(tables[-1][part])
    tables[-1].pop(last, None)
    for part in reversed(parts):
        table = tables.pop()
        if not _is_empty(table):
            return
        del tables[-1][part]


def _is_empty(table: object) -> bool:
    """Return whether a table has no value and no comment."""
    return (
        isinstance(table, Table)
        and not table.as_string().strip()
        and not table.trivia.comment.strip()
    )


def _write_file(path: Path, text: str) -> None:
    """Write the file; a text without content removes it."""
    if text.strip():
        _replace_file(path, text)
    else:
        path.unlink(missing_ok=True)


def _replace_file(path: Path, text: str) -> None:
    """Write a file at once: a reader sees the old or the new content."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
        mode = path.stat().st_mode & 0o777 if path.exists() else _MODE
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise ConfigError(f"{path.name} cannot be written: {error.strerror}") from error


def _restore(path: Path, before: str | None) -> None:
    if before is None:
        path.unlink(missing_ok=True)
    else:
        _replace_file(path, before)
