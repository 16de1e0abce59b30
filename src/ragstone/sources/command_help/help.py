"""The help that a program gives, walked from command to command: each asked once, within a depth and a time."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ragstone.errors import AccessError, InputError, ReadError
from ragstone.sources.command_help.program import Said, ask, find
from ragstone.sources.command_help.subcommands import subcommands

SOURCE: Final = "help"
"""The name that help is stored under: no sync of a folder touches it."""
_EACH_SECONDS: Final = 10.0
_SHORT: Final = 40
"""Characters; what says less is no help."""
_SAME_AS_ABOVE: Final = 3
"""After so many commands that only repeat the help above them, their neighbours are not asked."""
_HALTS: Final = frozenset({"shutdown", "reboot", "halt", "poweroff", "init", "telinit"})
"""What `-h` may stop the machine with: asked by `--help` alone."""
_USAGE: Final = re.compile(r"\busage\b|^(?:name|synopsis)$", re.IGNORECASE | re.MULTILINE)
_LISTINGS: Final = (("help", "-a"), ("help", "--all"), ("--list",))
"""How programs offer a longer list of commands than their help has; used where the help mentions it."""

DEPTH, TIME, COUNT = "deeper than --depth", "the time was over", "more than --commands"
REPEATS = "its neighbours only repeat the help above them"

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a walk goes."""

    depth: int = 2
    """Levels of commands below the program: `git remote add` is two."""
    seconds: float = 60.0
    commands: int = 200
    manual: bool = False
    """Whether the manual's pages are read too, and not only where a program gives no help."""


@dataclass(frozen=True, slots=True)
class Page:
    """What is said about one command: its words, and each text with how it was asked for."""

    words: Words
    texts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Left:
    """A command that there is no page of, and why."""

    words: Words
    reason: str
    asked: bool = False
    """Whether it was asked and gave no help; otherwise nobody knows."""


@dataclass(slots=True)
class Captured:
    """What a walk brought home."""

    program: str
    pages: list[Page] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a person should know about a walk that was cut short."""
        count = sum(one.reason in (TIME, COUNT) for one in self.left)
        return (f"{count} commands of {self.program} were not asked: give more --seconds or --commands",) * bool(count)


def capture(program: str, *, limits: Limits, project: Path) -> Captured:
    """Return the help of a program and its commands; `ReadError` where it gives none at all."""
    if not isinstance(program, str) or not program.strip():
        raise InputError("name the program whose help is wanted", hint="for example git")
    _check(limits)
    path = find(program, project=project)
    return _Walk(path, limits, project).run()


def _check(limits: Limits) -> None:
    """Raise `InputError` for limits that are none."""
    sound = isinstance(limits, Limits) and all(
        isinstance(one, (int, float)) and one >= least
        for one, least in ((limits.depth, 0), (limits.commands, 1), (limits.seconds, 0.001))
    )
    if not sound:
        raise InputError("limits say how deep, how long and how many", hint="HelpLimits(depth=2, seconds=60.0)")


class _Walk:
    """One walk: what waits, what was asked, how long it may take."""

    def __init__(self, program: Path, limits: Limits, project: Path) -> None:
        self._path = str(program)
        self._limits = limits
        self._project = project
        self._end = time.monotonic() + limits.seconds
        self._found = Captured(program.name)
        self._waiting: deque[tuple[Words, str]] = deque([((program.name,), "")])
        self._texts: set[str] = set()
        self._repeats: dict[Words, int] = {}

    def run(self) -> Captured:
        """Return everything there is, the program's own page first."""
        while self._waiting:
            words, above = self._waiting.popleft()
            reason = self._skip(words)
            if reason:
                self._leave(words, reason)
            else:
                self._visit(words, above)
        return self._found

    def _skip(self, words: Words) -> str:
        if len(words) - 1 > self._limits.depth:
            return DEPTH
        if self._left() <= 0:
            return TIME
        if len(self._found.pages) >= self._limits.commands:
            return COUNT
        return REPEATS if self._repeats.get(words[:-1], 0) >= _SAME_AS_ABOVE else ""

    def _visit(self, words: Words, above: str) -> None:
        said, how = self._help(words)
        texts = [(how, said.text)] if how else []
        if self._limits.manual or not how:
            texts += self._manual(words, {text for _, text in texts})
        if not texts:
            reason = said.trouble or "it gives no help"
            if len(words) == 1:
                raise ReadError(f"{words[0]}: {reason}", hint="`ragstone add` takes a text you save yourself")
            self._leave(words, reason, asked=not said.trouble)
            return
        text = texts[0][1]
        if text == above or text in self._texts:
            self._repeats[words[:-1]] = self._repeats.get(words[:-1], 0) + 1
            return
        self._texts.add(text)
        self._found.pages.append(Page(words, tuple(texts)))
        self._waiting.extend(((*words, name), text) for name in self._commands(words, text))

    def _help(self, words: Words) -> tuple[Said, str]:
        """Return what a command says about itself, and how it was asked; nothing where it says no help."""
        first = Said()
        for asked in self._ways(words):
            said = self._ask([self._path, *asked])
            if _is_help(said):
                return said, " ".join((words[0], *asked))
            first = first if first.trouble or first.text else said
            # Only a program that refuses `--help`, and says so, reads its arguments: any other may just do its work.
            if said.trouble or not said.code or not said.text.strip():
                break
        return first, ""

    def _ways(self, words: Words) -> Iterator[Words]:
        inner = words[1:]
        yield (*inner, "--help")
        if words[0] not in _HALTS and not set(inner) & _HALTS:
            yield (*inner, "-h")
            yield ("help", *inner)

    def _manual(self, words: Words, seen: set[str]) -> list[tuple[str, str]]:
        """Return the manual's page on a command, where there is one that says something new."""
        try:
            man = find("man", project=self._project)
        except (AccessError, InputError):
            return []
        name = "-".join(words)
        said = self._ask([str(man), "--", name])
        fine = said.code == 0 and len(said.text) >= _SHORT and said.text not in seen
        return [(f"man {name}", said.text)] if fine else []

    def _commands(self, words: Words, text: str) -> list[str]:
        """Return the commands below one, by its help, and by the longer list that the program's help offers."""
        names = subcommands(text)
        for listing in _LISTINGS if len(words) == 1 else ():
            offered = " ".join((words[0], *listing))
            if re.search(rf"{re.escape(offered)}(?![\w-])", text):
                said = self._ask([self._path, *listing])
                names += subcommands(said.text) if said.code == 0 else []
        return list(dict.fromkeys(names))

    def _leave(self, words: Words, reason: str, *, asked: bool = False) -> None:
        self._found.left.append(Left(words, reason, asked))

    def _ask(self, command: Sequence[str]) -> Said:
        return ask(command, seconds=max(min(self._left(), _EACH_SECONDS), 0.05))

    def _left(self) -> float:
        return self._end - time.monotonic()


def _is_help(said: Said) -> bool:
    """Return whether a program's answer is help and not a complaint, whatever exit code it comes with."""
    if said.trouble or len(said.text) < _SHORT or (said.code or 0) < 0:
        return False
    return said.code == 0 or bool(_USAGE.search(said.text))


def markdown(page: Page) -> str:
    """Return a page as Markdown: a heading for the command, one for every section, the text itself in fences."""
    lines = [f"# {' '.join(page.words)}", ""]
    for how, text in page.texts:
        lines += [f"What `{how}` says.", ""]
        for title, body in _sections(text.split("\n")):
            lines += [f"## {title}", ""] if title else []
            fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`{3,}", body))])
            lines += [f"{fence}text", body, fence, ""] if body else []
    return "\n".join(lines)


def _sections(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (heading, body); a heading is a line at the margin, in capitals or with a colon, over indented ones."""
    title = ""
    body: list[str] = []
    for at, line in enumerate(lines):
        below = next((one for one in lines[at + 1 : at + 3] if one), "")
        named = line.endswith(":") or (line.isupper() and len(line) > 2)
        if named and line[:1].strip() and len(line) <= 80 and below.startswith(" "):
            yield title, "\n".join(body).strip("\n")
            title, body = _plain(line), []
        else:
            body.append(line)
    yield title, "\n".join(body).strip("\n")


def _plain(heading: str) -> str:
    return heading.removesuffix(":").replace("`", "'").strip("# ")
