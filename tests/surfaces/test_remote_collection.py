"""A collection on another MCP server: found over stdio and over HTTP, search only, and its failures."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.errors import ConfigError, Conflict, ProviderError
from ragstone.protocols import RemoteCollection
from ragstone.surfaces.cli.app import run
from ragstone.surfaces.mcp import remote_session
from ragstone.surfaces.mcp.remote_collection import McpCollection
from ragstone.surfaces.mcp.remote_session import ServerAddress
from ragstone.testing.remote_collection import RemoteCollectionContract
from ragstone.vectors import service_failures

ROOT = Path(__file__).parents[2]
FOREIGN = [sys.executable, str(ROOT / "tests" / "support" / "foreign_mcp_server.py")]


def open_remote(folder: Path, server: str, tool: str) -> Engine:
    config = {
        "rag.embedding_provider": "fake",
        "rag.vector_store.provider": "mcp",
        "rag.vector_store.mcp_server": server,
        "rag.vector_store.mcp_tool": tool,
        "rag.vector_store.collection_name": "library",
    }
    return Engine.open(folder, config=config)


def open_foreign(folder: Path, tool: str) -> Engine:
    return open_remote(folder, shlex.join([*FOREIGN, "stdio"]), tool)


def children() -> set[int]:
    """Return the ids of the processes that this process started and that still run."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    tasks = Path("/proc/self/task").iterdir()
    for task in tasks:
        listed += (task / "children").read_text().split()
    return {int(pid) for pid in listed}


@pytest.fixture
def http_server(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([*FOREIGN, str(port)], stderr=subprocess.DEVNULL)
    for _ in range(300):
        with socket.socket() as connection:
            if connection.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}/mcp", process
    process.kill()
    process.wait()


def test_ragstone_of_another_folder_answers_with_citations(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    ours.mkdir()
    (theirs / "stones.md").write_text("# Stones\n\nGranite needs a wet saw.\n")
    (ours / "secret.md").write_text("Granite is not to be indexed here.\n")
    command = [sys.executable, "-m", "ragstone", "mcp", "-C", str(theirs)]
    before = children()
    with open_remote(ours, shlex.join(command), "rag_search") as engine:
        (hit, *_) = engine.search("granite saw")
        assert "wet saw" in hit.text
        assert hit.citation == "stones.md:1-3"
        assert (hit.collection, hit.freshness) == ("library", "unverifiable")
        assert 0 < hit.score <= 1
        context = engine.context("How is granite cut?")
        assert "wet saw" in context.text and "stones.md" in context.text
        assert not list(engine.sources()), "nothing of this folder was indexed"
    assert children() <= before, "the server's process is gone"


def test_results_of_another_shape_become_hits(tmp_path: Path) -> None:
    with open_foreign(tmp_path, "find_books") as engine:
        hits = engine.search("lava", top_k=2)
        assert [hit.citation for hit in hits] == ["shelf/basalt.txt:3-4", "shelf/chalk.txt:3-4"]
        assert [round(hit.score, 2) for hit in hits] == [0.91, 0.55]
        assert hits[0].text == "Basalt columns form when lava cools slowly."
        assert hits[0].metadata["year"] == 1901
        assert len(engine.search("lava", top_k=5, min_score=0.5)) == 2
        assert not engine.search("lava", filters={"path": "docs/**"})
        assert len(engine.search("lava", filters={"path": "shelf/**", "year": 1901})) == 3
    with open_foreign(tmp_path, "find_json") as engine:
        hits = engine.search("lava")
        assert [hit.source_doc_id for hit in hits][0] == "shelf/basalt.txt"
        assert [hit.score for hit in hits] == [1 / 2, 1 / 3, 1 / 4], (
            "scores above 1 are replaced"
        )
    with open_foreign(tmp_path, "find_plain") as engine:
        (hit,) = engine.search("lava")
        assert hit.text == "Nothing but words about lava."
        assert hit.citation == "passage 1:1"
    with open_foreign(tmp_path, "find_nothing") as engine:
        assert engine.search("lava") == []


def test_a_server_over_http_answers_and_its_end_is_a_clear_error(
    tmp_path: Path,
    http_server: tuple[str, subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(service_failures, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(remote_session, "CALL_SECONDS", 5.0)
    url, process = http_server
    with open_remote(tmp_path, url, "find_books") as engine:
        engine.add("Granite is hard.", uri="note.md", collection="notes")
        assert {hit.collection for hit in engine.search("granite")} == {"library", "notes"}
        process.kill()
        process.wait()
        with pytest.raises(ProviderError, match="MCP server of the tool 'find_books' failed"):
            engine.search("granite", collection="library")
        explanation = engine.explain("granite", mode="words")
        assert [hit.source_doc_id for hit in explanation.hits] == ["note.md"]
        (note,) = [note for note in explanation.notes if "library" in note]
        assert note.startswith("the remote collection 'library' does not answer: ")
        assert engine.search("granite", collection="notes")


def test_a_remote_collection_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Granite is hard.\n")
    with open_foreign(tmp_path, "find_books") as engine:
        for write in (
            lambda: engine.add("text", uri="b.md"),
            lambda: engine.sync(),
            lambda: engine.add("text", uri="b.md", collection="library"),
            lambda: engine.remove("a.md"),
        ):
            with pytest.raises(Conflict, match="is on another server .mcp. and is search only"):
                write()
        assert engine.sync(collection="folder").indexed == 1
        names = {hit.source_doc_id for hit in engine.search("granite", top_k=9)}
        assert names == {"a.md", "shelf/basalt.txt", "shelf/chalk.txt", "shelf/slate.txt"}


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("find_and_fail", "the catalogue is closed"),
        ("find_and_die", "failed: "),
        ("find_slowly", "did not answer in 1 s"),
    ],
)
def test_a_tool_that_fails_is_an_error_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, message: str
) -> None:
    monkeypatch.setattr(remote_session, "CALL_SECONDS", 1.0)
    before = children()
    with open_foreign(tmp_path, tool) as engine:
        with pytest.raises(ProviderError, match=message) as caught:
            engine.search("lava")
        assert caught.value.hint
        if tool != "find_and_fail":
            started = time.monotonic()
            with pytest.raises(ProviderError, match=message):
                engine.search("lava")
            assert time.monotonic() - started < 0.5, "it is not asked again for some seconds"
    assert children() <= before


@pytest.mark.parametrize(
    ("server", "tool", "error", "message"),
    [
        (None, "no_such_tool", ConfigError, "no tool 'no_such_tool'.*find_books"),
        (None, "count_books", ConfigError, "takes no query.*shelf, row"),
        ("/no/such/program", "find", ProviderError, "failed: .*no/such/program"),
        (f"{sys.executable} -c pass", "find", ProviderError, "failed: "),
        (f"{sys.executable} -c 'print(1)'", "find", ProviderError, "failed: "),
        ("'unclosed", "find", ConfigError, "no command line"),
        ("http://127.0.0.1:9/mcp", "find", ProviderError, "failed: "),
    ],
)
def test_a_wrong_server_or_tool_is_named(
    tmp_path: Path, server: str | None, tool: str, error: type[Exception], message: str
) -> None:
    before = children()
    command = shlex.join([*FOREIGN, "stdio"]) if server is None else server
    with open_remote(tmp_path, command, tool) as engine:
        with pytest.raises(error, match=message):
            engine.search("lava")
    assert children() <= before


def test_an_agent_with_the_name_of_the_collection_keeps_its_own_documents(
    tmp_path: Path,
) -> None:
    agents = "agents: {library: {docs: {strategy: rag, sources: ['*.md']}}}\n"
    (tmp_path / "agents.yaml").write_text(agents)
    (tmp_path / "a.md").write_text("Granite is hard.\n")
    with open_foreign(tmp_path, "find_books") as engine:
        engine.agents.ensure_index("library")
        hits = engine.agents.corpus("library").search("granite")
        assert [hit.source_doc_id for hit in hits] == ["a.md"]


def test_the_doctor_asks_the_server_and_lists_the_extras(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (
        ("PROVIDER", "mcp"),
        ("MCP_SERVER", shlex.join([*FOREIGN, "stdio"])),
        ("MCP_TOOL", "find_books"),
    ):
        monkeypatch.setenv(f"RAGSTONE_RAG_VECTOR_STORE_{name}", value)
    assert run(["doctor", "-C", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "remote collection default: it answers" in printed
    assert "extras: " in printed and "chroma" in printed and "ocr" in printed
    monkeypatch.setenv("RAGSTONE_RAG_VECTOR_STORE_MCP_SERVER", "/no/such/program")
    assert run(["doctor", "-C", str(tmp_path)]) != 0
    assert "failed: " in capsys.readouterr().out


def test_a_missing_setting_is_named(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config={"rag.vector_store.provider": "mcp"}) as engine:
        with pytest.raises(ConfigError, match="mcp_server is not set"):
            engine.search("lava")


def test_a_program_that_forgets_to_close_leaves_no_process_behind(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from tests.surfaces.test_remote_collection import children, open_foreign;"
        "engine = open_foreign(Path(sys.argv[1]), 'find_books');"
        "assert engine.search('lava'); print(*children())"
    )
    process = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    started = [int(pid) for pid in process.stdout.split()]
    assert started
    for pid in started:
        assert not Path(f"/proc/{pid}").exists()


def test_a_server_that_is_itself_remote_does_not_start_itself_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_RAGSTONE_REMOTE_DEPTH", "3")
    with open_foreign(tmp_path, "find_books") as engine:
        with pytest.raises(ConfigError, match="several times over"):
            engine.search("lava")


class TestMcpCollection(RemoteCollectionContract):
    def make(self) -> RemoteCollection:
        return McpCollection(ServerAddress(command=[*FOREIGN, "stdio"]), "find_books")
