"""The folders below a root: which are entered, what they hold, and the ignore rules in force in each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.errors import ReadError
from ragstone.sources.folder.names import OWN_FOLDERS, folder_reason
from ragstone.sources.folder.patterns import Rules
from ragstone.sources.safe_open import Identity, safe_open
from ragstone.sources.uris import to_uri
from ragstone.types import Skip

if TYPE_CHECKING:
    from ragstone.sources.folder.choice import Choice

OWN_RULES, GIT_RULES = ".ragstoneignore", ".gitignore"
_MOST_RULE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Levels:
    """Ignore files from the outside in; the innermost that speaks of a path decides."""

    files: tuple[tuple[int, str, Rules], ...] = ()

    def inside(self, base: str, rules: Rules | None) -> Levels:
        """Return these levels and the rules of a folder below the root, whose paths start with `base`."""
        return Levels(((len(base), "", rules), *self.files)) if rules else self

    def outside(self, way: str, rules: Rules | None) -> Levels:
        """Return these levels and the rules of a folder above the root, from which `way` leads to the root."""
        return Levels(((0, way, rules), *self.files)) if rules else self

    def ignored(self, path: str, *, folder: bool = False) -> bool:
        """Return whether a path is left out."""
        for cut, way, rules in self.files:
            verdict = rules.verdict(way + path[cut:], folder=folder)
            if verdict is not None:
                return verdict
        return False


@dataclass(slots=True)
class Folder:
    """One folder that is entered. `git` is None where git itself has said what counts."""

    path: str
    identity: Identity
    parent: Folder | None
    ours: Levels
    git: Levels | None
    files: list[str] = field(default_factory=list)
    folders: frozenset[str] = frozenset()
    has_git: bool = False

    @property
    def base(self) -> str:
        """Return what the paths of its entries start with."""
        return f"{self.path}/" if self.path else ""


@dataclass(slots=True)
class Tree:
    """Everything below a root that may be looked at; what is left out on the way is kept in `skipped`."""

    root: Path
    choice: Choice
    only: Choice
    secrets: bool
    home: Identity | None
    by_name: bool = True
    """Whether a folder that `only` names is looked into though it would be left out by itself."""
    skipped: dict[str, Skip] = field(default_factory=dict)
    unlisted: list[str] = field(default_factory=list)
    _known: dict[str, Folder | None] = field(default_factory=dict)

    def top(self, git: Levels | None) -> Folder:
        """Return the root itself."""
        info = os.stat(self.root)
        folder = Folder("", (info.st_dev, info.st_ino), None, Levels(), git)
        self._fill(folder)
        self._known[""] = folder
        return folder

    def at(self, path: str) -> Folder | None:
        """Return a folder by its path, or None if it or one above it is not entered."""
        known = self._known
        if path in known:
            return known[path]
        missing = [path]
        while (above := missing[-1].rpartition("/")[0]) not in known:
            missing.append(above)
        for below in reversed(missing):
            parent = known[below.rpartition("/")[0]]
            known[below] = self.enter(parent, below.rpartition("/")[2]) if parent else None
        return known[path]

    def wants(self, path: str) -> bool:
        """Return whether a file in a folder that was entered is asked for."""
        return self.choice.wants(path) and self.only.wants(path)

    def enters(self, path: str) -> bool:
        """Return whether anything below a folder is asked for."""
        return self.choice.enters(path) and self.only.enters(path)

    @property
    def starts(self) -> tuple[str, ...]:
        """Return paths that everything asked for lies below; none: the whole root."""
        prefixes = self.choice.prefixes if self.only.everything else self.only.prefixes
        return () if "" in prefixes else prefixes

    def enter(self, parent: Folder, name: str) -> Folder | None:
        """Return a folder inside another, or None if it is not entered; a reason goes to `skipped`."""
        path = parent.base + name
        if name not in parent.folders or name.lower() in OWN_FOLDERS or not self.enters(path):
            return None
        if parent.ours.ignored(path, folder=True) or (parent.git and parent.git.ignored(path, folder=True)):
            return None
        try:
            info = os.lstat(os.path.join(self.root, path))
            folder = Folder(path, (info.st_dev, info.st_ino), parent, parent.ours, parent.git)
            if folder.identity == self.home:
                return None
            reason = self._fill_or_reason(folder, name)
        except OSError as error:
            self.unlisted.append(to_uri(path) + "/")
            reason = f"folder that cannot be listed: {error.strerror or error}"
        if reason is None:
            return folder
        uri = to_uri(path) + "/"
        self.skipped[uri] = Skip(uri, reason)
        return None

    def walk(self, start: Folder) -> Iterator[str]:
        """Yield the paths of all files below a folder that no rule leaves out."""
        pending = [start]
        all_wanted = self.choice.all and self.only.all
        while pending:
            folder = pending.pop()
            base, git = folder.base, folder.git
            ruled = folder.ours.files or (git and git.files)
            for name in folder.files:
                path = base + name
                if not ruled and all_wanted:  # in most folders there is nothing to ask of each file
                    yield path
                elif not folder.ours.ignored(path) and not (git and git.ignored(path)) and self.wants(path):
                    yield path
            for name in folder.folders:
                below = self.enter(folder, name)
                if below is not None:
                    pending.append(below)

    def folders(self, start: Folder) -> Iterator[str]:
        """Yield the paths of a folder and of all below it that are entered, files or none in them."""
        pending = [start]
        while pending:
            folder = pending.pop()
            yield folder.path
            found = (self.enter(folder, name) for name in folder.folders)
            pending += [below for below in found if below is not None]

    def entered(self) -> Iterator[str]:
        """Yield the paths of folders that were asked for with `at` and are entered."""
        yield from (path for path, folder in self._known.items() if folder is not None)

    def walk_alone(self, start: Folder) -> Iterator[str]:
        """Yield as `walk` does, from a folder on that git should have listed and could not."""
        self._take_git_rules(start, Levels())
        return self.walk(start)

    def _fill_or_reason(self, folder: Folder, name: str) -> str | None:
        """List a folder, or return why it is not looked into."""
        if _is_above(folder):
            return "folder that leads back to one above it"
        self._fill(folder)
        if self.choice.names(folder.path) or (self.by_name and self.only.names(folder.path)):
            return None
        return folder_reason(name, frozenset(folder.files), secrets=self.secrets)

    def _fill(self, folder: Folder) -> None:
        """List a folder and take in its ignore rules."""
        folders: list[str] = []
        with os.scandir(os.path.join(self.root, folder.path)) as entries:
            for entry in entries:
                (folders if entry.is_dir(follow_symlinks=False) else folder.files).append(entry.name)
        folder.folders = frozenset(folders)
        folder.has_git = ".git" in folder.folders or ".git" in folder.files
        if ".git" in folder.files:
            folder.files.remove(".git")
        if OWN_RULES in folder.files:
            folder.ours = folder.ours.inside(folder.base, _read_rules(self.root, folder.base + OWN_RULES))
        if folder.git is None:
            return
        if folder.has_git and folder.parent is not None:
            folder.git = Levels()  # another repository: what the outer one ignores does not count inside
        self._take_git_rules(folder, folder.git)

    def _take_git_rules(self, folder: Folder, outer: Levels) -> None:
        rules = _read_rules(self.root, folder.base + GIT_RULES) if GIT_RULES in folder.files else None
        folder.git = outer.inside(folder.base, rules)


def _read_rules(root: Path, path: str) -> Rules | None:
    """Return the rules an ignore file holds, or None; one that cannot be read fails later, as a file, with a reason."""
    try:
        data = safe_open(root, path, max_bytes=_MOST_RULE_BYTES).data
    except ReadError:
        return None
    return Rules.of(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n"))


def rules_above(top: Path, root: Path) -> Levels:
    """Return the rules that a repository has, outside one of its folders, for what is in it."""
    parts = root.relative_to(top).parts
    levels = Levels().outside("".join(f"{part}/" for part in parts), _read_rules(top, ".git/info/exclude"))
    for depth in range(len(parts)):
        folder, way = ("".join(f"{part}/" for part in half) for half in (parts[:depth], parts[depth:]))
        levels = levels.outside(way, _read_rules(top, folder + GIT_RULES))
    return levels


def _is_above(folder: Folder) -> bool:
    above = folder.parent
    while above is not None and folder.identity[1]:
        if above.identity == folder.identity:
            return True
        above = above.parent
    return False
