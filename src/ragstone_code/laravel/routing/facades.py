"""Classes of Laravel and PHP that route files use: `File`, `Str`, directory iterators, middleware with parameters."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import Final

from ragstone_code.evaluate import (
    Arguments,
    Array,
    CallSite,
    Evaluator,
    Recorder,
    Unknown,
    Value,
    display_text,
    first_known,
)
from ragstone_code.laravel.inflection import camel, plural, singular, snake, studly
from ragstone_code.laravel.routing.global_helpers import glob_files
from ragstone_code.laravel.routing.route_records import read_texts

MIDDLEWARE_WITH_PARAMETERS: Final = (
    "Illuminate\\Auth\\Middleware\\Authenticate",
    "Illuminate\\Auth\\Middleware\\Authorize",
    "Illuminate\\Auth\\Middleware\\AuthenticateWithBasicAuth",
    "Illuminate\\Auth\\Middleware\\RequirePassword",
    "Illuminate\\Auth\\Middleware\\EnsureEmailIsVerified",
    "Illuminate\\Http\\Middleware\\SetCacheHeaders",
    "Illuminate\\Routing\\Middleware\\ThrottleRequests",
    "Illuminate\\Routing\\Middleware\\ValidateSignature",
    "Illuminate\\Routing\\Middleware\\ThrottleRequestsWithRedis",
    "Spatie\\Permission\\Middleware\\RoleMiddleware",
    "Spatie\\Permission\\Middleware\\PermissionMiddleware",
    "Spatie\\Permission\\Middleware\\RoleOrPermissionMiddleware",
)
"""Middleware classes with static methods that return them as text with parameters."""


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


class FilesystemFacade(Recorder):
    """The `File` facade: which files exist."""

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Return whether a file exists, or the files of a folder."""
        if name in ("exists", "isFile"):
            return evaluator.language.functions["file_exists"](arguments, site, evaluator)
        if name == "glob":
            return glob_files(arguments, site, evaluator)
        folder = first_known(arguments.at(0))
        if name not in ("files", "allFiles") or not isinstance(folder, str):
            return Unknown(f"File::{name}() is not followed")
        path = posixpath.normpath(folder).strip("/")
        uris = list(evaluator.world.below(path))
        if name == "files":
            uris = [uri for uri in uris if "/" not in uri[len(path) + 1 :]]
        return Array([FoundFile(uri) for uri in uris])


class DirectoryIterator(Recorder):
    """PHP's directory iterators, created from a path or from another iterator."""

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Return the files below a folder by path; a regular expression keeps those with its file extension."""
        if name != "new":
            return Unknown(f"{name}() of an iterator is not followed")
        source, pattern = first_known(arguments.at(0)), first_known(arguments.at(1))
        if isinstance(source, str):
            path = posixpath.normpath(source).strip("/")
            return Array(items={uri: FoundFile(uri) for uri in evaluator.world.below(path)})
        if isinstance(source, Array) and isinstance(pattern, str) and "." in pattern:
            extension = re.search(r"\\?(\.[a-z]+)\$?\W[a-z]*$", pattern)
            ending = extension[1] if extension else ""
            return Array(
                items={
                    key: file for key, file in source.items.items() if str(key).endswith(ending)
                }
            )
        return source


class FoundFile(Recorder):
    """A file that a directory listing contains."""

    def __init__(self, uri: str) -> None:
        self.uri = uri

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Return the path, the name or the extension."""
        base_name = posixpath.basename(self.uri)
        stem, _, extension = base_name.rpartition(".")
        if name == "getBasename" and arguments.positional:
            return base_name.removesuffix(display_text(arguments.at(0)))
        results = {
            "getPathname": self.uri,
            "getRealPath": self.uri,
            "getPath": posixpath.dirname(self.uri),
            "getFilename": base_name,
            "getBasename": base_name,
            "getExtension": extension,
            "getFilenameWithoutExtension": stem,
        }
        return results.get(name, Unknown(f"{name}() of a file is not followed"))


# ── strings ───────────────────────────────────────────────────────────────────────────────────────


class StrFacade(Recorder):
    """The `Str` class."""

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Return the result of a string function."""
        text = first_known(arguments.at(0))
        if not isinstance(text, str):
            return Unknown(f"Str::{name}() of what is not known")
        if name in _UNARY_STRING_FUNCTIONS:
            return _UNARY_STRING_FUNCTIONS[name](text)
        if name in _BINARY_STRING_FUNCTIONS:
            return _BINARY_STRING_FUNCTIONS[name](text, display_text(arguments.at(1)))
        if name in ("startsWith", "endsWith", "contains"):
            return _test_string(
                name,
                text,
                tuple(read_texts(arguments.at(1))),
            )
        if name == "replace":
            return evaluator.language.functions["str_replace"](arguments, site, evaluator)
        return Unknown(f"Str::{name}() is not followed")


def _test_string(name: str, text: str, parts: tuple[str, ...]) -> bool:
    """Return whether a text starts with, ends with or contains one of the parts."""
    if name == "startsWith":
        return text.startswith(parts)
    if name == "endsWith":
        return text.endswith(parts)
    return any(part in text for part in parts)


def _text_after(text: str, mark: str) -> str:
    _, found_mark, tail = text.partition(mark)
    return tail if found_mark else text


def _text_before(text: str, mark: str) -> str:
    head, _, _ = text.partition(mark)
    return head


def _slug(text: str) -> str:
    """Return a text in lower case with its words joined by hyphens."""
    characters = [character if character.isalnum() else " " for character in text.lower()]
    return "-".join("".join(characters).split())


_UNARY_STRING_FUNCTIONS: Final[dict[str, Callable[[str], Value]]] = {
    "snake": snake,
    "camel": camel,
    "studly": studly,
    "pascal": studly,
    "plural": plural,
    "singular": singular,
    "lower": str.lower,
    "upper": str.upper,
    "kebab": lambda text: snake(text).replace("_", "-"),
    "title": str.title,
    "ucfirst": lambda text: text[:1].upper() + text[1:],
    "length": len,
    "trim": str.strip,
    "slug": _slug,
}
_BINARY_STRING_FUNCTIONS: Final[dict[str, Callable[[str, str], str]]] = {
    "finish": lambda text, mark: text.rstrip(mark) + mark,
    "start": lambda text, mark: mark + text.lstrip(mark),
    "after": _text_after,
    "before": _text_before,
}


# ── middleware ────────────────────────────────────────────────────────────────────────────────────


class ParameterizedMiddleware(Recorder):
    """A middleware class whose static methods return it as text: `Authorize::using("a", "b")`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Return the middleware as text."""
        if name in ("using", "with", "redirectTo"):
            words = [
                display_text(value)
                for value in (*arguments.positional, *arguments.named.values())
            ]
            return f"{self.name}:{','.join(words)}" if words else self.name
        if name == "relative":
            return f"{self.name}:relative"
        if name == "absolute":
            return self.name
        return Unknown(f"{name}() is not followed")
