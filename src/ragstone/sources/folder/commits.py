"""The commits that touched a file or some of its lines. Git runs no program that came with a clone: no diff driver, no
signature check, no fetch of missing objects."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from ragstone.errors import ReadError
from ragstone.sources.files import safe_open, split_path
from ragstone.sources.folder.git import run_git
from ragstone.sources.secrets.redaction import redact
from ragstone.types import Commit

_MAX_BYTES: Final = 4_000_000
"""The lines of a larger file are not matched with its last commit."""
LOG: Final = (
    *(
        "-c",
        "log.follow=false",
        "-c",
        f"diff.orderFile={os.devnull}",
        "-c",
        "core.quotePath=false",
    ),
    *(
        "log",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--no-show-signature",
        "--no-notes",
    ),
)
_FIELDS: Final = "%H%x00%P%x00%at%x00%an%x00%s%x00"
_MAIL_ADDRESS: Final = re.compile(r"\s*<?([^\s<>@]+)@[^\s<>]+>?")
_PATCHED_FILE: Final = re.compile(r"^\+\+\+ (?:b/([^\n\t]*)|\"b/([^\n]*)\")\t?$", re.MULTILINE)
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPED: Final = {"t": "\t", "n": "\n"}


def commits(
    root: Path, path: str, *, lines: tuple[int, int] | None = None, limit: int = 20
) -> tuple[Commit, ...]:
    """Return the commits that touched a path below a root, newest first, across renames.

    With `lines`, return those that touched these lines of the file as it is now. The result is empty if the folder is
    no repository, has no commits, or git does not know the file.
    """
    tracked = _locate(root, path)
    if tracked is None or limit < 1:
        return ()
    selection = _log_selection(tracked, lines)
    if selection is None:
        return ()
    separator = secrets.token_hex(16)
    output = tracked.git(*LOG, f"-n{limit}", f"--format={separator}{_FIELDS}", *selection)
    if output is None:
        return ()
    entries = output.decode("utf-8", "replace").split(separator)[1:]
    history = _parse_history(entries, tracked, is_patch=lines is not None)
    if any(commit.boundary for commit in history) and not tracked.is_shallow():
        history = [replace(commit, boundary=False) for commit in history]
    return tuple(history)


@dataclass(frozen=True, slots=True)
class _TrackedPath:
    """A path below a root: its deepest existing folder, in which git runs, and its name from there."""

    root: Path
    folder: Path
    name: str

    def git(self, *arguments: str) -> bytes | None:
        """Return the output of git, or None if it failed."""
        completed = run_git(self.folder, arguments, root=self.root)
        if completed is None or completed.returncode != 0:
            return None
        return completed.stdout

    def repository(self) -> Path | None:
        """Return the top folder of the repository, or None if git does not say."""
        output = self.git("rev-parse", "--show-toplevel")
        if output is None:
            return None
        return Path(os.fsdecode(output.removesuffix(b"\n")))

    def is_shallow(self) -> bool:
        """Return whether the repository is a clone without its full history."""
        output = self.git("rev-parse", "--is-shallow-repository")
        return output is not None and output.strip() == b"true"


def _locate(root: Path, path: str) -> _TrackedPath | None:
    """Return the path from its deepest existing folder, so that an inner repository is used."""
    try:
        parts = split_path(path)
    except ReadError:
        return None
    folder = root
    while len(parts) > 1:
        below = folder / parts[0]
        if below.is_symlink() or not below.is_dir():
            break
        folder = below
        del parts[0]
    if not folder.is_dir():
        return None
    return _TrackedPath(root, folder, "/".join(parts))


def _log_selection(
    tracked: _TrackedPath, lines: tuple[int, int] | None
) -> tuple[str, ...] | None:
    """Return the arguments of `git log` for a file, or for some of its lines; None if the lines are new."""
    if lines is None:
        return ("--follow", "--name-status", "-z", "--", tracked.name)
    span = _committed_lines(tracked, min(lines), max(lines))
    if span is None:
        return None
    first, last = span
    return (f"-L{first},{last}:{tracked.name}", "-p")


def _parse_history(
    entries: Sequence[str], tracked: _TrackedPath, *, is_patch: bool
) -> list[Commit]:
    """Return the commits of a log; malformed entries are left out."""
    repository = tracked.repository()
    history = []
    for entry in entries:
        commit = _parse_commit(entry, tracked.root, repository, is_patch=is_patch)
        if commit is not None:
            history.append(commit)
    return history


def _parse_commit(
    entry: str, root: Path, repository: Path | None, *, is_patch: bool
) -> Commit | None:
    """Return one commit; one without a parent is marked as the boundary of history."""
    commit_hash, parents, when, author, subject, *rest = entry.split("\0")
    if not when.strip().lstrip("-").isdigit():
        return None
    names = _names_in_patch("\0".join(rest)) if is_patch else _names_in_status(rest)
    paths = [_relative_name(root, repository, name) for name in names]
    clean_subject, _ = redact(subject)
    return Commit(
        commit_hash,
        float(when),
        _without_mail_address(author),
        clean_subject.strip(),
        paths=tuple(dict.fromkeys(paths)),
        boundary=not parents.strip(),
    )


def _names_in_status(fields: Sequence[str]) -> list[str]:
    """Return the new name in a status such as `M`, name or `R100`, old name, new name."""
    stripped = [field.strip("\n") for field in fields]
    words = [word for word in stripped if word]
    if len(words) < 2:
        return []
    if words[0].startswith(("R", "C")) and len(words) > 2:
        return [words[2]]
    return [words[1]]


def _names_in_patch(patch: str) -> list[str]:
    """Return the names of the files that a patch changes."""
    return [plain or _unescape(quoted) for plain, quoted in _PATCHED_FILE.findall(patch)]


def _unescape(name: str) -> str:
    """Return a name without the escapes that git writes for quotes, tabs and line ends."""
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), name)


def _relative_name(root: Path, repository: Path | None, name: str) -> str:
    """Return a name relative to the root; one outside the root stays relative to the repository."""
    if repository is None:
        return name
    try:
        return (repository / name).relative_to(root.resolve()).as_posix()
    except ValueError:
        return name


def _without_mail_address(author: str) -> str:
    """Return an author without mail addresses; of an address in place of a name, the part before `@` stays."""

    def replace_address(address: re.Match[str]) -> str:
        return address[1] if address.start() == 0 else ""

    return _MAIL_ADDRESS.sub(replace_address, author.strip())


def _committed_lines(tracked: _TrackedPath, first: int, last: int) -> tuple[int, int] | None:
    """Return the place of lines of the current file in its last commit, or None if they are new."""
    committed = tracked.git("cat-file", "blob", f"HEAD:./{tracked.name}")
    if committed is None or first < 1:
        return None
    try:
        current = safe_open(tracked.folder, tracked.name, max_bytes=_MAX_BYTES).data
    except ReadError:
        current = committed
    before = _split_lines(committed)
    now = _split_lines(current)
    span: tuple[int, int] | None = (first, last)
    if now != before:
        span = _map_lines(before, now, first, last)
    if span is None or span[0] > len(before):
        return None
    return span[0], min(span[1], len(before))


def _split_lines(data: bytes) -> list[bytes]:
    lines = data.removesuffix(b"\n").split(b"\n")
    return [line.rstrip(b"\r") for line in lines]


def _map_lines(
    before: Sequence[bytes], now: Sequence[bytes], first: int, last: int
) -> tuple[int, int] | None:
    """Return the lines of the earlier text that are equal to, or replaced by, lines of the later one."""
    numbers: list[int] = []
    matcher = SequenceMatcher(None, before, now)
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        start = max(new_start, first - 1)
        end = min(new_end, last)
        if start >= end:
            continue
        if tag == "equal":
            shift = old_start - new_start
            numbers += (start + shift + 1, end + shift)
        elif tag == "replace":
            numbers += (old_start + 1, old_end)
    if not numbers:
        return None
    return min(numbers), max(numbers)
