"""A folder as a source: every file, or the reason why it is skipped."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import islice
from pathlib import Path

from ragstone.errors import InputError
from ragstone.sources.files import (
    Identity,
    from_uri,
    identities,
    output_files,
    safe_open,
    stamp_of,
    to_uri,
)
from ragstone.sources.folder import git as git_program
from ragstone.sources.folder.selection import FileLimits, Selection, file_reason
from ragstone.sources.folder.tree import (
    FolderTree,
    IgnoreFiles,
    TreeFolder,
    read_outer_rules,
    repository_of,
)
from ragstone.types import Item, LoadedItem, Skip

FILES = "files"
"""The source name of documents that came from files."""
OWN_REASON = "Ragstone's own index, never opened"
_OUTPUT_REASON = "the output of this command"
MISSING = "no such file or folder"
"""The reason for a path in `only` that does not exist: it was deleted, or the user mistyped it."""
NOT_INCLUDED = "in sources.include, but not there"
_MAX_REPOSITORIES = 200
"""Git is started for at most this many inner repositories; the others are walked."""
_SIDE_FILES = ("-wal", "-shm", "-journal", ".lock")

_SPECIAL_FILES = (
    (stat.S_ISFIFO, "named pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


def _refuse_nothing(uri: str) -> str | None:
    return None


@dataclass(slots=True)
class FolderSource:
    """The files below a root. A uri is the path below it, see `uris`; uris of skipped folders end in `/`.

    In a git repository git lists the files that are not ignored; elsewhere `.gitignore` files are applied.
    `.ragstoneignore` files are applied in both. Ignored files are not reported; every other file is an `Item` or a
    `Skip`, in the order of paths.
    """

    root: Path
    _: KW_ONLY
    limits: FileLimits
    include: Sequence[str] = ("**",)
    include_origin: str = ""
    """Where the patterns come from, in words; for messages."""
    exclude: Sequence[str] = ()
    only: Sequence[str | Path] | None = None
    """Files, folders and patterns that narrow the scan, as a user named them."""
    changed: Sequence[str] | None = None
    """Paths that changed, instead of `only`: they may be gone, and naming one selects nothing that is skipped."""
    git: bool = True
    secret_files: bool = False
    home: Path | None = None
    databases: Sequence[Path] = ()
    """Never opened, nor the side files of each: only SQLite may open them."""
    refuse: Callable[[str], str | None] = _refuse_nothing
    """Returns why no reader takes a uri, or None."""
    name: str = FILES
    _unseen: list[str] = field(default_factory=list, init=False)
    """Uris that the last scan could not look at."""

    @property
    def scope(self) -> list[str] | None:
        """Return uris that every item is at or below; None: the whole folder."""
        if self.changed is None:
            return None
        return [to_uri(path) for path in self.changed]

    def scan(self) -> Iterator[Item | Skip]:
        """Yield every file or why it is skipped; raise `InputError` if there are more than `max_files`."""
        tree = self._open_tree()
        max_files = self.limits.max_files
        paths = list(islice(self._paths(tree), max_files + 1))
        if len(paths) > max_files:
            raise InputError(
                f"{self.root} holds more than {max_files:,} files",
                hint="name the folders to take in, leave some out, use --yes, or raise sources.max_files",
            )
        if not paths:
            self._refuse_include_without_files(tree)
        skipped = [*tree.skipped.values(), *self._missing_paths(tree)]
        skipped.sort(key=lambda skip: skip.uri, reverse=True)
        own_files = dict.fromkeys(output_files(), _OUTPUT_REASON)
        own_files |= dict.fromkeys(self.own_files(), OWN_REASON)
        self._unseen = tree.unlisted
        for uri, path in sorted((to_uri(path), path) for path in paths):
            while skipped and skipped[-1].uri < uri:
                yield skipped.pop()
            entry = self._look_at(path, uri, own_files)
            if entry is not None:
                yield entry
        yield from reversed(skipped)

    def count(self, limit: int) -> int:
        """Return how many files a scan would find, but at most `limit` + 1."""
        paths = self._paths(self._open_tree())
        return len(list(islice(paths, limit + 1)))

    def folders(self) -> set[str]:
        """Return the paths of folders that hold files of this source, or may do so later; the root's is empty."""
        tree = self._open_tree()
        listed, outer_rules = self._list_with_git(tree)
        paths = set(tree.walk_folder_paths(tree.open_root(outer_rules)))
        if listed:
            # Git also lists tracked files in ignored folders.
            tracked = self._open_tree()
            for _ in self._listed_paths(tracked, listed):
                pass
            paths |= tracked.entered_paths()
        return paths

    def covers(self, uri: str) -> bool:
        """Return whether a uri that the last scan did not yield is gone, and was not merely out of its sight."""
        for unseen in self._unseen:
            if uri == unseen or (unseen.endswith("/") and uri.startswith(unseen)):
                return False
        return self._narrowed().selects(from_uri(uri))

    def load(self, item: Item) -> LoadedItem:
        """Return an item's bytes and the stamp they were read at, or raise `ReadError`."""
        content = safe_open(
            self.root,
            from_uri(item.uri),
            max_bytes=self.limits.max_bytes(item.uri),
            # Side files come and go, so they are looked up each time.
            never=identities(self._database_files()),
        )
        return LoadedItem(content.data, content.lasting_stamp)

    def own_files(self) -> frozenset[Identity]:
        """Return the identities of Ragstone's own files, whatever name leads to them."""
        paths = self._database_files()
        if self.home is not None:
            for folder, _, names in os.walk(self.home):
                paths += [os.path.join(folder, name) for name in names]
        return identities(paths)

    def _open_tree(self) -> FolderTree:
        if not self.root.is_dir():
            problem = "is not a folder" if self.root.exists() else "is not there"
            raise InputError(f"{self.root} {problem}", hint="name a folder that exists")
        home = None
        if self.home is not None:
            home = next(iter(identities([self.home])), None)
        return FolderTree(
            self.root,
            selection=Selection.of(self.include or ("**",), self.exclude),
            only=self._narrowed(),
            secrets=self.secret_files,
            home=home,
            enter_named=self.changed is None,
        )

    def _narrowed(self) -> Selection:
        if self.changed is not None:
            return Selection.of_paths(self.root, self.changed, literal=True)
        return Selection.of_paths(self.root, self.only)

    def _paths(self, tree: FolderTree) -> Iterator[str]:
        """Yield the paths of all selected files that no rule ignores, in no order."""
        try:
            listed, outer_rules = self._list_with_git(tree)
            if listed is not None:
                yield from self._listed_paths(tree, listed)
            else:
                yield from tree.walk(tree.open_root(outer_rules))
        except PermissionError as error:
            raise InputError(
                f"{self.root} cannot be listed: permission denied", hint="check its rights"
            ) from error

    def _list_with_git(self, tree: FolderTree) -> tuple[list[str] | None, IgnoreFiles]:
        """Return the paths that git lists, None if the folder has to be walked, and the ignore files above the root."""
        root = self.root.resolve()
        repository = repository_of(root)
        if repository is None:
            return None, IgnoreFiles()
        listed = None
        if self.git:
            listed = git_program.list_files(self.root, tree.starting_points)
        if listed == [] and not self._is_listed_by_git():
            return None, IgnoreFiles()  # the root itself is ignored, but a user named it
        return listed, read_outer_rules(repository, root)

    def _is_listed_by_git(self) -> bool:
        """Return whether git lists any file, if none of the changed paths is listed."""
        return self.changed is not None and bool(git_program.list_files(self.root))

    def _listed_paths(self, tree: FolderTree, listed: list[str]) -> Iterator[str]:
        """Yield the files that git lists, also those of repositories inside, unless our own rules ignore them."""
        tree.open_root(None)
        repositories: deque[TreeFolder] = deque()
        yield from _listed_files(tree, "", listed, repositories)
        count = 0
        while repositories:
            repository = repositories.popleft()
            count += 1
            names = None
            if repository.has_git and count <= _MAX_REPOSITORIES:
                names = git_program.list_files(self.root / repository.path)
            if names is None:
                yield from tree.walk_repository(repository)
            else:
                yield from _listed_files(tree, repository.base, names, repositories)

    def _refuse_include_without_files(self, tree: FolderTree) -> None:
        """Raise `InputError` if patterns of the settings select nothing: a sync would remove every document."""
        is_complete = self.only is None and self.changed is None
        if is_complete and not tree.selection.includes_all:
            patterns = ", ".join(self.include)
            origin = f" ({self.include_origin})" if self.include_origin else ""
            raise InputError(
                f"sources.include selects no file in {self.root}: {patterns}",
                hint=f"correct the patterns{origin}; nothing was removed",
            )

    def _missing_paths(self, tree: FolderTree) -> Iterator[Skip]:
        """Yield the paths that are named, by the user or the settings, and do not exist."""
        selection = tree.only
        reason = MISSING
        if self.only is None and self.changed is None:
            selection = tree.selection
            reason = NOT_INCLUDED
        for path in dict.fromkeys(selection.paths):
            if not os.path.lexists(os.path.join(self.root, path)):
                yield Skip(to_uri(path), reason)

    def _look_at(
        self, path: str, uri: str, own_files: Mapping[Identity, str]
    ) -> Item | Skip | None:
        """Return the file as an item, or why it is skipped, or None if it has vanished.

        `own_files` has the reasons for skipping the files that this program writes.
        """
        try:
            info = os.lstat(os.path.join(self.root, path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self._unseen.append(uri)
            return Skip(uri, f"cannot be looked at: {error.strerror or error}")
        own_reason = own_files.get((info.st_dev, info.st_ino))
        if own_reason == _OUTPUT_REASON:
            self._unseen.append(uri)  # another process may have indexed it
        if own_reason:
            return Skip(uri, own_reason)
        reason = self._skip_reason(path, uri, info)
        if reason:
            return Skip(uri, reason)
        return Item(uri, stamp_of(info))

    def _skip_reason(self, path: str, uri: str, info: os.stat_result) -> str | None:
        if stat.S_ISLNK(info.st_mode):
            return self._link_reason(path)
        if not stat.S_ISREG(info.st_mode):
            kinds = (kind for is_kind, kind in _SPECIAL_FILES if is_kind(info.st_mode))
            return next(kinds, "not a regular file")
        name = path.rpartition("/")[2]
        return (
            file_reason(name, secrets=self.secret_files)
            or self.refuse(uri)
            or self.limits.explain_excess(uri, info.st_size)
        )

    def _link_reason(self, path: str) -> str:
        full = os.path.join(self.root, path)
        if not os.path.exists(full):
            return "link that leads nowhere"
        target = Path(os.path.realpath(full))
        if target.is_relative_to(os.path.realpath(self.root)):
            return "link to something inside the folder"
        return "link out of the folder"

    def _database_files(self) -> list[str]:
        """Return the files that are never opened: each database with its side files."""
        paths: list[str] = []
        for database in self.databases:
            paths += [str(database), *(f"{database}{suffix}" for suffix in _SIDE_FILES)]
        return paths


def _listed_files(
    tree: FolderTree, base: str, names: list[str], repositories: deque[TreeFolder]
) -> Iterator[str]:
    """Yield the selected files that git lists below `base`, and add the inner repositories to a queue."""
    for name in names:
        path = (base + name).rstrip("/")
        above, _, last = path.rpartition("/")
        folder = tree.folder_at(above)
        if folder is None:
            continue
        if last in folder.folders:
            inner = tree.folder_at(path)
            if inner is not None:
                repositories.append(inner)
        elif not folder.ours.ignores(path) and tree.selects(path):
            yield path


def fingerprint(entries: Iterable[Item | Skip]) -> str:
    """Return the SHA-256 over path, size and modification time of every item."""
    rows = []
    for entry in entries:
        if isinstance(entry, Item) and entry.stamp is not None:
            stamp = entry.stamp
            rows.append(f"{entry.uri}\0{stamp.size}\0{stamp.mtime_ns}\0")
    rows.sort()
    return hashlib.sha256("".join(rows).encode()).hexdigest()
