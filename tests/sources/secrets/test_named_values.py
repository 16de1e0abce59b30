"""Secrets whose name stands on another line, before a list, or in another field than the value."""

from __future__ import annotations

import pytest

from ragstone.sources.secrets.redaction import redact

ONE, TWO = "Kx9vQ2mTz7" + "Lp4Rw8", "8f3kd92jfl" + "a02kdfjq81"


@pytest.mark.parametrize(
    "text",
    [
        f'env:\n  - name: DB_PASSWORD\n    value: "{ONE}"\n',
        f"env:\n  - name: API_TOKEN\n    value: {TWO}\n",
        f'[{{"name": "DB_PASSWORD", "value": "{ONE}"}}]',
        f"args:\n  - --password\n  - {ONE}\n",
        f"passwords:\n  - {ONE}\n  - '{TWO}'\n",
        f'tokens = ["{ONE}", "{TWO}"]\n',
        f"users:\n  - {{name: ada, password: {ONE}}}\n",
        f"FROM python\nENV SECRET_KEY {ONE}\n",
        f'variable "db_password" {{\n  type = string\n  default = "{ONE}"\n}}\n',
    ],
)
def test_a_secret_is_found_by_a_name_that_stands_apart(text: str) -> None:
    clean, secrets = redact(text, uri="deploy.yaml")
    assert ONE not in clean
    assert TWO not in clean
    assert secrets
    assert clean.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "env:\n  - name: DB_PASSWORD\n    valueFrom:\n      secretKeyRef: {name: db-main-2, key: password}\n",
        "env:\n  - name: DB_PASSWORD\n    value: $(DB_PASSWORD_2)\n",
        "env:\n  - name: HOST\n    value: db-7.internal.a1b2c3d4\n",
        "tokens:\n  - identifier\n  - number\n",
        'keys = ["artist", "title", "year2026"]\n',
        "args:\n  - --password-file\n  - /run/secrets/db1\n",
        'variable "db_password" {\n  default = ""\n}\n',
        "ENV KEYBOARD_LAYOUT us-intl-2\n",
    ],
)
def test_a_reference_a_placeholder_and_another_name_stay(text: str) -> None:
    assert redact(text, uri="deploy.yaml") == (text, [])
