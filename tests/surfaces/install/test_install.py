"""`ragstone install` and `ragstone uninstall`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragstone.surfaces.cli import agent_setup
from ragstone.surfaces.install.agents import AGENTS, AgentClient, SettingsFormat
from ragstone.surfaces.install.backups import write_change
from ragstone.surfaces.install.json_edit import parse_json

Command = Callable[..., Any]
NAMES = [agent.name for agent in AGENTS]
EXISTING = {
    ".mcp.json": '{\n  "mcpServers": {\n    "github": {"command": "gh-mcp"}\n  }\n}\n',
    ".cursor/mcp.json": '{"mcpServers":{}}',
    ".vscode/mcp.json": '{\n\t// inputs are asked once\n\t"inputs": [],\n'
    '\t"servers": {\n\t\t"a": {"command": "a"}, // mine\n\t},\n}\n',
    ".codex/config.toml": '# models\nmodel = "o3"\n\n[mcp_servers.other]\ncommand = "x"\n\n[profiles.fast]\nmodel = "m"\n',
    ".gemini/settings.json": '{\r\n  "theme": "Default"\r\n}\r\n',
    "opencode.json": '{"$schema": "https://opencode.ai/config.json"}\n',
    ".zed/settings.json": '// Zed settings\n{\n  "tab_size": 2,\n}\n',
    ".amp/settings.json": '{\n  // mine\n  "amp.mcpServers": {"git": {"command": "git-mcp"}},\n}\n',
    ".kilo/kilo.jsonc": '{\n  "mcp": {}, // none yet\n}\n',
    ".grok/config.toml": '[models]\ndefault = "grok-build"\n',
    "AGENTS.md": "# Rules\n\nRun the tests.\n",
    "CLAUDE.md": "Be brief.",
    "GEMINI.md": "\n\n# Spaces around\n\n\n",
}


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def settings(project: Path) -> Path:
    """Return a project with settings of several agents."""
    for name, text in EXISTING.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return project


def server_entry(project: Path, path: str, *keys: str) -> Any:  # noqa: ANN401 - any agent's form
    """Return our entry in a settings file."""
    data: Any = parse_json((project / path).read_text(encoding="utf-8"))
    for key in keys:
        data = data[key]
    return data["ragstone"]


def test_every_agent_gets_our_server_in_the_form_it_reads(
    quick: Command, settings: Path
) -> None:
    ran = quick("install", *NAMES, "--yes", "--command", "uvx ragstone")
    assert ran.code == 0, ran.err
    plain = {"command": "uvx", "args": ["ragstone", "mcp"]}
    in_workspace = [*plain["args"], "-C", "${workspaceFolder}"]
    assert server_entry(settings, ".mcp.json", "mcpServers") == {"type": "stdio", **plain}
    assert server_entry(settings, ".cursor/mcp.json", "mcpServers")["args"] == in_workspace
    vscode = server_entry(settings, ".vscode/mcp.json", "servers")
    assert vscode == {"type": "stdio", "command": "uvx", "args": in_workspace}
    codex = tomllib.loads((settings / ".codex/config.toml").read_text(encoding="utf-8"))
    assert codex["mcp_servers"]["ragstone"] == plain
    assert codex["mcp_servers"]["other"] == {"command": "x"}
    assert server_entry(settings, ".gemini/settings.json", "mcpServers") == plain
    opencode = server_entry(settings, "opencode.json", "mcp")
    assert opencode == {"type": "local", "command": ["uvx", "ragstone", "mcp"], "enabled": True}
    zed = server_entry(settings, ".zed/settings.json", "context_servers")
    assert zed == {**plain, "env": {}}
    assert server_entry(settings, ".kiro/settings/mcp.json", "mcpServers") == plain
    assert server_entry(settings, ".qwen/settings.json", "mcpServers") == plain
    assert server_entry(settings, ".junie/mcp/mcp.json", "mcpServers") == plain
    own = yaml.safe_load((settings / ".continue/mcpServers/ragstone.yaml").read_text())
    assert own["mcpServers"] == [{"name": "ragstone", **plain}]
    windsurf = settings.parent / ".codeium/windsurf/mcp_config.json"
    folder = str(settings.resolve())
    assert json.loads(windsurf.read_text())["mcpServers"]["ragstone"]["args"][-1] == folder


def test_agents_of_editors_and_terminals_get_their_own_forms(
    quick: Command, settings: Path
) -> None:
    assert quick("install", *NAMES, "--yes", "--command", "uvx ragstone").code == 0
    plain = {"command": "uvx", "args": ["ragstone", "mcp"]}
    folder = str(settings.resolve())
    copilot = server_entry(settings, ".github/mcp.json", "mcpServers")
    assert copilot == {"type": "local", **plain, "tools": ["*"]}
    antigravity = server_entry(settings, ".agents/mcp_config.json", "mcpServers")
    assert antigravity["args"] == ["ragstone", "mcp", "-C", folder]
    cline = server_entry(
        settings.parent, ".cline/data/settings/cline_mcp_settings.json", "mcpServers"
    )
    assert cline["args"][-1] == folder
    roo = server_entry(settings, ".roo/mcp.json", "mcpServers")
    assert roo["args"][-1] == "${workspaceFolder}"
    kilo = server_entry(settings, ".kilo/kilo.jsonc", "mcp")
    assert kilo == {"type": "local", "command": ["uvx", "ragstone", "mcp"], "enabled": True}
    assert server_entry(settings, ".amp/settings.json", "amp.mcpServers") == plain
    assert server_entry(settings, "crush.json", "mcp") == {"type": "stdio", **plain}
    grok = tomllib.loads((settings / ".grok/config.toml").read_text(encoding="utf-8"))
    assert grok["mcp_servers"]["ragstone"] == plain
    for name in ("AGENTS.md", ".clinerules/ragstone.md", ".roo/rules/ragstone.md"):
        assert "rag_search" in (settings / name).read_text(encoding="utf-8")


def test_comments_and_other_entries_stay(quick: Command, settings: Path) -> None:
    quick("install", "vscode", "codex", "claude-code", "--yes")
    text = (settings / ".vscode/mcp.json").read_text(encoding="utf-8")
    assert "// inputs are asked once" in text
    assert '"a": {"command": "a"}, // mine' in text
    assert (
        (settings / ".codex/config.toml").read_text(encoding="utf-8").startswith("# models\n")
    )
    assert '"github": {"command": "gh-mcp"}' in (settings / ".mcp.json").read_text()


@pytest.mark.parametrize("scope", [(), ("--user",)], ids=["project", "user"])
def test_uninstall_gives_back_the_same_bytes(
    quick: Command, settings: Path, scope: tuple[str, ...]
) -> None:
    home = settings.parent
    before = contents(home)
    assert quick("install", *NAMES, "--yes", *scope).code == 0
    assert contents(home) != before
    assert quick("install", *NAMES, "--yes", *scope, "--command", "other").code == 0
    ran = quick("uninstall", "--yes", *scope)
    assert ran.code == 0, ran.err
    after = contents(home)
    assert after == before
    assert "written" not in ran.out


def test_after_an_edit_only_our_entry_goes(quick: Command, settings: Path) -> None:
    quick("install", "claude-code", "codex", "--yes")
    file = settings / ".mcp.json"
    file.write_text(file.read_text().replace("gh-mcp", "gh-mcp-2"))
    codex = settings / ".codex/config.toml"
    codex.write_text(codex.read_text() + '\n[new]\nkey = "value"\n')
    quick("uninstall", "--yes")
    assert json.loads(file.read_text()) == {"mcpServers": {"github": {"command": "gh-mcp-2"}}}
    left = tomllib.loads(codex.read_text())
    assert left["new"] == {"key": "value"}
    assert "ragstone" not in left["mcp_servers"]


def test_instructions_say_when_to_use_which_tool(quick: Command, settings: Path) -> None:
    quick("install", "codex", "opencode", "cursor", "--yes")
    shared = (settings / "AGENTS.md").read_text()
    assert shared.startswith("# Rules\n\nRun the tests.\n")
    assert shared.count("rag_search") == 1
    assert (settings / ".cursor/rules/ragstone.mdc").read_text().startswith("---\ndescription:")
    quick("uninstall", "--yes")
    quick("install", "codex", "--yes", "--no-instructions")
    assert "rag_search" not in (settings / "AGENTS.md").read_text()


def test_instructions_are_for_any_project_and_name_a_session(
    quick: Command, settings: Path
) -> None:
    quick("install", "codex", "--yes")
    shared = (settings / "AGENTS.md").read_text()
    assert "this project" not in shared
    assert "session_id `decisions`" in shared


def test_our_instructions_are_not_indexed_and_other_lines_keep_their_numbers(
    quick: Command, settings: Path
) -> None:
    quick("install", "codex", "cursor", "--yes")
    shared = settings / "AGENTS.md"
    shared.write_text(shared.read_text() + "\nPaint the gondola black.\n")
    found = quick("search", "cite the path and lines of a passage", "--json").json["results"]
    assert not [hit["path"] for hit in found if "rag_search" in hit["text"]]
    found = quick("search", "gondola", "--full-text").out
    line = shared.read_text().splitlines().index("Paint the gondola black.") + 1
    assert f"{line}  Paint the gondola black." in found


def test_vs_code_is_found_by_its_settings_folder(quick: Command, project: Path) -> None:
    (project.parent / ".config" / "Code" / "User").mkdir(parents=True)
    shown = quick("install", "--dry-run", "--json").json
    assert "vscode" in {change["agent"] for change in shown["changes"]}


def test_without_a_name_the_agents_that_are_there_are_set_up(
    quick: Command, project: Path
) -> None:
    (project / ".cursor").mkdir()
    shown = quick("install", "--dry-run", "--json").json
    agents = {change["agent"] for change in shown["changes"]}
    assert "cursor" in agents
    assert "kiro" not in agents
    assert not shown["written"]
    assert not (project / ".cursor/mcp.json").exists()


def test_the_changes_are_shown_and_nothing_is_written_without_consent(
    quick: Command, settings: Path
) -> None:
    before = contents(settings)
    ran = quick("install", "claude-code")
    assert ran.code == 2
    assert '+    "ragstone": {' in ran.out
    assert "--yes writes" in ran.err
    assert contents(settings) == before


def test_a_file_that_cannot_be_read_stays_and_the_others_are_written(
    quick: Command, settings: Path
) -> None:
    (settings / ".mcp.json").write_text("{ not json")
    ran = quick("install", "claude-code", "codex", "--yes")
    assert ran.code == 3
    assert "not valid JSON" in ran.err
    assert (settings / ".mcp.json").read_text() == "{ not json"
    assert "ragstone" in (settings / ".codex/config.toml").read_text()


def test_a_link_out_of_the_project_is_not_followed(
    quick: Command, project: Path, tmp_path: Path
) -> None:
    target = tmp_path / "private.json"
    target.write_text("{}")
    (project / ".mcp.json").symlink_to(target)
    ran = quick("install", "claude-code", "--yes")
    assert ran.code == 3
    assert "link out of the project" in ran.err
    assert target.read_text() == "{}"


def test_an_unknown_agent_is_refused_with_the_known_names(quick: Command) -> None:
    ran = quick("install", "emacs")
    assert ran.code == 2
    assert "there is no agent 'emacs'" in ran.err
    assert "claude-code" in ran.err


@pytest.mark.parametrize("scope", [(), ("--user",)], ids=["project", "user"])
@pytest.mark.parametrize("agent", AGENTS, ids=NAMES)
def test_an_agents_own_file_keeps_its_comments_and_comes_back_unchanged(
    quick: Command, project: Path, agent: AgentClient, scope: tuple[str, ...]
) -> None:
    home = project.parent
    path = agent.user_config(home)
    if not scope and agent.project_config is not None:
        path = project / agent.project_config
    key = "".join(agent.keys)
    text = f'// my servers\n{{\n   "{key}": {{\n "mine" : {{"command": "m"}}, /* x */\n }},\n}}'
    if agent.format is SettingsFormat.TOML:
        text = '# my servers\n[mcp_servers.mine]\ncommand = "m" # x\n'
    elif agent.format is SettingsFormat.OWN_FILE:
        text = "# my servers\nname: mine\n"
        path = path.with_name("mine.yaml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    before = contents(home)
    assert quick("install", agent.name, "--yes", *scope).code == 0
    installed = path.read_text(encoding="utf-8")
    assert "my servers" in installed and "mine" in installed
    if agent.format is not SettingsFormat.OWN_FILE:
        assert "ragstone" in installed
    assert quick("uninstall", agent.name, "--yes", *scope).code == 0
    assert contents(home) == before


def test_what_we_wrote_is_not_indexed_and_the_users_text_in_the_same_file_is(
    quick: Command, project: Path
) -> None:
    (project / "AGENTS.md").write_text("# Rules\n\nRun the tests.\n", encoding="utf-8")
    (project / "opencode.json").write_text(EXISTING["opencode.json"], encoding="utf-8")
    (project / ".mcp.json").write_text(EXISTING[".mcp.json"], encoding="utf-8")
    before = contents(project).keys()
    assert quick("install", *NAMES, "--yes").code == 0
    assert len(contents(project)) > len(before) + 10
    quick("sync", "--no-embed")
    documents = quick("sources", "--json").json["documents"]
    assert {entry["uri"] for entry in documents if entry["chunks"]} <= before
    hits = quick("search", "when to use rag_search, rag_context", "--mode", "words", "--json")
    assert not any("rag_search" in hit["text"] for hit in hits.json["results"])
    rules = quick("search", "Run the tests", "--mode", "words", "--json").json["results"]
    assert rules[0]["citation"].startswith("AGENTS.md:1")


def test_a_command_that_is_a_path_of_this_machine_is_noted_in_a_project(
    quick: Command, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    note = "the command is a path of this machine"
    ran = quick("install", "cursor", "--dry-run")
    assert note in ran.err and '--command "uvx ragstone"' in ran.err
    assert note in quick("install", "cursor", "--dry-run", "--json").json["notes"][0]
    for options in (("--user",), ("--command", "uvx ragstone")):
        assert note not in quick("install", "cursor", "--dry-run", *options).err


def test_a_failed_write_names_the_files_that_were_written_before(
    quick: Command, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = settings / ".cursor" / "mcp.json"

    def refuse(path: Path, text: str | None) -> None:
        if path == blocked:
            raise PermissionError(13, "Permission denied")
        write_change(path, text)

    monkeypatch.setattr(agent_setup, "write_change", refuse)
    words = ("--yes", "--no-instructions", "--command", "uvx ragstone")
    first = quick("install", "cursor", *words)
    assert first.code != 0
    assert f"{blocked} cannot be written: Permission denied (no file was written)" in first.err
    second = quick("install", "claude-code", "cursor", *words)
    assert f"(already written: {settings / '.mcp.json'})" in second.err


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("claude", "claude-code"),
        ("junie", "jetbrains"),
        ("gemini", "gemini-cli"),
        ("Zed", "zed"),
    ],
)
def test_a_name_near_an_agent_gets_a_suggestion(quick: Command, word: str, meant: str) -> None:
    ran = quick("install", word)
    assert ran.code
    assert f"there is no agent {word!r} (did you mean {meant}? there are " in ran.err


def test_a_name_near_no_agent_gets_the_list(quick: Command) -> None:
    assert (
        "there is no agent 'nothing' (there are claude-code, "
        in quick("install", "nothing").err
    )


def test_a_settings_file_of_the_user_shows_that_an_agent_is_there(
    quick: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.surfaces.install.agents.search_path", list)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project.parent / "config"))
    assert "no agent was found here" in quick("install", "--dry-run").err
    (project.parent / ".claude.json").write_text("{}", encoding="utf-8")
    assert [change["agent"] for change in quick("install", "--dry-run", "--json").json["changes"]] == [
        "claude-code", "claude-code",
    ]  # fmt: skip
