"""Loads settings. An argument wins over the environment, then the project files, the user files and the defaults."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ragstone.config import documents_yaml
from ragstone.config.environment import settings_folder
from ragstone.config.files import PROJECT_LAYER, read_settings_file
from ragstone.config.restrictions import (
    check_combination,
    check_project_value,
    is_looser,
    refuse_secret,
)
from ragstone.config.settings import (
    HOME_IN_CACHE,
    LIST_ALL,
    SettingKey,
    Settings,
    build_settings,
    section_names,
    setting_keys,
    suggest_setting,
)
from ragstone.config.trust import trusted_values
from ragstone.config.validation import check_value, parse_value, suggest
from ragstone.errors import ConfigError

FILE_NAME = "ragstone.toml"
_PREFIX = "RAGSTONE_"
MAX_FILE_BYTES = 1_000_000
logger = logging.getLogger(__name__)


class SetValue(NamedTuple):
    """A setting that a file, a variable or an argument sets, and its origin in words."""

    key: SettingKey
    value: object
    origin: str


def load(
    folder: str | Path,
    overrides: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    require_trust: bool = True,
) -> Settings:
    """Return the settings of a folder; raise `ConfigError` if a value makes no sense.

    Without `require_trust` values that the user does not trust are taken too; nothing may be done with them.
    """
    root = Path(folder).absolute()
    if environ is None:
        environ = os.environ
    values, origins, loosening = _merge(root, overrides or {}, environ)
    if loosening and require_trust:
        raise _untrusted_error(loosening[0])
    if "store.path" not in values and _is_read_only(root):
        cache_folder = _user_cache_folder(environ)
        if cache_folder is not None:
            digest = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]
            values["store.path"] = str(cache_folder / "ragstone" / digest / ".ragstone")
            origins["store.path"] = HOME_IN_CACHE
    check_combination(values, origins)
    return build_settings(values, root=root, origins=origins)


def untrusted_values(folder: str | Path) -> list[SetValue]:
    """Return the values of a folder's project files that loosen a protection and that the user does not trust."""
    return _merge(Path(folder).absolute(), {}, os.environ)[2]


def _merge(
    root: Path, overrides: Mapping[str, object], environ: Mapping[str, str]
) -> tuple[dict[str, object], dict[str, str], list[SetValue]]:
    """Return values and origins by name, and the values of project files that the user must trust first."""
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    loosening: dict[str, SetValue] = {}
    trusted = trusted_values(root, environ)
    for entry in _collect(root, overrides, environ):
        key, value, origin = entry
        loosening.pop(key.name, None)
        if origin.startswith(PROJECT_LAYER) and not _is_trusted(trusted, key, value):
            if is_looser(key, value, values.get(key.name, key.default)):
                loosening[key.name] = entry
        _drop_replaced(key, origin, values, origins)
        for name in _names_of(key, value, origin, values, origins):
            values[name] = value
            origins[name] = origin
    return values, origins, list(loosening.values())


def _is_trusted(trusted: Mapping[str, object], key: SettingKey, value: object) -> bool:
    """Return whether the user trusts this value; JSON has lists, settings have tuples."""
    stored = trusted.get(key.name)
    return stored == (list(value) if isinstance(value, tuple) else value)


def _untrusted_error(entry: SetValue) -> ConfigError:
    return ConfigError(
        f"{entry.key.name} = {entry.value!r} in {entry.origin} loosens a protection.",
        hint=f"the file may have come with a clone: `ragstone trust` accepts it, or set {entry.key.variable}",
    )


def _names_of(
    key: SettingKey,
    value: object,
    origin: str,
    values: Mapping[str, object],
    origins: Mapping[str, str],
) -> tuple[str, ...]:
    """Return both names of a setting that has two; raise `ConfigError` if one place gives them different values."""
    other = key.rules.same_as
    if not other:
        return (key.name,)
    other_origin = origins.get(other, "")
    is_variable = other_origin.startswith("environment") and origin.startswith("environment")
    if (is_variable or other_origin == origin) and values[other] != value:
        raise ConfigError(
            f"{key.name} ({origin}) and {other} ({other_origin}) set the same thing to different values.",
            hint=f"keep {key.name} or {other}, not both",
        )
    return key.name, other


def _drop_replaced(
    key: SettingKey, origin: str, values: dict[str, object], origins: dict[str, str]
) -> None:
    """Remove the value of a lower layer in another unit; raise `ConfigError` if one place sets both."""
    other = key.rules.instead_of
    if other not in values:
        return
    other_origin = origins.pop(other)
    del values[other]
    is_variable = other_origin.startswith("environment") and origin.startswith("environment")
    if is_variable or other_origin == origin:
        raise ConfigError(
            f"{key.name} ({origin}) and {other} ({other_origin}) set the same thing in two units.",
            hint=f"keep {key.name} or {other}, not both",
        )


def project_file(folder: str | Path) -> Path:
    """Return the path of a folder's settings file, whether it exists or not."""
    return Path(folder).absolute() / FILE_NAME


def user_file(environ: Mapping[str, str] | None = None) -> Path | None:
    """Return the path of the user's settings file, whether it exists or not; None if there is no home folder."""
    folder = settings_folder(environ)
    if folder is None:
        return None
    return folder / FILE_NAME


def _is_read_only(root: Path) -> bool:
    """Return whether no home can be made in a folder, and it has none."""
    return root.is_dir() and not os.access(root, os.W_OK) and not (root / ".ragstone").exists()


def _user_cache_folder(environ: Mapping[str, str]) -> Path | None:
    """Return the folder in which programs keep data that can be made again; None if there is no home folder."""
    cache_home = Path(environ.get("XDG_CACHE_HOME", ""))
    if cache_home.is_absolute():
        return cache_home
    if sys.platform == "win32":
        variable, below = "LOCALAPPDATA", ""
    elif sys.platform == "darwin":
        variable, below = "HOME", "Library/Caches"
    else:
        variable, below = "HOME", ".cache"
    if not environ.get(variable):
        return None
    return Path(environ[variable], below)


def _collect(
    root: Path, overrides: Mapping[str, object], environ: Mapping[str, str]
) -> Iterator[SetValue]:
    """Yield every value that is set, the lowest layer first."""
    user = user_file(environ)
    if user is not None:
        yield from _read_files(user, "user file")
    for entry in _read_files(project_file(root), PROJECT_LAYER):
        check_project_value(entry.key, entry.value, root=root, origin=entry.origin)
        yield entry
    yield from _from_environment(environ)
    yield from _from_arguments(overrides)


def _read_files(path: Path, layer: str) -> Iterator[SetValue]:
    """Yield the values in `documents_yaml.yaml` and in the settings file of the same folder."""
    for entry in documents_yaml.read_documents_file(path.parent, layer):
        yield SetValue(*entry)
    origin = f"{layer} {path}"
    for key, value in _flatten(_parse_toml(path, allow_link=layer != PROJECT_LAYER), origin):
        if value == "":
            continue  # an empty text means: not set
        checked = check_value(key.name, value, key.value_type, origin=origin)
        yield SetValue(key, checked, origin)


def _from_arguments(overrides: Mapping[str, object]) -> Iterator[SetValue]:
    """Yield the values of the caller, by dotted names or nested; None means: not set."""
    for key, value in _flatten(overrides, "the arguments", allow_dotted=True):
        if value is None:
            continue
        refuse_secret(key, origin="the arguments")
        checked = check_value(key.name, value, key.value_type, origin="the argument")
        yield SetValue(key, checked, "argument")


def _from_environment(environ: Mapping[str, str]) -> Iterator[SetValue]:
    """Yield the values of `RAGSTONE_*` variables; an empty one means: not set."""
    keys_by_variable = _keys_by_variable(setting_keys().values())
    first_variable: dict[str, str] = {}
    for variable in sorted(environ):
        text = environ[variable]
        if not variable.startswith(_PREFIX) or not text:
            continue
        if variable not in keys_by_variable:
            _warn_about_variable(variable, _suggest_variable(variable, keys_by_variable))
            continue
        key = keys_by_variable[variable]
        other = first_variable.setdefault(key.name, variable)
        if environ[other] != text:
            raise ConfigError(
                f"{other} and {variable} set the same thing ({key.name}) to different values."
            )
        origin = f"environment {variable}"
        value = parse_value(key.name, text, key.value_type, origin=origin)
        yield SetValue(key, value, origin)


@cache
def _warn_about_variable(variable: str, hint: str) -> None:
    """Log once that a variable is unknown. It may belong to another version, so it is no error."""
    logger.warning("the environment variable %s is unknown and ignored (%s)", variable, hint)


def _keys_by_variable(keys: Iterable[SettingKey]) -> dict[str, SettingKey]:
    by_variable: dict[str, SettingKey] = {}
    for key in keys:
        by_variable |= dict.fromkeys(key.variables, key)
    return by_variable


def _parse_toml(path: Path, *, allow_link: bool) -> Mapping[str, object]:
    """Return the tables of a TOML file; none if there is no such file."""
    text = read_settings_file(path, MAX_FILE_BYTES, allow_link=allow_link)
    if text is None:
        return {}
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"The settings file {path} is not valid TOML: {error}.") from error
    except RecursionError as error:
        raise ConfigError(f"The settings file {path} is nested too deeply.") from error


def _flatten(
    table: Mapping[str, object], origin: str, *, prefix: str = "", allow_dotted: bool = False
) -> Iterator[tuple[SettingKey, object]]:
    """Yield (key, value) for every value in nested tables; raise `ConfigError` for an unknown name."""
    keys = setting_keys()
    for part, value in table.items():
        name = f"{prefix}{part}"
        is_known = allow_dotted or "." not in part
        if is_known and name in keys:
            yield keys[name], value
        elif not is_known or name not in section_names():
            raise ConfigError(
                f"Unknown setting {name!r} in {origin}.", hint=suggest_setting(name)
            )
        elif not isinstance(value, Mapping):
            raise ConfigError(f"{name} in {origin} must be a table, written [{name}].")
        else:
            yield from _flatten(value, origin, prefix=f"{name}.", allow_dotted=allow_dotted)


def _suggest_variable(variable: str, variables: Iterable[str]) -> str:
    """Return a hint with the nearest variable, compared without the common prefix."""
    names = [name.removeprefix(_PREFIX) for name in variables]
    hint = suggest(variable.removeprefix(_PREFIX), names)
    return hint.replace("did you mean ", f"did you mean {_PREFIX}") or LIST_ALL
