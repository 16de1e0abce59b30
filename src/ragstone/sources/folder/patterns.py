"""Patterns in the syntax of `.gitignore`, matched without ever backtracking for long.

The files that hold such patterns come with a clone, so a pattern may be hostile: every star but the last of a path
segment is an atomic group, which keeps `*a*a*a*a*b` linear where a plain translation would take years.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_STAR, _DEEP = "*", "**/"
_POSIX = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x7e",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of an ignore file."""

    body: str
    negated: bool = False
    folders_only: bool = False
    anchored: bool = False

    @property
    def literal(self) -> bool:
        """Return whether nothing in the body stands for anything but itself."""
        return not any(sign in self.body for sign in "*?[\\")


def parse(line: str) -> Pattern | None:
    """Return the pattern a line holds, or None for a blank line or a comment."""
    line = line.removesuffix("\r")
    kept = line.rstrip(" ")
    slashes = len(kept) - len(kept.rstrip("\\"))
    if slashes % 2 and kept != line:
        kept += " "
    if not kept or kept.startswith("#"):
        return None
    negated = kept.startswith("!")
    body = kept[1:] if negated else kept
    folders_only = body.endswith("/")
    body = body[:-1] if folders_only else body
    anchored = "/" in body
    body = body.removeprefix("/")
    return Pattern(body, negated, folders_only, anchored) if body else None


def compile_glob(body: str) -> re.Pattern[str] | None:
    """Return the expression that a whole path must match, or None when nothing ever can."""
    source = _expression(body)
    return None if source is None else re.compile(source, re.DOTALL)


def _expression(body: str) -> str | None:
    tokens = _tokens(body)
    if tokens is None:
        return None
    blocks: list[list[str]] = [[]]
    for token in tokens:
        if token == _DEEP:
            blocks.append([])
        else:
            blocks[-1].append(token)
    source = _block(blocks[0])
    for number, block in enumerate(blocks[1:], 2):
        # The first place a middle block fits is as good as any later one, because anything may follow it.
        last = number == len(blocks)
        source += f"(?:.*/)?{_block(block)}" if last else f"(?>(?:[^/]*/)*?{_block(block)})"
    return source


def _tokens(body: str) -> list[str] | None:
    """Return regular expressions for fixed pieces, with markers for stars; None when the pattern is broken."""
    tokens: list[str] = []
    at = 0
    while at < len(body):
        sign = body[at]
        if sign == "*":
            token, at = _stars(body, at)
        elif sign == "[":
            found = _bracket(body, at + 1)
            if found is None:
                return None
            token, at = found
        elif sign == "\\":
            if at + 1 == len(body):
                return None
            token, at = re.escape(body[at + 1]), at + 2
        else:
            token, at = ("[^/]" if sign == "?" else re.escape(sign)), at + 1
        tokens.append(token)
    return tokens


def _stars(body: str, at: int) -> tuple[str, int]:
    """Return what a run of stars stands for and where it ends."""
    end = at
    while end < len(body) and body[end] == "*":
        end += 1
    # Git compares what stands before the first wildcard by itself, so that to it `a**/b` opens a segment, too.
    opens = body[at - 1 : at] == "/" or Pattern(body[:at]).literal
    if end - at >= 2 and opens:
        if end == len(body):
            return ".*", end
        if body[end] == "/":
            return _DEEP, end + 1
    return _STAR, end


def _bracket(body: str, at: int) -> tuple[str, int] | None:
    """Return the character class that starts behind a `[` and where it ends; None when it never closes."""
    negated = body[at : at + 1] in ("!", "^")
    at += negated
    items: list[str] = []
    first = True
    while first or body[at : at + 1] != "]":
        if at >= len(body):
            return None
        piece = _bracket_item(body, at)
        if piece is None:
            return None
        item, at = piece
        items.append(item)
        first = False
    inside = "".join(items)
    if not inside:
        return ("[^/]" if negated else "(?!)"), at + 1
    return f"(?!/)[{'^' if negated else ''}{inside}]", at + 1


def _bracket_item(body: str, at: int) -> tuple[str, int] | None:
    """Return one character, range or named class of a bracket, and where it ends."""
    if body.startswith("[:", at):
        close = body.find("]", at + 2)
        if close < 0:
            return None
        if body[close - 1] == ":" and close - 1 >= at + 2:
            named = _POSIX.get(body[at + 2 : close - 1])
            return None if named is None else (named, close + 1)
    low = _bracket_char(body, at)
    if low is None:
        return None
    char, at = low
    if body[at : at + 1] == "-" and body[at + 1 : at + 2] not in ("", "]"):
        high = _bracket_char(body, at + 1)
        if high is None:
            return None
        other, at = high
        return (f"{re.escape(char)}-{re.escape(other)}" if char <= other else ""), at
    return re.escape(char), at


def _bracket_char(body: str, at: int) -> tuple[str, int] | None:
    """Return one character of a bracket, a backslash taken away."""
    if body[at : at + 1] == "\\":
        at += 1
    return (body[at], at + 1) if at < len(body) else None


def _block(tokens: list[str]) -> str:
    """Return the expression of a stretch without `**/`."""
    segments: list[list[list[str]]] = [[[]]]
    for piece in tokens:
        if piece == "/":
            segments.append([[]])
        elif piece == _STAR:
            segments[-1].append([])
        else:
            segments[-1][-1].append(piece)
    return "/".join(_segment(["".join(run) for run in runs]) for runs in segments)


def _segment(runs: list[str]) -> str:
    """Return the expression of one path segment: fixed runs with a star between each two."""
    if len(runs) == 1:
        return runs[0]
    middle = "".join(f"(?>[^/]*?{run})" for run in runs[1:-1] if run)
    return f"{runs[0]}{middle}[^/]*{runs[-1]}"


@dataclass(slots=True)
class Rules:
    """Patterns in order, the last that matches deciding; plain names and suffixes cost one look-up each."""

    _names: dict[tuple[str, bool], int] = field(default_factory=dict)
    _suffixes: dict[tuple[str, bool], int] = field(default_factory=dict)
    _paths: dict[tuple[str, bool], int] = field(default_factory=dict)
    _globs: list[tuple[int, Pattern, re.Pattern[str]]] = field(default_factory=list)
    _negated: list[bool] = field(default_factory=list)

    @classmethod
    def of(cls, lines: Iterable[str]) -> Rules:
        """Return the rules that lines hold."""
        rules = cls()
        for line in lines:
            pattern = parse(line)
            if pattern is not None:
                rules._take(pattern)
        return rules

    def _take(self, pattern: Pattern) -> None:
        number = len(self._negated)
        self._negated.append(pattern.negated)
        body, folders_only = pattern.body, pattern.folders_only
        if pattern.literal:
            (self._paths if pattern.anchored else self._names)[body, folders_only] = number
        elif not pattern.anchored and _is_suffix(body):
            self._suffixes[body[1:], folders_only] = number
        else:
            compiled = compile_glob(_by_bytes(body))
            if compiled is not None:
                self._globs.append((number, pattern, compiled))

    def __bool__(self) -> bool:
        """Return whether there is any rule."""
        return bool(self._negated)

    def verdict(self, path: str, *, folder: bool = False) -> bool | None:
        """Return whether a path is meant, taken back (False), or not spoken of (None)."""
        name = path[path.rfind("/") + 1 :]
        best = self._plain(path, name, folders_only=False)
        if folder:
            best = max(best, self._plain(path, name, folders_only=True))
        if self._globs:
            path, name = _by_bytes(path), _by_bytes(name)
        for number, pattern, compiled in reversed(self._globs):
            if number < best:
                break
            if pattern.folders_only and not folder:
                continue
            if compiled.fullmatch(path if pattern.anchored else name):
                best = number
                break
        return None if best < 0 else not self._negated[best]

    def _plain(self, path: str, name: str, *, folders_only: bool) -> int:
        dot = name.rfind(".")
        best = max(self._names.get((name, folders_only), -1), self._paths.get((path, folders_only), -1))
        return best if dot < 0 else max(best, self._suffixes.get((name[dot:], folders_only), -1))


class Sieve:
    """Tells quickly of most names that no pattern speaks of a file called so; of the others the rules decide."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Make one expression of all patterns; it costs as much as they do one by one, and is asked once a name."""
        self._names: set[str] = set()
        self._suffixes: set[str] = set()
        sources: list[str] = []
        for pattern in filter(None, map(parse, lines)):
            body = pattern.body
            if pattern.literal:
                self._names.add(body)
            elif _is_suffix(body):
                self._suffixes.add(body[1:])
            elif (source := _expression(_by_bytes(body))) is not None:
                sources.append(f"(?:{source})")
        self._others = re.compile("|".join(sources) or "(?!)", re.DOTALL).fullmatch

    def holds(self, name: str) -> bool:
        """Return whether a pattern may speak of a file of this name."""
        if name in self._names or name[name.rfind(".") :] in self._suffixes:
            return True
        return self._others(name if name.isascii() else _by_bytes(name)) is not None


def _by_bytes(text: str) -> str:
    """Return a text with a character for each of its bytes, as git sees it: there `?` is one byte, and é is two."""
    if text.isascii():
        return text
    try:
        return text.encode("utf-8", "surrogateescape").decode("latin-1")
    except UnicodeEncodeError:  # half a character, which no file system gave
        return text.encode("utf-8", "surrogatepass").decode("latin-1")


def _is_suffix(body: str) -> bool:
    """Return whether a pattern is a star and one suffix, as in `*.log`."""
    return body.startswith("*.") and body.count(".") == 1 and Pattern(body[1:]).literal
