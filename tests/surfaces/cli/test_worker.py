"""`ragstone worker` and `ragstone add --queue`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragstone.surfaces.cli.app import run


@pytest.fixture
def shared(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder whose index is in a shared database."""
    monkeypatch.setenv("RAGSTONE_STORE_URL", database_url)
    monkeypatch.setenv("RAGSTONE_RAG_EMBEDDING_PROVIDER", "fake")
    (tmp_path / "heron.md").write_text("The heron stands in the reeds.\n")
    (tmp_path / "broken.pdf").write_bytes(b"no PDF")
    return tmp_path


def output(capfd: pytest.CaptureFixture[str]) -> str:
    return capfd.readouterr().out


def test_a_queued_file_is_found_after_a_worker_ran(
    shared: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    here = ("-C", str(shared))
    options = ("--collection", "notes", "--metadata", "year=2026", "--queue", "--json")
    assert run(("add", str(shared / "heron.md"), *options, *here)) == 0
    job_id = json.loads(output(capfd))["job"]["id"]
    assert run(("status", *here)) == 0
    assert f"upload {job_id}: waiting for a worker" in output(capfd)
    assert run(("worker", "--drain", "--json", *here)) == 0
    ready, ended = (json.loads(line) for line in output(capfd).splitlines())
    assert ready["event"] == "ready"
    assert (ended["id"], ended["status"], ended["attempts"]) == (job_id, "done", 1)
    search = ("search", "heron", "--no-sync", "--collection", "notes", "--json")
    assert run((*search, *here)) == 0
    (hit,) = json.loads(output(capfd))["results"]
    assert (hit["source_doc_id"], hit["metadata"]["year"]) == ("heron.md", 2026)
    assert run(("status", *here)) == 0
    assert job_id not in output(capfd)


def test_a_worker_prints_a_sentence_for_each_job(
    shared: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    here = ("-C", str(shared))
    assert run(("add", str(shared / "broken.pdf"), "--queue", *here)) == 0
    assert "1 file queued as job" in output(capfd)
    assert run(("worker", "--drain", *here)) == 0
    lines = output(capfd).splitlines()
    assert lines[0].startswith("Waiting for jobs of postgresql://")
    assert lines[1].endswith(": done")


@pytest.mark.parametrize("command", [("worker",), ("add", "heron.md", "--queue")])
def test_without_a_shared_database_a_sentence_says_how_to_set_one(
    command: tuple[str, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "heron.md").write_text("heron\n")
    assert run((*command, "-C", str(tmp_path))) == 2
    errors = capfd.readouterr().err
    assert not (tmp_path / ".ragstone").exists()
    assert "store.url is not set" in errors
    assert "RAGSTONE_STORE_URL=postgresql://" in errors
    assert "Traceback" not in errors


def test_a_worker_whose_database_is_down_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAGSTONE_STORE_URL", "postgresql://team:hunter2@127.0.0.1:1/none")
    assert run(("worker", "-C", str(tmp_path))) == 75
    errors = capfd.readouterr().err
    assert "does not answer" in errors
    assert "hunter2" not in errors
    assert "Traceback" not in errors


def test_web_pages_cannot_be_queued(shared: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(("add", "https://example.com/", "--queue", "-C", str(shared))) == 2
    assert "web pages cannot be queued" in capfd.readouterr().err
