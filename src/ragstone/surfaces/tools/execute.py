"""The tool `rag_execute`: any other tool by its dotted name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragstone.errors import InputError
from ragstone.surfaces.present import Json
from ragstone.surfaces.tools.schemas import result_schema, text_schema
from ragstone.surfaces.tools.tool import Tool, ToolAnswer, ToolCall

_ACTION: Final = "action"
_ARGUMENTS: Final = "arguments"


def dotted_name(tool: Tool) -> str:
    """Return the name of a tool as an action: `rag.collection.create` for `rag_collection_create`."""
    return tool.name.replace("_", ".")


def execute_tool(tools: Sequence[Tool]) -> Tool:
    """Return the tool `rag_execute` for some tools.

    The arguments of the action are at the same level, or in the object `arguments`.
    """
    tools_by_action = {dotted_name(tool): tool for tool in tools}

    def run(call: ToolCall) -> ToolAnswer:
        action = call.arguments[_ACTION].replace("_", ".")
        tool = tools_by_action.get(action)
        if tool is None:
            raise InputError(
                f"there is no action {action[:80]!r}",
                hint=f"there are {', '.join(tools_by_action)}",
            )
        arguments: Json = dict(call.arguments)
        del arguments[_ACTION]
        arguments |= arguments.pop(_ARGUMENTS, {})
        return tool(call.engine, arguments, fresh=call.fresh, cancellation=call.cancellation)

    properties = {
        _ACTION: text_schema(f"One of {', '.join(tools_by_action)}."),
        _ARGUMENTS: {"type": "object", "description": "The arguments of the action."},
    }
    return Tool(
        "rag_execute",
        "Call any of the other tools by its dotted name, with its arguments beside `action`.",
        properties,
        (_ACTION,),
        run,
        result_schema(),
        read_only=False,
        destructive=True,
        accepts_more=True,
    )
