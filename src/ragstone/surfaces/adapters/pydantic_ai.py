"""Tools for a Pydantic AI agent: `Agent(model, tools=tools(engine))`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

try:
    from pydantic_ai import Tool
except ImportError as error:
    from ragstone.errors import MissingExtra

    raise MissingExtra("Pydantic AI is not installed", hint="pip install 'ragstone[pydantic-ai]'") from error

from ragstone.engine import Engine
from ragstone.surfaces import tools as ours


def tools(engine: Engine, chosen: Sequence[ours.Tool] = ours.DEFAULT_TOOLS) -> list[Tool[Any]]:
    """Return an engine's tools as Pydantic AI takes them."""
    plain = ours.bound(engine, chosen)
    return [Tool.from_schema(plain[one.name], one.name, one.description, one.parameters) for one in chosen]
