"""The commits that touched a file or some of its lines. Git runs no program that came with a clone: no diff driver, no
signature check, no fetch of missing objects."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from ragstone.errors import ReadError
from ragstone.sources.folder.git import run_git
from ragstone.sources.safe_open import safe_open
from ragstone.sources.secrets.redaction import redact
from ragstone.types import Commit

_MAX_BYTES: Final = 4_000_000
"""The lines of a larger file are not matched with its last commit."""
_LOG: Final = (
    *("-c", "log.follow=false", "-c", f"diff.orderFile={os.devnull}", "-c", "core.quotePath=false"),
    *("log", "--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-notes"),
)
_FIELDS: Final = "%H%x00%P%x00%at%x00%an%x00%s%x00"
_MAIL_ADDRESS: Final = re.compile(r"\s*<?([^\s<>@]+)@[^\s<>]+>?")
_PATCHED_FILE: Final = re.compile(r"^\+\+\+ (?:b/([^\n\t]*)|\"b/([^\n]*)\")\t?$", re.MULTILINE)


def commits(
    root: Path, path: str, *, lines: tuple[int, int] | None = None, limit: int = 20
) -> tuple[Commit, ...]:
    """Return the commits that touched a path below a root, newest first, across renames.

    With `lines`, return those that touched these lines of the file as it is now. The result is empty if the folder is
    no repository, has no commits, or git does not know the file.
    """
    location = _locate(root, path)
    if location is None or limit < 1:
        return ()
    folder, name = location
    selection: tuple[str, ...] = ("--follow", "--name-status", "-z", "--", name)
    if lines is not None:
        span = _committed_lines(root, folder, name, lines)
        if span is None:
            return ()
        selection = (f"-L{span[0]},{span[1]}:{name}", "-p")
    separator = secrets.token_hex(16)
    output = _git_output(
        root, folder, (*_LOG, f"-n{limit}", f"--format={separator}{_FIELDS}", *selection)
    )
    if output is None:
        return ()
    top = _git_output(root, folder, ("rev-parse", "--show-toplevel"))
    repository = Path(os.fsdecode(top.removesuffix(b"\n"))) if top is not None else None
    entries = output.decode("utf-8", "replace").split(separator)[1:]
    parsed = [
        _parse_commit(entry, root, repository, is_patch=lines is not None) for entry in entries
    ]
    return tuple(_mark_boundary(root, folder, [commit for commit in parsed if commit is not None]))


def _git_output(root: Path, folder: Path, arguments: Sequence[str]) -> bytes | None:
    """Return the output of git, or None if it failed."""
    completed = run_git(folder, arguments, root=root)
    return completed.stdout if completed is not None and completed.returncode == 0 else None


def _locate(root: Path, path: str) -> tuple[Path, str] | None:
    """Return the deepest existing folder and the path from it, so that an inner repository is found."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        return None
    if os.sep == "\\" and re.search(r"[\\:]", path):
        return None
    folder = root
    while len(parts) > 1 and (folder / parts[0]).is_dir() and not (folder / parts[0]).is_symlink():
        folder /= parts.pop(0)
    return (folder, "/".join(parts)) if folder.is_dir() else None


def _parse_commit(
    entry: str, root: Path, repository: Path | None, *, is_patch: bool
) -> Commit | None:
    """Return one commit; one without a parent is marked as the boundary of history."""
    commit_hash, parents, when, author, subject, *rest = entry.split("\0")
    if not when.strip().lstrip("-").isdigit():
        return None
    names = _names_in_patch("\0".join(rest)) if is_patch else _names_in_status(rest)
    return Commit(
        commit_hash,
        float(when),
        _without_mail_address(author),
        redact(subject)[0].strip(),
        paths=tuple(dict.fromkeys(_relative_name(root, repository, name) for name in names)),
        boundary=not parents.strip(),
    )


def _names_in_status(fields: Sequence[str]) -> list[str]:
    """Return the new name in a status such as `M`, name or `R100`, old name, new name."""
    words = [word for word in (field.strip("\n") for field in fields) if word]
    if len(words) < 2:
        return []
    is_rename = words[0][0] in "RC" and len(words) > 2
    return [words[2] if is_rename else words[1]]


def _names_in_patch(patch: str) -> list[str]:
    """Return the names of the files that a patch changes."""
    return [plain or _unescape(quoted) for plain, quoted in _PATCHED_FILE.findall(patch)]


def _unescape(name: str) -> str:
    """Return a name without the escapes that git writes for quotes, tabs and line ends."""
    return re.sub(r"\\(.)", lambda match: {"t": "\t", "n": "\n"}.get(match[1], match[1]), name)


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
    return _MAIL_ADDRESS.sub(lambda match: match[1] if match.start() == 0 else "", author.strip())


def _mark_boundary(root: Path, folder: Path, history: list[Commit]) -> list[Commit]:
    """Return the commits; the first commit of all is a boundary only in a shallow clone."""
    if any(commit.boundary for commit in history):
        output = _git_output(root, folder, ("rev-parse", "--is-shallow-repository"))
        if output is None or output.strip() != b"true":
            return [replace(commit, boundary=False) for commit in history]
    return history


def _committed_lines(
    root: Path, folder: Path, name: str, lines: tuple[int, int]
) -> tuple[int, int] | None:
    """Return the place of lines of the current file in its last commit, or None if they are new."""
    first, last = min(lines), max(lines)
    committed = _git_output(root, folder, ("cat-file", "blob", f"HEAD:./{name}"))
    if committed is None or first < 1:
        return None
    try:
        current = safe_open(folder, name, max_bytes=_MAX_BYTES).data
    except ReadError:
        current = committed
    before, now = _split_lines(committed), _split_lines(current)
    span = (first, last) if now == before else _map_lines(before, now, first, last)
    if span is None or span[0] > len(before):
        return None
    return span[0], min(span[1], len(before))


def _split_lines(data: bytes) -> list[bytes]:
    return [line.rstrip(b"\r") for line in data.removesuffix(b"\n").split(b"\n")]


def _map_lines(
    before: Sequence[bytes], now: Sequence[bytes], first: int, last: int
) -> tuple[int, int] | None:
    """Return the lines of the earlier text that are equal to, or replaced by, lines of the later one."""
    numbers: list[int] = []
    for tag, old_start, old_end, new_start, new_end in SequenceMatcher(
        None, before, now
    ).get_opcodes():
        start, end = max(new_start, first - 1), min(new_end, last)
        if start >= end:
            continue
        if tag == "equal":
            shift = old_start - new_start
            numbers += (start + shift + 1, end + shift)
        elif tag == "replace":
            numbers += (old_start + 1, old_end)
    return (min(numbers), max(numbers)) if numbers else None
