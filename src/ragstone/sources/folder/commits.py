"""Which commits touched a file, or some lines of it: what git's history says, and nothing where there is none.

History is a source of its own kind: it is asked when somebody wants to know, never read in bulk. As everywhere here,
nothing that came with a clone may run a command: no diff driver, no signature program, no fetch of what is missing.
"""

from __future__ import annotations

import os
import re
import secrets as chance
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from ragstone.errors import ReadError
from ragstone.sources.folder.git import ran
from ragstone.sources.safe_open import safe_open
from ragstone.sources.secrets.redaction import redact
from ragstone.types import Commit

MOST_BYTES: Final = 4_000_000
"""A file that is larger is looked up as a whole: its lines are not matched."""
_LOG: Final = (
    *("-c", "log.follow=false", "-c", f"diff.orderFile={os.devnull}", "-c", "core.quotePath=false"),
    *("log", "--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-notes"),
)
_FIELDS: Final = "%H%x00%P%x00%at%x00%an%x00%s%x00"
_ADDRESS: Final = re.compile(r"\s*<?([^\s<>@]+)@[^\s<>]+>?")


def commits(root: Path, path: str, *, lines: tuple[int, int] | None = None, limit: int = 20) -> tuple[Commit, ...]:
    """Return the commits that touched a path below a root, newest first, through renames.

    With lines, those that touched these lines of the file as it is now, changes that are not committed included. A
    folder that is no repository, a branch without commits and a file that git does not know have none.
    """
    place = _place(root, path)
    if place is None or limit < 1:
        return ()
    folder, name = place
    span = _committed(root, (folder, name), lines) if lines else None
    if lines and span is None:
        return ()
    mark = chance.token_hex(16)
    asked = (f"-L{span[0]},{span[1]}:{name}", "-p") if span else ("--follow", "--name-status", "-z", "--", name)
    done = ran(folder, (*_LOG, f"-n{limit}", f"--format={mark}{_FIELDS}", *asked), root=root)
    if done is None or done.returncode != 0:
        return ()
    told = done.stdout.decode("utf-8", "replace").split(mark)[1:]
    top = _above(root, folder)
    found = [_commit(one, root=root, top=top, patch=span is not None) for one in told]
    return tuple(_bounded(root, folder, [one for one in found if one is not None]))


def _place(root: Path, path: str) -> tuple[Path, str] | None:
    """Return the nearest folder that is there and the path from it; so a repository inside another one is asked."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts) or (os.sep == "\\" and re.search(r"[\\:]", path)):
        return None
    folder = root
    depth = 0
    for part in parts[:-1]:
        if (folder / part).is_symlink() or not (folder / part).is_dir():
            break
        folder /= part
        depth += 1
    return (folder, "/".join(parts[depth:])) if folder.is_dir() else None


def _above(root: Path, folder: Path) -> Path | None:
    """Return the top of the repository a folder is in, as git sees it: names in its history are seen from there."""
    done = ran(folder, ("rev-parse", "--show-toplevel"), root=root)
    if done is None or done.returncode != 0:
        return None
    return Path(os.fsdecode(done.stdout.removesuffix(b"\n")))


def _commit(told: str, *, root: Path, top: Path | None, patch: bool) -> Commit | None:
    """Return one commit, taken for the beginning of history where it has no parent."""
    hash_, parents, when, author, subject, *rest = told.split("\0")
    if not when.strip().lstrip("-").isdigit():
        return None
    names = _in_patch("\0".join(rest)) if patch else _listed(rest)
    seen = tuple(dict.fromkeys(_from(root, top, name) for name in names))
    return Commit(
        hash_, float(when), _name(author), redact(subject)[0].strip(), paths=seen, boundary=not parents.strip()
    )


def _listed(rest: Sequence[str]) -> list[str]:
    """Return the new name in a status: `M name`, `R100 old new`, each ended by a zero."""
    words = [word.strip("\n") for word in rest]
    words = [word for word in words if word]
    if not words:
        return []
    return [words[2] if words[0][:1] in "RC" and len(words) > 2 else words[1]] if len(words) > 1 else []


def _in_patch(patch: str) -> list[str]:
    """Return the names that a patch changes."""
    found = re.findall(r"^\+\+\+ (?:b/([^\n\t]*)|\"b/([^\n]*)\")\t?$", patch, re.MULTILINE)
    return [plain or _unquoted(quoted) for plain, quoted in found]


def _unquoted(name: str) -> str:
    """Return a name without the escapes git writes for quotes, tabs and line ends."""
    return re.sub(r"\\(.)", lambda sign: {"t": "\t", "n": "\n"}.get(sign[1], sign[1]), name)


def _from(root: Path, top: Path | None, name: str) -> str:
    """Return a name in the repository as it is seen from the root; one outside of it as the repository has it."""
    if top is None:
        return name
    try:
        return (top / name).relative_to(root.resolve()).as_posix()
    except ValueError:
        return name


def _name(author: str) -> str:
    """Return who it was without an address: of a name that is one, the part before the sign."""
    return _ADDRESS.sub(lambda found: found[1] if found.start() == 0 else "", author.strip())


def _bounded(root: Path, folder: Path, found: list[Commit]) -> list[Commit]:
    """Return the commits, with the first one of all only marked where the clone is shallow."""
    if not any(one.boundary for one in found):
        return found
    done = ran(folder, ("rev-parse", "--is-shallow-repository"), root=root)
    if done is not None and done.stdout.strip() == b"true":
        return found
    return [Commit(one.hash, one.when, one.author, one.subject, one.paths) for one in found]


def _committed(root: Path, place: tuple[Path, str], lines: tuple[int, int]) -> tuple[int, int] | None:
    """Return where lines of a file as it is now stand in its last commit, or None where they are new."""
    folder, name = place
    first, last = min(lines), max(lines)
    done = ran(folder, ("cat-file", "blob", f"HEAD:./{name}"), root=root)
    if done is None or done.returncode != 0 or first < 1:
        return None
    before = [line.rstrip(b"\r") for line in done.stdout.removesuffix(b"\n").split(b"\n")]
    try:
        data = safe_open(folder, name, max_bytes=MOST_BYTES).data
    except ReadError:
        data = done.stdout
    now = [line.rstrip(b"\r") for line in data.removesuffix(b"\n").split(b"\n")]
    span = (first, last) if now == before else _moved(before, now, first, last)
    if span is None or span[0] > len(before):
        return None
    return span[0], min(span[1], len(before))


def _moved(before: Sequence[bytes], now: Sequence[bytes], first: int, last: int) -> tuple[int, int] | None:
    """Return the lines of the earlier text that lines of the later one are, or stand in place of."""
    found: list[int] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, now).get_opcodes():
        from_, to = max(j1, first - 1), min(j2, last)
        if from_ >= to:
            continue
        if tag == "equal":
            found += (i1 + from_ - j1 + 1, i1 + to - j1)
        elif tag == "replace":
            found += (i1 + 1, i2)
    return (min(found), max(found)) if found else None
