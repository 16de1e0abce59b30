"""The layers, lowest first: default, user files, project files, environment, argument."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from ragstone.config import documents
from ragstone.config import validation as check
from ragstone.config.files import file_text
from ragstone.config.settings import Key, Settings, build, keys
from ragstone.errors import ConfigError

FILE_NAME = "ragstone.toml"
PREFIX = "RAGSTONE_"
MAX_FILE_BYTES = 1_000_000
"""A settings file is a page or two; anything larger is another file by mistake, or an attack on the parser."""


def load(
    folder: str | Path,
    overrides: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Return a folder's settings: argument over environment over project file over user file over default."""
    root = Path(folder).absolute()
    environ = os.environ if environ is None else environ
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for key, value, origin in _said(root, overrides or {}, environ):
        values[key.name] = value
        origins[key.name] = origin
    check.together(values, origins)
    return build(values, root=root, origins=origins)


def project_file(folder: str | Path) -> Path:
    """Return where a folder's settings file is, or would be."""
    return Path(folder).absolute() / FILE_NAME


def user_file(environ: Mapping[str, str] | None = None) -> Path | None:
    """Return where the user's own settings file is, or would be; None where there is no home."""
    environ = os.environ if environ is None else environ
    named = Path(environ.get("XDG_CONFIG_HOME", ""))
    if named.is_absolute():
        return named / "ragstone" / FILE_NAME
    if sys.platform == "win32":
        return Path(environ["APPDATA"]) / "ragstone" / FILE_NAME if environ.get("APPDATA") else None
    if not environ.get("HOME"):
        return None
    config = ("Library", "Application Support") if sys.platform == "darwin" else (".config",)
    return Path(environ["HOME"], *config, "ragstone", FILE_NAME)


def _said(root: Path, overrides: Mapping[str, object], environ: Mapping[str, str]) -> Iterator[tuple[Key, object, str]]:
    """Yield every value that somebody set, lowest layer first."""
    own = user_file(environ)
    if own is not None:
        yield from documents.said(own.parent, "user file")
        yield from _from_file(own, f"user file {own}")
    project = project_file(root)
    for key, value, origin in (
        *documents.said(root, "project file"),
        *_from_file(project, f"project file {project}"),
    ):
        check.from_project_file(key, value, root=root, origin=origin)
        yield key, value, origin
    yield from _from_environment(environ)
    yield from _from_arguments(overrides)


def _from_arguments(overrides: Mapping[str, object]) -> Iterator[tuple[Key, object, str]]:
    """Yield what the caller says, by dotted names or nested; None counts as not said."""
    for key, value in _flat(overrides, "", "the arguments", dotted=True):
        if value is not None:
            check.no_secret(key, origin="the arguments")
            yield key, check.typed(key, value, origin="the argument"), "argument"


def _from_file(path: Path, origin: str) -> Iterator[tuple[Key, object, str]]:
    for key, value in _flat(_parsed_file(path), "", origin):
        check.no_secret(key, origin=origin)
        yield key, check.typed(key, value, origin=origin), origin


def _parsed_file(path: Path) -> Mapping[str, object]:
    """Return the tables of a TOML file; none if there is no such file."""
    text = file_text(path, MAX_FILE_BYTES)
    if text is None:
        return {}
    import tomllib  # many folders have no such file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"The settings file {path} is not valid TOML: {error}.") from error
    except RecursionError as error:
        raise ConfigError(f"The settings file {path} is nested too deeply.") from error


def _flat(
    table: Mapping[str, object], prefix: str, origin: str, *, dotted: bool = False
) -> Iterator[tuple[Key, object]]:
    """Yield (key, value) for every leaf of nested tables."""
    sections = {name.rpartition(".")[0] for name in keys()}
    for part, value in table.items():
        name = f"{prefix}{part}"
        if name in keys() and (dotted or "." not in part):
            yield keys()[name], value
        elif name not in sections | {section.split(".")[0] for section in sections} or (not dotted and "." in part):
            raise ConfigError(f"Unknown setting {name!r} in {origin}.", hint=_meant(name))
        elif not isinstance(value, Mapping):
            raise ConfigError(f"{name} in {origin} must be a table, written [{name}].")
        else:
            yield from _flat(value, f"{name}.", origin, dotted=dotted)


def _meant(name: str) -> str:
    """Return which setting was probably meant: by its whole name, or by its last part alone."""
    sections = [key.rpartition(".")[0] for key in keys()]
    close = check.nearest(name, [*keys(), *sections])
    last = {key.rpartition(".")[2]: key for key in reversed(list(keys()))}
    moved = last.get(name.rpartition(".")[2])
    return f"did you mean {moved}?" if moved else close or "`ragstone config` lists them all"


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[Key, object, str]]:
    """Yield what `RAGSTONE_*` variables say; an empty one counts as not set."""
    by_variable = {variable: key for key in keys().values() for variable in key.variables}
    seen: dict[str, str] = {}
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or not environ[variable]:
            continue
        key = by_variable.get(variable)
        if key is None:
            hint = check.nearest(variable, by_variable) or "`ragstone config` lists them all"
            raise ConfigError(f"Unknown environment variable {variable}.", hint=hint)
        twin = seen.setdefault(key.name, variable)
        if environ[twin] != environ[variable]:
            raise ConfigError(f"{twin} and {variable} set the same thing ({key.name}) to different values.")
        origin = f"environment {variable}"
        yield key, check.parsed(key, environ[variable], origin=origin), origin
