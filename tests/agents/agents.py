"""Coding agents from npm, started without a terminal, with Ragstone as their only MCP server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ragstone

SERVER_ENVIRONMENT = {
    "PYTHONPATH": str(Path(ragstone.__file__).parents[1]),
    "RAGSTONE_RAG_EMBEDDING_PROVIDER": "fake",
}
"""The server is the package of this test run, which need not be the installed one."""
SECONDS = 240
QUESTION = "When does the gondola cross?"


@dataclass(frozen=True, slots=True)
class Launch:
    """The arguments and the environment of an agent."""

    arguments: Sequence[str]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent: its program, and a function that writes its settings and returns how to start it."""

    program: str
    prepare: Callable[[Path, Path, str], Launch]

    def run(
        self, folder: Path, project: Path, home: Path, url: str
    ) -> subprocess.CompletedProcess[str]:
        """Ask the agent a question in a project; its model is at `url`, and nothing else is reached."""
        launch = self.prepare(project, home, url)
        return subprocess.run(
            [str(folder / "node_modules" / ".bin" / self.program), *launch.arguments],
            cwd=project,
            env=environment_of(launch, home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )


def environment_of(launch: Launch, home: Path) -> dict[str, str]:
    """Return the environment of an agent."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "NO_COLOR": "1",
        "no_proxy": "127.0.0.1",
        **launch.environment,
    }


def server_command(project: Path) -> list[str]:
    """Return the command that a client starts Ragstone with."""
    return [sys.executable, "-m", "ragstone", "mcp", "-C", str(project)]


def claude_code(project: Path, home: Path, url: str) -> Launch:
    """Set up Claude Code."""
    command, *arguments = server_command(project)
    server = {"command": command, "args": arguments, "env": SERVER_ENVIRONMENT}
    config = home / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"ragstone": server}}))
    arguments = ["--mcp-config", str(config), "--strict-mcp-config"]
    launch = connected_claude_code(project, home, url)
    return Launch([*launch.arguments, *arguments], launch.environment)


def connected_claude_code(project: Path, home: Path, url: str) -> Launch:
    """Set up Claude Code without a server: another program has added it."""
    return Launch(
        [
            "-p",
            QUESTION,
            "--allowedTools",
            "mcp__ragstone__rag_search,mcp__ragstone__rag_context",
        ],
        {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "MCP_TIMEOUT": "120000",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            **SERVER_ENVIRONMENT,
        },
    )


def codex(project: Path, home: Path, url: str) -> Launch:
    """Set up Codex."""
    command, *arguments = server_command(project)
    settings = f"""
model = "fake"
model_provider = "fake"
approval_policy = "never"
[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
[mcp_servers.ragstone]
command = {json.dumps(command)}
args = {json.dumps(arguments)}
startup_timeout_sec = 120
required = true
[mcp_servers.ragstone.env]
{chr(10).join(f"{name} = {json.dumps(value)}" for name, value in SERVER_ENVIRONMENT.items())}
"""
    folder = home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text(settings)
    return Launch(
        ["exec", "--skip-git-repo-check", QUESTION],
        {"CODEX_HOME": str(folder), "FAKE_KEY": "dummy"},
    )


def gemini(project: Path, home: Path, url: str) -> Launch:
    """Set up Gemini CLI."""
    command, *arguments = server_command(project)
    server = {"command": command, "args": arguments, "trust": True, "env": SERVER_ENVIRONMENT}
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True},
        "mcpServers": {"ragstone": server},
    }
    folder = home / ".gemini"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps(settings))
    return Launch(
        [
            "-m",
            "gemini-2.5-flash",
            "--approval-mode",
            "yolo",
            "--skip-trust",
            "-p",
            QUESTION,
        ],
        {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": url},
    )


def opencode(project: Path, home: Path, url: str) -> Launch:
    """Set up OpenCode."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "dummy"},
        "models": {"fake": {"name": "fake", "tool_call": True}},
    }
    server = {
        "type": "local",
        "command": server_command(project),
        "enabled": True,
        "timeout": 120_000,
        "environment": SERVER_ENVIRONMENT,
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": "fake/fake",
        "small_model": "fake/fake",
        "provider": {"fake": provider},
        "mcp": {"ragstone": server},
    }
    (project / "opencode.json").write_text(json.dumps(settings))
    return Launch(
        ["run", "-m", "fake/fake", QUESTION],
        {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
    )


AGENTS = (
    Agent("claude", claude_code),
    Agent("codex", codex),
    Agent("gemini", gemini),
    Agent("opencode", opencode),
)
