"""Which part of a folder a person asked for: what to take in, what to leave out."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragstone.errors import InputError
from ragstone.sources.folder.patterns import Pattern, Rules, compile_glob

_EVERYTHING = ("", ".", "**", "**/*")


@dataclass(frozen=True, slots=True)
class Choice:
    """Includes and excludes, relative to the root.

    Include: a file or folder (`docs`), or a pattern: `docs/*.md` from the root on, `*.py` at any depth. A pattern whose
    last part has no wildcard (`packages/*/src`) also means the folder of that name. Exclude: lines of a `.gitignore`.
    """

    everything: bool
    literals: tuple[str, ...]
    patterns: tuple[tuple[re.Pattern[str], bool], ...]
    prefixes: tuple[str, ...]
    exclude: Rules

    @classmethod
    def of(cls, include: Sequence[str], exclude: Sequence[str] = (), *, exact: Sequence[str] = ()) -> Choice:
        """Return the choice that patterns, and paths taken as they are, make; `InputError` if one makes no sense."""
        bodies = [_body(pattern) for pattern in include]
        everything = any(body.lstrip("/") in _EVERYTHING for body in bodies) or "" in exact
        literals = [*exact, *(body.lstrip("/") for body in bodies if Pattern(body).literal)]
        globs = [body for body in bodies if not Pattern(body).literal]
        return cls(
            everything=everything,
            literals=() if everything else tuple(literals),
            patterns=() if everything else tuple(_compiled(glob) for glob in globs),
            prefixes=() if everything else tuple([*literals, *(_fixed(glob) for glob in globs)]),
            exclude=Rules.of(exclude),
        )

    @classmethod
    def only(cls, root: Path, paths: Sequence[str | Path] | None, *, literal: bool = False) -> Choice:
        """Return the choice of files and folders that are named below a root; None: all of it.

        `literal`: names are those of files and folders, there or gone, and never patterns.
        """
        if paths is None:
            return cls.of(("**",))
        inside = [_inside(root, str(path)) for path in paths]
        exact = [path for path in inside if literal or Pattern(path).literal or os.path.lexists(root / path)]
        return cls.of([path for path in inside if path not in exact], exact=exact)

    @property
    def all(self) -> bool:
        """Return whether every file is asked for."""
        return self.everything and not self.exclude

    def wants(self, path: str) -> bool:
        """Return whether a file is asked for; its folders were asked about before."""
        if self.exclude and self.exclude.verdict(path):
            return False
        if self.everything or any(path == one or path.startswith(f"{one}/") for one in self.literals):
            return True
        return any(_matches(compiled, path, folders=folders) for compiled, folders in self.patterns)

    def enters(self, folder: str) -> bool:
        """Return whether anything asked for may lie below a folder."""
        if self.exclude and self.exclude.verdict(folder, folder=True):
            return False
        return self.everything or any(
            not prefix or folder == prefix or folder.startswith(f"{prefix}/") or prefix.startswith(f"{folder}/")
            for prefix in self.prefixes
        )

    def names(self, folder: str) -> bool:
        """Return whether a folder, or something in it, was asked for by its very name."""
        return any(one == folder or one.startswith(f"{folder}/") for one in self.prefixes)


def _inside(root: Path, path: str) -> str:
    """Return a path relative to the root, or raise `InputError` when it is not below it."""
    for top in (os.path.abspath(root), os.path.realpath(root)):
        relative = os.path.relpath(os.path.join(top, path), top).replace(os.sep, "/")
        if relative != ".." and not relative.startswith("../"):
            return "" if relative == "." else relative
    raise InputError(f"{path} is not below {root}", hint="name a file or folder inside it")


def _body(pattern: str) -> str:
    """Return a pattern in one spelling, or raise `InputError` when it leaves the folder."""
    body = pattern.replace("\\", "/") if os.sep == "\\" else pattern
    while body.startswith("./"):
        body = body[2:]
    if ".." in body.split("/"):
        raise InputError(f"the pattern {pattern!r} leads out of the folder", hint="give it relative to the folder")
    return body.rstrip("/")


def _compiled(body: str) -> tuple[re.Pattern[str], bool]:
    """Return the expression for a path, and whether folders may match it too."""
    anchored = "/" in body
    compiled = compile_glob(body.removeprefix("/") if anchored else f"**/{body}")
    if compiled is None:
        raise InputError(f"the pattern {body!r} can match nothing", hint="close its bracket or escape it")
    return compiled, Pattern(body.rpartition("/")[2]).literal


def _matches(compiled: re.Pattern[str], path: str, *, folders: bool) -> bool:
    if compiled.fullmatch(path):
        return True
    if not folders:
        return False
    cut = path.rfind("/")
    while cut > 0:
        if compiled.fullmatch(path, 0, cut):
            return True
        cut = path.rfind("/", 0, cut)
    return False


def _fixed(body: str) -> str:
    """Return the folders that a pattern names before its first wildcard."""
    if "/" not in body:
        return ""
    fixed: list[str] = []
    for part in body.removeprefix("/").split("/")[:-1]:
        if not Pattern(part).literal:
            break
        fixed.append(part)
    return "/".join(fixed)
