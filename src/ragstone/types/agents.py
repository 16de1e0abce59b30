"""Agents of other tools, as far as their documents go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ragstone.types.documents import Skip

Strategy = Literal["preload", "rag"]


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent that `agents.yaml` names: which documents it gets, and how."""

    name: str
    sources: tuple[str, ...] = ()
    """Globs below the base folder; none: it has no documents."""
    strategy: Strategy = "preload"
    """`preload` puts whole files into its prompt, `rag` gives it a tool to search them."""
    budget: int = 12_000
    """Tokens of its prompt that `preload` may fill."""
    top_k: int = 5
    chunk_size: int | None = None
    chunk_overlap: int | None = None
    origin: str = ""
    """Where its `docs` come from."""


@dataclass(frozen=True, slots=True)
class AgentPrompt:
    """What an agent's prompt is given of its documents, and what it is not."""

    agent: str
    strategy: Strategy
    """What was done: `preload` also where `rag` could not be."""
    text: str
    tokens: int
    budget: int
    files: tuple[str, ...] = ()
    """The files whose whole text is in it."""
    left_out: tuple[Skip, ...] = ()
    tool: str = ""
    """The tool that the agent is to be given with it."""
    notes: tuple[str, ...] = ()
