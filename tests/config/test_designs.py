"""The three settings files of the designs are read unchanged, and give the sizes, stores and tools that they name."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from ragstone import ConfigError, Engine, InputError, config
from ragstone.config.agents_yaml import load_agents
from ragstone.indexing.sync import Scan
from ragstone.surfaces.tools import agent_search, documents_tool

OWN = Path(__file__).parent / "designs"
GIVEN = Path(__file__).resolve().parents[3] / "shared" / "data" / "designs"
FILES = ("ragstone.toml", "agents.yaml", "documents.yaml")
WORDS = "sentence about apples in the orchard. " * 200


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a file; no provider of the designs can be reached."""
    for variable in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    project = tmp_path / "project"
    (project / "docs" / "ref").mkdir(parents=True)
    (project / "docs" / "ref" / "apples.md").write_text(f"# Apples\n\nA {WORDS}\n")
    return project


def copy(name: str, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    shutil.copyfile(OWN / name, folder / name)


def longest_chunk(engine: Engine) -> int:
    """Return the length of the longest hit; neighbours are not merged."""
    hits = engine.search("apples", 50, mode="words", merge=False)
    return max(len(hit.text) for hit in hits)


@pytest.mark.parametrize("name", FILES)
def test_our_copy_of_a_design_file_equals_the_given_one(name: str) -> None:
    if not GIVEN.is_dir():
        pytest.skip("the files of the designs are not beside this checkout")
    assert (OWN / name).read_bytes() == (GIVEN / name).read_bytes()


def test_the_toml_file_answers_by_words_and_names_the_settings_to_change(folder: Path) -> None:
    copy("ragstone.toml", folder)
    with Engine.open(folder) as engine:
        rag = engine.settings.rag
        assert (rag.embedding_provider, rag.chunk_size, rag.chunk_overlap) == (
            "gemini",
            1000,
            200,
        )
        store = rag.vector_store
        assert (store.provider, store.collection_name) == ("chroma", "manual_slop")
        assert (store.url, store.api_key, store.mcp_server, store.mcp_tool) == (None,) * 4
        explanation = engine.explain("apples", policy=Scan())
        assert explanation.sync is not None
        notes = " ".join(explanation.sync.notes)
        if find_spec("chromadb") is None:
            assert 'rag.vector_store.provider = "sqlite"' in notes
        assert (
            "Gemini needs a key (set RAGSTONE_EMBED_PROVIDER=gemini and GEMINI_API_KEY" in notes
        )
        assert engine.search("apples")[0].source_doc_id == "docs/ref/apples.md"
        assert [collection.name for collection in engine.admin.collections()] == ["manual_slop"]
        assert 700 < longest_chunk(engine) <= 1300  # 1000 characters are about 250 tokens


def test_a_sync_and_an_add_with_the_toml_file_store_and_report_without_a_key(
    folder: Path,
) -> None:
    copy("ragstone.toml", folder)
    with Engine.open(folder) as engine:
        report = engine.sync()
        assert [skip.uri for skip in report.skipped] == ["ragstone.toml"]
        assert report.indexed == report.found - 1
        assert any("Gemini needs a key" in note for note in report.notes)
        added = engine.add("The quay opens at six.", uri="quay")
        assert added.chunks_added == 1
        assert any("Gemini needs a key" in note for note in added.notes)


def test_the_agents_file_gives_the_agent_a_tool_over_its_sources(folder: Path) -> None:
    copy("agents.yaml", folder)
    with Engine.open(folder, config={"embed.provider": "fake"}) as engine:
        (agent,) = engine.agents.list()
        assert (agent.name, agent.strategy, agent.budget, agent.top_k) == (
            "my-agent",
            "rag",
            12000,
            5,
        )
        report = engine.agents.ensure_index("my-agent")
        assert report is not None
        assert report.indexed == 1
        assert (folder / ".agents" / "rag" / "ragstone.db").is_file()
        corpus = engine.agents.corpus("my-agent")
        assert 1400 < longest_chunk(corpus) <= 2600  # 2000 characters are about 500 tokens
        answer = agent_search("my-agent")(engine, {"query": "apples"}).text
        assert answer.startswith("--- Result 1 (score: ")


def test_the_strategy_of_an_agent_wins_over_the_switch_for_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy("agents.yaml", folder)
    monkeypatch.setenv("RAGSTONE_TOOLS_RAG", "false")
    with Engine.open(folder, config={"embed.provider": "fake"}) as engine:
        assert not engine.enabled
        assert engine.agents.ensure_index("my-agent") is not None
        prompt = engine.agents.prompt("my-agent")
        assert (prompt.strategy, prompt.tool) == ("rag", "rag_search")
        answer = agent_search("my-agent")(engine, {"query": "apples"}).text
        assert answer.startswith("--- Result 1 (score: ")
        assert engine.search("apples") == []


@pytest.mark.parametrize("place", [".", "config"])
def test_the_documents_file_is_found_and_names_the_model_of_ollama(
    folder: Path, place: str
) -> None:
    copy("documents.yaml", folder / place)
    with Engine.open(folder, config={"embed.query_seconds": 1}) as engine:
        settings = engine.settings
        assert settings.embed.provider == "ollama:nomic-embed-text"
        assert settings.rag.vector_store.path == ".chroma"
        assert settings.rag.vector_store.collection_name == "collective.documents"
        assert (settings.rag.chunk_size, settings.rag.chunk_overlap) == (1500, 200)
        assert settings.search.top_k == 5
        report = engine.sync(embed=False)
        assert report.indexed >= 1
        assert 1000 < longest_chunk(engine) <= 2000  # 1500 characters are about 375 tokens
        function = documents_tool(engine).openai()["function"]
        assert function["description"].startswith("Searches the user's personal document")
        query = function["parameters"]["properties"]["query"]
        assert query["description"].startswith("What to look for in the knowledge base.")
        refreshed = engine.sync()
    notes = " ".join(refreshed.notes)
    if find_spec("chromadb") is None:
        assert "the built-in index is used (.chroma is left alone)" in notes
        assert "pip install 'ragstone[chroma]'" in notes
    assert "words answer" in notes
    assert not (folder / ".chroma").exists()


@pytest.mark.parametrize(
    ("settings", "characters"),
    [
        ({"rag.chunker": "chars", "rag.chunk_size": 300}, 300),
        ({"rag.chunker": "chars", "chunk.max_tokens": 75}, 300),
        ({"rag.chunker": "sentences", "chunk.max_tokens": 75, "chunk.overlap_tokens": 5}, 300),
    ],
)
def test_chunkers_of_characters_convert_tokens(
    folder: Path, settings: dict[str, object], characters: int
) -> None:
    with Engine.open(folder, config={"embed.provider": "fake", **settings}) as engine:
        engine.sync(embed=False)
        assert characters - 40 < longest_chunk(engine) <= characters


def test_a_size_in_characters_and_in_tokens_cut_alike(folder: Path) -> None:
    lengths = []
    for size in ({"rag.chunk_size": 400}, {"chunk.max_tokens": 100}):
        given = {"embed.provider": "fake", "rag.vector_store.provider": "memory", **size}
        with Engine.open(folder, config=given) as engine:
            engine.sync(embed=False)
            lengths.append(longest_chunk(engine))
    assert lengths[0] == lengths[1]


def test_the_unit_that_is_set_last_wins_and_one_place_sets_one_unit(folder: Path) -> None:
    toml = folder / "ragstone.toml"
    toml.write_text("[chunk]\nmax_tokens = 100\n")
    settings = config.load(folder, environ={"RAGSTONE_RAG_CHUNK_SIZE": "900"})
    assert (settings.chunk.max_tokens, settings.rag.chunk_size) == (None, 900)
    settings = config.load(folder, {"chunk.max_tokens": 7}, environ={})
    assert (settings.chunk.max_tokens, settings.rag.chunk_size) == (7, None)
    toml.write_text("[chunk]\nmax_tokens = 100\n[rag]\nchunk_size = 100\n")
    with pytest.raises(ConfigError, match="set the same thing in two units"):
        config.load(folder, environ={})
    toml.write_text("[chunk]\nmax_tokens = 100\noverlap_tokens = 100\n")
    with pytest.raises(ConfigError, match="chunk.overlap_tokens \\(100\\) must be smaller"):
        config.load(folder, environ={})


def test_tokens_of_the_environment_win_over_characters_of_the_agents_file(folder: Path) -> None:
    copy("agents.yaml", folder)
    environ = {"RAGSTONE_CHUNK_MAX_TOKENS": "50", "RAGSTONE_CHUNK_OVERLAP_TOKENS": "5"}
    settings = config.load(folder, environ=environ)
    agents = load_agents(settings, environ={})
    of_agent = agents.settings(agents.agents["my-agent"], settings)
    assert (of_agent.chunk.max_tokens, of_agent.rag.chunk_size) == (50, None)


def test_a_collection_has_sizes_in_one_unit(folder: Path) -> None:
    with Engine.open(folder, config={"embed.provider": "fake"}) as engine:
        made = engine.admin.create_collection("small", chunker="tokens", max_tokens=20)
        assert dict(made.settings) == {"chunker": "tokens", "max_tokens": 20}
        with pytest.raises(InputError, match="two units"):
            engine.admin.create_collection("bad", chunk_size=100, max_tokens=20)
