from __future__ import annotations

import re

import pytest

from ragstone import errors
from ragstone.errors import ProviderError, RagstoneError


def tree(root: type[RagstoneError]) -> list[type[RagstoneError]]:
    """Return a class and everything below it."""
    return [root, *(below for child in root.__subclasses__() for below in tree(child))]


ALL = [kind for kind in tree(RagstoneError) if kind.__module__ == errors.__name__]


def test_the_tree_drawn_at_the_top_is_the_tree_of_classes() -> None:
    drawn: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"([│├└─ ]*)([A-Z]\w+)(?:\s{2,}|$)", line)
        if found and found.group(2) in vars(errors):
            drawn.append((len(found.group(1)) // 4, found.group(2)))
    assert drawn == [(len(kind.__mro__) - len(RagstoneError.__mro__), kind.__name__) for kind in ALL]


def test_every_error_has_a_code_of_its_own() -> None:
    codes = [kind.code for kind in ALL]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_error_carries_a_sentence_a_hint_and_says_whether_to_try_again(kind: type[RagstoneError]) -> None:
    error = kind("It broke.", hint="mend it")
    assert (error.message, error.hint, str(error)) == ("It broke.", "mend it", "It broke. (mend it)")
    assert str(kind("It broke.")) == "It broke."
    assert error.retryable is (kind is errors.StoreBusy)
    assert kind.__doc__


def test_a_provider_says_whether_trying_again_can_help() -> None:
    assert ProviderError("It is busy.", retryable=True).retryable
    assert not ProviderError("No such model.").retryable
