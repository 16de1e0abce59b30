"""The documents that pass a filter: simple conditions are decided by PostgreSQL, others by the same code as for SQLite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from ragstone.store.fetch import Row
from ragstone.store.filters import FIELDS, META, check, passes
from ragstone.store.postgres import catalog
from ragstone.store.postgres.connection import Transaction
from ragstone.types import Condition, Filter, Scope
from ragstone.types.bounded_cache import BoundedCache

_COLUMNS: Final = {"path": "uri", "kind": "kind", "language": "language", "title": "title"}
_DOCUMENTS: Final = """
    SELECT id, uri, kind, language, title, metadata FROM documents
    WHERE collection = ANY(%(collections)s) {conditions} ORDER BY id"""
_IS_ONE_OF: Final = " AND {column} = ANY(%({name})s::text[])"
_CACHED: Final = 64

FilterCache = BoundedCache[tuple[int, tuple[int, ...], Filter], list[int]]


def new_cache() -> FilterCache:
    """Return a cache of the documents that passed a filter, by generation."""
    return BoundedCache(_CACHED)


def passing_in_scope(
    db: Transaction, scope: Scope, filter: Filter | None, cache: FilterCache
) -> list[int] | None:
    """Return the ids of the documents in scope that pass a filter, None if there is no condition."""
    if filter is None or not filter.conditions:
        return None
    check(filter)
    collections = catalog.scope_ids(db, scope)
    key = (catalog.generation(db, scope), tuple(collections), filter)
    documents = cache.get(key)
    if documents is None:
        documents = cache[key] = _find(db, collections, filter)
    return documents


def _find(db: Transaction, collections: Sequence[int], filter: Filter) -> list[int]:
    conditions = ""
    parameters: dict[str, object] = {"collections": list(collections)}
    others = []
    for number, condition in enumerate(filter.conditions):
        name = f"value_{number}"
        if condition.operator in ("eq", "in") and condition.field in FIELDS:
            conditions += _IS_ONE_OF.format(column=_COLUMNS[condition.field], name=name)
            parameters[name] = _texts(condition.value)
            continue
        others.append(condition)
    rows = db.execute(_DOCUMENTS.format(conditions=conditions), parameters)
    return [row[0] for row in rows if all(_passes(condition, row) for condition in others)]


def _texts(value: object) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [text for text in values if isinstance(text, str)]


def _passes(condition: Condition, row: Row) -> bool:
    values = dict(zip(("path", "kind", "language", "title", META), row[1:], strict=True))
    key = condition.field if condition.field in FIELDS else META
    packed = json.dumps([condition.field, condition.operator, condition.value])
    return passes(packed, values[key])
