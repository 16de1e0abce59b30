"""The folders below a root: which are entered, their entries, and the ignore rules that apply in each."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ragstone.errors import InputError, ReadError
from ragstone.sources.files import Identity, safe_open, to_uri
from ragstone.sources.folder.ignore_rules import MAX_EXPRESSIONS, IgnoreRules
from ragstone.sources.folder.selection import (
    GIT_RULES,
    OWN_FOLDERS,
    OWN_RULES,
    Selection,
    folder_reason,
)
from ragstone.types import Skip

_MAX_RULE_BYTES = 1 << 20
_TOO_MANY_PATTERNS = (
    f"folder whose ignore file has more than {MAX_EXPRESSIONS:,} patterns with wildcards"
)


@dataclass(frozen=True, slots=True)
class IgnoreFiles:
    """Ignore files from the innermost folder to the outermost; the first that matches a path decides."""

    files: tuple[tuple[int, str, IgnoreRules], ...] = ()
    """Each with the length of the path to cut off, and the path to put in front, before its rules are applied."""

    def add_inner(self, base: str, rules: IgnoreRules | None) -> IgnoreFiles:
        """Return these files and that of a folder below the root, whose paths start with `base`."""
        if not rules:
            return self
        return IgnoreFiles(((len(base), "", rules), *self.files))

    def add_outer(self, path_to_root: str, rules: IgnoreRules | None) -> IgnoreFiles:
        """Return these files and that of a folder above the root; `path_to_root` leads from it to the root."""
        if not rules:
            return self
        return IgnoreFiles(((0, path_to_root, rules), *self.files))

    @property
    def is_too_long(self) -> bool:
        """Return whether one of the files has too many patterns to use it."""
        return any(rules.is_too_long for _, _, rules in self.files)

    def ignores(self, path: str, *, is_folder: bool = False) -> bool:
        """Return whether a path is ignored; everything is if a file has too many patterns to use it."""
        if self.is_too_long:
            return True
        for cut, prefix, rules in self.files:
            verdict = rules.verdict(prefix + path[cut:], is_folder=is_folder)
            if verdict is not None:
                return verdict
        return False


@dataclass(slots=True)
class TreeFolder:
    """A folder that is entered. `git` is None if git itself lists the files."""

    path: str
    identity: Identity
    parent: TreeFolder | None
    ours: IgnoreFiles
    git: IgnoreFiles | None
    files: list[str] = field(default_factory=list)
    folders: frozenset[str] = frozenset()
    has_git: bool = False

    @property
    def base(self) -> str:
        """Return the beginning of its entries' paths."""
        return f"{self.path}/" if self.path else ""

    @property
    def has_rules(self) -> bool:
        """Return whether an ignore file applies to its files."""
        return bool(self.ours.files or (self.git and self.git.files))

    def ignores(self, path: str, *, is_folder: bool = False) -> bool:
        """Return whether an ignore file leaves out one of its entries."""
        if self.ours.ignores(path, is_folder=is_folder):
            return True
        return self.git is not None and self.git.ignores(path, is_folder=is_folder)

    @property
    def has_long_rules(self) -> bool:
        """Return whether an ignore file that applies here has too many patterns to use it."""
        return self.ours.is_too_long or (self.git is not None and self.git.is_too_long)

    @property
    def is_inside_itself(self) -> bool:
        """Return whether a folder above is the same folder, reached by another path."""
        above = self.parent
        while above is not None and self.identity[1]:
            if above.identity == self.identity:
                return True
            above = above.parent
        return False


@dataclass(slots=True)
class FolderTree:
    """The folders below a root that are entered; reasons of those that are not are in `skipped`."""

    root: Path
    selection: Selection
    only: Selection
    """Narrows the selection for one run."""
    secrets: bool
    home: Identity | None
    enter_named: bool = True
    """Whether a folder that `only` names is entered although it is usually skipped."""
    skipped: dict[str, Skip] = field(default_factory=dict)
    unlisted: list[str] = field(default_factory=list)
    """Uris of folders that could not be listed."""
    _folders: dict[str, TreeFolder | None] = field(default_factory=dict)

    def open_root(self, git: IgnoreFiles | None) -> TreeFolder:
        """Return the root folder."""
        info = os.stat(self.root)
        folder = TreeFolder("", (info.st_dev, info.st_ino), None, IgnoreFiles(), git)
        self._list(folder)
        if folder.has_long_rules:
            raise InputError(
                f"the ignore files of {self.root} cannot be used: one of them has more than "
                f"{MAX_EXPRESSIONS:,} patterns with wildcards",
                hint="name folders instead of files, or endings such as *.log",
            )
        self._folders[""] = folder
        return folder

    def folder_at(self, path: str) -> TreeFolder | None:
        """Return a folder by its path, or None if it or one above it is not entered."""
        if path not in self._folders:
            above, _, name = path.rpartition("/")
            parent = self.folder_at(above)
            folder = None
            if parent is not None:
                folder = self._enter(parent, name)
            self._folders[path] = folder
        return self._folders[path]

    def selects(self, path: str) -> bool:
        """Return whether a file in a folder that was entered is selected."""
        return self.selection.selects(path) and self.only.selects(path)

    @property
    def starting_points(self) -> tuple[str, ...]:
        """Return paths that hold everything selected; empty if that is the whole root."""
        narrower = self.selection if self.only.includes_all else self.only
        if "" in narrower.prefixes:
            return ()
        return narrower.prefixes

    def walk(self, start: TreeFolder) -> Iterator[str]:
        """Yield the paths of all selected files below a folder that no rule ignores."""
        selects_all = self.selection.is_everything and self.only.is_everything
        for folder in self._walk_folders(start):
            for name in folder.files:
                path = folder.base + name
                if folder.has_rules and folder.ignores(path):
                    continue
                if selects_all or self.selects(path):
                    yield path

    def walk_repository(self, start: TreeFolder) -> Iterator[str]:
        """Yield as `walk` does, for a repository that git could not list."""
        start.git = self._add_rules(start, GIT_RULES, IgnoreFiles())
        return self.walk(start)

    def walk_folder_paths(self, start: TreeFolder) -> Iterator[str]:
        """Yield the paths of a folder and of all folders below it that are entered."""
        return (folder.path for folder in self._walk_folders(start))

    def entered_paths(self) -> set[str]:
        """Return the paths of the folders that `folder_at` has entered."""
        return {path for path, folder in self._folders.items() if folder is not None}

    def _walk_folders(self, start: TreeFolder) -> Iterator[TreeFolder]:
        pending = [start]
        while pending:
            folder = pending.pop()
            yield folder
            for name in folder.folders:
                below = self._enter(folder, name)
                if below is not None:
                    pending.append(below)

    def _enter(self, parent: TreeFolder, name: str) -> TreeFolder | None:
        """Return a folder inside another, or None if it is not entered; a reason is added to `skipped`."""
        path = parent.base + name
        if name not in parent.folders or name.lower() in OWN_FOLDERS:
            return None
        if not (self.selection.enters(path) and self.only.enters(path)):
            return None
        if parent.ignores(path, is_folder=True):
            return None
        try:
            info = os.lstat(os.path.join(self.root, path))
            identity = (info.st_dev, info.st_ino)
            if identity == self.home:
                return None
            folder = TreeFolder(path, identity, parent, parent.ours, parent.git)
            reason = self._list_or_reason(folder, name)
        except OSError as error:
            self.unlisted.append(to_uri(path) + "/")
            reason = f"folder that cannot be listed: {error.strerror or error}"
        if reason is None:
            return folder
        uri = to_uri(path) + "/"
        self.skipped[uri] = Skip(uri, reason)
        return None

    def _list_or_reason(self, folder: TreeFolder, name: str) -> str | None:
        """List a folder's entries, or return why it is not entered."""
        if folder.is_inside_itself:
            return "folder that leads back to one above it"
        self._list(folder)
        if folder.has_long_rules:
            return _TOO_MANY_PATTERNS
        if self.selection.names(folder.path):
            return None
        if self.enter_named and self.only.names(folder.path):
            return None
        return folder_reason(name, frozenset(folder.files), secrets=self.secrets)

    def _list(self, folder: TreeFolder) -> None:
        """Fill in a folder's entries and ignore rules."""
        folders: list[str] = []
        with os.scandir(os.path.join(self.root, folder.path)) as entries:
            for entry in entries:
                names = folders if entry.is_dir(follow_symlinks=False) else folder.files
                names.append(entry.name)
        folder.folders = frozenset(folders)
        folder.has_git = ".git" in folder.folders or ".git" in folder.files
        if ".git" in folder.files:
            folder.files.remove(".git")
        folder.ours = self._add_rules(folder, OWN_RULES, folder.ours)
        if folder.git is not None:
            is_inner_repository = folder.has_git and folder.parent is not None
            outer = IgnoreFiles() if is_inner_repository else folder.git
            folder.git = self._add_rules(folder, GIT_RULES, outer)

    def _add_rules(self, folder: TreeFolder, file_name: str, outer: IgnoreFiles) -> IgnoreFiles:
        """Return the ignore files above a folder, and its own one if it has one."""
        if file_name not in folder.files:
            return outer
        rules = _read_rules(self.root, folder.base + file_name)
        return outer.add_inner(folder.base, rules)


def repository_of(folder: Path) -> Path | None:
    """Return the top folder of the repository that holds a folder, found by its `.git`, or None."""
    for candidate in (folder, *folder.parents):
        if os.path.lexists(candidate / ".git"):
            return candidate
    return None


def read_outer_rules(repository: Path, root: Path) -> IgnoreFiles:
    """Return the ignore files of a repository that are outside the root and apply to it."""
    parts = root.relative_to(repository).parts
    files = IgnoreFiles().add_outer(_join(parts), _read_rules(repository, ".git/info/exclude"))
    for depth in range(len(parts)):
        rules = _read_rules(repository, _join(parts[:depth]) + GIT_RULES)
        files = files.add_outer(_join(parts[depth:]), rules)
    return files


def _join(parts: tuple[str, ...]) -> str:
    return "".join(f"{part}/" for part in parts)


def _read_rules(root: Path, path: str) -> IgnoreRules | None:
    """Return the rules in an ignore file, or None if it cannot be read; the scan reports it as a file."""
    try:
        data = safe_open(root, path, max_bytes=_MAX_RULE_BYTES).data
    except ReadError:
        return None
    text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
    return IgnoreRules(text.split("\n"))
