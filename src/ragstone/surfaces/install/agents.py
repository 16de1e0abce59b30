"""The agents that can be set up: where their settings are, and the form of an MCP server in them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import Final

from ragstone.config import search_path, user_config_folder
from ragstone.errors import InputError


class SettingsFormat(Enum):
    """The form of a settings file."""

    JSON = "json"
    TOML = "toml"
    OWN_FILE = "own file"
    """A file that holds our entry alone."""


@dataclass(frozen=True, slots=True)
class Launch:
    """The command that starts the MCP server."""

    program: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentClient:
    """An agent, the places of its settings and instructions, and how it is recognised."""

    name: str
    title: str
    programs: tuple[str, ...]
    """Programs on the search path that show that the agent is installed."""
    traces: tuple[str, ...]
    """Folders of the user or of the project that show it too."""
    project_config: str | None
    """The settings file in a project; None if the agent has settings of the user only."""
    user_config: Callable[[Path], Path]
    """The settings file in the home folder of the user."""
    keys: tuple[str, ...]
    """The keys under which servers are listed."""
    entry: Callable[[Launch], Mapping[str, object]]
    format: SettingsFormat = SettingsFormat.JSON
    folder_argument: str = ""
    """The variable for the project's folder, if the agent starts servers elsewhere; `absolute` for its path."""
    project_instructions: str = ""
    user_instructions: str = ""
    front_matter: str = ""
    """Lines before the instructions; an own file has them, a shared file such as AGENTS.md has not."""


def _plain_entry(launch: Launch) -> Mapping[str, object]:
    return {"command": launch.program, "args": list(launch.arguments)}


def _typed_entry(launch: Launch) -> Mapping[str, object]:
    return {"type": "stdio", **_plain_entry(launch)}


def _opencode_entry(launch: Launch) -> Mapping[str, object]:
    command = [launch.program, *launch.arguments]
    return {"type": "local", "command": command, "enabled": True}


def _zed_entry(launch: Launch) -> Mapping[str, object]:
    return {**_plain_entry(launch), "env": {}}


def _copilot_entry(launch: Launch) -> Mapping[str, object]:
    return {"type": "local", **_plain_entry(launch), "tools": ["*"]}


def _in_home(path: str) -> Callable[[Path], Path]:
    return lambda home: home / path


def _vscode_user_config(home: Path) -> Path:
    return _vscode_user_folder(home) / "mcp.json"


def _roo_user_config(home: Path) -> Path:
    extension = _vscode_user_folder(home) / "globalStorage" / "rooveterinaryinc.roo-cline"
    return extension / "settings" / "mcp_settings.json"


def _vscode_user_folder(home: Path) -> Path:
    folder = user_config_folder() or home / ".config"
    return folder / "Code" / "User"


def _zed_user_config(home: Path) -> Path:
    folder = home / ".config"
    if sys.platform == "win32":
        folder = user_config_folder() or folder
    return folder / "zed" / "settings.json"


_NEAR: Final = 0.6
"""`claude` is near `claude-code`, `clod` is not."""
_SERVERS: Final = ("mcpServers",)
_CURSOR_RULE: Final = (
    "---\ndescription: When to use the tools of Ragstone\nalwaysApply: true\n---\n"
)

AGENTS: Final = (
    AgentClient("claude-code", "Claude Code", ("claude",), (".claude",), ".mcp.json",
          _in_home(".claude.json"), _SERVERS, _typed_entry,
          project_instructions="CLAUDE.md", user_instructions=".claude/CLAUDE.md"),
    AgentClient("cursor", "Cursor", ("cursor", "cursor-agent"), (".cursor",), ".cursor/mcp.json",
          _in_home(".cursor/mcp.json"), _SERVERS, _plain_entry, folder_argument="${workspaceFolder}",
          project_instructions=".cursor/rules/ragstone.mdc", front_matter=_CURSOR_RULE),
    AgentClient("vscode", "VS Code (Copilot)", ("code", "code-insiders"),
          (".vscode", ".config/Code", "Library/Application Support/Code", "AppData/Roaming/Code"), ".vscode/mcp.json",
          _vscode_user_config, ("servers",), _typed_entry, folder_argument="${workspaceFolder}",
          project_instructions=".github/instructions/ragstone.instructions.md",
          front_matter='---\napplyTo: "**"\n---\n'),
    AgentClient("codex", "Codex", ("codex",), (".codex",), ".codex/config.toml",
          _in_home(".codex/config.toml"), ("mcp_servers",), _plain_entry, SettingsFormat.TOML,
          project_instructions="AGENTS.md", user_instructions=".codex/AGENTS.md"),
    AgentClient("gemini-cli", "Gemini CLI", ("gemini",), (".gemini",), ".gemini/settings.json",
          _in_home(".gemini/settings.json"), _SERVERS, _plain_entry,
          project_instructions="GEMINI.md", user_instructions=".gemini/GEMINI.md"),
    AgentClient("opencode", "OpenCode", ("opencode",), (".opencode", ".config/opencode"), "opencode.json",
          _in_home(".config/opencode/opencode.json"), ("mcp",), _opencode_entry,
          project_instructions="AGENTS.md", user_instructions=".config/opencode/AGENTS.md"),
    AgentClient("zed", "Zed", ("zed", "zeditor"), (".zed", ".config/zed"), ".zed/settings.json",
          _zed_user_config, ("context_servers",), _zed_entry, project_instructions="AGENTS.md"),
    AgentClient("windsurf", "Windsurf", ("windsurf",), (".windsurf", ".codeium/windsurf"), None,
          _in_home(".codeium/windsurf/mcp_config.json"), _SERVERS, _plain_entry,
          folder_argument="absolute", project_instructions=".windsurf/rules/ragstone.md",
          front_matter="---\ntrigger: always_on\n---\n"),
    AgentClient("kiro", "Kiro", ("kiro", "kiro-cli"), (".kiro",), ".kiro/settings/mcp.json",
          _in_home(".kiro/settings/mcp.json"), _SERVERS, _plain_entry,
          project_instructions=".kiro/steering/ragstone.md", user_instructions=".kiro/steering/ragstone.md",
          front_matter="---\ninclusion: always\n---\n"),
    AgentClient("qwen-code", "Qwen Code", ("qwen",), (".qwen",), ".qwen/settings.json",
          _in_home(".qwen/settings.json"), _SERVERS, _plain_entry,
          project_instructions="QWEN.md", user_instructions=".qwen/QWEN.md"),
    AgentClient("continue", "Continue", ("cn",), (".continue",), ".continue/mcpServers/ragstone.yaml",
          _in_home(".continue/mcpServers/ragstone.yaml"), (), _plain_entry, SettingsFormat.OWN_FILE,
          project_instructions=".continue/rules/ragstone.md", user_instructions=".continue/rules/ragstone.md",
          front_matter="---\nname: Ragstone\nalwaysApply: true\n---\n"),
    AgentClient("jetbrains", "JetBrains (Junie)", ("junie", "idea", "pycharm", "phpstorm", "webstorm"),
          (".junie", ".idea"), ".junie/mcp/mcp.json", _in_home(".junie/mcp/mcp.json"), _SERVERS, _plain_entry,
          project_instructions=".junie/guidelines.md"),
    AgentClient("copilot-cli", "GitHub Copilot CLI", ("copilot",), (".copilot",), ".github/mcp.json",
          _in_home(".copilot/mcp-config.json"), _SERVERS, _copilot_entry,
          project_instructions="AGENTS.md", user_instructions=".copilot/copilot-instructions.md"),
    AgentClient("antigravity", "Antigravity", ("agy", "antigravity"), (".gemini/antigravity", ".gemini/antigravity-cli"),
          ".agents/mcp_config.json", _in_home(".gemini/config/mcp_config.json"), _SERVERS, _plain_entry,
          folder_argument="absolute", project_instructions="AGENTS.md", user_instructions=".gemini/GEMINI.md"),
    AgentClient("cline", "Cline", ("cline",), (".cline", ".clinerules"), None,
          _in_home(".cline/data/settings/cline_mcp_settings.json"), _SERVERS, _plain_entry, folder_argument="absolute",
          project_instructions=".clinerules/ragstone.md", user_instructions=".cline/rules/ragstone.md"),
    AgentClient("roo-code", "Roo Code", (), (".roo",), ".roo/mcp.json", _roo_user_config, _SERVERS, _plain_entry,
          folder_argument="${workspaceFolder}",
          project_instructions=".roo/rules/ragstone.md", user_instructions=".roo/rules/ragstone.md"),
    AgentClient("kilo-code", "Kilo Code", ("kilo",), (".kilo", ".kilocode", ".config/kilo"), ".kilo/kilo.jsonc",
          _in_home(".config/kilo/kilo.jsonc"), ("mcp",), _opencode_entry,
          project_instructions="AGENTS.md", user_instructions=".config/kilo/AGENTS.md"),
    AgentClient("amp", "Amp", ("amp",), (".amp", ".config/amp"), ".amp/settings.json",
          _in_home(".config/amp/settings.json"), ("amp.mcpServers",), _plain_entry,
          project_instructions="AGENTS.md", user_instructions=".config/amp/AGENTS.md"),
    AgentClient("crush", "Crush", ("crush",), (".crush", ".config/crush"), "crush.json",
          _in_home(".config/crush/crush.json"), ("mcp",), _typed_entry, project_instructions="AGENTS.md"),
    AgentClient("grok", "Grok Build", ("grok",), (".grok",), ".grok/config.toml",
          _in_home(".grok/config.toml"), ("mcp_servers",), _plain_entry, SettingsFormat.TOML,
          project_instructions="AGENTS.md", user_instructions=".grok/AGENTS.md"),
)  # fmt: skip
"""Every agent that `ragstone install` knows, most used first."""


def find_agents(names: tuple[str, ...]) -> list[AgentClient]:
    """Return the named agents; `InputError` with the known names if one is unknown."""
    by_name = {agent.name: agent for agent in AGENTS}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        hint = f"there are {', '.join(by_name)}"
        meant = _nearest_agent(unknown[0])
        if meant:
            hint = f"did you mean {meant}? {hint}"
        raise InputError(f"there is no agent {unknown[0]!r}", hint=hint)
    return [by_name[name] for name in dict.fromkeys(names)]


def _nearest_agent(word: str) -> str:
    """Return the agent that a word means: by its name, its title or its program; empty if none is near."""
    names: dict[str, str] = {}
    for agent in AGENTS:
        for name in (agent.name, agent.title.casefold(), *agent.programs):
            names.setdefault(name, agent.name)
    near = get_close_matches(word.casefold(), names, n=1, cutoff=_NEAR)
    return names[near[0]] if near else ""


def detect_agents(project: Path, home: Path) -> list[AgentClient]:
    """Return the agents that are installed, or that the project has settings of."""
    folders = os.pathsep.join(search_path())
    return [agent for agent in AGENTS if _is_present(agent, project, home, folders)]


def _is_present(agent: AgentClient, project: Path, home: Path, folders: str) -> bool:
    if any(shutil.which(program, path=folders) for program in agent.programs):
        return True
    if any((project / trace).is_dir() for trace in agent.traces):
        return True
    if any((home / trace).is_dir() for trace in agent.traces):
        return True
    return agent.user_config(home).is_file()
