"""Which part of a folder is selected: by settings, or by the paths that a user names."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragstone.errors import InputError
from ragstone.sources.folder.ignore_rules import IgnoreRules
from ragstone.text.globs import compile_glob, has_wildcard

_EVERYTHING = ("", ".", "**", "**/*")


@dataclass(frozen=True, slots=True)
class Selection:
    """Includes and excludes, relative to the root.

    An include is a file or folder (`docs`) or a pattern: `docs/*.md` from the root on, `*.py` at any depth. If the last
    part of a pattern has no wildcard (`packages/*/src`), the pattern also selects the folders of that name. Excludes
    are lines of a `.gitignore`.
    """

    includes_all: bool
    paths: tuple[str, ...]
    """Files and folders that are named without a wildcard."""
    patterns: tuple[_IncludePattern, ...]
    prefixes: tuple[str, ...]
    """Everything selected is at or below one of these."""
    exclude: IgnoreRules

    @classmethod
    def of(
        cls, include: Sequence[str], exclude: Sequence[str] = (), *, paths: Sequence[str] = ()
    ) -> Selection:
        """Return the selection of patterns and of literal paths; raise `InputError` for a malformed pattern."""
        globs = [_normalise(pattern) for pattern in include]
        rules = IgnoreRules(exclude)
        if "" in paths or any(glob.lstrip("/") in _EVERYTHING for glob in globs):
            return cls(includes_all=True, paths=(), patterns=(), prefixes=(), exclude=rules)
        literals = list(paths)
        patterns = []
        for glob in globs:
            if has_wildcard(glob):
                patterns.append(_IncludePattern.parse(glob))
            else:
                literals.append(glob.lstrip("/"))
        pattern_prefixes = [pattern.prefix for pattern in patterns]
        return cls(
            includes_all=False,
            paths=tuple(literals),
            patterns=tuple(patterns),
            prefixes=(*literals, *pattern_prefixes),
            exclude=rules,
        )

    @classmethod
    def of_paths(
        cls, root: Path, paths: Sequence[str | Path] | None, *, literal: bool = False
    ) -> Selection:
        """Return the selection of files, folders and patterns below a root; None selects everything.

        With `literal`, the paths are names even if they hold wildcards, whether the files exist or not.
        """
        if paths is None:
            return cls.of(("**",))
        names: list[str] = []
        patterns: list[str] = []
        for path in paths:
            relative = _relative_to(root, str(path))
            is_name = literal or not has_wildcard(relative) or os.path.lexists(root / relative)
            if is_name:
                names.append(relative)
            else:
                patterns.append(relative)
        return cls.of(patterns, paths=names)

    @property
    def is_everything(self) -> bool:
        """Return whether every file is selected."""
        return self.includes_all and not self.exclude

    def selects(self, path: str) -> bool:
        """Return whether a file is selected. Its folders were checked with `enters` before."""
        if self.exclude.verdict(path):
            return False
        if self.includes_all or any(_is_at_or_below(path, selected) for selected in self.paths):
            return True
        return any(pattern.matches(path) for pattern in self.patterns)

    def enters(self, folder: str) -> bool:
        """Return whether a selected file may be below a folder."""
        if self.exclude.verdict(folder, is_folder=True):
            return False
        if self.includes_all:
            return True
        return any(
            _is_at_or_below(folder, prefix) or _is_at_or_below(prefix, folder)
            for prefix in self.prefixes
        )

    def names(self, folder: str) -> bool:
        """Return whether a folder, or something in it, is selected by its exact name."""
        return any(_is_at_or_below(prefix, folder) for prefix in self.prefixes if prefix)


@dataclass(frozen=True, slots=True)
class _IncludePattern:
    """One include with wildcards."""

    expression: re.Pattern[str]
    prefix: str
    """The folders that the pattern names before its first wildcard."""
    matches_folders: bool

    @classmethod
    def parse(cls, glob: str) -> _IncludePattern:
        pattern = glob.removeprefix("/") if "/" in glob else f"**/{glob}"
        expression = compile_glob(pattern)
        if expression is None:
            raise InputError(
                f"the pattern {glob!r} can match nothing", hint="close its bracket or escape it"
            )
        *folders, last = glob.removeprefix("/").split("/")
        fixed: list[str] = []
        for folder in folders:
            if has_wildcard(folder):
                break
            fixed.append(folder)
        return cls(expression, "/".join(fixed), matches_folders=not has_wildcard(last))

    def matches(self, path: str) -> bool:
        """Return whether the pattern matches a path, or a folder above it if it may match folders."""
        if self.expression.fullmatch(path):
            return True
        if not self.matches_folders:
            return False
        folder = path.rpartition("/")[0]
        while folder:
            if self.expression.fullmatch(folder):
                return True
            folder = folder.rpartition("/")[0]
        return False


def _is_at_or_below(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _relative_to(root: Path, path: str) -> str:
    """Return a path relative to the root, or raise `InputError` if it is not below it."""
    for top in (os.path.abspath(root), os.path.realpath(root)):
        full_path = os.path.join(top, path)
        relative = os.path.relpath(full_path, top).replace(os.sep, "/")
        if relative == ".":
            return ""
        if relative != ".." and not relative.startswith("../"):
            return relative
    raise InputError(f"{path} is not below {root}", hint="name a file or folder inside it")


def _normalise(pattern: str) -> str:
    """Return a pattern in one spelling, or raise `InputError` if it leads out of the folder."""
    glob = pattern.replace("\\", "/") if os.sep == "\\" else pattern
    while glob.startswith("./"):
        glob = glob[2:]
    if ".." in glob.split("/"):
        raise InputError(
            f"the pattern {pattern!r} leads out of the folder",
            hint="give it relative to the folder",
        )
    return glob.rstrip("/")
