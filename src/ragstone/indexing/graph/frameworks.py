"""Reading frameworks in a confined process that evaluates the project's files.

The process asks for a file when a framework needs it, one question in each reply. So this process knows
the file that is evaluated: if the other one crashes, hangs or uses too much memory, that file is left
out, a remark names it, and the frameworks are read again without it. Graphs are checked as foreign input.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from ragstone import registry
from ragstone.errors import Reason
from ragstone.protocols.cancellation import check_cancelled
from ragstone.read.messages import Message, decode
from ragstone.read.python_command import build_command
from ragstone.read.worker_process import WorkerFailed, WorkerProcess
from ragstone.types import Graph, Link, Node, Rendered, Unresolved

if TYPE_CHECKING:
    from ragstone.protocols import Framework, ProjectFiles

FILE_SECONDS: Final = 60.0
"""Between two questions; the budget of static evaluation is spent in about half of it."""
MEMORY_BYTES: Final = 2 << 30
"""Of address space, as much as an evaluation within its budget can need."""
MAX_WARNINGS: Final = 3
MAX_WARNING_CHARACTERS: Final = 8000
"""A traceback of a deep recursion is short: Python shortens repeated lines."""
_MAX_LEFT_OUT: Final = 3
_MAX_REPLY_BYTES: Final = 256 << 20
_MAX_LINE: Final = 1 << 31
_REASONS: Final[dict[Reason, str]] = {
    "timeout": "it takes too long",
    "memory": "it takes too much memory",
    "unsupported": "no process could be started for it",
}

Subject = Literal["text", "facts", "evaluation"]
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FrameworkRequest:
    """The names of the frameworks to read, and the paths of the project."""

    names: tuple[str, ...]
    uris: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileQuestion:
    """The process asks for the text of a file or the facts of several, or says that it evaluates a file from here on."""

    subject: Subject
    uris: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileAnswer:
    """The length of the text or the facts of each file, which are the payload; -1 if there are none."""

    sizes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FrameworkReply:
    """A question; or, after the last one, the graphs by framework and the reasons of those that failed.

    `log` has the first warnings of the process, with their tracebacks.
    """

    question: FileQuestion | None = None
    graphs: tuple[tuple[str, Graph], ...] = ()
    failures: tuple[tuple[str, str], ...] = ()
    is_out_of_memory: bool = False
    log: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FrameworkReading:
    """The graphs by framework, the names of the frameworks that failed, and remarks."""

    graphs: dict[str, Graph] = field(default_factory=dict)
    failed: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


_Placed = Node | Link | Unresolved | Rendered
FactsData = Callable[[str], bytes | None]
"""Returns the encoded facts of a file; None if it is no code."""


class FrameworkReader:
    """Loads the frameworks of plug-ins, and reads projects with them in a confined process."""

    def __init__(
        self,
        targets: Sequence[str] | None = None,
        *,
        seconds: float = FILE_SECONDS,
        command: Sequence[str] | None = None,
    ) -> None:
        """Take the import paths of plug-ins; None for the installed ones. Nothing is started yet."""
        self._targets = targets
        self._seconds = seconds
        self._command = command
        self._worker: WorkerProcess | None = None
        self._conversation = threading.Lock()

    @property
    def targets(self) -> tuple[str, ...]:
        """Return the import paths of the plug-ins."""
        if self._targets is None:
            self._targets = [part.target for part in registry.describe("framework")]
        return tuple(self._targets)

    @property
    def pid(self) -> int | None:
        """Return the id of the process, or None if none is running."""
        return self._worker.pid if self._worker else None

    def load(self) -> list[Framework]:
        """Return the frameworks, to detect which of them a project uses."""
        frameworks: list[Framework] = []
        for target in self.targets:
            frameworks += registry.import_target(target)()
        return frameworks

    def start(self) -> None:
        """Start the process, which imports the plug-ins while this one does other work."""
        self._get_worker().start()

    def read(
        self, names: Sequence[str], files: ProjectFiles, facts_data: FactsData
    ) -> FrameworkReading:
        """Return the graphs of these frameworks; a file that cannot be evaluated is left out."""
        left_out: dict[str, str] = {}
        while True:
            uris = [uri for uri in files.uris if uri not in left_out]
            answers = _Answers(files, facts_data, frozenset(uris))
            request = FrameworkRequest(tuple(names), tuple(uris))
            try:
                reply = self._converse(request, answers)
            except WorkerFailed as failure:
                reason = _REASONS.get(failure.reason, "the process that does it crashed")
                remarks = tuple(left_out.values())
                suspect = answers.current
                if not suspect or len(left_out) == _MAX_LEFT_OUT:
                    remark = f"{', '.join(names)} could not be read: {reason}"
                    return FrameworkReading({}, tuple(names), (*remarks, remark))
                left_out[suspect] = f"{suspect}: left out of the evaluation: {reason}"
                continue
            return _to_reading(reply, left_out.values())

    def close(self) -> None:
        """End the process; the next project starts another."""
        if self._worker is not None:
            self._worker.close()

    def _converse(self, request: FrameworkRequest, answers: _Answers) -> FrameworkReply:
        """Send the request, answer the questions, and return the last reply; raise `WorkerFailed`."""
        worker = self._get_worker()
        message: Message = (request, b"")
        with self._conversation:
            try:
                while True:
                    check_cancelled()
                    header, _ = worker.call(*message)
                    reply = decode(FrameworkReply, header)
                    if reply.question is None:
                        break
                    message = answers.answer(reply.question)
                _check(reply, request.names, answers.uris)
            except ValueError as error:
                worker.close()
                raise WorkerFailed("crash") from error
            except BaseException:  # a pending question must not answer the next request
                worker.close()
                raise
        if reply.is_out_of_memory:
            worker.close()
            raise WorkerFailed("memory")
        return reply

    def _get_worker(self) -> WorkerProcess:
        if self._worker is None:
            packages = [target.partition(":")[0].partition(".")[0] for target in self.targets]
            module = "ragstone.indexing.graph.framework_main"
            self._worker = WorkerProcess(
                module,
                seconds=self._seconds,
                max_reply=_MAX_REPLY_BYTES,
                command=self._command or build_command(module, packages, self.targets),
            )
        return self._worker


@dataclass(slots=True)
class _Answers:
    """Answers the questions about a project's files, and keeps the file that is evaluated."""

    files: ProjectFiles
    facts_data: FactsData
    uris: frozenset[str]
    current: str = ""

    def answer(self, question: FileQuestion) -> Message:
        """Return the answer to a question; changes `current`. Raise `ValueError` for a file outside the project."""
        if not self.uris.issuperset(question.uris):
            raise ValueError("a question about a file outside the project")
        if question.subject == "facts":
            return _pack([self.facts_data(uri) for uri in question.uris])
        self.current = question.uris[-1]
        if question.subject == "text":
            return _pack([self._text_data(uri) for uri in question.uris])
        return FileAnswer(), b""

    def _text_data(self, uri: str) -> bytes | None:
        text = self.files.text(uri)
        return None if text is None else text.encode("utf-8", "surrogatepass")


def _pack(parts: Sequence[bytes | None]) -> Message:
    sizes = tuple(-1 if part is None else len(part) for part in parts)
    return FileAnswer(sizes), b"".join(part or b"" for part in parts)


def _to_reading(reply: FrameworkReply, remarks: Iterable[str]) -> FrameworkReading:
    for warning in reply.log[:MAX_WARNINGS]:
        logger.warning("%s", warning[:MAX_WARNING_CHARACTERS])
    failures = [f"{name} could not be read: {reason[:200]}" for name, reason in reply.failures]
    failed = tuple(name for name, _ in reply.failures)
    return FrameworkReading(dict(reply.graphs), failed, (*remarks, *failures))


def _check(reply: FrameworkReply, names: Sequence[str], uris: Collection[str]) -> None:
    """Raise `ValueError` if a graph is of another framework, or names a file outside the project."""
    for name, graph in reply.graphs:
        placed: tuple[_Placed, ...] = (
            *graph.nodes,
            *graph.links,
            *graph.unresolved,
            *graph.rendered,
        )
        places = {item.uri for item in (*placed, *graph.aliases)}
        lines = [item.line for item in placed]
        if name not in names or not places.issubset({*uris, ""}):
            raise ValueError("a graph that was not asked for")
        if lines and not 0 <= min(lines) <= max(lines) < _MAX_LINE:
            raise ValueError("a line that no file has")


FRAMEWORKS: Final = FrameworkReader()
