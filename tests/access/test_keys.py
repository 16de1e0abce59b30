"""Keys: shown once, stored as a digest, refused when they are wrong, expired or revoked."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragstone import Engine, InputError, NotFound, StoreError
from ragstone.access.keys import KeyRing, is_active
from ragstone.access.pepper import load_pepper
from ragstone.store.sqlite import SqliteStore

CONFIG = {"rag.embedding_provider": "fake", "search.watch": "off"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "ragstone.db") as opened:
        yield opened


@pytest.fixture
def ring(store: SqliteStore) -> KeyRing:
    return KeyRing(store.keys, b"pepper")


def test_a_key_is_recognised_by_its_token(ring: KeyRing) -> None:
    assert not ring.exists()
    new = ring.create("website", name="laptop", scopes=["read"])
    assert ring.exists()
    identity = ring.identify(new.token)
    assert identity is not None
    assert (identity.project, identity.scopes, identity.key_id) == (
        "website",
        frozenset({"read"}),
        new.key.id,
    )


def test_the_database_does_not_contain_the_token(ring: KeyRing, tmp_path: Path) -> None:
    new = ring.create("website")
    secret = new.token.rpartition("_")[2]
    assert len(bytes.fromhex(secret)) == 32
    assert secret.encode() not in new.key.digest
    for path in tmp_path.iterdir():
        if not path.name.endswith(".lock"):
            assert secret.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda token: token[:-1] + ("0" if token[-1] != "0" else "1"),
        lambda token: token.replace("rag_", "gar_"),
        lambda token: token.replace("rag_", "rag_0"),
        lambda token: "",
        lambda token: "rag__",
        lambda token: token + "a",
        lambda token: "rag_\0_\ud800",
    ],
)
def test_a_wrong_token_is_nobody(ring: KeyRing, change: Callable[[str], str]) -> None:
    assert ring.identify(change(ring.create("website").token)) is None


def test_another_pepper_does_not_recognise_a_key(ring: KeyRing, store: SqliteStore) -> None:
    token = ring.create("website").token
    assert KeyRing(store.keys, b"salt").identify(token) is None


def test_a_revoked_key_ends_at_once(ring: KeyRing) -> None:
    new = ring.create("website")
    assert ring.revoke("website", new.key.id).revoked_at is not None
    assert ring.identify(new.token) is None


def test_a_key_of_another_project_cannot_be_revoked(ring: KeyRing) -> None:
    new = ring.create("website")
    with pytest.raises(NotFound):
        ring.revoke("shop", new.key.id)
    assert ring.identify(new.token) is not None


def test_an_expired_key_is_refused(ring: KeyRing) -> None:
    key = ring.create("website", expires_at=time.time() + 60).key
    assert is_active(key)
    assert not is_active(replace(key, expires_at=time.time() - 1))


@pytest.mark.parametrize(
    "options", [{"expires_at": 1.0}, {"scopes": ["all"]}, {"name": "two\nlines"}]
)
def test_a_key_that_makes_no_sense_is_refused(ring: KeyRing, options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        ring.create("website", **options)


def test_the_pepper_is_private_and_stays_the_same(tmp_path: Path) -> None:
    pepper = load_pepper(tmp_path)
    assert len(pepper) == 32
    assert load_pepper(tmp_path) == pepper
    if sys.platform != "win32":
        assert stat.S_IMODE(os.stat(tmp_path / "pepper").st_mode) == 0o600
    (tmp_path / "pepper").write_bytes(b"short")
    with pytest.raises(StoreError, match="damaged"):
        load_pepper(tmp_path)


def test_the_engine_makes_keys_and_writes_audit_events(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config=CONFIG, project="website") as engine:
        new = engine.admin.keys.create("laptop", scopes=["admin"])
        engine.admin.keys.revoke(new.key.id)
        actions = [event["action"] for event in engine.admin.log.last(10, ["audit"])]
        assert actions == ["key.create", "key.revoke"]
        assert new.token not in (tmp_path / ".ragstone" / "events.jsonl").read_text()


def test_the_command_makes_lists_and_revokes_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ragstone.surfaces.cli.app import run

    monkeypatch.chdir(tmp_path)
    assert run(["keys", "create", "--name", "laptop", "--scope", "read"]) == 0
    token = capsys.readouterr().out.strip()
    key_id = token.split("_")[1]
    assert run(["keys", "list"]) == 0
    listed = capsys.readouterr().out
    assert key_id in listed and "laptop" in listed and token not in listed
    assert run(["keys", "revoke", key_id]) == 0
    assert run(["keys", "revoke", "unknown"]) == 4
    capsys.readouterr()
    assert run(["keys", "list"]) == 0
    assert "ended" in capsys.readouterr().out
