from __future__ import annotations

import json
import re

import pytest

from ragstone import errors
from ragstone.errors import RagstoneError
from ragstone.surfaces.present import failures
from ragstone.surfaces.present.failures import (
    EXIT_CODES,
    FAILURE_CODES,
    OK,
    failure_codes,
    failure_json,
)
from ragstone.surfaces.present.hits import hit_json
from ragstone.types import Hit, ListTrace, Span, Trace


def tree(root: type[RagstoneError]) -> list[type[RagstoneError]]:
    """Return a class and everything below it."""
    return [root, *(below for child in root.__subclasses__() for below in tree(child))]


ALL = [kind for kind in tree(RagstoneError) if kind.__module__ == errors.__name__]

HIT = Hit(
    doc_id="docs/a.md__chunk_2",
    text="some text",
    score=0.75,
    metadata={"team": "search"},
    source_doc_id="docs/a.md",
    chunk_index=2,
    collection="default",
    span=Span(10, 19, 10, 19, 3, 4),
    symbol="Storage",
    trace=Trace(
        lists=(ListTrace("words", 1, 4.2, 1.0, 0.4),), boosts=(("title", 1.2),), fused=0.4
    ),
)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_error_of_the_tree_has_its_codes(kind: type[RagstoneError]) -> None:
    codes = FAILURE_CODES[kind]
    assert codes.exit in EXIT_CODES
    assert codes.exit != OK
    assert 400 <= codes.http <= 599
    assert codes.mcp < 0
    assert codes.meaning


def test_the_table_contains_only_known_errors() -> None:
    assert set(FAILURE_CODES) == set(ALL)


def test_an_error_class_of_a_plug_in_has_the_codes_of_its_base_class() -> None:
    class Rusty(errors.StoreBusy):
        """An error of somebody else."""

    assert failure_codes(Rusty("it rusts")) == FAILURE_CODES[errors.StoreBusy]


def test_a_failure_has_code_message_and_hint() -> None:
    shown = failure_json(errors.NotFound("no such thing", hint="look elsewhere"))
    assert shown == {
        "code": "not_found",
        "message": "no such thing",
        "hint": "look elsewhere",
        "retryable": False,
    }


def test_a_hit_has_the_fields_of_the_contract_and_its_place() -> None:
    shown = hit_json(HIT)
    for field in ("doc_id", "text", "score", "metadata", "source_doc_id", "chunk_index"):
        assert shown[field] == getattr(HIT, field)
    assert (shown["path"], shown["lines"], shown["place"]) == (
        "docs/a.md",
        [3, 4],
        "docs/a.md:3-4",
    )
    assert shown["distance"] == pytest.approx(0.25)
    assert "trace" not in shown
    json.dumps(shown)


def test_a_hit_contains_its_trace_if_asked() -> None:
    trace = hit_json(HIT, trace=True)["trace"]
    assert trace["lists"] == [
        {"name": "words", "rank": 1, "score": 4.2, "normalised": 1.0, "weight": 0.4}
    ]
    assert trace["boosts"] == [{"name": "title", "factor": 1.2}]


def test_every_exit_code_the_command_can_leave_with_is_explained() -> None:
    named = {
        code
        for name, code in vars(failures).items()
        if re.fullmatch("[A-Z_]+", name) and isinstance(code, int)
    }
    assert named | {codes.exit for codes in FAILURE_CODES.values()} == set(EXIT_CODES)
