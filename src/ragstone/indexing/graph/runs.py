"""Recorded runs of agents: a document for the run and for each changed file, and nodes that link to the code."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ragstone.errors import InputError
from ragstone.indexing.collection_writer import DocumentWriter
from ragstone.indexing.reconcile import Reconciler
from ragstone.sources.in_memory import GivenDocuments
from ragstone.sources.secrets.redaction import redact
from ragstone.types import Alias, Document, Graph, Link, Node, PutResult

RUN_SOURCE: Final = "run"
"""The source of these documents, and the beginning of their owners, keys and uris."""
ACTIONS: Final = ("created", "modified", "deleted", "renamed")
_SAME_ACTIONS: Final = {"updated": "modified"}
"""Other names of actions; file watchers say `updated`."""
MAX_CHARACTERS: Final = 200_000
MAX_CHANGES: Final = 5_000
_MAX_NODES: Final = 100_000
_TITLE_CHARACTERS: Final = 200
_LAST_MOMENT: Final = 253_402_300_799
"""The last second of the year 9999."""
_KINDS_WITHOUT_NAMES: Final = frozenset(("file", "run_summary", "file_change", "migration"))
_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")
_HINT: Final = '{"path": "app/Song.php", "action": "modified", "summary": "…"}'
_CHANGE_FIELDS: Final = ("path", "action", "summary", "symbols")


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file in a run."""

    path: str
    action: str = "modified"
    summary: str = ""
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """The record of one run of an agent."""

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
        escaped_id = self.id.replace("%", "%25").replace("/", "%2F")
        return f"{RUN_SOURCE}:{escaped_id}"

    @property
    def title(self) -> str:
        """Return the first line of the summary, shortened."""
        return self.summary.splitlines()[0][:_TITLE_CHARACTERS]

    def change_uri(self, change: FileChange) -> str:
        """Return the uri of the document about one changed file."""
        return f"{self.uri}/{change.path}"

    def change_key(self, change: FileChange) -> str:
        """Return the key of the node of one changed file."""
        return f"change:{self.id}:{change.path}"


def checked_run(run_id: object, summary: object, changes: object, at: object = None) -> Run:
    """Return a run; `InputError` if an argument makes no sense."""
    run_id = _checked_text(run_id, "run_id", most=512)
    summary = _checked_text(summary, "summary")
    if isinstance(changes, str | bytes | Mapping) or not isinstance(changes, Iterable):
        raise InputError("changes is a list of what was done to files", hint=_HINT)
    checked = [_checked_change(change) for change in changes]
    if len(checked) > MAX_CHANGES:
        hint = "record it in parts, under several ids"
        raise InputError(f"a run has at most {MAX_CHANGES:,} changes", hint=hint)
    _refuse_repeated_paths(checked)
    return Run(run_id, summary, tuple(checked), _checked_moment(at))


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
    graph = run_graph(run, _nodes_by_file(writer, run))
    writer.store.graph.put(writer.key, {run.owner: graph})
    return list(result.results)


def run_documents(run: Run) -> list[Document]:
    """Return a run as documents: one about the run, and one for each changed file."""
    text = f"{run.summary}\n"
    if run.changes:
        lines = "\n".join(_change_line(change) for change in run.changes)
        text += f"\nChanged files:\n{lines}\n"
    about_run = Document(
        run.uri,
        text,
        kind="run_summary",
        language="text",
        title=f"Run {run.id}",
        metadata={"run_id": run.id, "at": run.at, "key": run.owner},
    )
    return [about_run, *[_change_document(run, change) for change in run.changes]]


def run_graph(run: Run, nodes_by_file: Mapping[str, Sequence[Node]]) -> Graph:
    """Return a run as nodes and links, with the nodes of each file that it changed."""
    nodes = [_run_node(run)]
    links: list[Link] = []
    for change in run.changes:
        node = _change_node(run, change)
        nodes.append(node)
        links.append(Link("CHANGED", run.owner, node.key, run.uri, 1, order=len(nodes)))
        links.append(_file_link(node, change))
        for mentioned in _mentioned_nodes(change, nodes_by_file.get(change.path, ())):
            links.append(Link("MENTIONS", node.key, mentioned.key, node.uri, 1))
    alias = Alias(run.id, run.owner, "run", run.uri)
    return Graph(tuple(nodes), tuple(links), (alias,))


def _run_node(run: Run) -> Node:
    return Node(
        run.owner,
        kind="run_summary",
        name=run.title,
        uri=run.uri,
        line=1,
        attributes={"run_id": run.id, "at": run.at},
    )


def _change_node(run: Run, change: FileChange) -> Node:
    title = change.summary or run.title
    return Node(
        run.change_key(change),
        kind="file_change",
        name=title[:_TITLE_CHARACTERS],
        uri=run.change_uri(change),
        line=1,
        attributes={
            "run_id": run.id,
            "at": run.at,
            "action": change.action,
            "path": change.path,
        },
    )


def _file_link(node: Node, change: FileChange) -> Link:
    return Link(
        "CHANGED",
        source=node.key,
        target=f"file:{change.path}",
        uri=node.uri,
        line=1,
        attributes={"action": change.action},
    )


def _checked_change(value: object) -> FileChange:
    if isinstance(value, FileChange):
        return value
    if not isinstance(value, Mapping):
        raise InputError(f"a change is a mapping, not {type(value).__name__}", hint=_HINT)
    for field in value:
        if field not in _CHANGE_FIELDS:
            raise InputError(f"a change has no {field!r}", hint=_HINT)
    action = value.get("action", "modified")
    if isinstance(action, str):
        action = _SAME_ACTIONS.get(action, action)
    if action not in ACTIONS:
        known = ", ".join((*ACTIONS, *_SAME_ACTIONS))
        raise InputError(f"there is no action {action!r}", hint=f"known are {known}")
    symbols = _checked_symbols(value.get("symbols", []))
    path = _checked_path(value.get("path"))
    summary = _checked_text(
        value.get("summary", ""), "the summary of a change", may_be_empty=True
    )
    return FileChange(path, action, summary, symbols)


def _checked_symbols(value: object) -> tuple[str, ...]:
    hint = '"symbols": ["SongController@update"]'
    if not isinstance(value, list | tuple):
        raise InputError("symbols is a list of names", hint=hint)
    for name in value:
        if not isinstance(name, str) or not name:
            raise InputError("symbols is a list of names", hint=hint)
    return tuple(value)


def _checked_path(value: object) -> str:
    text = _checked_text(value, "the path of a change", most=4096)
    path = text.replace("\\", "/").removeprefix("./")
    if path.startswith("/") or ".." in path.split("/"):
        hint = "give it from the project's folder on"
        raise InputError(f"the path {path!r} leads out of the folder", hint=hint)
    return path


def _checked_moment(value: object) -> float:
    """Return a time in seconds since 1970; now if the value is None."""
    if value is None:
        return time.time()
    is_switch = isinstance(value, bool)
    if isinstance(value, int | float) and not is_switch and 0 <= value <= _LAST_MOMENT:
        return float(value)
    raise InputError(f"at is {value!r}", hint="give a time in seconds since 1970")


def _refuse_repeated_paths(changes: Sequence[FileChange]) -> None:
    paths: set[str] = set()
    for change in changes:
        if change.path in paths:
            hint = "say all that was done to a file in one change"
            raise InputError(f"{change.path} is changed twice in one run", hint=hint)
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
    line = f"- {change.action} {change.path}"
    if change.summary:
        line += f": {change.summary}"
    return line


def _change_document(run: Run, change: FileChange) -> Document:
    summary = change.summary or run.summary
    text = f"{change.path} was {change.action} in run {run.id}.\n{summary}"
    if change.symbols:
        text += f"\nSymbols: {', '.join(change.symbols)}"
    return Document(
        run.change_uri(change),
        f"{text}\n",
        kind="file_change",
        language="text",
        title=change.path,
        metadata={
            "run_id": run.id,
            "at": run.at,
            "key": run.change_key(change),
            "path": change.path,
            "action": change.action,
        },
    )


def _nodes_by_file(writer: DocumentWriter, run: Run) -> dict[str, list[Node]]:
    paths = [change.path for change in run.changes]
    nodes = writer.store.graph.nodes(writer.key.scope, uris=paths, limit=_MAX_NODES)
    by_file: dict[str, list[Node]] = {}
    for node in nodes:
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
    changes = []
    for change in run.changes:
        summary, _ = redact(change.summary)
        changes.append(replace(change, summary=summary))
    summary, _ = redact(run.summary)
    return replace(run, summary=summary, changes=tuple(changes))
