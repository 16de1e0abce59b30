"""The confined process that reads frameworks: it has no files, and asks its parent for each of them."""

from __future__ import annotations

import logging
import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from ragstone import registry
from ragstone.code.file_languages import language_of
from ragstone.indexing.facts_codec import decode_facts
from ragstone.indexing.graph.frameworks import (
    MAX_WARNING_CHARACTERS,
    MAX_WARNINGS,
    MEMORY_BYTES,
    FileAnswer,
    FileQuestion,
    FrameworkReply,
    FrameworkRequest,
    Subject,
)
from ragstone.indexing.graph.line_ends import with_line_ends
from ragstone.protocols import Framework
from ragstone.read.confine import confine
from ragstone.read.messages import Message, decode
from ragstone.read.worker_loop import WorkerLoop
from ragstone.types import Graph
from ragstone.types.code import FileFacts

_FACTS_AT_ONCE: Final = 100
_MAX_USED_BYTES: Final = 600 << 20
"""A process that used more is replaced."""
logger = logging.getLogger(__name__)


def main(*targets: str) -> None:
    """Give up every right that evaluation does not need, import the plug-ins, then answer requests."""
    loop = WorkerLoop()
    confine(sys.path, memory=MEMORY_BYTES)
    for target in targets:
        registry.import_target(target)()

    warnings = WarningList()
    logging.getLogger().addHandler(warnings)

    def handle(header: object, _: bytes) -> Message:
        warnings.texts.clear()
        reply = _read(decode(FrameworkRequest, header), targets, loop)
        return replace(reply, log=tuple(warnings.texts)), b""

    loop.run(handle, max_memory=_MAX_USED_BYTES)


class WarningList(logging.Handler):
    """Keeps the first warnings of this process, with their tracebacks, for the log of the parent process."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a warning if there is room."""
        if len(self.texts) < MAX_WARNINGS:
            self.texts.append(self.format(record)[-MAX_WARNING_CHARACTERS:])


class ParentFiles:
    """The files of the project, asked from the parent process; each is asked for once."""

    def __init__(self, uris: tuple[str, ...], loop: WorkerLoop) -> None:
        """Take the paths of the project and the loop of this process."""
        self.uris = uris
        self._loop = loop
        self._known = frozenset(uris)
        self._texts: dict[str, str | None] = {}
        self._facts_data: dict[str, bytes | None] = {}
        self._facts: dict[str, FileFacts | None] = {}

    def text(self, uri: str) -> str | None:
        """Return the text of a file, or None if there is no such file."""
        if uri not in self._texts:
            (data,) = self._ask("text", [uri])
            self._texts[uri] = None if data is None else data.decode("utf-8", "surrogatepass")
        return self._texts[uri]

    def facts(self, uri: str) -> FileFacts | None:
        """Return the symbols of a file, or None if it is no code."""
        if uri not in self._facts:
            if uri not in self._facts_data:
                uris = self._next_uris(uri)
                self._facts_data.update(zip(uris, self._ask("facts", uris), strict=True))
            data = self._facts_data.pop(uri)
            self._facts[uri] = None if data is None else decode_facts(data)
        return self._facts[uri]

    def enter(self, uri: str) -> None:
        """Tell the parent which file is evaluated."""
        self._ask("evaluation", [uri])

    def _next_uris(self, uri: str) -> list[str]:
        """Return a path, and those of its language that come next: a framework asks for the facts of all."""
        if uri not in self._known:
            return [uri]
        language = language_of(uri)
        start = bisect_left(self.uris, uri)
        following = (other for other in self.uris[start:] if language_of(other) == language)
        return [
            other for other in islice(following, _FACTS_AT_ONCE) if other not in self._facts
        ]

    def _ask(self, subject: Subject, uris: Sequence[str]) -> list[bytes | None]:
        if not self._known.issuperset(uris):
            return [None] * len(uris)
        question = FrameworkReply(FileQuestion(subject, tuple(uris)))
        header, payload = self._loop.ask(question)
        parts: list[bytes | None] = []
        start = 0
        for size in decode(FileAnswer, header).sizes:
            parts.append(None if size < 0 else payload[start : start + size])
            start += max(size, 0)
        return parts


def _read(
    request: FrameworkRequest, targets: Sequence[str], loop: WorkerLoop
) -> FrameworkReply:
    """Return the graphs of the frameworks; one that fails does not stop the others."""
    files = ParentFiles(request.uris, loop)
    graphs: list[tuple[str, Graph]] = []
    failures: list[tuple[str, str]] = []
    for framework in _load(request.names, targets):
        try:
            graphs.append((framework.name, with_line_ends(framework.read(files), files)))
        except MemoryError:
            return FrameworkReply(is_out_of_memory=True)
        except BrokenPipeError:
            raise
        except Exception as error:
            logger.warning("%s failed", framework.name, exc_info=error)
            failures.append((framework.name, f"{type(error).__name__}: {error}"[:200]))
    return FrameworkReply(None, tuple(graphs), tuple(failures))


def _load(names: Sequence[str], targets: Sequence[str]) -> Iterator[Framework]:
    """Yield the frameworks of these names, new ones for each project."""
    for target in targets:
        for framework in registry.import_target(target)():
            if framework.name in names:
                yield framework
