"""Laravel's global helper functions in route files: paths, config and collections."""

from __future__ import annotations

import posixpath
from fnmatch import fnmatchcase
from typing import Final

from ragstone_code.evaluate import (
    Arguments,
    Array,
    CallSite,
    Evaluator,
    Lambda,
    Recorder,
    Unknown,
    Value,
    display_text,
    first_known,
)
from ragstone_code.evaluate.language import NativeFunction

_PATH_FUNCTIONS: Final = {
    "base_path": "",
    "app_path": "app",
    "config_path": "config",
    "database_path": "database",
    "lang_path": "lang",
    "public_path": "public",
    "resource_path": "resources",
    "storage_path": "storage",
}
_MAX_COLLECTION_ENTRIES: Final = 1000


def helper_functions(config: ConfigValues) -> dict[str, NativeFunction]:
    """Return the global functions of Laravel that the evaluator needs, by name."""

    def call_config(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
        if arguments.positional or arguments.named:
            return config.read(arguments, evaluator)
        return ConfigRepository(config)

    functions: dict[str, NativeFunction] = {
        "config": call_config,
        "env": _env,
        "glob": glob_files,
        "collect": _collect,
        "module_path": _module_path,
    }
    for name, folder in _PATH_FUNCTIONS.items():
        functions[name] = _path_function(folder)
    return functions


def _path_function(folder: str) -> NativeFunction:
    """Return a function such as `app_path` that joins a folder and its argument."""

    def join_path(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
        path = first_known(arguments.at(0, "path", ""))
        if isinstance(path, Unknown):
            display = path.display and posixpath.join(folder, path.display.lstrip("/"))
            return Unknown(path.reason, display)
        return posixpath.join(folder, display_text(path).lstrip("/"))

    return join_path


def _env(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    """Return the unknown value of `env(key, default)`, with the default as an option."""
    key = display_text(arguments.at(0, "key"))
    default = first_known(arguments.at(1, "default"))
    return Unknown(
        f"env({key}) is set where it runs",
        f"env({key})",
        _known_options(default),
    )


def _known_options(value: Value) -> tuple[Value, ...]:
    """Return a value as the only option of an unknown one; no option if it is null or unknown."""
    if value is None or isinstance(value, Unknown):
        return ()
    return (value,)


def glob_files(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    """Return the files that match a pattern; `*` does not match a slash."""
    pattern = first_known(arguments.at(0))
    if not isinstance(pattern, str):
        return Unknown("the pattern is not known")
    path = posixpath.normpath(pattern).lstrip("/")
    depth = path.count("/")
    same_depth = (uri for uri in evaluator.world.uris if uri.count("/") == depth)
    return Array([uri for uri in same_depth if fnmatchcase(uri, path)])


def _module_path(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    """Return a path in a module of nwidart/laravel-modules."""
    folder = "Modules"
    if not any(evaluator.world.below("Modules")) and any(evaluator.world.below("modules")):
        folder = "modules"
    module = display_text(arguments.at(0))
    path = display_text(arguments.at(1, "path", "")).lstrip("/")
    return posixpath.join(folder, module, path)


def _collect(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    """Return the collection of `collect(array)`."""
    value = first_known(arguments.at(0))
    if isinstance(value, Collection):
        return value
    return (
        Collection(value)
        if isinstance(value, Array)
        else Unknown("what is collected is not known")
    )


# ── config ────────────────────────────────────────────────────────────────────────────────────────


class ConfigValues:
    """The values of `config(key)`, read from the files of the config folder on first use."""

    def __init__(self) -> None:
        self._files: dict[str, Value] = {}

    def read(self, arguments: Arguments, evaluator: Evaluator) -> Value:
        """Return the value of `config(key, default)`.

        An array is returned as the file has it. Any other value can change at runtime: it is unknown, displayed
        as `config(key)`, with the file's value or the default as an option.
        """
        key = first_known(arguments.at(0, "key"))
        if not isinstance(key, str):
            return Unknown("the setting is not known")
        value = self.at(key, evaluator)
        if isinstance(value, Array):
            return value
        options = _known_options(first_known(value)) or _known_options(
            first_known(arguments.at(1, "default"))
        )
        return Unknown(
            f"config({key}) is set where it runs",
            f"config({key})",
            options,
        )

    def at(self, key: str, evaluator: Evaluator) -> Value:
        """Return the value of a key in the config files; None if they do not have it."""
        file_name, *parts = key.split(".")
        if file_name not in self._files:
            uri = f"config/{file_name}.php"
            self._files[file_name] = None  # a file that reads its own settings gets null
            self._files[file_name] = evaluator.run(uri) if evaluator.world.has(uri) else None
        value = self._files[file_name]
        for part in parts:
            value = first_known(value)
            if not isinstance(value, Array):
                return None
            value = value.get(evaluator.language.key(part))
        return value


class ConfigRepository(Recorder):
    """The `Config` facade and the container's `config` object."""

    def __init__(self, config: ConfigValues) -> None:
        self.config = config

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Return a setting."""
        if name in ("get", "string", "array", "boolean", "integer", "__getitem__"):
            return self.config.read(arguments, evaluator)
        return Unknown(f"config()->{name}() is not followed")


# ── collections ───────────────────────────────────────────────────────────────────────────────────

_CALLBACK_METHODS: Final = frozenset(
    {"each", "map", "mapWithKeys", "flatMap", "filter", "reject", "tap"}
)
_ADDING_METHODS: Final = frozenset({"merge", "concat", "push", "add", "prepend"})
_ARRAY_FUNCTIONS: Final = {
    "keys": "array_keys",
    "values": "array_values",
    "unique": "array_unique",
    "reverse": "array_reverse",
}
"""Collection methods that return a collection, and the PHP function that computes it."""
_VALUE_FUNCTIONS: Final = {"first": "reset", "last": "end", "count": "count"}
"""Collection methods that return a value, and the PHP function that computes it."""


class Collection(Recorder):
    """The collection of `collect([...])`, as far as route files and providers use it."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def entries(self) -> Array:
        """Return the array that a loop iterates over."""
        return self.array

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Return the result of a collection method."""
        functions = evaluator.language.functions
        if name in _CALLBACK_METHODS:
            return self._call_with_entries(name, arguments.at(0), site, evaluator)
        if name in ("all", "toArray"):
            return self.array
        if name in ("implode", "join"):
            return functions["implode"](
                Arguments((arguments.at(0), self.array)),
                site,
                evaluator,
            )
        if name in _ADDING_METHODS:
            return self._add(name, arguments.at(0), site, evaluator)
        if name in _ARRAY_FUNCTIONS:
            array = functions[_ARRAY_FUNCTIONS[name]](
                Arguments((self.array,)),
                site,
                evaluator,
            )
            return Collection(_array_or_empty(array))
        if name in _VALUE_FUNCTIONS:
            return functions[_VALUE_FUNCTIONS[name]](
                Arguments((self.array,)),
                site,
                evaluator,
            )
        return Unknown(f"{name}() of a collection is not followed")

    def _add(self, name: str, value: Value, site: CallSite, evaluator: Evaluator) -> Value:
        """Return a collection with an array merged in, or with one more value."""
        other = first_known(value)
        added = (
            other
            if isinstance(other, Array) and name in ("merge", "concat")
            else Array([value])
        )
        merge = evaluator.language.functions["array_merge"]
        return Collection(
            _array_or_empty(merge(Arguments((self.array, added)), site, evaluator))
        )

    def _call_with_entries(
        self, name: str, callback: Value, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Call a closure with each entry and return the resulting collection."""
        is_closure = isinstance(first_known(callback), Lambda)
        selected = Array()
        for key, value in list(self.array.items.items())[:_MAX_COLLECTION_ENTRIES]:
            result = evaluator.call(callback, [value, key], site) if is_closure else value
            if name == "map":
                selected.set(key, result)
            elif name in ("filter", "reject"):
                dropped_truth = name == "reject"
                if evaluator.language.truth(result) is not dropped_truth:
                    selected.set(key, value)
            elif name in ("mapWithKeys", "flatMap") and isinstance(result, Array):
                selected.extend(result)
        return self if name in ("each", "tap") else Collection(selected)


def _array_or_empty(value: Value) -> Array:
    """Return an array; an empty one for any other value."""
    return value if isinstance(value, Array) else Array()
