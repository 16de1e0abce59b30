"""Random values, placeholders, and names of secrets."""

from __future__ import annotations

import random
import string

import pytest

from ragstone.sources.secrets import value_shapes


def test_random_values_look_random() -> None:
    luck = random.Random(4)
    for alphabet in (string.ascii_letters + string.digits, "0123456789abcdef"):
        drawn = [
            "".join(luck.choices(alphabet, k=luck.randint(20, 64))).encode()
            for _ in range(1000)
        ]
        assert sum(map(value_shapes.is_token, drawn)) > 980
        assert sum(map(value_shapes.is_random, drawn)) > 998


@pytest.mark.parametrize(
    "value",
    [b"getAccessToken2", b"my_long_setting_name_2", b"a.b.c.d.e.f.g1", b"2024-01-02T03:04:05", b"v1.22.333.4444",
     b"src/app/main2/index.ts", b"aaaaaaaaaaaaaaaa1111", b"user1@mail.internal"],
)  # fmt: skip
def test_names_paths_and_versions_are_no_tokens(value: bytes) -> None:
    assert not value_shapes.is_token(value)
    assert not value_shapes.is_password(value, is_bare=True)


@pytest.mark.parametrize(
    "value", [b"Winter2024!", b"aB3$xY9zQ", b"fzwq81kpLM", b"9f3c1a7be2d84605"]
)
def test_passwords_that_people_use_look_like_passwords(value: bytes) -> None:
    assert value_shapes.is_password(value)


@pytest.mark.parametrize(
    "value",
    [
        b"password1",
        b"Passw0rd!",
        b"short1",
        b"changeme1!",
        b"<pass-1>",
        b"test1234",
        b"admin123",
    ],
)
def test_passwords_of_documents_do_not(value: bytes) -> None:
    assert not value_shapes.is_password(value)


@pytest.mark.parametrize(
    "name",
    [
        b"password",
        b"db_password",
        b"apikey",
        b"x-api-key",
        b"client_secret",
        b"accesstoken",
        b"aws_secret_access_key",
    ],
)
def test_names_of_secrets(name: bytes) -> None:
    assert value_shapes.names_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        b"key",
        b"cache_key",
        b"public_key",
        b"key_id",
        b"next_token",
        b"nexttoken",
        b"tokentype",
        b"password_hash",
    ],
)
def test_names_of_other_things(name: bytes) -> None:
    assert not value_shapes.names_secret(name)
