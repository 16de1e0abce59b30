from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from ragstone import errors
from ragstone.errors import ProviderError, RagstoneError


def tree(root: type[RagstoneError]) -> list[type[RagstoneError]]:
    """Return a class and everything below it."""
    return [root, *(below for child in root.__subclasses__() for below in tree(child))]


SOURCE = Path(errors.__file__).parent
ALL = [kind for kind in tree(RagstoneError) if kind.__module__ == errors.__name__]


def test_the_tree_in_the_docstring_is_the_class_tree() -> None:
    drawn: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"([│├└─ ]*)([A-Z]\w+)(?:\s{2,}|$)", line)
        if found and found.group(2) in vars(errors):
            drawn.append((len(found.group(1)) // 4, found.group(2)))
    assert drawn == [
        (len(kind.__mro__) - len(RagstoneError.__mro__), kind.__name__) for kind in ALL
    ]


def test_every_error_has_a_unique_code() -> None:
    codes = [kind.code for kind in ALL]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_error_has_a_message_a_hint_and_a_retryable_flag(
    kind: type[RagstoneError],
) -> None:
    error = kind("It broke.", hint="mend it")
    assert (error.message, error.hint, str(error)) == (
        "It broke.",
        "mend it",
        "It broke (mend it)",
    )
    assert str(kind("It broke.")) == "It broke."
    assert error.retryable is (
        kind in (errors.StoreBusy, errors.StoreOffline, errors.Overloaded)
    )
    assert kind.__doc__


def test_a_provider_error_states_whether_a_retry_may_help() -> None:
    assert ProviderError("It is busy.", retryable=True).retryable
    assert not ProviderError("No such model.").retryable


def test_no_hint_has_words_in_brackets_because_it_stands_in_brackets_itself() -> None:
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                hint = ast.unparse(node.value)
                assert " (" not in hint, f"{file.name}:{node.value.lineno}: {hint}"
