"""Tools for the OpenAI Agents SDK: `Agent(name="…", tools=tools(engine))`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

try:
    from agents import FunctionTool
    from agents.tool_context import ToolContext
except ImportError as error:
    from ragstone.errors import MissingExtra

    raise MissingExtra(
        "the OpenAI Agents SDK is not installed", hint="pip install 'ragstone[openai-agents]'"
    ) from error

from ragstone.engine import Engine
from ragstone.surfaces import tools as ours


def tools(engine: Engine, chosen: Sequence[ours.Tool] = ours.DEFAULT_TOOLS) -> list[FunctionTool]:
    """Return an engine's tools as the SDK takes them."""
    return [
        FunctionTool(
            name=one.name,
            description=one.description,
            params_json_schema=one.parameters,
            on_invoke_tool=_invoker(engine, one),
            strict_json_schema=False,  # strict mode knows no argument that may be left out
        )
        for one in chosen
    ]


def _invoker(engine: Engine, tool: ours.Tool) -> Callable[[ToolContext[Any], str], Awaitable[str]]:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        try:
            given = json.loads(arguments or "{}")
        except ValueError:
            return f"{tool.name}: the arguments are not JSON"
        if not isinstance(given, dict):
            return f"{tool.name}: the arguments are an object"
        found = await asyncio.to_thread(tool, engine, given)
        return found.text

    return invoke
