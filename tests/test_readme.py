"""The README: its lines for installing and for connecting an agent are those that work."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.surfaces.install.agents import AGENTS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PACKAGE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def claude_code_command() -> list[str]:
    """Return the command in the line for Claude Code."""
    match = re.search(r"^claude mcp add ragstone -- ([^#\n]+)", README, re.MULTILINE)
    assert match is not None
    return shlex.split(match[1])


def vs_code_command() -> list[str]:
    """Return the command in the line for VS Code."""
    match = re.search(r"^code --add-mcp ('[^']+')", README, re.MULTILINE)
    assert match is not None
    entry = json.loads(shlex.split(match[1])[0])
    assert entry["name"] == "ragstone"
    return [entry["command"], *entry["args"]]


def cursor_command() -> list[str]:
    """Return the command in the settings for Cursor."""
    match = re.search(r"^```json\n(.+?)^```$", README, re.MULTILINE | re.DOTALL)
    assert match is not None
    entry = json.loads(match[1])["mcpServers"]["ragstone"]
    return [entry["command"], *entry["args"]]


@pytest.mark.parametrize("read_words", [claude_code_command, vs_code_command, cursor_command])
def test_every_line_that_connects_an_agent_starts_the_mcp_server(
    read_words: Callable[[], list[str]],
) -> None:
    program, *arguments = read_words()
    assert program in PACKAGE["scripts"]
    ran = subprocess.run(
        [sys.executable, "-m", "ragstone", *arguments, "--list-tools"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "rag_search" in {tool["name"] for tool in json.loads(ran.stdout)["tools"]}


@pytest.mark.parametrize(("name", "key"), [("cursor", "mcpServers"), ("vscode", "servers")])
def test_settings_files_are_those_that_the_install_command_writes(name: str, key: str) -> None:
    (agent,) = (agent for agent in AGENTS if agent.name == name)
    assert f"`{agent.project_config}`" in README
    assert agent.keys == (key,)
    assert f'"{key}"' in README or f"`{key}`" in README


def test_the_readme_installs_the_package_by_its_name() -> None:
    name = PACKAGE["name"]
    for line in (f"pip install {name}", f"pipx install {name}", f'uvx {name} "'):
        assert re.search(rf"(?<![\w-]){re.escape(line)}", README), line


def test_the_guide_to_every_adapter_is_linked() -> None:
    guide = (ROOT / "docs" / "guides" / "integrations.md").read_text(encoding="utf-8")
    assert "](docs/guides/integrations.md)" in README
    folder = ROOT / "src" / "ragstone" / "integrations"
    modules = {path.stem for path in folder.glob("[a-z]*.py")}
    assert modules == {"langchain", "llama_index", "openai_agents", "pydantic_ai"}
    for module in modules:
        assert f"from ragstone.integrations.{module} import" in guide
