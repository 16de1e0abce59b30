"""What changed a file, a symbol or a table: recorded runs, migrations, commits; the newest first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.retrieval.code.graph_answers import within
from ragstone.sources.folder.commits import commits
from ragstone.types import Change, Commit, Link, Node, Scope

_MAKES: Final = ("CREATES", "ALTERS", "RENAMES", "DROPS")
_DATED: Final = re.compile(r"^(\d{4})_(\d\d)_(\d\d)_(\d\d)(\d\d)(\d\d)")
_MOST: Final = 100_000
_LONG_AGO: Final = float("-inf")


def history(store: DocumentReader, scope: Scope, node: Node, *, root: Path | None, limit: int = 50) -> list[Change]:
    """Return what changed a node, the newest first; `root` is the folder whose commits count, None for none.

    What is said of the node itself is `exact`; what is said of the file it is written in is not, unless it is a file.
    """
    scope, limit = within(scope, node), min(limit, _MOST)
    found = [*_runs(store, scope, node), *_migrations(store, scope, node)]
    if root is not None and node.uri and not node.uri.startswith("run:"):
        found += _commits(root, node, limit)
    order = {one.key: number for number, one in enumerate(found)}
    found.sort(key=lambda one: (_LONG_AGO if one.when is None else one.when, order[one.key]), reverse=True)
    return found[:limit]


def _runs(store: DocumentReader, scope: Scope, node: Node) -> Iterable[Change]:
    """Yield the recorded changes of a node, then those of its file that do not name it."""
    seen: set[str] = set()
    path = node.key.removeprefix("file:") if node.kind == "file" else node.uri
    for keys, exact in (([node.key], True), ([f"file:{path}"] if path else [], False)):
        links = store.graph.links(scope, keys, kinds=("CHANGED", "MENTIONS"), back=True)
        for one in store.graph.nodes(scope, keys=[link.source for link in links], kinds=["file_change"]):
            if one.key not in seen:
                seen.add(one.key)
                yield _run(one, exact=exact)


def _run(node: Node, *, exact: bool) -> Change:
    about = node.attributes
    at = about.get("at")
    title = f"{about.get('action')} {about.get('path')} in run {about.get('run_id')}"
    when = float(at) if isinstance(at, int | float) else None
    return Change("run", node.key, title, node.name, when, node.uri, node.line, exact)


def _migrations(store: DocumentReader, scope: Scope, node: Node) -> list[Change]:
    """Return the migrations of a table, in the order they run."""
    if node.kind != "table":
        return []
    links = store.graph.links(scope, [node.key], kinds=_MAKES, back=True)
    by_source: dict[str, list[Link]] = {}
    for link in links:
        by_source.setdefault(link.source, []).append(link)
    told = node.attributes.get("migrations")
    place = {name: number for number, name in enumerate(told)} if isinstance(told, list) else {}
    names = sorted(by_source, key=lambda key: (place.get(key.partition(":")[2], -1), key))
    return [_migration(key, by_source[key]) for key in names]


def _migration(key: str, links: Sequence[Link]) -> Change:
    name = key.partition(":")[2]
    does = ", ".join(dict.fromkeys(link.kind.lower() for link in links))
    return Change("migration", key, f"{does}: {name}", "", _dated(name), links[0].uri, links[0].line)


def _dated(name: str) -> float | None:
    """Return the moment a migration's name begins with, where it does."""
    found = _DATED.match(name)
    if not found:
        return None
    year, month, day, hour, minute, second = map(int, found.groups())
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _commits(root: Path, node: Node, limit: int) -> list[Change]:
    """Return the commits that touched the lines of a node, or all of its file; the oldest first."""
    lines = None if node.kind == "file" or not node.line else (node.line, max(node.line, node.line_end))
    return [_commit(one, node) for one in reversed(commits(root, node.uri, lines=lines, limit=limit))]


def _commit(one: Commit, node: Node) -> Change:
    title = f"{one.hash[:10]} {one.subject}"
    return Change("commit", f"commit:{one.hash}", title, one.author, one.when, node.uri, node.line)
