"""The background process: vectors arrive by themselves, one process for each home, and it ends."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ragstone import Engine, config
from ragstone.config.environment import is_automated
from ragstone.indexing.background_embedding import BackgroundEmbedding
from ragstone.store.lock import FileLock

FAKE = {"rag.embedding_provider": "fake"}
ON = {"RAGSTONE_EMBED_BACKGROUND": "on", "RAGSTONE_RAG_EMBEDDING_PROVIDER": "fake"}
NO_VECTORS = "answered by words only: no text has a vector yet"
WORDS_ONLY = f"{NO_VECTORS}; ask again in about 10 s for answers by meaning"
SYNC_MAKES_THEM = f"{NO_VECTORS}; `ragstone sync` makes them"
SLOW_PROCESS = """
import sys
from ragstone.embed.fake import FakeEmbedder
from ragstone.indexing.background_embedding_main import main
embed = FakeEmbedder.embed
def wait_and_embed(self, texts, role="document", progress=None):
    print("embedding", flush=True)
    sys.stdin.readline()
    return embed(self, texts, role)
FakeEmbedder.embed = wait_and_embed
main()
"""


@pytest.fixture
def large_folder(tmp_path: Path) -> Path:
    """Return a folder with more texts than a search embeds itself."""
    root = tmp_path / "large"
    root.mkdir()
    for page in range(4):
        numbers = range(page * 100, page * 100 + 100)
        parts = [f"# Part {number}\n\n{'word ' * 150}{number}\n" for number in numbers]
        (root / f"{page}.md").write_text("\n".join(parts), encoding="utf-8")
    return root


def run_command(folder: Path, *arguments: str, **variables: str) -> dict[str, Any]:
    finished = subprocess.run(
        [sys.executable, "-m", "ragstone", *arguments, "--json"],
        cwd=folder,
        env={**os.environ, "HOME": str(folder.parent), **ON, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    answer = json.loads(finished.stdout)
    assert isinstance(answer, dict)
    return answer


def wait_for_end(folder: Path) -> dict[str, Any]:
    """Wait until the log has a last line, and return the status."""
    log = folder / ".ragstone" / "background.log"
    for _ in range(600):
        last_line = (log.read_text(encoding="utf-8").splitlines() or [""])[-1]
        if last_line.endswith(" done") or " failed: " in last_line:
            break
        time.sleep(0.1)
    with FileLock(folder / ".ragstone" / "background.lock", wait=30):
        pass  # the process has released its lock
    return run_command(folder, "status")


def test_a_folder_that_is_only_searched_gets_all_its_vectors(large_folder: Path) -> None:
    first = run_command(large_folder, "search", "word")
    assert WORDS_ONLY in first["notes"]
    status = wait_for_end(large_folder)
    assert status["spaces"][0]["coverage"] == 1.0
    assert (status["background"]["running"], status["background"]["failure"]) == (False, "")
    assert run_command(large_folder, "search", "word")["notes"] == []


def print_status(folder: Path) -> str:
    """Return the status as a person reads it."""
    return subprocess.run(
        [sys.executable, "-m", "ragstone", "status"],
        cwd=folder,
        env={**os.environ, "HOME": str(folder.parent), **ON},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout


def test_the_status_names_missing_vectors_before_the_process_has_begun(
    large_folder: Path,
) -> None:
    with Engine.open(large_folder, config=FAKE) as engine:
        engine.sync(embed=False)
    shown = print_status(large_folder)
    assert "vectors  none yet" in shown
    assert "meaning  texts without a vector are found by words only" in shown


def test_a_second_process_is_not_started_and_the_status_says_how_long_the_first_takes(
    large_folder: Path,
) -> None:
    with Engine.open(large_folder, config=FAKE) as engine:
        engine.sync(embed=False)
    with FileLock(large_folder / ".ragstone" / "background.lock"):
        answer = run_command(large_folder, "search", "word")
        assert run_command(large_folder, "status")["background"]["running"]
        shown = print_status(large_folder)
    assert WORDS_ONLY in answer["notes"]
    assert "vectors are being made in the background, about 10 s more" in shown
    assert not (large_folder / ".ragstone" / "background.log").exists()


@pytest.mark.parametrize(
    "variables",
    [
        {"RAGSTONE_EMBED_BACKGROUND": "off"},
        {"RAGSTONE_EMBED_BACKGROUND": "auto", "CI": "true"},
    ],
)
def test_no_process_is_started_if_it_is_switched_off(
    large_folder: Path, variables: dict[str, str]
) -> None:
    answer = run_command(large_folder, "search", "word", **variables)
    assert SYNC_MAKES_THEM in answer["notes"]
    assert not (large_folder / ".ragstone" / "background.log").exists()


def test_the_library_starts_a_process_only_if_it_is_asked(large_folder: Path) -> None:
    config = {**FAKE, "embed.background": "on"}
    with Engine.open(large_folder, config=config) as engine:
        engine.sync(embed=False)
        engine.search("word")
        assert not engine.admin.background_status().running
        assert engine.admin.embed_in_background()
    wait_for_end(large_folder)
    with Engine.open(large_folder, config=config) as engine:
        assert not engine.admin.lacks_vectors()
        assert not engine.admin.embed_in_background()


def test_a_failed_process_says_why_and_is_not_started_again_at_once(large_folder: Path) -> None:
    with Engine.open(large_folder, config=FAKE) as engine:
        engine.sync([large_folder / "0.md"])
        engine.sync(embed=False)
    run_command(large_folder, "search", "word", RAGSTONE_EMBED_STORAGE="compact")
    assert "reembed" in wait_for_end(large_folder)["background"]["failure"]
    log = large_folder / ".ragstone" / "background.log"
    before = log.read_bytes()
    run_command(large_folder, "search", "word", RAGSTONE_EMBED_STORAGE="compact")
    config = {**FAKE, "embed.storage": "compact", "embed.background": "on"}
    with Engine.open(large_folder, config=config) as engine:
        assert not engine.admin.embed_in_background()
    assert log.read_bytes() == before


def test_the_process_ends_if_the_home_disappears(large_folder: Path) -> None:
    with Engine.open(large_folder, config=FAKE) as engine:
        engine.sync(embed=False)
    request = {"folder": str(large_folder), "project": "default", "settings": FAKE}
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_PROCESS, json.dumps(request)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "embedding\n"
        shutil.rmtree(large_folder / ".ragstone")
        _, log = process.communicate("\n" * 100, timeout=60)
    assert process.returncode == 0
    assert "stopped: the index was removed or replaced" in log
    assert not (large_folder / ".ragstone").exists()


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("1", True), ("false", False)])
def test_the_variable_ci_marks_a_build_server(value: str, expected: bool) -> None:
    assert is_automated({"CI": value}) is expected
    assert not is_automated({})


WATCHED = """
import json, os
from pathlib import Path
from ragstone import Space
from ragstone.embed.fake import FakeEmbedder


class Watched(FakeEmbedder):
    space = Space(embedder="watched", model="hashed-words", dimension=128, normalised=True, version="1")

    def embed(self, texts, role="document", *, progress=None):
        facts = {"pid": os.getpid(), "session": os.getsid(0), "niceness": os.nice(0)}
        Path(os.environ["FACTS"]).write_text(json.dumps(facts))
        return super().embed(texts, role, progress=progress)


def configured(settings):
    return Watched()
"""


@pytest.fixture
def watched_embedder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install an embedder that writes facts about its process into a file, and return the file."""
    installed = tmp_path / "installed"
    metadata = installed / "watched-1.0.dist-info"
    metadata.mkdir(parents=True)
    (installed / "watched.py").write_text(WATCHED, encoding="utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: watched\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[ragstone.embedder]\nwatched = watched:configured\n"
    )
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("FACTS", str(tmp_path / "facts.json"))
    return tmp_path / "facts.json"


@pytest.mark.skipif(os.name != "posix", reason="sessions and niceness are of POSIX")
def test_the_process_has_a_low_priority_and_a_session_without_a_terminal(
    large_folder: Path, watched_embedder: Path
) -> None:
    variables = {"RAGSTONE_RAG_EMBEDDING_PROVIDER": "watched"}
    run_command(large_folder, "sync", "--no-embed", **variables)
    run_command(large_folder, "search", "word", **variables)
    wait_for_end(large_folder)
    facts = json.loads(watched_embedder.read_text(encoding="utf-8"))
    assert facts["session"] == facts["pid"]
    assert facts["niceness"] > os.nice(0)


def test_a_second_process_ends_without_work_while_the_first_runs(large_folder: Path) -> None:
    with Engine.open(large_folder, config=FAKE) as engine:
        engine.sync(embed=False)
    request = {"folder": str(large_folder), "project": "default", "settings": FAKE}
    program = "from ragstone.indexing.background_embedding_main import main; main()"
    with FileLock(large_folder / ".ragstone" / "background.lock"):
        ended = subprocess.run(
            [sys.executable, "-c", program, json.dumps(request)],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    assert ended.stderr == ""
    with Engine.open(large_folder, config=FAKE) as engine:
        assert engine.admin.count_vectors()[0] == 0


def test_the_process_ends_after_its_time_limit(large_folder: Path) -> None:
    with Engine.open(large_folder, config=FAKE) as engine:
        engine.sync(embed=False)
    request = {"folder": str(large_folder), "project": "default", "settings": FAKE}
    program = "from ragstone.indexing import background_embedding_main as process; "
    program += "process.MAX_SECONDS = 0.0; process.main()"
    ended = subprocess.run(
        [sys.executable, "-c", program, json.dumps(request)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ended.stderr.splitlines()[-1].endswith(
        "stopped: the time limit of 0 seconds is over"
    )


@pytest.mark.parametrize(("provider", "expected"), [("fake", True), ("openai", False)])
def test_no_process_calls_a_service_that_costs_money_unless_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str, expected: bool
) -> None:
    monkeypatch.delenv("CI", raising=False)
    for value, allowed in (("auto", expected), ("on", True), ("off", False)):
        values = {"rag.embedding_provider": provider, "embed.background": value}
        settings = config.load(tmp_path, values, environ={})
        assert BackgroundEmbedding(settings, "default").is_allowed is allowed
