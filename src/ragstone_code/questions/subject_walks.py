"""The paths from a node that a caller names as the subject: they are walked whatever the question asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.types import Node, Scope, Step, Walked
from ragstone_code.questions.graph_paths import MAX_STEPS
from ragstone_code.questions.graph_query import class_name

_HANDLERS: Final = Step(("HANDLED_BY",))
_ROUTES: Final = Step(("HANDLED_BY",), back=True)
_MODELS: Final = Step(("USES_MODEL",))
_BOUND: Final = Step(("BINDS",))
_TABLES: Final = Step(("MAPS_TO",))
_MODELS_OF_TABLE: Final = Step(("MAPS_TO",), back=True)
_MIGRATIONS: Final = Step(("CREATES", "ALTERS", "RENAMES", "DROPS"), back=True)
_REFERRING: Final = Step(("FOREIGN_KEY",), back=True)
_CHANGES: Final = Step(("CHANGED",), back=True)

_METHOD: Final = "method"
_WALKS: Final[Mapping[str, tuple[tuple[Step, ...], ...]]] = {
    _METHOD: ((_ROUTES,), (_MODELS, _TABLES, _MIGRATIONS)),
    "route": ((_HANDLERS, _MODELS, _TABLES, _MIGRATIONS), (_BOUND, _TABLES, _MIGRATIONS)),
    "table": ((_MIGRATIONS,), (_MODELS_OF_TABLE,), (_REFERRING,)),
    "model": ((_TABLES, _MIGRATIONS),),
}
"""The steps from a kind of node. Any other kind has those of a method."""
_SHARED_FILES: Final = frozenset({"route", "table", "migration"})
"""Kinds of nodes whose file is not about them alone: its recorded changes can be about other nodes."""
_MAX_PATHS: Final = 20
_MAX_MEMBERS: Final = 5000


def walk_from_subjects(
    store: DocumentReader, scope: Scope, subjects: Iterable[Node]
) -> tuple[Walked, ...]:
    """Return the paths from nodes over methods, models and tables to migrations and recorded runs, nearest first."""
    paths: dict[tuple[str, ...], Walked] = {}
    for subject in subjects:
        starts = _starting_keys(store, scope, subject)
        walked = _walk_all(store, scope, starts)
        walked += _walk_to_changes(store, scope, [Walked((subject,), ()), *walked])
        paths.update((tuple(node.key for node in path.nodes), path) for path in walked)
    return tuple(sorted(paths.values(), key=lambda path: len(path.links)))


def _starting_keys(store: DocumentReader, scope: Scope, subject: Node) -> dict[str, list[str]]:
    """Return the keys to start at, by the kind of walk: a class starts at its methods."""
    if subject.kind in _WALKS:
        return {subject.kind: [subject.key]}
    starts = {_METHOD: [subject.key]}
    if not subject.key.startswith("class:") or not subject.uri:
        return starts
    prefix = f"method:{class_name(subject.key)}::"
    members = store.graph.nodes(scope, uris=[subject.uri], limit=_MAX_MEMBERS)
    starts[_METHOD] += [node.key for node in members if node.key.startswith(prefix)]
    return starts


def _walk_all(
    store: DocumentReader, scope: Scope, starts: Mapping[str, Sequence[str]]
) -> list[Walked]:
    """Return the paths of each number of steps."""
    walked: list[Walked] = []
    for length in range(1, MAX_STEPS + 1):
        for kind, keys in starts.items():
            for steps in _WALKS[kind]:
                if length <= len(steps):
                    walked += store.graph.walk(scope, keys, steps[:length], limit=_MAX_PATHS)
    return walked


def _walk_to_changes(
    store: DocumentReader, scope: Scope, walked: Iterable[Walked]
) -> list[Walked]:
    """Return the paths that go on from a class or a method to the recorded changes of its file."""
    path_by_file: dict[str, Walked] = {}
    for path in walked:
        for length, node in enumerate(path.nodes, start=1):
            if node.uri and node.kind not in _SHARED_FILES:
                part = Walked(path.nodes[:length], path.links[: length - 1])
                path_by_file.setdefault(f"file:{node.uri}", part)
    if not path_by_file:
        return []
    changed = store.graph.walk(scope, list(path_by_file), (_CHANGES,), limit=_MAX_PATHS)
    longer: list[Walked] = []
    for change in changed:
        way = path_by_file[change.nodes[0].key]
        nodes = (*way.nodes, *change.nodes[1:])
        longer.append(Walked(nodes, (*way.links, *change.links)))
    return longer
