"""Removes what the remaining turns of a session hold of forgotten ones: neighbouring words and quoted reasons."""

from __future__ import annotations

from collections import deque
from collections.abc import Set as AbstractSet
from dataclasses import replace

from ragstone.memory.session_cache import SessionCache
from ragstone.memory.session_reader import SessionReader
from ragstone.memory.turns import TURNS_BEFORE, turn_document
from ragstone.types import Document, Turn


def documents_without(reader: SessionReader, forgotten: AbstractSet[int]) -> list[Document]:
    """Return the remaining turns that hold text of forgotten turns, as documents without it."""
    documents = []
    for index in sorted(_affected_turns(reader, forgotten) - forgotten):
        earlier = reader.between(index - TURNS_BEFORE, index)
        before = [turn for turn in earlier if turn.index not in forgotten]
        for turn in reader.between(index, index + 1):
            documents.append(turn_document(_without_reasons(reader, turn, forgotten), before))
    return documents


def _affected_turns(reader: SessionReader, forgotten: AbstractSet[int]) -> set[int]:
    """Return the numbers of the turns after forgotten ones, and of those that supersede them."""
    affected: set[int] = set()
    for index in forgotten:
        affected.update(range(index + 1, index + 1 + TURNS_BEFORE))
    for turn in reader.superseding():
        if not forgotten.isdisjoint(turn.supersedes):
            affected.add(turn.index)
    return affected


def _without_reasons(reader: SessionReader, turn: Turn, forgotten: AbstractSet[int]) -> Turn:
    """Return a turn that supersedes no forgotten turn; its reason quotes remaining turns only."""
    if forgotten.isdisjoint(turn.supersedes):
        return turn
    cache = SessionCache(None)
    cache.statements = deque()
    remaining = [index for index in turn.supersedes if index not in forgotten]
    for index in remaining:
        for earlier in reader.between(index, index + 1):
            cache.note_statements(earlier)
    judged = cache.judge(replace(turn, supersedes=(), because=""))
    return replace(turn, supersedes=tuple(remaining), because=judged.because)
