"""Captures the help of a program and its subcommands, up to a depth, a number of commands and a time."""

from __future__ import annotations

import re
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ragstone.errors import AccessError, InputError, ReadError
from ragstone.sources.command_help.program import ProgramOutput, find_program, run_program
from ragstone.sources.command_help.subcommands import list_subcommands

HELP: Final = "help"
"""The source name of stored help; a sync of a folder does not touch it."""
_SECONDS_PER_RUN: Final = 10.0
_MIN_SECONDS: Final = 0.001
"""The shortest time that a capture may be given."""
_MIN_CHARACTERS: Final = 40
"""A shorter output is no help."""
_MAX_REPEATS: Final = 3
"""If this many commands only repeat the help of their parent, their siblings are not asked."""
_HALTING: Final = frozenset({"shutdown", "reboot", "halt", "poweroff", "init", "telinit"})
"""For these, `-h` may stop the machine: only `--help` is used."""
_USAGE: Final = re.compile(r"\busage\b|^(?:name|synopsis)$", re.IGNORECASE | re.MULTILINE)
_LISTINGS: Final = (("help", "-a"), ("help", "--all"), ("--list",))
"""Options for a longer list of commands; used if the help mentions them."""

TOO_DEEP: Final = "deeper than --depth"
OUT_OF_TIME: Final = "the time was over"
TOO_MANY: Final = "more than --commands"
REPEATS: Final = "its neighbours only repeat the help above them"

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HelpLimits:
    """The limits of a capture."""

    depth: int = 2
    """Levels of subcommands: `git remote add` is two."""
    seconds: float = 60.0
    commands: int = 200
    manual: bool = False
    """Whether manual pages are read even if a command has help."""


@dataclass(frozen=True, slots=True)
class HelpPage:
    """The texts about one command, each with the command line that printed it."""

    words: Words
    texts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SkippedCommand:
    """A command without a page, and the reason."""

    words: Words
    reason: str
    was_run: bool = False
    """Whether the command ran and printed no help; if not, it may have help."""


@dataclass(slots=True)
class CapturedHelp:
    """The help of a program."""

    program: str
    pages: list[HelpPage] = field(default_factory=list)
    skipped: list[SkippedCommand] = field(default_factory=list)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return a note if the capture was cut short."""
        reasons = [command.reason for command in self.skipped]
        count = reasons.count(OUT_OF_TIME) + reasons.count(TOO_MANY)
        if count == 0:
            return ()
        note = f"{count} commands of {self.program} were not asked"
        return (f"{note}: give more --seconds or --commands",)


def capture(program: str, *, limits: HelpLimits, project: Path) -> CapturedHelp:
    """Return the help of a program and its subcommands; raise `ReadError` if it has none."""
    if not isinstance(program, str) or not program.strip():
        raise InputError("name the program whose help is wanted", hint="for example git")
    if not _are_valid(limits):
        raise InputError(
            "limits say how deep, how long and how many",
            hint="HelpLimits(depth=2, seconds=60.0)",
        )
    path = find_program(program, project=project)
    return _Capture(path, limits, project).run()


def _are_valid(limits: HelpLimits) -> bool:
    if not isinstance(limits, HelpLimits):
        return False
    values = (limits.depth, limits.commands, limits.seconds)
    if not all(isinstance(value, int | float) for value in values):
        return False
    return limits.depth >= 0 and limits.commands >= 1 and limits.seconds >= _MIN_SECONDS


class _Capture:
    """Runs a program and its subcommands, breadth first."""

    def __init__(self, program: Path, limits: HelpLimits, project: Path) -> None:
        self._path = str(program)
        self._limits = limits
        self._project = project
        self._deadline = time.monotonic() + limits.seconds
        self._captured = CapturedHelp(program.name)
        self._pending: deque[tuple[Words, str]] = deque()
        """Commands that were not run yet, each with the help of its parent."""
        self._texts: set[str] = set()
        self._repeats: Counter[Words] = Counter()
        """How many subcommands of a command only repeat its help."""

    def run(self) -> CapturedHelp:
        """Return all pages, that of the program first."""
        self._pending.append(((self._captured.program,), ""))
        while self._pending:
            words, parent_text = self._pending.popleft()
            reason = self._skip_reason(words)
            if reason:
                self._captured.skipped.append(SkippedCommand(words, reason))
            else:
                self._visit(words, parent_text)
        return self._captured

    def _skip_reason(self, words: Words) -> str:
        if len(words) - 1 > self._limits.depth:
            return TOO_DEEP
        if self._seconds_left() <= 0:
            return OUT_OF_TIME
        if len(self._captured.pages) >= self._limits.commands:
            return TOO_MANY
        if self._repeats[words[:-1]] >= _MAX_REPEATS:
            return REPEATS
        return ""

    def _visit(self, words: Words, parent_text: str) -> None:
        """Add the page of a command and queue its subcommands."""
        output, command_line = self._run_help(words)
        texts: list[tuple[str, str]] = []
        if command_line:
            texts.append((command_line, output.text))
        if self._limits.manual or not texts:
            texts += self._read_manual(words, seen=output.text)
        if not texts:
            self._skip_without_help(words, output)
            return
        text = texts[0][1]
        if text == parent_text or text in self._texts:
            self._repeats[words[:-1]] += 1
            return
        self._texts.add(text)
        self._captured.pages.append(HelpPage(words, tuple(texts)))
        for name in self._list_commands(words, text):
            self._pending.append(((*words, name), text))

    def _skip_without_help(self, words: Words, output: ProgramOutput) -> None:
        """Record a command without help; raise `ReadError` if it is the program itself."""
        reason = output.problem or "it gives no help"
        if len(words) == 1:
            raise ReadError(
                f"{words[0]}: {reason}", hint="`ragstone add` takes a text you save yourself"
            )
        skipped = SkippedCommand(words, reason, was_run=not output.problem)
        self._captured.skipped.append(skipped)

    def _run_help(self, words: Words) -> tuple[ProgramOutput, str]:
        """Return the help of a command and its command line, or the first other output and an empty text."""
        first: ProgramOutput | None = None
        for arguments in self._help_arguments(words):
            output = self._run([self._path, *arguments])
            if _is_help(output):
                return output, " ".join((words[0], *arguments))
            first = first or output
            # Only a program that refuses `--help` with a message reads its arguments; another may just do its work.
            if output.problem or not output.code or not output.text.strip():
                break
        return first or ProgramOutput(), ""

    def _help_arguments(self, words: Words) -> Iterator[Words]:
        subcommands = words[1:]
        yield (*subcommands, "--help")
        if not _HALTING.intersection(words):
            yield (*subcommands, "-h")
            yield ("help", *subcommands)

    def _read_manual(self, words: Words, *, seen: str) -> list[tuple[str, str]]:
        """Return the manual page of a command, if there is one with a new text."""
        try:
            man = find_program("man", project=self._project)
        except (AccessError, InputError):
            return []
        name = "-".join(words)
        output = self._run([str(man), "--", name])
        text = output.text
        if output.code != 0 or len(text) < _MIN_CHARACTERS or text == seen:
            return []
        return [(f"man {name}", text)]

    def _list_commands(self, words: Words, text: str) -> list[str]:
        """Return the subcommands in a help text, and in the longer list that the program's help mentions."""
        names = list_subcommands(text)
        if len(words) == 1:
            for listing in _LISTINGS:
                names += self._list_more(words[0], listing, text)
        return list(dict.fromkeys(names))

    def _list_more(self, program: str, listing: Words, text: str) -> list[str]:
        """Return the subcommands in a longer list, if the help text mentions that list."""
        command_line = re.escape(" ".join((program, *listing)))
        if not re.search(rf"{command_line}(?![\w-])", text):
            return []
        output = self._run([self._path, *listing])
        if output.code != 0:
            return []
        return list_subcommands(output.text)

    def _run(self, command: Sequence[str]) -> ProgramOutput:
        seconds = min(self._seconds_left(), _SECONDS_PER_RUN)
        return run_program(command, seconds=max(seconds, 0.05))

    def _seconds_left(self) -> float:
        return self._deadline - time.monotonic()


def _is_help(output: ProgramOutput) -> bool:
    """Return whether an output is help and not an error message, whatever its exit code."""
    if output.problem or output.code is None or output.code < 0:
        return False
    if len(output.text) < _MIN_CHARACTERS:
        return False
    return output.code == 0 or _USAGE.search(output.text) is not None


def to_markdown(page: HelpPage) -> str:
    """Return a page as Markdown: a heading for the command and for every section, the text in fences."""
    lines = [f"# {' '.join(page.words)}", ""]
    for command_line, text in page.texts:
        lines += [f"What `{command_line}` says.", ""]
        for title, body in _split_sections(text.split("\n")):
            if title:
                lines += [f"## {title}", ""]
            if body:
                fence = _fence_for(body)
                lines += [f"{fence}text", body, fence, ""]
    return "\n".join(lines)


def _fence_for(body: str) -> str:
    """Return a code fence that is longer than every fence in a text."""
    fences = re.findall("`{3,}", body)
    longest = max(fences, key=len, default="``")
    return f"{longest}`"


def _split_sections(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the heading and body of each section."""
    title = ""
    body: list[str] = []
    for number, line in enumerate(lines):
        if _is_heading(line, lines[number + 1 : number + 3]):
            yield title, "\n".join(body).strip("\n")
            title = line.removesuffix(":").replace("`", "'").strip("# ")
            body = []
        else:
            body.append(line)
    yield title, "\n".join(body).strip("\n")


def _is_heading(line: str, next_lines: Sequence[str]) -> bool:
    """Return whether a line is at the margin, in capitals or with a colon, and above an indented line."""
    if not line[:1].strip() or len(line) > 80:
        return False
    first_text = next((below for below in next_lines if below), "")
    if not first_text.startswith(" "):
        return False
    return line.endswith(":") or (line.isupper() and len(line) > 2)
