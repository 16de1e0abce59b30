"""What Laravel hands to every file: paths, settings, the container, texts, collections."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
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
from ragstone_code.laravel.inflection import camel, plural, singular, snake, studly
from ragstone_code.laravel.routing.records import text, texts

_PATHS: Final = {
    "base_path": "", "app_path": "app", "config_path": "config", "database_path": "database", "lang_path": "lang",
    "public_path": "public", "resource_path": "resources", "storage_path": "storage",
}  # fmt: skip


def _path(folder: str) -> NativeFunction:
    def own(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        below = first_known(given.at(0, "path", ""))
        if isinstance(below, Unknown):
            return Unknown(below.reason, below.display and posixpath.join(folder, below.display.lstrip("/")))
        return posixpath.join(folder, display_text(below).lstrip("/"))

    return own


class ConfigValues:
    """What `config(key)` is, by the files of the config folder."""

    def __init__(self) -> None:
        self._read: dict[str, Value] = {}

    def __call__(self, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return a setting: an array as it is written, else `config(key)` with what is written as an option."""
        key = first_known(given.at(0, "key"))
        if not isinstance(key, str):
            return Unknown("the setting is not known")
        found = self.at(key, machine)
        if isinstance(found, Array):
            return found
        likely = first_known(found)
        if likely is None or isinstance(likely, Unknown):
            likely = first_known(given.at(1, "default"))
        options = () if likely is None or isinstance(likely, Unknown) else (likely,)
        return Unknown(f"config({key}) is set where it runs", f"config({key})", options)

    def at(self, key: str, machine: Evaluator) -> Value:
        """Return what the files say of a key, None where they say nothing."""
        first, *rest = key.split(".")
        if first not in self._read:
            uri = f"config/{first}.php"
            self._read[first] = None
            self._read[first] = machine.run(uri) if machine.world.has(uri) else None
        here = self._read[first]
        for part in rest:
            here = first_known(here)
            here = here.get(machine.language.key(part)) if isinstance(here, Array) else None
        return here


def _env(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    key = text(given.at(0, "key"))
    default = first_known(given.at(1, "default"))
    options = () if default is None or isinstance(default, Unknown) else (default,)
    return Unknown(f"env({key}) is set where it runs", f"env({key})", options)


def _glob(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    pattern = first_known(given.at(0))
    if not isinstance(pattern, str):
        return Unknown("the pattern is not known")
    plain = posixpath.normpath(pattern).lstrip("/")
    slashes = plain.count("/")
    return Array([uri for uri in machine.world.uris if uri.count("/") == slashes and fnmatchcase(uri, plain)])


def _module_path(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    folder = next((one for one in ("Modules", "modules") if any(machine.world.below(one))), "Modules")
    return posixpath.join(folder, text(given.at(0)), text(given.at(1, "path", "")).lstrip("/"))


class FileFacade(Recorder):
    """`File` and the filesystem: whether and which files there are."""

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return what there is in a folder."""
        if name in ("exists", "isFile"):
            return machine.language.functions["file_exists"](given, site, machine)
        if name == "glob":
            return _glob(given, site, machine)
        folder = first_known(given.at(0))
        if name not in ("files", "allFiles") or not isinstance(folder, str):
            return Unknown(f"File::{name}() is not followed")
        plain = posixpath.normpath(folder).strip("/")
        deep = name == "allFiles"
        found = [uri for uri in machine.world.below(plain) if deep or "/" not in uri[len(plain) + 1 :]]
        return Array([FoundFile(uri) for uri in found])


class DirectoryIterator(Recorder):
    """PHP's iterators over folders: made of a path, or of one another."""

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return the files below a folder, by path; an expression keeps those whose paths match."""
        if name != "new":
            return Unknown(f"{name}() of an iterator is not followed")
        first, pattern = first_known(given.at(0)), first_known(given.at(1))
        if isinstance(first, str):
            plain = posixpath.normpath(first).strip("/")
            return Array(items={uri: FoundFile(uri) for uri in machine.world.below(plain)})
        if isinstance(first, Array) and isinstance(pattern, str) and pattern[:1] and "." in pattern:
            suffix = re.search(r"\\?(\.[a-z]+)\$?\W[a-z]*$", pattern)
            ending = suffix[1] if suffix else ""
            return Array(items={key: one for key, one in first.items.items() if str(key).endswith(ending)})
        return first


class ConfigRepository(Recorder):
    """`Config` and what the container has under `config`."""

    def __init__(self, settings: ConfigValues) -> None:
        self.settings = settings

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return a setting."""
        if name in ("get", "string", "array", "boolean", "integer", "__getitem__"):
            return self.settings(given, site, machine)
        return Unknown(f"config()->{name}() is not followed")


class FoundFile(Recorder):
    """A file that was found."""

    def __init__(self, uri: str) -> None:
        self.uri = uri

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return its path, name or extension."""
        base = posixpath.basename(self.uri)
        return {
            "getPathname": self.uri, "getRealPath": self.uri, "getPath": posixpath.dirname(self.uri),
            "getFilename": base, "getBasename": base.removesuffix(text(given.at(0))) if given.positional else base,
            "getExtension": base.rpartition(".")[2], "getFilenameWithoutExtension": base.rpartition(".")[0],
        }.get(name, Unknown(f"{name}() of a file is not followed"))  # fmt: skip


class StrFacade(Recorder):
    """`Str`."""

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return a text changed."""
        first = first_known(given.at(0))
        if not isinstance(first, str):
            return Unknown(f"Str::{name}() of what is not known")
        own = _TEXTS.get(name)
        if own is not None:
            return own(first)
        if name in ("startsWith", "endsWith", "contains"):
            parts = tuple(texts(given.at(1)))
            if name == "contains":
                return any(part in first for part in parts)
            return first.startswith(parts) if name == "startsWith" else first.endswith(parts)
        if name in ("finish", "start"):
            mark = text(given.at(1))
            return first.rstrip(mark) + mark if name == "finish" else mark + first.lstrip(mark)
        if name in ("after", "before"):
            head, found, tail = first.partition(text(given.at(1)))
            return first if not found else tail if name == "after" else head
        if name in ("replace",):
            return machine.language.functions["str_replace"](given, site, machine)
        return Unknown(f"Str::{name}() is not followed")


_TEXTS: Final[dict[str, Callable[[str], Value]]] = {
    "snake": snake, "camel": camel, "studly": studly, "plural": plural, "singular": singular, "lower": str.lower,
    "upper": str.upper, "kebab": lambda one: snake(one).replace("_", "-"), "title": str.title,
    "ucfirst": lambda one: one[:1].upper() + one[1:], "length": len, "trim": str.strip,
    "slug": lambda one: "-".join("".join(c if c.isalnum() else " " for c in one.lower()).split()),
    "pascal": studly,
}  # fmt: skip


class Collection(Recorder):
    """`collect([...])`, as far as route files and providers use it."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def entries(self) -> Array:
        """Return what a loop goes over."""
        return self.array

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return what a method of a collection gives."""
        functions = machine.language.functions
        if name in ("each", "map", "mapWithKeys", "flatMap", "filter", "reject", "tap"):
            return self._called_with(name, given.at(0), site, machine)
        if name in ("all", "toArray"):
            return self.array
        if name in ("implode", "join"):
            return functions["implode"](Arguments((given.at(0), self.array)), site, machine)
        if name in ("merge", "concat", "push", "add", "prepend"):
            other = first_known(given.at(0))
            given_array = other if isinstance(other, Array) and name in ("merge", "concat") else Array([given.at(0)])
            return Collection(_array(functions["array_merge"](Arguments((self.array, given_array)), site, machine)))
        own = {"keys": "array_keys", "values": "array_values", "unique": "array_unique", "reverse": "array_reverse"}
        if name in own:
            return Collection(_array(functions[own[name]](Arguments((self.array,)), site, machine)))
        if name in ("first", "last", "count"):
            plain = {"first": "reset", "last": "end", "count": "count"}[name]
            return functions[plain](Arguments((self.array,)), site, machine)
        return Unknown(f"{name}() of a collection is not followed")

    def _called_with(self, name: str, function: Value, site: CallSite, machine: Evaluator) -> Value:
        """Run a closure over the entries."""
        kept = Array()
        for key, value in list(self.array.items.items())[:1000]:
            found = machine.call(function, [value, key], site) if isinstance(first_known(function), Lambda) else value
            if name == "map":
                kept.set(key, found)
            elif name == "filter" and machine.language.truth(found) is not False:
                kept.set(key, value)
            elif name == "reject" and machine.language.truth(found) is not True:
                kept.set(key, value)
            elif name in ("mapWithKeys", "flatMap") and isinstance(found, Array):
                kept.extend(found)
        return self if name in ("each", "tap") else Collection(kept)


def _array(value: Value) -> Array:
    """Return a value that is an array, an empty one for what is none."""
    return value if isinstance(value, Array) else Array()


def _collect(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    inner = first_known(given.at(0))
    if isinstance(inner, Collection):
        return inner
    return Collection(inner) if isinstance(inner, Array) else Unknown("what is collected is not known")


def global_functions(settings: ConfigValues) -> dict[str, NativeFunction]:
    """Return Laravel's functions that files of an app call at their top."""

    def config(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        return settings(given, site, machine) if given.positional or given.named else ConfigRepository(settings)

    return {
        **{name: _path(folder) for name, folder in _PATHS.items()},
        "config": config, "env": _env, "glob": _glob, "collect": _collect, "module_path": _module_path,
    }  # fmt: skip


class MiddlewareNotation(Recorder):
    """A class of middleware that writes itself with parameters: `Authorize::using("a", "b")`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return the middleware as text."""
        if name in ("using", "with", "redirectTo"):
            words = [text(one) for one in (*given.positional, *given.named.values())]
            return f"{self.name}:{','.join(words)}" if words else self.name
        if name in ("relative", "absolute"):
            return f"{self.name}:relative" if name == "relative" else self.name
        return Unknown(f"{name}() is not followed")


MIDDLEWARE_WITH_NOTATION: Final = (
    "Illuminate\\Auth\\Middleware\\Authenticate", "Illuminate\\Auth\\Middleware\\Authorize",
    "Illuminate\\Auth\\Middleware\\AuthenticateWithBasicAuth", "Illuminate\\Auth\\Middleware\\RequirePassword",
    "Illuminate\\Auth\\Middleware\\EnsureEmailIsVerified", "Illuminate\\Http\\Middleware\\SetCacheHeaders",
    "Illuminate\\Routing\\Middleware\\ThrottleRequests", "Illuminate\\Routing\\Middleware\\ValidateSignature",
    "Illuminate\\Routing\\Middleware\\ThrottleRequestsWithRedis",
    "Spatie\\Permission\\Middleware\\RoleMiddleware", "Spatie\\Permission\\Middleware\\PermissionMiddleware",
    "Spatie\\Permission\\Middleware\\RoleOrPermissionMiddleware",
)  # fmt: skip
