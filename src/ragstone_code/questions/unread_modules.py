"""Answers that modules which were not read can change: examples, and copies of a framework in the project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.types import CodeAnswer, Json, Scope
from ragstone_code.questions.graph_query import join_names, string_list
from ragstone_code.questions.intents import all_intents

_READ_BY_ADAPTERS: Final = frozenset(("route", "model", "table"))
"""Roles of nodes that come from the modules which an adapter reads."""


def notes_of_examples(
    store: DocumentReader, scope: Scope, code_answer: CodeAnswer
) -> tuple[str, ...]:
    """Return which modules of examples are left out, if the answer is a list or that there is nothing."""
    answer = code_answer.answer
    is_list = answer is not None and answer.intent == "list"
    is_none = bool(code_answer.unknown) if answer is None else answer.negative
    if not is_list and not (is_none and _is_about_adapters(code_answer.intent)):
        return ()
    notes = (str(value) for value in _unread(store, scope, "examples") if value)
    return tuple(dict.fromkeys(notes))


def without_uncertain_none(
    store: DocumentReader, scope: Scope, code_answer: CodeAnswer
) -> CodeAnswer:
    """Return an answer without "there is no route", if a copy of the framework may hide routes."""
    answer = code_answer.answer
    if answer is None or not answer.negative or answer.nodes:
        return code_answer
    if not _is_about_adapters(answer.intent):
        return code_answer
    folders: list[str] = []
    for value in _unread(store, scope, "copies"):
        folders += string_list(value)
    if not folders:
        return code_answer
    note = f"{join_names(folders)} is a copy of the framework, so that there is none is not certain"
    return replace(code_answer, answer=None, notes=(*code_answer.notes, note))


def _is_about_adapters(intent: str) -> bool:
    """Return whether an intent is about routes, models or tables, or asks for a list."""
    if intent == "list":
        return True
    known = all_intents().get(intent)
    return known is not None and not _READ_BY_ADAPTERS.isdisjoint(
        (*known.anchors, known.target)
    )


def _unread(store: DocumentReader, scope: Scope, attribute: str) -> Iterator[Json]:
    """Yield what the adapters say of the modules that they did not read."""
    for node in store.graph.nodes(scope, kinds=("registry",), limit=100):
        if node.name == "modules":
            yield node.attributes.get(attribute)
