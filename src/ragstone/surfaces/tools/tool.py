"""The parts of a tool for an agent: its schema, its arguments and its answer with a bounded length."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from ragstone.config.validation import check_arguments
from ragstone.engine import Engine
from ragstone.errors import InputError, RagstoneError
from ragstone.protocols.cancellation import Cancellation, Cancelled
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.failures import failure_json
from ragstone.text.tokens import at_most

MAX_TEXT_TOKENS: Final = 8000
"""No answer's text is longer."""
MAX_DATA_TOKENS: Final = 9000
"""No answer's data is longer: a client may show the model the data and not the text, so both have the passages."""
MAX_NOTE_TOKENS: Final = 100
TIME_LIMIT_SECONDS: Final = 30.0
"""A read-only tool answers within this time; the work that takes longer is cancelled."""
_MAX_CHARACTERS_PER_TOKEN: Final = 16
_ELLIPSIS: Final = "…"

Schema = Json


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """An answer as text for a model, and as data for a program."""

    text: str
    data: Json = field(default_factory=dict)
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call with checked arguments; if `fresh` is False, the index answers without looking for changed files."""

    engine: Engine
    arguments: Json
    fresh: bool = True
    cancellation: Cancellation | None = None
    """The switch of the caller; a tool that calls another one passes it on."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model can call; a wrong argument gives an answer that explains it, never an exception."""

    name: str
    description: str
    properties: Mapping[str, Schema]
    required: tuple[str, ...]
    run: Callable[[ToolCall], ToolAnswer]
    output: Schema = field(default_factory=dict)
    read_only: bool = True
    destructive: bool = False
    """Whether it removes anything."""
    accepts_more: bool = False
    """Whether it passes further arguments on to another tool, which checks them."""
    seconds: float = TIME_LIMIT_SECONDS
    """The time limit of a read-only tool. A tool that writes has none: its answer says what was stored."""

    @property
    def parameters(self) -> Schema:
        """Return the JSON schema of the arguments."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": self.accepts_more,
        }

    def openai(self) -> Schema:
        """Return the schema for OpenAI's function calling."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        return {"type": "function", "function": function}

    def anthropic(self) -> Schema:
        """Return the schema for Anthropic's tool use."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.parameters,
        }

    def mcp(self) -> Schema:
        """Return the schema for the Model Context Protocol."""
        hints = {"readOnlyHint": self.read_only, "openWorldHint": False}
        if not self.read_only:  # it says nothing about a tool that only reads
            hints["destructiveHint"] = self.destructive
        schema: Schema = {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.parameters,
            "annotations": hints,
        }
        if self.output:
            schema["outputSchema"] = self.output
        return schema

    def __call__(
        self,
        engine: Engine,
        arguments: Mapping[str, object],
        *,
        fresh: bool = True,
        cancellation: Cancellation | None = None,
    ) -> ToolAnswer:
        """Return the answer to a call; an error or the end of the time limit becomes a failed answer."""
        try:
            call = ToolCall(engine, self._checked(arguments), fresh, cancellation)
            if not self.read_only:
                return self.run(call)
            work = partial(self.run, call)
            return run_with_limit(work, self.seconds, cancellation or Cancellation())
        except RagstoneError as error:
            return failed_answer(error)
        except Cancelled:
            message = f"{self.name} took longer than {self.seconds:g} seconds and was cancelled"
            hint = "ask a narrower question, or try again when the index is up to date"
            error_json = {
                "code": "time_limit",
                "message": message,
                "hint": hint,
                "retryable": True,
            }
            data = {"success": False, "error": error_json}
            return ToolAnswer(f"{message} ({hint})", data, failed=True)

    def _checked(self, arguments: Mapping[str, object]) -> Json:
        """Return the arguments that are not None; `InputError` if one does not match its schema."""
        if not isinstance(arguments, Mapping):
            hint = f"they are an object with {', '.join(self.properties) or 'nothing in it'}"
            raise InputError(f"the arguments of {self.name} are {arguments!r:.80}", hint=hint)
        further: Json = {}
        known = dict(arguments)
        if self.accepts_more:
            further = {key: known.pop(key) for key in arguments if key not in self.properties}
        return further | check_arguments(self.name, self.properties, self.required, known)


def run_with_limit(
    work: Callable[[], ToolAnswer], seconds: float, cancellation: Cancellation
) -> ToolAnswer:
    """Return the answer of some work; after the time limit cancel it and raise `Cancelled`.

    The work runs in a separate thread, so that the answer comes in time even if one step of the work hangs.
    """
    result: Future[ToolAnswer] = Future()

    def run() -> None:
        try:
            with cancellation.applied():
                result.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            result.set_exception(error)

    threading.Thread(target=run, name="ragstone-tool", daemon=True).start()
    try:
        return result.result(seconds)
    except TimeoutError:
        if result.done():
            raise
        cancellation.cancel()
        raise Cancelled from None


def failed_answer(error: RagstoneError) -> ToolAnswer:
    """Return an error as the answer of a tool."""
    data = {"success": False, "error": failure_json(error)}
    return ToolAnswer(str(error), data, failed=True)


def bind_tools(engine: Engine, tools: Sequence[Tool]) -> dict[str, Callable[..., str]]:
    """Return tools as functions of one engine: `functions["rag_search"](query="…")` returns text."""
    return {tool.name: _bind(engine, tool) for tool in tools}


def _bind(engine: Engine, tool: Tool) -> Callable[..., str]:
    def call(**arguments: object) -> str:
        return tool(engine, arguments).text

    call.__name__ = tool.name
    call.__doc__ = tool.description
    return call


def limit_answer(answer: ToolAnswer, note: str = "") -> ToolAnswer:
    """Return the answer with bounded text and data, and with a note about the index."""
    text = truncate(answer.text, MAX_TEXT_TOKENS)
    data = answer.data
    note = truncate(note, MAX_NOTE_TOKENS)
    if note:
        text = f"{text}\n({note})"
        data = {**data, "index": note}
    return replace(answer, text=text, data=_limit_data(data))


def truncate(text: str, max_tokens: int) -> str:
    """Return the text, or its beginning with an ellipsis if it has more tokens."""
    if at_most(text) <= max_tokens:
        return text
    length = min(len(text), max_tokens * _MAX_CHARACTERS_PER_TOKEN)
    while length and at_most(text[:length] + _ELLIPSIS) > max_tokens:
        estimate = int(length * 0.95 * max_tokens / at_most(text[:length]))
        length = min(length - 1, estimate)
    if length == 0:
        return ""
    return text[:length] + _ELLIPSIS


def _limit_data(data: Json) -> Json:
    """Return the data without the last results if it is too long."""
    results = data.get("results", [])
    already_left_out = data.get("left_out", 0)
    count = len(results)
    while count and _count_data_tokens(data) > MAX_DATA_TOKENS:
        count = min(count - 1, count * 3 // 4)
        data = {
            **data,
            "results": results[:count],
            "left_out": len(results) - count + already_left_out,
        }
    if _count_data_tokens(data) > MAX_DATA_TOKENS:
        return {"success": data.get("success", False), "note": "the data is too long"}
    return data


def _count_data_tokens(data: Json) -> int:
    return at_most(json.dumps(data, ensure_ascii=False, default=str))
