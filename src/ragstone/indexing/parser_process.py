"""Parsing code; a grammar that may never end runs in a worker process that can be stopped.

tree-sitter cannot be interrupted, and the grammar of Kotlin may run for ever on text that is not Kotlin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ragstone.code.file_languages import language_of
from ragstone.code.symbols import read_facts
from ragstone.read.messages import Message, decode
from ragstone.read.worker_loop import WorkerLoop
from ragstone.read.worker_process import WorkerFailed, WorkerProcess
from ragstone.types.code import FileFacts

UNSAFE_LANGUAGES: Final = frozenset({"kotlin"})
PARSE_SECONDS: Final = 5.0
"""For one file; a hundred kilobytes of Kotlin take a tenth of a second."""


@dataclass(frozen=True, slots=True)
class ParseRequest:
    """The uri and the language of a file, and the facts that are wanted; its text is the payload."""

    uri: str
    language: str
    definitions_only: bool = False


@dataclass(frozen=True, slots=True)
class ParseReply:
    """The facts of a file, or None if its language has no grammar or the file is too long."""

    facts: FileFacts | None


def parse_facts(
    text: str, uri: str, language: str = "", *, definitions_only: bool = False
) -> FileFacts | None:
    """Return the facts of a file, or those of its definitions; None if there is no grammar or the parser was stopped."""
    if (language or language_of(uri)) in UNSAFE_LANGUAGES:
        return PARSER.parse(text, uri, language, definitions_only=definitions_only)
    return read_facts(text, uri, language, definitions_only=definitions_only)


class ParserProcess:
    """Parses code in a worker process."""

    def __init__(self, *, seconds: float = PARSE_SECONDS) -> None:
        """Keep the seconds for one file."""
        self._worker = WorkerProcess("ragstone.indexing.parser_process", seconds=seconds)

    @property
    def pid(self) -> int | None:
        """Return the id of the process, or None if none is running."""
        return self._worker.pid

    def parse(
        self, text: str, uri: str, language: str, *, definitions_only: bool = False
    ) -> FileFacts | None:
        """Return the facts of a file; None if there are none or the process failed."""
        request = ParseRequest(uri, language, definitions_only)
        try:
            header, _ = self._worker.call(request, text.encode("utf-8", "surrogatepass"))
            return decode(ParseReply, header).facts
        except (WorkerFailed, ValueError):
            return None

    def close(self) -> None:
        """End the process; the next file starts another."""
        self._worker.close()


PARSER: Final = ParserProcess()


def main() -> None:
    """Answer requests in the worker process."""
    WorkerLoop().run(_parse)


def _parse(header: object, payload: bytes) -> Message:
    request = decode(ParseRequest, header)
    text = payload.decode("utf-8", "surrogatepass")
    facts = read_facts(
        text, request.uri, request.language, definitions_only=request.definitions_only
    )
    return ParseReply(facts), b""
