"""The settings and special files that come with a clone loosen nothing and hang nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
import sys
import time
from pathlib import Path

import pytest

from ragstone import Engine, config
from ragstone.config.agents_yaml import load_agents
from ragstone.errors import ConfigError
from ragstone.indexing.events import Event, EventLog
from ragstone.sources.folder.git import list_files
from ragstone.sources.folder.limited_process import run_limited
from ragstone.surfaces.cli.app import run
from tests.security.homes import FAKE, git, on_another_machine

needs_fifo = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty project of a user who has trusted nothing yet."""
    on_another_machine(monkeypatch, tmp_path)
    root = tmp_path / "project"
    root.mkdir()
    return root


@pytest.mark.parametrize(
    "line",
    [
        "sources.secrets = 'off'",
        "sources.secret_files = true",
        "sources.git = false",
        "sources.max_file_bytes = 900_000_000",
        "sources.max_document_bytes = 900_000_000",
        "sources.max_files = 900_000_000",
        "web.max_bytes = 900_000_000",
        "embed.fallback = 'openai'",
        "embed.fallback = 'gemini:gemini-embedding-001'",
        "mcp.servers = ['files = some-program']",
    ],
)
def test_a_project_file_that_loosens_a_protection_needs_trust(project: Path, line: str) -> None:
    (project / "ragstone.toml").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="loosens a protection") as caught:
        config.load(project)
    assert "ragstone trust" in caught.value.hint
    assert run(["trust", "-C", str(project), "--yes"]) == 0
    config.load(project)


def test_a_stricter_value_and_a_value_of_the_environment_need_no_trust(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "sources.max_files = 10\nsources.secrets = 'redact'\nembed.fallback = 'local'\n"
    (project / "ragstone.toml").write_text(lines, encoding="utf-8")
    assert config.load(project).sources.max_files == 10
    (project / "ragstone.toml").write_text("sources.secrets = 'off'\n", encoding="utf-8")
    monkeypatch.setenv("RAGSTONE_SOURCES_SECRETS", "redact")
    assert config.load(project).sources.secrets == "redact"


def test_trust_shows_what_it_trusts_and_a_later_change_needs_trust_again(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = project / "ragstone.toml"
    file.write_text("sources.max_files = 60_000\n", encoding="utf-8")
    assert run(["trust", "-C", str(project)]) != 0  # there is no terminal to ask on
    printed = capsys.readouterr().out
    assert "sources.max_files = 60000" in printed and str(file) in printed
    assert run(["trust", "-C", str(project), "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"] == {"sources.max_files": 60_000}
    file.write_text("sources.max_files = 70_000\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="70000"):
        config.load(project)


def test_trust_accepts_a_copied_index_and_shows_its_documents(
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (project / "a.md").write_text("The quagga sleeps.", encoding="utf-8")
    with Engine.open(project, config=FAKE) as engine:
        engine.sync()
    time.sleep(2.1)
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "third"))
    assert run(["search", "quagga", "-C", str(copy)]) != 0
    assert "ragstone trust" in capsys.readouterr().err
    assert run(["trust", "-C", str(copy), "--yes"]) == 0
    assert "1 document from files" in capsys.readouterr().out
    assert run(["search", "quagga", "-C", str(copy)]) == 0
    assert run(["trust", "-C", str(copy)]) == 0
    assert "Nothing in" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["ragstone.toml", "agents.yaml"])
def test_a_project_file_that_is_a_link_is_refused(project: Path, name: str) -> None:
    (project.parent / "elsewhere").write_text("", encoding="utf-8")
    (project / name).symlink_to("../elsewhere")
    with pytest.raises(ConfigError, match="is a link"):
        load_agents(config.load(project))


@needs_fifo
@pytest.mark.parametrize("name", ["ragstone.toml", "agents.yaml"])
def test_a_project_file_that_is_a_fifo_or_a_device_is_refused(project: Path, name: str) -> None:
    os.mkfifo(project / name)
    with pytest.raises(ConfigError, match="not a regular file"):
        load_agents(config.load(project))


@needs_fifo
def test_a_fifo_in_the_place_of_the_event_log_hangs_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "events.jsonl")
    log = EventLog(tmp_path / "events.jsonl")
    log.write(Event("search", {"query": "x"}))
    assert log.last(5) == []


@needs_fifo
@pytest.mark.parametrize("place", ["core.excludesFile", ".gitignore", ".git/info/exclude"])
def test_a_fifo_in_the_place_of_an_ignore_file_hangs_nothing(project: Path, place: str) -> None:
    git(project, "init", "-q")
    fifo = project / "pipe"
    if place == "core.excludesFile":
        git(project, "config", place, str(fifo))
    else:
        fifo = project / place
        fifo.parent.mkdir(exist_ok=True)
        fifo.unlink(missing_ok=True)
    os.mkfifo(fifo)
    (project / "a.md").write_text("The quagga sleeps.", encoding="utf-8")
    with Engine.open(project, config=FAKE) as engine:
        assert engine.sync().indexed == 1


def test_the_output_of_git_is_read_with_a_limit(project: Path) -> None:
    git(project, "init", "-q")
    (project / ".git" / "index").write_bytes(_large_index(entries=30_000, prefix="a" * 4000))
    assert list_files(project) is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits it from outside")
def test_the_memory_of_git_is_limited(tmp_path: Path) -> None:
    program = [sys.executable, "-c", "print(len(bytearray(2 << 30)))"]
    completed = run_limited(program, tmp_path, dict(os.environ))
    assert completed is None or (completed.returncode != 0 and not completed.stdout)


def _large_index(*, entries: int, prefix: str) -> bytes:
    """Return an index of version 4, in which names share a prefix: 2 MB that list 120 MB of names."""
    parts = [struct.pack(">4sII", b"DIRC", 4, entries)]
    name = f"{prefix}{0:06}".encode()
    for number in range(entries):
        end = f"{number:06}".encode()
        fields = struct.pack(">6I", *[0] * 6) + struct.pack(">4I", 0o100644, 0, 0, 0)
        strip, suffix = (0, name) if number == 0 else (len(end), end)
        parts += [fields, bytes(20), struct.pack(">H", 0xFFF), bytes([strip]), suffix, b"\0"]
    data = b"".join(parts)
    return data + hashlib.sha1(data).digest()
