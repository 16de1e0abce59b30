"""`store.url` chooses PostgreSQL: an argument before the environment before the user file, and no project file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.config import load
from ragstone.errors import ConfigError, Conflict
from ragstone.indexing.background_embedding import BackgroundEmbedding
from ragstone.indexing.components import choose_parts
from ragstone.indexing.sync import Scan
from ragstone.surfaces.cli.app import run

URL = "postgresql://team:hunter2@127.0.0.1:1/ragstone"
OTHER = "postgresql://team@127.0.0.1:2/other"


def test_an_argument_comes_before_the_environment_and_that_before_the_user_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = tmp_path / "user" / "ragstone"
    user.mkdir(parents=True)
    (user / "ragstone.toml").write_text('[store]\nurl = "postgresql:///from-user-file"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(user.parent))
    assert load(tmp_path).store.url == "postgresql:///from-user-file"
    monkeypatch.setenv("RAGSTONE_STORE_URL", OTHER)
    assert load(tmp_path).store.url == OTHER
    assert load(tmp_path, {"store.url": URL}).store.url == URL


@pytest.mark.parametrize("name", ["url", "replica_url"])
def test_a_project_file_may_not_name_a_database(tmp_path: Path, name: str) -> None:
    (tmp_path / "ragstone.toml").write_text(f'[store]\n{name} = "{URL}"\n')
    with pytest.raises(ConfigError, match="may not name an address") as caught:
        load(tmp_path)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("provider", "parts"),
    [
        ("sqlite", ("postgres", "pgvector")),
        ("postgres", ("postgres", "pgvector")),
        ("pgvector", ("postgres", "pgvector")),
        ("turbo", ("postgres", "turbo")),
    ],
)
def test_the_index_of_the_database_is_the_default_and_can_be_changed(
    tmp_path: Path, provider: str, parts: tuple[str, str]
) -> None:
    settings = load(tmp_path, {"store.url": URL, "rag.vector_store.provider": provider})
    assert choose_parts(settings) == parts


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (URL, "postgresql://team:***@127.0.0.1:1/ragstone"),
        (OTHER, OTHER),
        ("postgresql:///local", "postgresql:///local"),
        ("postgresql://h/d?password=hunter2", "***"),
        ("host=h password=hunter2", "***"),
        ("postgresql://team:hunter2@elsewhere:p@h/d", "postgresql://team:***@h/d"),
    ],
)
def test_the_list_of_settings_hides_the_password(
    tmp_path: Path, url: str, shown: str, capfd: pytest.CaptureFixture[str]
) -> None:
    values = {key: value for key, value, _ in load(tmp_path, {"store.url": url}).listing()}
    assert values["store.url"] == shown


def test_the_command_config_hides_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAGSTONE_STORE_URL", URL)
    assert run(("config", "-C", str(tmp_path))) == 0
    assert run(("config", "-C", str(tmp_path), "--json")) == 0
    output = capfd.readouterr()
    assert "hunter2" not in output.out + output.err
    assert "team:***@127.0.0.1:1" in output.out


def test_a_server_that_is_down_ends_a_command_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAGSTONE_STORE_URL", URL)
    (tmp_path / "a.md").write_text("apple\n")
    code = run(("search", "apple", "-C", str(tmp_path), "--json"))
    error = json.loads(capfd.readouterr().out)["error"]
    assert code == 75
    assert error["code"] == "store_offline"
    assert "does not answer" in error["message"]
    assert "hunter2" not in json.dumps(error)


def test_no_process_gets_the_address_as_an_argument(tmp_path: Path) -> None:
    settings = load(tmp_path, {"store.url": URL, "embed.background": "on"})
    assert not BackgroundEmbedding(settings, "default").is_allowed


def test_a_disabled_engine_does_not_connect(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config={"store.url": URL, "rag.enabled": False}) as engine:
        assert engine.search("apple") == []


def test_several_folders_share_a_database_as_projects(
    folder: Path, tmp_path: Path, database_url: str
) -> None:
    settings = {"rag.embedding_provider": "fake", "store.url": database_url}
    other = tmp_path / "other"
    other.mkdir()
    (other / "note.md").write_text("A chisel is a tool.\n")
    with (
        Engine.open(folder, project="first", config=settings) as first,
        Engine.open(other, project="second", config=settings) as second,
    ):
        first.sync()
        second.sync()
        assert first.search("chisel", mode="words") == []
        assert [hit.source_doc_id for hit in second.search("chisel", mode="words")] == [
            "note.md"
        ]
        assert not os.path.exists(folder / ".ragstone" / "ragstone.db")


def test_a_second_engine_sees_a_write_at_once(
    folder: Path, tmp_path: Path, database_url: str
) -> None:
    settings = {"rag.embedding_provider": "fake", "store.url": database_url}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with (
        Engine.open(folder, config=settings) as writer,
        Engine.open(elsewhere, config=settings) as reader,
    ):
        assert reader.search("gladly") == []
        writer.add("We will gladly sail.", uri="note", collection="notes")
        assert [hit.source_doc_id for hit in reader.search("gladly", collection="notes")] == [
            "note"
        ]
        assert reader.search("gladly", collection="notes", mode="vectors")


def test_a_machine_without_the_files_finds_documents_and_removes_none(
    folder: Path, tmp_path: Path, database_url: str
) -> None:
    settings = {"rag.embedding_provider": "fake", "store.url": database_url}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with (
        Engine.open(folder, config=settings) as owner,
        Engine.open(elsewhere, config=settings) as guest,
    ):
        owner.sync()
        owner.external.add_files([str(folder / "lease.py")], uri="added.py")
        documents = [source.uri for source in owner.sources()]
        assert [hit.source_doc_id for hit in guest.search("acquire_lease", mode="words")]
        assert guest.explain("lease", policy=Scan()).hits
        with pytest.raises(Conflict, match="takes it over"):
            guest.sync()
        assert [source.uri for source in owner.sources()] == documents
        (folder / "docs" / "locks.md").unlink()
        owner.sync()
        assert "docs/locks.md" not in [source.uri for source in guest.sources()]
        guest.sync(full=True)
        assert "lease.py" not in [source.uri for source in owner.sources()]


def test_the_same_path_on_another_machine_is_another_folder(
    folder: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"rag.embedding_provider": "fake", "store.url": database_url}
    with Engine.open(folder, config=settings) as engine:
        engine.sync()
        monkeypatch.setattr("socket.gethostname", lambda: "another")
        with Engine.open(folder, config=settings) as guest:
            (folder / "lease.py").unlink()
            assert guest.search("acquire_lease", mode="words")
