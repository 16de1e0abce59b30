"""Recognises tasks that name nothing to look for: any passage would be a guess."""

from __future__ import annotations

from typing import Final

from ragstone.text import query_terms

_WORK: Final = frozenset(
    query_terms(
        "fix fixed repair solve resolve improve optimize optimise polish enhance change modify adjust update edit"
        " make do redo finish complete continue proceed go start try retry handle address implement"
        " refactor rewrite simplify clean tidy debug check review work"
    )
)
"""Verbs that ask for work and say nothing of its subject, as index terms."""
_EMPTY: Final = frozenset(
    query_terms(
        "thing stuff something everything anything all rest bug issue problem error mistake task job code file"
        " better faster nicer cleaner again now next properly correctly please just up help let look"
    )
)
"""Words that fit every subject, as index terms."""


def is_vague(task: str) -> bool:
    """Return whether a task asks for work, in English, and none of its words names a subject."""
    words = set(query_terms(task))
    return bool(words & _WORK) and words <= _WORK | _EMPTY
