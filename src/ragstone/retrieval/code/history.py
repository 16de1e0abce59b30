"""What changed a file, a symbol or a table: recorded runs, migrations, commits; newest first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ragstone.protocols import GraphReader
from ragstone.retrieval.code.graph_answers import scope_of_node
from ragstone.sources.folder.commits import commits
from ragstone.types import Change, Commit, Link, Node, Scope

_MIGRATION_LINKS: Final = ("CREATES", "ALTERS", "RENAMES", "DROPS")
_DATED_NAME: Final = re.compile(r"^(\d{4})_(\d\d)_(\d\d)_(\d\d)(\d\d)(\d\d)")
_MAX_CHANGES: Final = 100_000
_LONG_AGO: Final = float("-inf")


def node_history(
    graph: GraphReader, scope: Scope, node: Node, *, root: Path | None, limit: int = 50
) -> list[Change]:
    """Return what changed a node, newest first; `root` is the folder whose commits count, None for no commits.

    A change is `exact` if it is about the node itself, and not only about its file.
    """
    scope = scope_of_node(scope, node)
    limit = min(limit, _MAX_CHANGES)
    changes = [*_run_changes(graph, scope, node), *_migration_changes(graph, scope, node)]
    if root is not None and node.uri and not node.uri.startswith("run:"):
        changes += _commit_changes(root, node, limit)
    position = {change.key: number for number, change in enumerate(changes)}
    changes.sort(key=lambda change: (_moment(change), position[change.key]), reverse=True)
    return changes[:limit]


def _moment(change: Change) -> float:
    return _LONG_AGO if change.when is None else change.when


def _run_changes(graph: GraphReader, scope: Scope, node: Node) -> Iterator[Change]:
    """Yield the recorded changes of a node, then those of its file that do not name it."""
    seen: set[str] = set()
    path = node.key.removeprefix("file:") if node.kind == "file" else node.uri
    file_keys = [f"file:{path}"] if path else []
    for keys, is_exact in (([node.key], True), (file_keys, False)):
        links = graph.links(scope, keys, kinds=("CHANGED", "MENTIONS"), back=True)
        sources = [link.source for link in links]
        for change in graph.nodes(scope, keys=sources, kinds=["file_change"]):
            if change.key not in seen:
                seen.add(change.key)
                yield _run_change(change, exact=is_exact)


def _run_change(node: Node, *, exact: bool) -> Change:
    attributes = node.attributes
    at = attributes.get("at")
    when = float(at) if isinstance(at, int | float) else None
    title = f"{attributes.get('action')} {attributes.get('path')} in run {attributes.get('run_id')}"
    return Change("run", node.key, title, node.name, when, node.uri, node.line, exact)


def _migration_changes(graph: GraphReader, scope: Scope, node: Node) -> list[Change]:
    """Return the migrations of a table, in the order they run."""
    if node.kind != "table":
        return []
    by_migration: dict[str, list[Link]] = {}
    for link in graph.links(scope, [node.key], kinds=_MIGRATION_LINKS, back=True):
        by_migration.setdefault(link.source, []).append(link)
    listed = node.attributes.get("migrations")
    names = listed if isinstance(listed, list) else []
    position = {name: number for number, name in enumerate(names)}
    keys = sorted(by_migration, key=lambda key: (position.get(key.partition(":")[2], -1), key))
    return [_migration_change(key, by_migration[key]) for key in keys]


def _migration_change(key: str, links: Sequence[Link]) -> Change:
    name = key.partition(":")[2]
    actions = ", ".join(dict.fromkeys(link.kind.lower() for link in links))
    return Change(
        "migration", key, f"{actions}: {name}", "", _date_in_name(name), links[0].uri, links[0].line
    )


def _date_in_name(name: str) -> float | None:
    """Return the moment that a migration's name begins with, if it does."""
    match = _DATED_NAME.match(name)
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups())
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _commit_changes(root: Path, node: Node, limit: int) -> list[Change]:
    """Return the commits that touched the lines of a node, or its whole file; oldest first."""
    lines = None
    if node.kind != "file" and node.line:
        lines = (node.line, max(node.line, node.line_end))
    newest_first = commits(root, node.uri, lines=lines, limit=limit)
    return [_commit_change(commit, node) for commit in reversed(newest_first)]


def _commit_change(commit: Commit, node: Node) -> Change:
    title = f"{commit.hash[:10]} {commit.subject}"
    return Change(
        "commit", f"commit:{commit.hash}", title, commit.author, commit.when, node.uri, node.line
    )
