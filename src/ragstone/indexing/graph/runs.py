"""What agents did: runs and the files they changed, as documents that are found and as nodes that are linked."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ragstone.errors import InputError
from ragstone.indexing.pipeline import Writer
from ragstone.sources.secrets.redaction import redact
from ragstone.types import Alias, Document, Graph, Json, Link, Node, PutResult

RUN: Final = "run"
"""The source of these documents, and how their owners, keys and uris begin."""
ACTIONS: Final = ("created", "modified", "deleted", "renamed")
LONGEST: Final = 200_000
_LAST: Final = 253_402_300_799
"""The last second of the year 9999: nobody can be told of a later one."""
MOST_CHANGES: Final = 5_000
_MEMBERS: Final = frozenset(("file", "run_summary", "file_change", "migration"))
_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")
_HINT: Final = '{"path": "app/Song.php", "action": "modified", "summary": "…"}'


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a run did to one file."""

    path: str
    action: str = "modified"
    summary: str = ""
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """What an agent did in one go."""

    id: str
    summary: str
    changes: tuple[FileChange, ...] = ()
    at: float = 0.0

    @property
    def owner(self) -> str:
        """Return whose part of the graph it is."""
        return f"{RUN}:{self.id}"


def checked(run_id: object, summary: object, changes: object, at: object = None) -> Run:
    """Return a run as it was told, or raise `InputError` that says what is wrong with it."""
    identity, told = _text(run_id, "run_id", most=512), _text(summary, "summary")
    if isinstance(changes, str | bytes | Mapping) or not isinstance(changes, Iterable):
        raise InputError("changes is a list of what was done to files", hint=_HINT)
    made = [_change(one) for one in changes]
    if len(made) > MOST_CHANGES:
        raise InputError(f"a run has at most {MOST_CHANGES:,} changes", hint="record it in parts, under several ids")
    twice = next((one.path for number, one in enumerate(made) if one.path in {two.path for two in made[:number]}), None)
    if twice is not None:
        raise InputError(f"{twice} is changed twice in one run", hint="say all that was done to a file in one change")
    if at is not None and (isinstance(at, bool) or not isinstance(at, int | float) or not 0 <= at <= _LAST):
        raise InputError(f"at is {at!r}", hint="give a time in seconds since 1970")
    return Run(identity, told, tuple(made), time.time() if at is None else float(at))


def _change(given: object) -> FileChange:
    if isinstance(given, FileChange):
        given = {"path": given.path, "action": given.action, "summary": given.summary, "symbols": list(given.symbols)}
    if not isinstance(given, Mapping):
        raise InputError(f"a change is a mapping, not {type(given).__name__}", hint=_HINT)
    unknown = [key for key in given if key not in ("path", "action", "summary", "symbols")]
    if unknown:
        raise InputError(f"a change has no {unknown[0]!r}", hint=_HINT)
    action = given.get("action", "modified")
    if action not in ACTIONS:
        raise InputError(f"there is no action {action!r}", hint=f"known are {', '.join(ACTIONS)}")
    symbols = given.get("symbols", [])
    if not isinstance(symbols, list | tuple) or not all(isinstance(name, str) and name for name in symbols):
        raise InputError("symbols is a list of names", hint='"symbols": ["SongController@update"]')
    path = _text(given.get("path"), "the path of a change", most=4096).replace("\\", "/").removeprefix("./")
    if path.startswith("/") or ".." in path.split("/"):
        raise InputError(f"the path {path!r} leads out of the folder", hint="give it from the project's folder on")
    return FileChange(path, action, _text(given.get("summary", ""), "the summary of a change", empty=True), (*symbols,))


def _text(given: object, what: str, *, most: int = LONGEST, empty: bool = False) -> str:
    if not isinstance(given, str) or not (empty or given.strip()):
        raise InputError(f"{what} is a text", hint=f"it is {given!r} now"[:200])
    if len(given) > most:
        raise InputError(f"{what} has more than {most:,} characters", hint="say it shorter")
    return given.strip()


def uris(run: Run) -> list[str]:
    """Return the uris of a run's documents: its own first."""
    own = _uri(run.id)
    return [own, *(f"{own}/{change.path}" for change in run.changes)]


def _uri(run_id: str) -> str:
    """Return the uri of a run; a slash in its id is no slash of the uri, so that no run lies in another one."""
    return f"{RUN}:{run_id.replace('%', '%25').replace('/', '%2F')}"


def documents(run: Run) -> list[Document]:
    """Return a run as documents: what it was about, and one for each file it changed."""
    about: dict[str, Any] = {"run_id": run.id, "at": run.at}
    listed = "\n".join(f"- {one.action} {one.path}{f': {one.summary}' if one.summary else ''}" for one in run.changes)
    text = f"{run.summary}\n\nChanged files:\n{listed}\n" if listed else f"{run.summary}\n"
    own, *others = uris(run)
    first = Document(own, text, "run_summary", "text", f"Run {run.id}", {**about, "key": run.owner})
    return [first, *(_told(run, one, uri, about) for one, uri in zip(run.changes, others, strict=True))]


def _told(run: Run, change: FileChange, uri: str, about: Mapping[str, Any]) -> Document:
    said = f"{change.path} was {change.action} in run {run.id}."
    named = f"\nSymbols: {', '.join(change.symbols)}" if change.symbols else ""
    metadata = {**about, "key": _key(run, change), "path": change.path, "action": change.action}
    return Document(
        uri, f"{said}\n{change.summary or run.summary}{named}\n", "file_change", "text", change.path, metadata
    )


def _key(run: Run, change: FileChange) -> str:
    return f"change:{run.id}:{change.path}"


def graph(run: Run, symbols: Mapping[str, Sequence[Node]]) -> Graph:
    """Return a run as nodes and links, given the symbols that are written in each file it changed."""
    own, *others = uris(run)
    title = run.summary.splitlines()[0][:200]
    nodes = [Node(run.owner, "run_summary", title, own, 1, attributes={"run_id": run.id, "at": run.at})]
    links: list[Link] = []
    aliases = [Alias(run.id, run.owner, "run", own)]
    for change, uri in zip(run.changes, others, strict=True):
        key = _key(run, change)
        about: dict[str, Json] = {"run_id": run.id, "at": run.at, "action": change.action, "path": change.path}
        nodes.append(Node(key, "file_change", (change.summary or title)[:200], uri, 1, attributes=about))
        links.append(Link("CHANGED", run.owner, key, own, 1, order=len(nodes)))
        links.append(Link("CHANGED", key, f"file:{change.path}", uri, 1, attributes={"action": change.action}))
        links += [Link("MENTIONS", key, node.key, uri, 1) for node in _mentioned(change, symbols.get(change.path, ()))]
    return Graph(tuple(nodes), tuple(links), tuple(aliases))


def _mentioned(change: FileChange, inside: Sequence[Node]) -> list[Node]:
    """Return the symbols of a file that a change names: by their exact names, those of its list or of its summary."""
    words = {*_WORD.findall(change.summary), *(word for name in change.symbols for word in _WORD.findall(name))}
    return [node for node in inside if node.kind not in _MEMBERS and node.name.rpartition("::")[2] in words]


def record(writer: Writer, run: Run) -> list[PutResult]:
    """Store a run's documents and links in place of what was recorded under its id; return what each changed."""
    if writer.cut.redact_secrets:
        run = _clean(run)
    store, here = writer.store, writer.key.scope
    inside: dict[str, list[Node]] = {}
    for node in store.graph.nodes(here, uris=[change.path for change in run.changes], limit=100_000):
        inside.setdefault(node.uri, []).append(node)
    kept, own = set(uris(run)), _uri(run.id)
    known = store.known_files(writer.key, RUN, uris=[own], below=True)
    results = writer.add(documents(run), source=RUN)
    store.remove(writer.key, [uri for uri in known if uri not in kept])
    store.graph.put(writer.key, {run.owner: graph(run, inside)})
    return results


def _clean(run: Run) -> Run:
    """Return a run without secrets: its nodes have names and are not only found in documents."""
    changes = tuple(replace(one, summary=redact(one.summary)[0]) for one in run.changes)
    return replace(run, summary=redact(run.summary)[0], changes=changes)
