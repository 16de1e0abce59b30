"""Whether a value may stand for a setting: its type, its limits, and who may say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import NoneType
from typing import get_args, get_origin

from ragstone.config.settings import Key, keys
from ragstone.errors import ConfigError

YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"0", "false", "no", "off"})


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint that names what was probably meant, or an empty string."""
    from difflib import get_close_matches  # only where somebody made a mistake

    by_lower = {item.lower(): item for item in known}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return f"did you mean {by_lower[close[0]]}?" if close else ""


def typed(key: Key, value: object, *, origin: str) -> object:
    """Return a value as the setting's type wants it, or raise `ConfigError`."""
    if isinstance(value, (list, tuple)) and _wants(key, tuple):
        if all(isinstance(item, str) and item and "\0" not in item for item in value):
            return tuple(value)
    elif any(_wants(key, kind) and type(value) is kind for kind in (bool, int, str)):
        return _limited(key, value, origin=origin)
    raise ConfigError(f"{key.name} must be {expected(key)}, but {origin} gives {_described(value)}.")


def parsed(key: Key, text: str, *, origin: str) -> object:
    """Return the value that an environment variable's text stands for."""
    wrong = ConfigError(f"{key.name} must be {expected(key)}, but {origin} is {_described(text)}.")
    if _wants(key, bool):
        if text.strip().lower() not in YES | NO:
            raise wrong
        return text.strip().lower() in YES
    if _wants(key, int):
        try:
            return typed(key, int(text), origin=origin)
        except ValueError:
            raise wrong from None
    return typed(key, _listed(text, wrong) if _wants(key, tuple) else text, origin=origin)


def expected(key: Key) -> str:
    """Return in words what a setting takes."""
    if key.choices:
        return "one of " + ", ".join(f'"{choice}"' for choice in key.choices)
    if _wants(key, bool):
        return "true or false"
    if _wants(key, tuple):
        return "a list of non-empty texts"
    return f"a whole number{_range(key)}" if _wants(key, int) else "a non-empty text"


def no_secret(key: Key, *, origin: str) -> None:
    """Raise `ConfigError` if a setting is a secret: those come from the environment alone."""
    if key.rules.secret:
        hint = f"set {key.variable} in the environment"
        raise ConfigError(f"{key.name} is a secret and is not taken from {origin}.", hint=hint)


def from_project_file(key: Key, value: object, *, root: Path, origin: str) -> None:
    """Raise `ConfigError` if a file that may have come with a clone may not say this."""
    if key.rules.personal:
        raise ConfigError(
            f"{key.name} is not taken from {origin}: a file that came with a clone may not name an address or program.",
            hint=f"set {key.variable} or put it in your user file",
        )
    for path in [value] if isinstance(value, str) else value if isinstance(value, tuple) else []:
        if key.rules.inside and leaves(root, path):
            raise ConfigError(
                f"{key.name} in {origin} points outside the project folder: {path!r}.",
                hint=f"if you want that, set {key.variable} or put it in your user file",
            )


def together(values: Mapping[str, object], origins: Mapping[str, str]) -> None:
    """Raise `ConfigError` if values that are fine alone do not go together."""
    size, overlap = values.get("rag.chunk_size"), values.get("rag.chunk_overlap")
    if isinstance(size, int) and isinstance(overlap, int) and overlap >= size:
        raise ConfigError(
            f"rag.chunk_overlap ({overlap}) must be smaller than rag.chunk_size ({size}).",
            hint=f"they come from {origins['rag.chunk_overlap']} and {origins['rag.chunk_size']}",
        )
    provider = values.get("rag.vector_store.provider", keys()["rag.vector_store.provider"].default)
    for name in values:
        takers = keys()[name].rules.only_for
        if takers and provider not in takers:
            raise ConfigError(
                f"{name} ({origins[name]}) means nothing to the store {provider!r}; it is for: {', '.join(takers)}.",
                hint="remove it, or choose another rag.vector_store.provider",
            )


def leaves(root: Path, path: str) -> bool:
    """Return whether a path, or a glob, may lead out of a folder."""
    windows, posix = PureWindowsPath(path), PurePosixPath(path)
    if windows.drive or windows.root or posix.root or path.startswith("~") or ".." in (*windows.parts, *posix.parts):
        return True
    try:
        return not (root / path.split("*", 1)[0]).resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # a name that is too long, links that go round in circles
        return True


def _wants(key: Key, kind: type) -> bool:
    optional = NoneType in get_args(key.type)
    wanted = next(item for item in get_args(key.type) if item is not NoneType) if optional else key.type
    return kind in (wanted, get_origin(wanted)) or (kind is str and bool(key.choices))


def _limited(key: Key, value: object, *, origin: str) -> object:
    rules = key.rules
    allowed = (
        (not key.choices or value in key.choices)
        and (not isinstance(value, int) or rules.low is None or value >= rules.low)
        and (not isinstance(value, int) or rules.high is None or value <= rules.high)
        and (not isinstance(value, str) or (value != "" and "\0" not in value))
    )
    if not allowed:
        hint = nearest(str(value), key.choices)
        raise ConfigError(f"{key.name} must be {expected(key)}, but {origin} gives {_described(value)}.", hint=hint)
    return value


def _range(key: Key) -> str:
    low, high = key.rules.low, key.rules.high
    if low is not None and high is not None:
        return f" from {low} to {high}"
    return f" of at least {low}" if low is not None else ""


def _listed(text: str, wrong: ConfigError) -> list[object]:
    """Return the items of a TOML array, or of texts with commas between them."""
    if not text.lstrip().startswith("["):
        return [item.strip() for item in text.split(",")]
    import tomllib  # only where somebody wrote a list

    try:
        return list(tomllib.loads(f"items = {text}")["items"])
    except (tomllib.TOMLDecodeError, RecursionError):
        raise wrong from None


def _described(value: object) -> str:
    if isinstance(value, Mapping):
        return "a table"
    shown = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
