"""The help of a program as a source: a document for each of its commands."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.sources.command_help.help import HELP, CapturedHelp, HelpPage, to_markdown
from ragstone.types import Document, Item, LoadedItem, Metadata, Scalar, Skip

KIND = "help"


class CommandHelp:
    """The captured help of one program."""

    name = HELP

    def __init__(self, captured: CapturedHelp) -> None:
        """Take the help that was captured now."""
        self._captured = captured
        self._pages = {help_uri(page.words): page for page in captured.pages}
        self.scope = [help_uri((captured.program,))]

    def scan(self) -> Iterator[Item | Skip]:
        """Yield every command with help, and the commands that were left out."""
        for uri in self._pages:
            yield Item(uri, None)
        for command in self._captured.skipped:
            yield Skip(help_uri(command.words), command.reason)

    def load(self, item: Item) -> LoadedItem:
        """Return a command's help as a document."""
        return LoadedItem(document=help_document(self._pages[item.uri]))

    def covers(self, uri: str) -> bool:
        """Return whether a command no longer exists: neither it nor a command above it was skipped."""
        if not _is_at_or_below(uri, (self._captured.program,)):
            return False
        for command in self._captured.skipped:
            if not command.was_run and _is_at_or_below(uri, command.words):
                return False
        return True


def help_uri(words: tuple[str, ...]) -> str:
    """Return the uri of a command's help: `help:git/remote/add`."""
    return f"help:{'/'.join(words)}"


def help_document(page: HelpPage) -> Document:
    """Return a command's help as a document."""
    command = " ".join(page.words)
    command_lines: list[Scalar] = [command_line for command_line, _ in page.texts]
    metadata: Metadata = {
        "program": page.words[0],
        "command": command,
        "asked": command_lines,
    }
    return Document(
        uri=help_uri(page.words),
        text=to_markdown(page),
        kind=KIND,
        language="markdown",
        title=command,
        metadata=metadata,
    )


def _is_at_or_below(uri: str, words: tuple[str, ...]) -> bool:
    """Return whether a uri is that of a command or of one of its subcommands."""
    command_uri = help_uri(words)
    return uri == command_uri or uri.startswith(f"{command_uri}/")
