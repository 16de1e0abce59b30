"""The changes of a file, a symbol or a table: recorded runs, migrations, commits; newest first."""

from __future__ import annotations

import math
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


def node_history(
    graph: GraphReader, scope: Scope, node: Node, *, root: Path | None, limit: int = 50
) -> list[Change]:
    """Return the changes of a node, newest first; `root` is the folder whose commits count, None for no commits.

    A change is `exact` if it is about the node itself, and not only about its file.
    """
    scope = scope_of_node(scope, node)
    limit = min(limit, _MAX_CHANGES)
    changes = [*_run_changes(graph, scope, node), *_migration_changes(graph, scope, node)]
    if root is not None and node.uri and not node.uri.startswith("run:"):
        changes += _commit_changes(root, node, limit)
    changes.reverse()  # of changes at the same moment, the last one comes first
    changes.sort(key=_moment, reverse=True)
    return changes[:limit]


def _moment(change: Change) -> float:
    if change.when is None:
        return -math.inf
    return change.when


def _run_changes(graph: GraphReader, scope: Scope, node: Node) -> Iterator[Change]:
    """Yield the recorded changes of a node, then those of its file that do not name it."""
    own_changes = _change_nodes(graph, scope, node.key)
    for change in own_changes:
        yield _run_change(change, exact=True)
    path = node.uri
    if node.kind == "file":
        path = node.key.removeprefix("file:")
    if not path:
        return
    own_keys = {change.key for change in own_changes}
    for change in _change_nodes(graph, scope, f"file:{path}"):
        if change.key not in own_keys:
            yield _run_change(change, exact=False)


def _change_nodes(graph: GraphReader, scope: Scope, key: str) -> list[Node]:
    """Return the nodes of recorded changes that link to a node."""
    links = graph.links(scope, [key], kinds=("CHANGED", "MENTIONS"), back=True)
    sources = [link.source for link in links]
    return graph.nodes(scope, keys=sources, kinds=["file_change"])


def _run_change(node: Node, *, exact: bool) -> Change:
    moment = node.attributes.get("at")
    action = node.attributes.get("action")
    path = node.attributes.get("path")
    run_id = node.attributes.get("run_id")
    return Change(
        "run",
        node.key,
        title=f"{action} {path} in run {run_id}",
        text=node.name,
        when=float(moment) if isinstance(moment, int | float) else None,
        uri=node.uri,
        line=node.line,
        exact=exact,
    )


def _migration_changes(graph: GraphReader, scope: Scope, node: Node) -> list[Change]:
    """Return the migrations of a table, in the order they run."""
    if node.kind != "table":
        return []
    by_migration: dict[str, list[Link]] = {}
    for link in graph.links(scope, [node.key], kinds=_MIGRATION_LINKS, back=True):
        by_migration.setdefault(link.source, []).append(link)
    names = node.attributes.get("migrations")
    if not isinstance(names, list):
        names = []
    positions = {name: number for number, name in enumerate(names)}

    def position(key: str) -> tuple[int, str]:
        name = key.partition(":")[2]
        return positions.get(name, -1), key

    keys = sorted(by_migration, key=position)
    return [_migration_change(key, by_migration[key]) for key in keys]


def _migration_change(key: str, links: Sequence[Link]) -> Change:
    name = key.partition(":")[2]
    actions = dict.fromkeys(link.kind.lower() for link in links)
    return Change(
        "migration",
        key,
        title=f"{', '.join(actions)}: {name}",
        text="",
        when=_date_in_name(name),
        uri=links[0].uri,
        line=links[0].line,
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
    return Change(
        "commit",
        f"commit:{commit.hash}",
        title=f"{commit.hash[:10]} {commit.subject}",
        text=commit.author,
        when=commit.when,
        uri=node.uri,
        line=node.line,
    )
