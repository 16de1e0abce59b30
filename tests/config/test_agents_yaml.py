"""`agents.yaml`: whose documents are which, layered, and nothing of another tool's is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import config
from ragstone.config.agents_yaml import AgentsFile, load_agents
from ragstone.errors import ConfigError
from ragstone.types import Agent

DOCS = "docs: {strategy: rag, top_k: 3, sources: ['docs/*.md']}"


def staff(folder: Path, text: str, *, own: str = "", **environ: str) -> AgentsFile:
    home = folder / "own" / "ragstone"
    home.mkdir(parents=True, exist_ok=True)
    (folder / "agents.yaml").write_text(text)
    if own:
        (home / "agents.yaml").write_text(own)
    variables = {"XDG_CONFIG_HOME": str(folder / "own"), **environ}
    return load_agents(config.load(folder, environ=variables), variables)


def test_agents_may_stand_under_a_heading_or_at_the_top(tmp_path: Path) -> None:
    listed = staff(
        tmp_path,
        f"agents:\n  shell:\n    model: x\n    {DOCS}\n  plain: {{model: y}}\nversion: 2\n",
    )
    assert sorted(listed.agents) == ["plain", "shell"]
    top = staff(
        tmp_path,
        f"shell:\n  {DOCS}\n  prompt: |\n    Be brief.\nversion: 2\nother: {{model: y}}\n",
    )
    assert sorted(top.agents) == ["shell"]
    expected = Agent(
        "shell",
        ("docs/*.md",),
        "rag",
        12_000,
        3,
        origin=f"project file {tmp_path / 'agents.yaml'}",
    )
    assert listed.agents["shell"] == top.agents["shell"] == expected
    assert listed.agents["plain"] == Agent("plain")


def test_agents_may_be_a_list_with_ids(tmp_path: Path) -> None:
    named = staff(
        tmp_path,
        "rag: {path: ''}\nagents:\n  - id: shell\n    docs: {sources: [docs]}\n  - id: plain\n",
    )
    assert {name: agent.sources for name, agent in named.agents.items()} == {
        "shell": ("docs",),
        "plain": (),
    }


def test_missing_values_have_defaults(tmp_path: Path) -> None:
    agent = staff(tmp_path, "a: {docs: {sources: README.md}}\n").agents["a"]
    assert (agent.strategy, agent.budget, agent.top_k, agent.sources) == (
        "preload",
        12_000,
        5,
        ("README.md",),
    )


def test_the_users_file_wins_over_the_projects_key_by_key(tmp_path: Path) -> None:
    own = "agents:\n  a: {docs: {budget: 900}}\n  mine: {docs: {sources: [notes]}}\n"
    both = staff(
        tmp_path, "agents:\n  a: {docs: {budget: 500, top_k: 2, sources: [docs]}}\n", own=own
    ).agents
    assert (both["a"].budget, both["a"].top_k, both["a"].sources) == (900, 2, ("docs",))
    assert both["mine"].sources == ("notes",)


def test_no_file_names_no_agent(tmp_path: Path) -> None:
    assert not load_agents(config.load(tmp_path, environ={}), {}).agents


def test_the_environment_wins_over_the_rag_block(tmp_path: Path) -> None:
    text = f"rag: {{store: memory, path: var/agents, chunk_size: 400, chunk_overlap: 40}}\nshell: {{{DOCS}}}\n"
    named = staff(tmp_path, text)
    settings = named.settings(named.agents["shell"], config.load(tmp_path, environ={}))
    assert settings.rag.vector_store.provider == "memory"
    assert settings.home == tmp_path / "var" / "agents"
    assert not settings.home_named  # it came with the folder
    assert (settings.rag.chunk_size, settings.rag.chunk_overlap) == (400, 40)
    assert (settings.search.top_k, settings.sources.include) == (3, ("docs/*.md",))
    variables = {
        "RAGSTONE_RAG_STORE": "sqlite",
        "RAGSTONE_RAG_STORE_PATH": "there",
        "RAGSTONE_RAG_CHUNK_SIZE": "800",
    }
    above = named.settings(named.agents["shell"], config.load(tmp_path, environ=variables))
    assert (above.rag.vector_store.provider, above.home) == ("sqlite", tmp_path / "there")
    assert (above.rag.chunk_size, above.rag.chunk_overlap) == (800, 40)


def test_an_agent_may_have_sizes_of_its_own(tmp_path: Path) -> None:
    named = staff(
        tmp_path, "rag: {chunk_size: 400}\na: {docs: {sources: [docs], chunk_size: 90}}\n"
    )
    settings = named.settings(named.agents["a"], config.load(tmp_path, environ={}))
    assert settings.rag.chunk_size == 90


def test_an_overlap_that_is_not_smaller_is_refused(tmp_path: Path) -> None:
    named = staff(
        tmp_path, "rag: {chunk_overlap: 400}\na: {docs: {sources: [docs], chunk_size: 90}}\n"
    )
    with pytest.raises(ConfigError, match="must be smaller"):
        named.settings(named.agents["a"], config.load(tmp_path, environ={}))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rag: {stroe: x}\n", r"Unknown key 'stroe' in rag \(.*line 1\).*did you mean store\?"),
        (
            "a: {docs: {soruces: [x]}}\n",
            r"Unknown key 'soruces' in docs of the agent 'a' .*did you mean sources\?",
        ),
        (
            "a:\n  docs:\n    strategy: rga\n",
            r"one of \"preload\", \"rag\", but .*line 3 gives 'rga'.*did you mean rag\?",
        ),
        (
            "a: {docs: {sources: [x], budget: 0}}\n",
            r"docs.budget of the agent 'a' must be a whole number from 1",
        ),
        (
            "a: {docs: {sources: [x], top_k: lots}}\n",
            r"docs.top_k of the agent 'a' must be a whole number",
        ),
        ("a: {docs: {sources: [{}]}}\n", r"docs.sources of the agent 'a' must be a list"),
        ("a: {docs: {budget: 5}}\n", r"docs of the agent 'a' .* name no sources"),
        ("a: {docs: [x]}\n", r"line 1: docs of the agent 'a' must map"),
        (
            "agents:\n  - id: a\n    docs: {sources: [x]}\n  - id: a\n    docs: {sources: [y]}\n",
            r"line 4: there are two agents with the id 'a'",
        ),
        ("agents: [a, b]\n", r"line 1: agents must map"),
        ("agents: {a: 5}\n", r"the agent 'a' must map"),
        ("rag: 5\n", r"rag must map"),
        ("- a\n", r"the file must map"),
        ("agents:\n  a: &x {docs: {sources: [y]}}\n  b: *x\n", r"line 2, uses an anchor"),
        ("agents: {'': {docs: {sources: [x]}}}\n", r"is no name for an agent"),
        ('agents: {"a\\x1fb": {docs: {sources: [x]}}}\n', r"is no name for an agent"),
        (
            "a: {docs: {sources: ['../x']}}\n",
            r"docs.sources of the agent 'a' .* points outside the folder: '../x'",
        ),
        ("a: {docs: {sources: ['/etc/*']}}\n", r"points outside the folder"),
        ("a: {docs: {sources: ['~/x']}}\n", r"points outside the folder"),
        ("rag: {path: ../x}\n", r"rag.path in .* points outside the project folder"),
        ("rag: {path: /x}\n", r"rag.path in .* points outside the project folder"),
        ("agents:\n  - docs: {sources: [x]}\n", r"line 2: an agent in a list needs an id"),
    ],
)
def test_a_mistake_is_reported_in_a_sentence(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        staff(tmp_path, text)


def test_a_source_behind_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "link").symlink_to(tmp_path)
    with pytest.raises(ConfigError, match="points outside"):
        staff(project, "a: {docs: {sources: ['link/*.md']}}\n")


def test_the_users_own_file_may_keep_the_index_elsewhere(tmp_path: Path) -> None:
    named = staff(
        tmp_path, f"a: {{{DOCS}}}\n", own=f"rag: {{path: '{(tmp_path / 'x').as_posix()}'}}\n"
    )
    settings = named.settings(named.agents["a"], config.load(tmp_path, environ={}))
    assert (settings.home, settings.home_named) == (tmp_path / "x", True)
