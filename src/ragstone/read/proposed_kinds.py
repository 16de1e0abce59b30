"""Finer kinds of files, which plug-ins propose: the core knows no framework."""

from __future__ import annotations

import logging
from functools import cache
from typing import Final

from ragstone import registry
from ragstone.protocols import KindRules
from ragstone.types.documents import PROPOSED_KINDS

_HEAD: Final = 20_000
"""Characters of a text that the rules see."""
_REFINED: Final = frozenset({"code", "doc", "text"})
"""Kinds that say little, so that a finer one may replace them."""

logger = logging.getLogger(__name__)


def refine_kind(kind: str, language: str, uri: str, text: str) -> str:
    """Return the kind that a plug-in proposes for a file, or the given one."""
    if kind not in _REFINED:
        return kind
    head = text[:_HEAD]
    for rules in _load_rules():
        try:
            proposed = rules.kind_of(uri, language, head)
        except Exception as error:
            logger.warning("the kind of %s is not known", uri, exc_info=error)
            continue
        if proposed in PROPOSED_KINDS:
            return proposed
    return kind


@cache
def _load_rules() -> tuple[KindRules, ...]:
    """Return the rules of all plug-ins. One that cannot be loaded is left out: files are read without it."""
    rules: list[KindRules] = []
    for name in registry.names("kinds"):
        try:
            rules.append(registry.load("kinds", name)())
        except Exception as error:
            logger.warning("the kinds of %s are not known", name, exc_info=error)
    return tuple(rules)
