from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import InputError
from ragstone.store.filters import OPERATORS, parse
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
from ragstone.text.globs import matches_path
from ragstone.types import CollectionKey, Condition, Filter, Scope

KEYS = ("year", "tag", 'odd"key', "a.b", "$", "ключ", "\ud800")
HOSTILE = (
    "'; DROP TABLE documents;--",
    '"',
    "\\",
    "\0",
    "%",
    "*",
    "[",
    "",
    "null",
    "x",
    "docs/a.md",
    "\udfff",
)

plain = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.just(10**30), st.sampled_from(HOSTILE)
)
stored = plain | st.floats(allow_nan=False, allow_infinity=False)
operand = plain | st.floats(allow_nan=True)
values = operand | st.lists(operand, max_size=3)
metadata = st.dictionaries(
    st.sampled_from(KEYS), stored | st.lists(stored, max_size=3), max_size=3
)
documents = st.tuples(
    st.sampled_from(("docs/a.md", "src/b.py", "c")),
    st.sampled_from(("doc", "code", "'")),
    metadata,
)


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    field = draw(
        st.sampled_from(("path", "kind", "language", "title", *(f"meta.{key}" for key in KEYS)))
    )
    operator: Any = draw(st.sampled_from(OPERATORS))
    if operator == "exists":
        return Condition(field, operator, draw(st.booleans()))
    if operator == "glob":
        return Condition(
            field, operator, draw(st.sampled_from(("docs/**", "*.py", "*", "[", "?")))
        )
    return Condition(field, operator, draw(values))


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return type(value).__name__
    return "number" if isinstance(value, int | float) else "text"


def _passes(condition: Condition, document: tuple[str, str, dict[str, Any]]) -> bool:
    """Return the answer read off the definition, one case after the other."""
    uri, kind, about = document
    own = {"path": uri, "kind": kind, "language": "", "title": ""}
    held = own.get(condition.field, about.get(condition.field.removeprefix("meta.")))
    have = held if isinstance(held, list) else [held]
    want = condition.value if isinstance(condition.value, list | tuple) else [condition.value]
    pairs = [(a, b) for a in have for b in want if _kind(a) == _kind(b)]
    match condition.operator:
        case "eq" | "in":
            return any(a == b for a, b in pairs)
        case "ne":
            return not any(a == b for a, b in pairs)
        case "exists":
            return any(a is not None for a in have) == condition.value
        case "glob":
            return any(
                matches_path(b, a)
                for a, b in pairs
                if isinstance(a, str) and isinstance(b, str)
            )
    ordered: list[tuple[Any, Any]] = [
        (a, b) for a, b in pairs if _kind(a) in ("number", "text")
    ]
    match condition.operator:
        case "gt":
            return any(a > b for a, b in ordered)
        case "gte":
            return any(a >= b for a, b in ordered)
        case "lt":
            return any(a < b for a, b in ordered)
    return any(a <= b for a, b in ordered)


@pytest.fixture(scope="module")
def store() -> Iterator[SqliteStore]:
    with SqliteStore(":memory:") as store:
        yield store


@settings(max_examples=250, deadline=None)
@given(
    st.lists(documents, min_size=1, max_size=4, unique_by=lambda d: d[0]),
    st.lists(conditions(), min_size=1, max_size=3),
)
def test_a_filter_returns_the_documents_of_its_definition(
    store: SqliteStore, held: list[tuple[str, str, dict[str, Any]]], conditions: list[Condition]
) -> None:
    store.ensure_collection(CollectionKey("p", "c"))
    store.drop_collection(CollectionKey("p", "c"))  # of an example before that failed
    store.ensure_collection(CollectionKey("p", "c"))
    store.put(
        CollectionKey("p", "c"),
        [prepare(uri, ["apple"], kind=kind, metadata=about) for uri, kind, about in held],
    )
    filter = Filter(tuple(conditions))
    expected = sorted(
        document[0]
        for document in held
        if all(_passes(condition, document) for condition in conditions)
    )
    assert [row.uri for row in store.documents(Scope("p"), filter=filter)] == expected
    hits = store.search_words(Scope("p"), ["appl"], limit=9, filter=filter)
    assert (
        sorted(row.uri for row in store.chunks("p", [hit.id for hit in hits]).values())
        == expected
    )
    store.drop_collection(CollectionKey("p", "c"))


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        ({"path": "docs/**"}, [Condition("path", "glob", "docs/**")]),
        ({"path": ["a", "b"]}, [Condition("path", "glob", ("a", "b"))]),
        ({"kind": ["data", "doc"]}, [Condition("kind", "in", ("data", "doc"))]),
        ({"kind": "manifest"}, [Condition("kind", "in", ("package",))]),
        ({"language": "python"}, [Condition("language", "eq", "python")]),
        ({"author": "x"}, [Condition("meta.author", "eq", "x")]),
        ({"meta.kind": "x"}, [Condition("meta.kind", "eq", "x")]),
        (
            {"year": {"gte": 1, "lt": 2}},
            [Condition("meta.year", "gte", 1), Condition("meta.year", "lt", 2)],
        ),
        ({"tag": {"in": ["a"]}}, [Condition("meta.tag", "in", ("a",))]),
        ({"x": {"exists": True}}, [Condition("meta.x", "exists", True)]),
        ({"x": None}, [Condition("meta.x", "eq", None)]),
    ],
)
def test_a_mapping_is_read_as_people_mean_it(
    mapping: dict[str, Any], expected: list[Condition]
) -> None:
    filter = parse(mapping)
    assert filter is not None
    assert list(filter.conditions) == expected


def test_no_filter_is_no_filter() -> None:
    assert parse(None) is None
    assert parse({}) is None


@pytest.mark.parametrize(
    ("mapping", "hint"),
    [
        ({"year": {"gt3": 1}}, "gt"),
        ({"year": {"equals": 1}}, "known"),
        ({"year": {"exists": "yes"}}, "exists"),
        ({"year": {"in": [{"a": 1}]}}, "list"),
        ({"path": 5}, "docs/**"),
        ({"": 1}, "known"),
        ({5: 1}, "known"),
        ([1], "docs/**"),
        ({str(n): n for n in range(100)}, "lists"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(mapping: dict[str, Any], hint: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(mapping)
    assert hint in str(caught.value)
