"""Recorded runs of agents: a document for the run and for each changed file, and nodes that link to the code."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ragstone.errors import InputError
from ragstone.indexing.reconcile import Reconciler
from ragstone.indexing.writer import DocumentWriter
from ragstone.sources.given import GivenDocuments
from ragstone.sources.secrets.redaction import redact
from ragstone.types import Alias, Document, Graph, Json, Link, Metadata, Node, PutResult

RUN_SOURCE: Final = "run"
"""The source of these documents, and the beginning of their owners, keys and uris."""
ACTIONS: Final = ("created", "modified", "deleted", "renamed")
MAX_CHARACTERS: Final = 200_000
MAX_CHANGES: Final = 5_000
_MAX_NODES: Final = 100_000
_LAST_MOMENT: Final = 253_402_300_799
"""The last second of the year 9999."""
_KINDS_WITHOUT_NAMES: Final = frozenset(("file", "run_summary", "file_change", "migration"))
_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")
_HINT: Final = '{"path": "app/Song.php", "action": "modified", "summary": "…"}'
_CHANGE_FIELDS: Final = ("path", "action", "summary", "symbols")


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a run did to one file."""

    path: str
    action: str = "modified"
    summary: str = ""
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """What an agent did in one run."""

    id: str
    summary: str
    changes: tuple[FileChange, ...] = ()
    at: float = 0.0

    @property
    def owner(self) -> str:
        """Return the owner of the run's part of the graph."""
        return f"{RUN_SOURCE}:{self.id}"

    @property
    def uri(self) -> str:
        """Return the uri of the run; a slash in its id is escaped, so that no run is inside another one."""
        return f"{RUN_SOURCE}:{self.id.replace('%', '%25').replace('/', '%2F')}"

    def change_uri(self, change: FileChange) -> str:
        """Return the uri of the document about one changed file."""
        return f"{self.uri}/{change.path}"

    def change_key(self, change: FileChange) -> str:
        """Return the key of the node of one changed file."""
        return f"change:{self.id}:{change.path}"


def checked_run(run_id: object, summary: object, changes: object, at: object = None) -> Run:
    """Return a run, or raise `InputError` that says what is wrong with it."""
    run_id, summary = _checked_text(run_id, "run_id", most=512), _checked_text(summary, "summary")
    if isinstance(changes, str | bytes | Mapping) or not isinstance(changes, Iterable):
        raise InputError("changes is a list of what was done to files", hint=_HINT)
    checked = [_checked_change(change) for change in changes]
    if len(checked) > MAX_CHANGES:
        raise InputError(
            f"a run has at most {MAX_CHANGES:,} changes",
            hint="record it in parts, under several ids",
        )
    _refuse_repeated_paths(checked)
    if at is not None and (
        isinstance(at, bool) or not isinstance(at, int | float) or not 0 <= at <= _LAST_MOMENT
    ):
        raise InputError(f"at is {at!r}", hint="give a time in seconds since 1970")
    return Run(run_id, summary, tuple(checked), time.time() if at is None else float(at))


def record_run(writer: DocumentWriter, run: Run) -> list[PutResult]:
    """Store a run's documents and links instead of the ones recorded under its id; return the chunk counts."""
    if writer.chunking.redact_secrets:
        run = _redacted(run)
    source = GivenDocuments(
        run_documents(run),
        name=RUN_SOURCE,
        covers=lambda uri: uri == run.uri or uri.startswith(f"{run.uri}/"),
        scope=[run.uri],
    )
    result = Reconciler(writer, source, full=True).run()
    writer.store.graph.put(writer.key, {run.owner: run_graph(run, _nodes_by_file(writer, run))})
    return list(result.results)


def run_documents(run: Run) -> list[Document]:
    """Return a run as documents: one about the run, and one for each changed file."""
    metadata: Metadata = {"run_id": run.id, "at": run.at}
    text = f"{run.summary}\n"
    if run.changes:
        lines = [_change_line(change) for change in run.changes]
        text += "\nChanged files:\n" + "\n".join(lines) + "\n"
    about_run = {**metadata, "key": run.owner}
    documents = [Document(run.uri, text, "run_summary", "text", f"Run {run.id}", about_run)]
    for change in run.changes:
        documents.append(_change_document(run, change, metadata))
    return documents


def run_graph(run: Run, nodes_by_file: Mapping[str, Sequence[Node]]) -> Graph:
    """Return a run as nodes and links, given the nodes of each file that it changed."""
    title = run.summary.splitlines()[0][:200]
    nodes = [
        Node(
            run.owner, "run_summary", title, run.uri, 1, attributes={"run_id": run.id, "at": run.at}
        )
    ]
    links: list[Link] = []
    for change in run.changes:
        key, uri = run.change_key(change), run.change_uri(change)
        attributes: dict[str, Json] = {
            "run_id": run.id,
            "at": run.at,
            "action": change.action,
            "path": change.path,
        }
        nodes.append(
            Node(key, "file_change", (change.summary or title)[:200], uri, 1, attributes=attributes)
        )
        links.append(Link("CHANGED", run.owner, key, run.uri, 1, order=len(nodes)))
        links.append(
            Link(
                "CHANGED", key, f"file:{change.path}", uri, 1, attributes={"action": change.action}
            )
        )
        for node in _mentioned_nodes(change, nodes_by_file.get(change.path, ())):
            links.append(Link("MENTIONS", key, node.key, uri, 1))
    return Graph(tuple(nodes), tuple(links), (Alias(run.id, run.owner, "run", run.uri),))


def _checked_change(value: object) -> FileChange:
    if isinstance(value, FileChange):
        return value
    if not isinstance(value, Mapping):
        raise InputError(f"a change is a mapping, not {type(value).__name__}", hint=_HINT)
    for field in value:
        if field not in _CHANGE_FIELDS:
            raise InputError(f"a change has no {field!r}", hint=_HINT)
    action = value.get("action", "modified")
    if action not in ACTIONS:
        raise InputError(f"there is no action {action!r}", hint=f"known are {', '.join(ACTIONS)}")
    symbols = value.get("symbols", [])
    if not isinstance(symbols, list | tuple) or not all(
        isinstance(name, str) and name for name in symbols
    ):
        raise InputError("symbols is a list of names", hint='"symbols": ["SongController@update"]')
    path = (
        _checked_text(value.get("path"), "the path of a change", most=4096)
        .replace("\\", "/")
        .removeprefix("./")
    )
    if path.startswith("/") or ".." in path.split("/"):
        raise InputError(
            f"the path {path!r} leads out of the folder",
            hint="give it from the project's folder on",
        )
    summary = _checked_text(value.get("summary", ""), "the summary of a change", may_be_empty=True)
    return FileChange(path, action, summary, tuple(symbols))


def _refuse_repeated_paths(changes: Sequence[FileChange]) -> None:
    paths: set[str] = set()
    for change in changes:
        if change.path in paths:
            raise InputError(
                f"{change.path} is changed twice in one run",
                hint="say all that was done to a file in one change",
            )
        paths.add(change.path)


def _checked_text(
    value: object, noun: str, *, most: int = MAX_CHARACTERS, may_be_empty: bool = False
) -> str:
    if not isinstance(value, str) or not (may_be_empty or value.strip()):
        raise InputError(f"{noun} is a text", hint=f"it is {value!r} now"[:200])
    if len(value) > most:
        raise InputError(f"{noun} has more than {most:,} characters", hint="say it shorter")
    return value.strip()


def _change_line(change: FileChange) -> str:
    summary = f": {change.summary}" if change.summary else ""
    return f"- {change.action} {change.path}{summary}"


def _change_document(run: Run, change: FileChange, metadata: Metadata) -> Document:
    text = f"{change.path} was {change.action} in run {run.id}.\n{change.summary or run.summary}"
    if change.symbols:
        text += f"\nSymbols: {', '.join(change.symbols)}"
    about_change = {
        **metadata,
        "key": run.change_key(change),
        "path": change.path,
        "action": change.action,
    }
    return Document(
        run.change_uri(change), f"{text}\n", "file_change", "text", change.path, about_change
    )


def _nodes_by_file(writer: DocumentWriter, run: Run) -> dict[str, list[Node]]:
    paths = [change.path for change in run.changes]
    by_file: dict[str, list[Node]] = {}
    for node in writer.store.graph.nodes(writer.key.scope, uris=paths, limit=_MAX_NODES):
        by_file.setdefault(node.uri, []).append(node)
    return by_file


def _mentioned_nodes(change: FileChange, nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes of a file whose exact names are in the change's symbols or summary."""
    words = set(_WORD.findall(change.summary))
    for symbol in change.symbols:
        words.update(_WORD.findall(symbol))
    named = [node for node in nodes if node.kind not in _KINDS_WITHOUT_NAMES]
    return [node for node in named if node.name.rpartition("::")[2] in words]


def _redacted(run: Run) -> Run:
    """Return a run without secrets: its texts also become names of nodes."""
    changes = tuple(replace(change, summary=redact(change.summary)[0]) for change in run.changes)
    return replace(run, summary=redact(run.summary)[0], changes=changes)
