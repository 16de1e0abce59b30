"""Prompts that a user starts in a client: knowledge for a task, and messages about a subject."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import mcp_types as types
from mcp.shared.exceptions import MCPError

from ragstone.errors import Overloaded, TimedOut
from ragstone.surfaces.mcp.session import McpSession, RequestContext
from ragstone.surfaces.present.failures import failure_codes
from ragstone.surfaces.tools import MEMORY_SEARCH, RAG_CONTEXT
from ragstone.surfaces.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class _PromptRecipe:
    """A prompt: the tool that finds its material, and the sentence before the material."""

    name: str
    description: str
    argument: str
    about: str
    tool: Tool
    tool_argument: str
    opening: str


_RECIPES: Final = (
    _PromptRecipe(
        "work_on",
        "Start a task with what the project knows about it.",
        "task",
        "What you are about to do.",
        RAG_CONTEXT,
        "task",
        "Do this task. Use the passages below and cite their places. Task: ",
    ),
    _PromptRecipe(
        "what_did_we_decide",
        "Collect what was said about a subject in earlier conversations.",
        "subject",
        "The subject.",
        MEMORY_SEARCH,
        "query",
        "Summarise what was decided about this subject, with session and turn. Subject: ",
    ),
)


@dataclass(frozen=True, slots=True)
class PromptHandlers:
    """Answers requests for prompts."""

    find: Callable[[RequestContext], McpSession]

    async def list_prompts(
        self,
        context: RequestContext,
        params: types.PaginatedRequestParams | None,
    ) -> types.ListPromptsResult:
        """Return all prompts."""
        return types.ListPromptsResult(prompts=[_prompt(recipe) for recipe in _RECIPES])

    async def get_prompt(
        self, context: RequestContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Return a prompt with the material for its argument."""
        recipe = next((each for each in _RECIPES if each.name == params.name), None)
        if recipe is None:
            names = ", ".join(each.name for each in _RECIPES)
            message = f"there is no prompt {params.name[:80]!r}; there are {names}"
            raise MCPError(types.INVALID_PARAMS, message)
        value = (params.arguments or {}).get(recipe.argument)
        if value is None:
            message = f"the prompt {recipe.name!r} needs {recipe.argument!r}"
            raise MCPError(types.INVALID_PARAMS, message)
        session = self.find(context)
        arguments = {recipe.tool_argument: value}
        try:
            answer = await session.run(partial(session.answer, recipe.tool, arguments))
        except (Overloaded, TimedOut) as error:
            raise MCPError(failure_codes(error).mcp, str(error)) from error
        if answer.failed:
            raise MCPError(types.INVALID_PARAMS, answer.text)
        text = f"{recipe.opening}{value}\n\n{answer.text}"
        content = types.TextContent(type="text", text=text)
        messages = [types.PromptMessage(role="user", content=content)]
        return types.GetPromptResult(description=recipe.description, messages=messages)


def _prompt(recipe: _PromptRecipe) -> types.Prompt:
    argument = types.PromptArgument(
        name=recipe.argument, description=recipe.about, required=True
    )
    return types.Prompt(name=recipe.name, description=recipe.description, arguments=[argument])
