"""One function decides who may do what."""

from __future__ import annotations

import pytest

from ragstone import AccessError, InputError, NotFound, Unauthenticated
from ragstone.access.identity import Identity, authorize, check_scopes, local_identity


def test_a_caller_without_identity_must_show_a_key() -> None:
    with pytest.raises(Unauthenticated, match="needs a key"):
        authorize(None, "read")


def test_a_scope_that_was_not_granted_is_refused() -> None:
    reader = Identity("website", frozenset({"read"}), "k1")
    assert authorize(reader, "read") is reader
    with pytest.raises(AccessError, match="'write'"):
        authorize(reader, "write")


def test_a_key_for_writing_cannot_read() -> None:
    with pytest.raises(AccessError):
        authorize(Identity("website", frozenset({"write"}), "k1"), "read")


def test_admin_includes_every_scope() -> None:
    admin = Identity("website", frozenset({"admin"}), "k1")
    assert admin.allows("read") and admin.allows("write")


def test_another_project_does_not_exist_for_a_caller() -> None:
    with pytest.raises(NotFound):
        authorize(local_identity("website"), "read", project="shop")


@pytest.mark.parametrize("scopes", [[], ["reed"], ["read", "everything"]])
def test_unknown_scopes_are_refused(scopes: list[str]) -> None:
    with pytest.raises(InputError, match="scopes of a key"):
        check_scopes(scopes)
