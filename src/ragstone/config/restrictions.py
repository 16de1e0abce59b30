"""Limits on settings files: secrets are refused; a project file may not name addresses or outside paths.

A project file may come with a clone, so it is not trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final

from ragstone.config.settings import SettingKey, setting_keys
from ragstone.errors import ConfigError

_BUILT_IN_MODELS: Final = ("minilm", "local", "fake", "mock")
"""Embedders of the package: they cost nothing and load nothing from elsewhere."""
_SIZE_PAIRS: Final = (
    ("rag.chunk_size", "rag.chunk_overlap"),
    ("chunk.max_tokens", "chunk.overlap_tokens"),
)


def refuse_secret(key: SettingKey, *, origin: str) -> None:
    """Raise `ConfigError` if a setting is a secret: secrets come from the environment or the user file."""
    if key.rules.secret:
        hint = f"set {key.variable} in the environment, or put it in your user file"
        raise ConfigError(f"{key.name} is a secret and is not taken from {origin}.", hint=hint)


def check_project_value(key: SettingKey, value: object, *, root: Path, origin: str) -> None:
    """Raise `ConfigError` if a project file may not set this."""
    refuse_secret(key, origin=origin)
    if key.rules.personal:
        raise ConfigError(
            f"{key.name} is not taken from {origin}: a file that came with a clone may not name an address or program.",
            hint=f"set {key.variable} or put it in your user file",
        )
    if not key.rules.inside:
        return
    paths = value
    if not isinstance(paths, tuple):
        paths = (value,)
    for path in paths:
        if leads_outside(root, str(path)):
            raise ConfigError(
                f"{key.name} in {origin} points outside the project folder: {path!r}.",
                hint=f"if you want that, set {key.variable} or put it in your user file",
            )


def is_looser(key: SettingKey, value: object, before: object) -> bool:
    """Return whether a value weakens a protection of the user, compared with the value of the lower layers."""
    if key.rules.guard == "limit" and isinstance(value, int) and isinstance(before, int):
        return value > before
    if key.rules.guard == "model":
        provider = str(value).partition(":")[0]
        return value != before and provider not in _BUILT_IN_MODELS
    if key.rules.guard == "files":
        model = str(value).partition(":")[2]
        return value != before and (is_path(str(value)) or is_path(model))
    return key.rules.guard == "switch" and value not in (key.default, before)


def check_combination(values: Mapping[str, object], origins: Mapping[str, str]) -> None:
    """Raise `ConfigError` if values contradict each other."""
    _check_chunk_sizes(values, origins)
    _check_provider(values, origins)


def _check_chunk_sizes(values: Mapping[str, object], origins: Mapping[str, str]) -> None:
    """Raise `ConfigError` if an overlap is not smaller than the size in the same unit."""
    for size_name, overlap_name in _SIZE_PAIRS:
        size = values.get(size_name)
        overlap = values.get(overlap_name)
        if isinstance(size, int) and isinstance(overlap, int) and overlap >= size:
            raise ConfigError(
                f"{overlap_name} ({overlap}) must be smaller than {size_name} ({size}).",
                hint=f"they come from {origins[overlap_name]} and {origins[size_name]}",
            )


def _check_provider(values: Mapping[str, object], origins: Mapping[str, str]) -> None:
    """Raise `ConfigError` if a setting is for other vector stores than the chosen one.

    `documents.yaml` names a Chroma folder in any case, so another choice of the store wins over it.
    """
    keys = setting_keys()
    provider = values.get(
        "rag.vector_store.provider", keys["rag.vector_store.provider"].default
    )
    for name in values:
        providers = keys[name].rules.only_for
        if origins[name].endswith("documents.yaml, chroma_path"):
            continue
        if providers and provider not in providers:
            raise ConfigError(
                f"{name} ({origins[name]}) means nothing to the store {provider!r}; it is for: {', '.join(providers)}.",
                hint="remove it, or choose another rag.vector_store.provider",
            )


def is_path(name: str) -> bool:
    """Return whether the name of a model is a path: it begins with a dot, a slash, a `~` or a drive."""
    return name.startswith((".", "~", "/", "\\")) or bool(PureWindowsPath(name).drive)


def leads_outside(root: Path, path: str) -> bool:
    """Return whether a path or pattern may lead out of a folder."""
    windows = PureWindowsPath(path)
    posix = PurePosixPath(path)
    is_absolute = windows.drive or windows.root or posix.root
    if is_absolute or path.startswith("~"):
        return True
    if ".." in windows.parts or ".." in posix.parts:
        return True
    fixed_part = path.partition("*")[0]
    try:
        target = (root / fixed_part).resolve()
        return not target.is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # the name is too long, or links lead in a circle
        return True
