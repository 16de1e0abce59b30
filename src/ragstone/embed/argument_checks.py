"""Checks the arguments of `embed`, which is the same for all embedders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from ragstone.errors import InputError
from ragstone.types import Role


def check_texts(texts: object, role: object) -> None:
    """Raise `InputError` if these are no list of texts, or if the role is unknown."""
    if isinstance(texts, str):
        hint = "put it in a list: [text]"
        raise InputError("embed takes a list of texts, not one text.", hint=hint)
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise InputError("embed takes a list of texts.", hint='embed(["one", "two"])')
    if role not in get_args(Role):
        raise InputError(f"{role!r} is not a role.", hint='use "document" or "query"')
