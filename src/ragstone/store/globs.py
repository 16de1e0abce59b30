"""Path patterns: `*` and `?` stay inside a folder, `**` crosses folders, one without `/` is a name anywhere.

A pattern with no wildcard in it is a file, or a folder with everything below it; `/` or `./` in front means the top.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_ANY_FOLDERS: Final = "**"
_WILDCARDS: Final = re.compile(r"[*?\[]")


def matches(pattern: str, path: str) -> bool:
    """Return whether a path fits a pattern."""
    return compiled(pattern).fullmatch(path) is not None


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern as an expression that never backtracks over more than one wildcard.

    A wildcard followed by something fixed takes the earliest place that fits, which for globs is always enough;
    atomic groups keep it there. So a hostile pattern costs no more than its length times the path's.
    """
    wanted = pattern[2:] if pattern.startswith("./") else pattern.removeprefix("/")
    if wanted.endswith("/"):
        wanted += _ANY_FOLDERS
    plain = bool(wanted) and not _WILDCARDS.search(wanted)
    if "/" not in wanted and wanted != _ANY_FOLDERS and wanted == pattern:
        wanted = f"**/{wanted}"
    either = (wanted, f"{wanted}/{_ANY_FOLDERS}") if plain else (wanted,)
    return re.compile("|".join(map(_expression, either)), re.DOTALL)


def _expression(wanted: str) -> str:
    runs = _runs(wanted.split("/"))
    return "".join(_run_expression(run, i, len(runs)) for i, run in enumerate(runs))


def _runs(segments: list[str]) -> list[list[str]]:
    """Return the segments between the `**`s: the first run is anchored at the start, the last at the end."""
    runs: list[list[str]] = [[]]
    for segment in segments:
        if segment == _ANY_FOLDERS:
            runs.append([])
        else:
            runs[-1].append(segment)
    return runs


def _run_expression(run: list[str], place: int, count: int) -> str:
    names = [_segment_expression(segment) for segment in run]
    first, last = place == 0, place == count - 1
    if first:
        return "/".join(names) + ("" if last or not names else "/")
    if last:
        # Any folders, then exactly these at the end: how many folders is fixed, so one try is enough.
        return "(?:[^/]*/)*+[^/]+" if not names else _anchored_end(names)
    return "(?>(?:[^/]*/)*?" + "".join(f"{name}/" for name in names) + ")" if names else ""


def _anchored_end(names: list[str]) -> str:
    return f"(?:[^/]*/)*?(?=(?:[^/]*/){{{len(names) - 1}}}[^/]*\\Z)" + "/".join(names)


def _segment_expression(segment: str) -> str:
    """Return one folder or file name's expression; it ends where the name ends."""
    pieces = [_fixed(piece) for piece in re.split(r"\*+", segment)]
    if len(pieces) == 1:
        return pieces[0]
    *middle, last = pieces[1:]
    inner = "".join(f"(?>[^/]*?{piece})" for piece in middle if piece)
    return f"{pieces[0]}{inner}[^/]*{last}(?![^/])"


def _fixed(piece: str) -> str:
    """Return a piece without stars: `?` and `[...]` each stand for one character."""
    out, i = [], 0
    while i < len(piece):
        end = piece.find("]", i + 2) if piece[i] == "[" else -1
        if end > 0:
            out.append(_one_of(piece[i + 1 : end]))
            i = end + 1
            continue
        out.append("[^/]" if piece[i] == "?" else re.escape(piece[i]))
        i += 1
    return "".join(out)


def _one_of(inside: str) -> str:
    negated = inside[0] in "!^" and len(inside) > 1
    members = inside[1:] if negated else inside
    ranges = []
    i = 0
    while i < len(members):
        if i + 2 < len(members) and members[i + 1] == "-":
            low, high = sorted((members[i], members[i + 2]))
            ranges.append(f"{re.escape(low)}-{re.escape(high)}")
            i += 3
        else:
            ranges.append(re.escape(members[i]))
            i += 1
    return f"(?!/)[{'^' if negated else ''}{''.join(ranges)}]"
