"""Agents of other tools, and the documents in their prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ragstone.types.documents import Skip

Strategy = Literal["preload", "rag"]


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent in `agents.yaml`: its documents, and how it gets them."""

    name: str
    sources: tuple[str, ...] = ()
    """Globs below the base folder; if empty, the agent has no documents."""
    strategy: Strategy = "preload"
    """`preload` puts whole files into its prompt, `rag` gives it a tool to search them."""
    budget: int = 12_000
    """Tokens of its prompt that `preload` may fill."""
    top_k: int = 5
    chunk_size: int | None = None
    chunk_overlap: int | None = None
    origin: str = ""
    """The file that its `docs` come from."""


@dataclass(frozen=True, slots=True)
class AgentPrompt:
    """The text for an agent's prompt, and the documents that are not in it."""

    agent: str
    strategy: Strategy
    """The strategy that was used: `preload` if `rag` was not possible."""
    text: str
    tokens: int
    budget: int
    files: tuple[str, ...] = ()
    """The files whose whole text is in the prompt."""
    left_out: tuple[Skip, ...] = ()
    tool: str = ""
    """The tool that the agent needs with this prompt."""
    notes: tuple[str, ...] = ()
