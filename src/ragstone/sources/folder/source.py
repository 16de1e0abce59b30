"""A folder as a source: every file that counts, or why it does not."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import islice
from pathlib import Path

from ragstone.errors import InputError
from ragstone.sources.folder import git as git_program
from ragstone.sources.folder.choice import Choice
from ragstone.sources.folder.names import file_reason
from ragstone.sources.folder.tree import Folder, Levels, Tree, rules_above
from ragstone.sources.safe_open import Identity, Opened, identities, safe_open, stamp_of
from ragstone.sources.uris import from_uri, to_uri
from ragstone.types import Item, Skip, Stamp

FILES = "files"
"""What documents that came from files have for their source."""
OWN_REASON = "Ragstone's own index, never opened"
MISSING = "no such file or folder"
"""The reason of a path that `only` names and that is not there: gone, if it is known; else somebody's mistake."""
NOT_INCLUDED = "in sources.include, but not there"
_MOST_REPOSITORIES = 200
"""Inner repositories that git is asked about; a program start each, so beyond that our own walk is used."""
_SIDES = ("-wal", "-shm", "-journal")
_NO_SIDES = (*_SIDES, ".lock")

_SPECIAL = (
    (stat.S_ISFIFO, "named pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


def _refuse_nothing(uri: str) -> str | None:
    return None


@dataclass(slots=True)
class FolderSource:
    """The files below a root. A uri is the path below it, see `uris`; uris of folders left out end in `/`.

    In a git repository git says what is ignored, elsewhere `.gitignore` files do; `.ragstoneignore` files leave out
    more in both. What rules ignore is not listed; everything else is an `Item` or a `Skip`, in order of path.
    """

    root: Path
    _: KW_ONLY
    limits: tuple[int, int]
    """The most bytes of one file, and the most files."""
    documents: tuple[int, Collection[str]] = (0, ())
    """The most bytes of a file of other formats than text, and the suffixes, without dots, that those have."""
    include: Sequence[str] = ("**",)
    exclude: Sequence[str] = ()
    only: Sequence[str | Path] | None = None
    """Files and folders that narrow, this one time, what is looked at; absolute or relative to the root."""
    following: bool = False
    """Whether `only` names what has changed: names as they are, there or gone, and nothing counts for being named."""
    git: bool = True
    secret_files: bool = False
    home: Path | None = None
    never_open: Sequence[Path] = ()
    refuse: Callable[[str], str | None] = _refuse_nothing
    """Says by a uri alone why no reader takes it, or None."""
    name: str = FILES
    _unseen: list[str] = field(default_factory=list, init=False)
    _narrowed: Choice | None = field(default=None, init=False)

    @property
    def max_file_bytes(self) -> int:
        """Return how large a file may be."""
        return self.limits[0]

    def most_bytes(self, uri: str) -> int:
        """Return how large a file of this name may be."""
        return self.documents[0] if self._is_document(uri) else self.limits[0]

    @property
    def max_files(self) -> int:
        """Return how many files there may be."""
        return self.limits[1]

    @property
    def about(self) -> list[str] | None:
        """Return uris that everything it can tell of is at or below; None: anywhere."""
        return [to_uri(str(path)) for path in self.only] if self.following and self.only is not None else None

    def scan(self) -> Iterator[Item | Skip]:
        """Yield every file that counts, or why it is left out; `InputError` if there are more than `max_files`."""
        tree = self._tree()
        paths = sorted((to_uri(path), path) for path in islice(self._paths(tree), self.max_files + 1))
        if len(paths) > self.max_files:
            raise InputError(
                f"{self.root} holds more than {self.max_files:,} files",
                hint="name the folders to take in, leave some out, or use --yes (setting: max_files)",
            )
        named = (tree.choice, NOT_INCLUDED) if self.only is None else (tree.only, MISSING)
        left = sorted([*tree.skipped.values(), *self._missing(*named)], key=lambda skip: skip.uri, reverse=True)
        never = self.own_files()
        self._unseen = tree.unlisted
        top = os.path.join(self.root, "")
        for uri, path in paths:
            while left and left[-1].uri < uri:
                yield left.pop()
            found = self._look(top, path, uri, never)
            if found is not None:
                yield found
        yield from reversed(left)

    def count(self, limit: int) -> int:
        """Return how many files a scan would find, counting no further than one more than `limit`."""
        return sum(1 for _ in islice(self._paths(self._tree()), limit + 1))

    def folders(self) -> set[str]:
        """Return the paths of folders in which files that count are, or may come to be; the root's is empty."""
        tree, root = self._tree(), self.root.resolve()
        top = git_program.repository_of(root)
        listed = git_program.list_files(self.root, tree.starts) if self.git and top else None
        ruled = top and (listed is None or self._listable(listed))
        found = set(tree.folders(tree.top(rules_above(top, root) if top and ruled else Levels())))
        if listed:  # what git tracks in spite of its rules
            named = self._tree()
            for _ in self._listed(named, listed):
                pass
            found.update(named.entered())
        return found

    def covers(self, uri: str) -> bool:
        """Return whether a uri that the last scan did not find is gone, and not merely out of its sight."""
        if any(uri == unseen or (unseen.endswith("/") and uri.startswith(unseen)) for unseen in self._unseen):
            return False
        return self._narrowed is None or self._narrowed.wants(from_uri(uri))

    def load(self, item: Item) -> bytes:
        """Return an item's bytes, or raise `ReadError`."""
        return self._open(item).data

    def load_stamped(self, item: Item) -> tuple[bytes, Stamp | None]:
        """Return an item's bytes and their stamp; None for a file so new that a later change might not show in it."""
        opened = self._open(item)
        return opened.data, opened.stamp if opened.settled else None

    def own_files(self) -> frozenset[Identity]:
        """Return what our own files are, those in the home folder included, whatever name they are met under."""
        inside: list[str] = []
        if self.home is not None:
            for folder, _, names in os.walk(self.home):
                inside.extend(os.path.join(folder, name) for name in names)
        return identities([*self._database_files(), *inside])

    def _open(self, item: Item) -> Opened:
        # The database's side files come and go while we work, so they are looked up each time.
        never = identities(self._database_files())
        return safe_open(self.root, from_uri(item.uri), max_bytes=self.most_bytes(item.uri), never=never)

    def _tree(self) -> Tree:
        if not self.root.is_dir():
            what = "is not a folder" if self.root.exists() else "is not there"
            raise InputError(f"{self.root} {what}", hint="name a folder that exists")
        home = next(iter(identities([self.home])), None) if self.home else None
        choice = Choice.of(self.include or ("**",), self.exclude)
        self._narrowed = Choice.only(self.root, self.only, literal=self.following)
        return Tree(self.root, choice, self._narrowed, self.secret_files, home, by_name=not self.following)

    def _paths(self, tree: Tree) -> Iterator[str]:
        """Yield the paths of all files that are found, in no order."""
        try:
            top = git_program.repository_of(self.root.resolve())
            listed = git_program.list_files(self.root, tree.starts) if self.git and top else None
            if listed is not None and self._listable(listed):
                yield from self._listed(tree, listed)
            else:
                levels = rules_above(top, self.root.resolve()) if top and listed is None else Levels()
                yield from tree.walk(tree.top(levels))
        except PermissionError as error:
            raise InputError(f"{self.root} cannot be listed: permission denied", hint="check its rights") from error

    def _listable(self, listed: list[str]) -> bool:
        """Return whether git's answer can be used: an empty one may mean that the root itself is ignored, and yet a
        person named it; or only that nothing that has changed counts."""
        return bool(listed) or (self.following and bool(git_program.list_files(self.root)))

    def _listed(self, tree: Tree, listed: list[str]) -> Iterator[str]:
        """Yield what git has listed, with the repositories inside, less what our own rules leave out."""
        tree.top(None)
        pending, asked = [("", listed)], 0
        while pending:
            base, names = pending.pop()
            for name in names:
                path = (base + name).rstrip("/")
                above, _, last = path.rpartition("/")
                folder = tree.at(above)
                if folder is None:
                    continue
                if last not in folder.folders:
                    if not folder.ours.ignored(path) and tree.wants(path):
                        yield path
                    continue
                inner = tree.at(path)
                if inner is not None:
                    asked += 1
                    answer = self._ask(inner) if asked <= _MOST_REPOSITORIES else None
                    if answer is None:
                        yield from tree.walk_alone(inner)
                    else:
                        pending.append((inner.base, answer))

    def _ask(self, inner: Folder) -> list[str] | None:
        return git_program.list_files(self.root / inner.path) if inner.has_git else None

    def _missing(self, choice: Choice, reason: str) -> Iterator[Skip]:
        for path in dict.fromkeys(choice.literals):
            if not os.path.lexists(os.path.join(self.root, path)):
                yield Skip(to_uri(path), reason)

    def _look(self, top: str, path: str, uri: str, never: frozenset[Identity]) -> Item | Skip | None:
        """Return the file as an item, or why it is left out, or None when it is no longer there."""
        try:
            info = os.lstat(top + path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self._unseen.append(uri)
            return Skip(uri, f"cannot be looked at: {error.strerror or error}")
        reason = self._reason(path, uri, info)
        if (info.st_dev, info.st_ino) in never:
            reason = OWN_REASON
        return Skip(uri, reason) if reason else Item(uri, stamp_of(info))

    def _reason(self, path: str, uri: str, info: os.stat_result) -> str | None:
        if not stat.S_ISREG(info.st_mode):
            return self._odd_reason(path, info.st_mode)
        reason = file_reason(path[path.rfind("/") + 1 :], secrets=self.secret_files) or self.refuse(uri)
        size = info.st_size
        if reason is None and (size > self.limits[0] or size > self.documents[0]) and size > self.most_bytes(uri):
            setting = "sources.max_document_bytes" if self._is_document(uri) else "sources.max_file_bytes"
            reason = f"too large: {_megabytes(info.st_size)} ({setting}: {_megabytes(self.most_bytes(uri))})"
        return reason

    def _is_document(self, uri: str) -> bool:
        name, _, suffix = uri[uri.rfind("/") + 1 :].rpartition(".")
        return bool(name) and suffix.lower() in self.documents[1]

    def _odd_reason(self, path: str, mode: int) -> str:
        if not stat.S_ISLNK(mode):
            return next((what for test, what in _SPECIAL if test(mode)), "not a regular file")
        full = os.path.join(self.root, path)
        try:
            os.stat(full)
        except OSError:
            return "link that leads nowhere"
        inside = Path(os.path.realpath(full)).is_relative_to(os.path.realpath(self.root))
        return "link to something inside the folder" if inside else "link out of the folder"

    def _database_files(self) -> list[str]:
        """Return the files named and what SQLite keeps beside a database; what stands beside one has nothing itself."""
        beside = (f"{path}{side}" for path in self.never_open if not path.name.endswith(_NO_SIDES) for side in _SIDES)
        return list(dict.fromkeys((*map(str, self.never_open), *beside)))


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB" if size >= 100_000 else f"{size:,} bytes"
