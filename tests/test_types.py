"""Shared types: hashes of documents, and reports that add up."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import types
from ragstone.types import Chunk, Document, Hit, Mark, Skip, Space, SpaceInfo, Span, SyncReport

SPAN = Span(0, 4, 0, 4, 1, 1)


def shared_classes() -> list[Any]:
    values = [getattr(types, name) for name in dir(types)]
    classes = [value for value in values if isinstance(value, type)]
    return [value for value in classes if dataclasses.is_dataclass(value)]


def test_every_shared_class_is_frozen() -> None:
    classes: list[Any] = shared_classes()
    assert len(classes) > 60
    assert all(kind.__dataclass_params__.frozen for kind in classes)


def test_the_hints_of_every_shared_class_resolve_at_run_time() -> None:
    classes = shared_classes()
    assert all(typing.get_type_hints(kind) for kind in classes)


@pytest.mark.parametrize(
    "change",
    [
        {"text": "b"},
        {"kind": "doc"},
        {"language": "de"},
        {"title": "T"},
        {"metadata": {"a": 1}},
        {"marks": (Mark(0, 1),)},
    ],
)
def test_a_document_that_differs_in_anything_stored_has_another_hash(
    change: dict[str, object],
) -> None:
    document = Document(uri="a", text="a")
    assert dataclasses.replace(document, **change).hash != document.hash  # type: ignore[arg-type]


def test_a_renamed_document_keeps_its_hash() -> None:
    assert Document(uri="a", text="x").hash == Document(uri="b", text="x").hash


@given(st.text(), st.text())
def test_any_text_even_a_lone_surrogate_has_a_hash(header: str, text: str) -> None:
    assert len(Chunk(text, SPAN, 0, header=header).hash) == 32
    assert len(Document(uri="a", text=text + "\ud800").hash) == 64


def test_the_header_is_part_of_what_a_vector_belongs_to_and_the_place_is_not() -> None:
    chunk = Chunk("text", SPAN, 0, header="Title")
    assert dataclasses.replace(chunk, header="Other").hash != chunk.hash
    assert (
        dataclasses.replace(chunk, order=7, symbol="f", span=Span(9, 13, 9, 13, 4, 4)).hash
        == chunk.hash
    )


@pytest.mark.parametrize(
    "change",
    [
        {"embedder": "other"},
        {"model": "other"},
        {"dimension": 385},
        {"query_prefix": "search_query: "},
        {"document_prefix": "search_document: "},
        {"normalised": False},
        {"version": "2"},
    ],
)
def test_another_model_prefix_or_normalisation_is_another_space(
    change: dict[str, object],
) -> None:
    space = Space(embedder="minilm", model="m", dimension=384)
    assert dataclasses.replace(space, **change).fingerprint != space.fingerprint  # type: ignore[arg-type]


def test_a_space_without_texts_covers_all_of_them() -> None:
    space = Space(embedder="minilm", model="m", dimension=384)
    assert SpaceInfo(1, space, "int16", "active", 0, 0).coverage == 1.0
    assert SpaceInfo(1, space, "int16", "active", 4, 1).coverage == 0.25


@pytest.mark.parametrize(
    ("span", "place"),
    [
        (Span(0, 4, 0, 4, 3, 9), "a.md:3-9"),
        (Span(0, 4, 0, 4, 3, 3), "a.md:3"),
        (Span(0, 4, 0, 4, 3, 9, page=4), "a.md p.4"),
        (Span(0, 4, 0, 4, 3, 9, page=4, page_label="iv"), "a.md p.iv (page 4)"),
        (Span(0, 4, 0, 4, 3, 9, page=4, unit="slide"), "a.md slide 4"),
        (Span(0, 4, 0, 4, 3, 9, page=2, page_label="Costs", unit="sheet"), "a.md sheet Costs"),
        (Span(0, 4, 0, 4, 3, 9, 2, "Top", "section"), "a.md section Top, text lines 3-9"),
        (Span(0, 4, 0, 4, 3, 3, 2, "Top", "chapter"), "a.md chapter Top, text line 3"),
    ],
)
def test_a_hit_cites_lines_or_the_page(span: Span, place: str) -> None:
    hit = Hit("a.md__chunk_0", "text", 0.25, {}, "a.md", 0, "default", span)
    assert hit.citation == place
    assert hit.distance == 0.75


def test_a_ledger_closes_only_when_everything_found_is_accounted_for() -> None:
    report = SyncReport(
        4, 1, 1, (Skip("b", "binary file"),), (Skip("c", "vanished"),), 0, 0, 0, 0, 0, 0.1
    )
    assert report.closes
    assert not report.ok
    assert not dataclasses.replace(report, found=5).closes
    assert dataclasses.replace(report, found=3, failed=()).ok
