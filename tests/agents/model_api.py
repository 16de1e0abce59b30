"""A model API on this machine: it speaks the protocols of four vendors, calls one tool, and records the requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

FINAL = "All done."
WAIT = "WaitForMcpServers"
"""A tool of Claude Code: while MCP servers start, a model calls it before their tools."""


class ToolName(NamedTuple):
    """The name of a tool as the client declares it, and the namespace if it uses one."""

    name: str
    namespace: str


class ModelApi:
    """Answers the first request that declares the tool with a call of it, and every other request with a text."""

    def __init__(self, tool: str, arguments: Mapping[str, object]) -> None:
        """Take the end of the tool's name, because clients put the server's name before it."""
        self.tool = tool
        self.arguments = dict(arguments)
        self.requests: list[tuple[str, str]] = []
        self.url = ""
        self._lock = threading.Lock()
        self.was_tool_called = False

    def answer(self, path: str, body: str) -> list[dict[str, Any] | str]:
        """Return the events of a reply, in the form of the vendor whose path was requested."""
        request = json.loads(body or "{}")
        with self._lock:
            self.requests.append((path, body))
            call = None
            if not self.was_tool_called:
                call = self._find_tool(request, self.tool)
            self.was_tool_called = self.was_tool_called or call is not None
        if path.startswith("/v1/messages"):
            wait = None if self.was_tool_called else self._find_tool(request, WAIT)
            return _anthropic(wait, {}) if wait else _anthropic(call, self.arguments)
        if "/responses" in path:
            return _responses(call, self.arguments)
        if "enerateContent" in path:
            return _gemini(call, self.arguments)
        return _chat(call, self.arguments)

    @property
    def received(self) -> str:
        """Return everything that the client sent to the model."""
        return "\n".join(body for _, body in self.requests)

    def _find_tool(self, request: Mapping[str, object], ending: str) -> ToolName | None:
        """Return the full name of the tool that ends like this if a request declares it."""
        for tool in _declared_tools(request.get("tools") or [], ""):
            if tool.name.endswith(ending):
                return tool
        return None


def _declared_tools(value: object, namespace: str) -> Iterator[ToolName]:
    """Yield the tools of a request, which vendors nest in different ways."""
    if isinstance(value, dict):
        name = value.get("name")
        if isinstance(name, str):
            yield ToolName(name, namespace)
        if value.get("type") == "namespace":
            namespace = str(name)
        for part in value.values():
            yield from _declared_tools(part, namespace)
    elif isinstance(value, list):
        for part in value:
            yield from _declared_tools(part, namespace)


def _anthropic(
    call: ToolName | None, arguments: Mapping[str, object]
) -> list[dict[str, Any] | str]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    if call:
        block: dict[str, Any] = {
            "type": "tool_use",
            "id": f"toolu_{call.name}",
            "name": call.name,
            "input": {},
        }
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": FINAL}
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-fake",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    stop = "tool_use" if call else "end_turn"
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": usage,
        },
        {"type": "message_stop"},
    ]


def _responses(
    call: ToolName | None, arguments: Mapping[str, object]
) -> list[dict[str, Any] | str]:
    if call:
        item: dict[str, Any] = {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": call.name,
            "arguments": json.dumps(arguments),
        }
        if call.namespace:
            item["namespace"] = call.namespace
    else:
        item = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": FINAL}],
        }
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    response = {"id": "resp_1", "output": [item], "usage": usage}
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]


def _gemini(
    call: ToolName | None, arguments: Mapping[str, object]
) -> list[dict[str, Any] | str]:
    part: dict[str, Any] = {"text": FINAL}
    if call:
        part = {"functionCall": {"name": call.name, "args": dict(arguments)}}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    return [{"candidates": [candidate], "usageMetadata": usage}]


def _chat(call: ToolName | None, arguments: Mapping[str, object]) -> list[dict[str, Any] | str]:
    delta: dict[str, Any] = {"role": "assistant", "content": FINAL}
    if call:
        function = {"name": call.name, "arguments": json.dumps(arguments)}
        tool_call = {"index": 0, "id": "call_1", "type": "function", "function": function}
        delta = {"role": "assistant", "content": None, "tool_calls": [tool_call]}
    chunk = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
    reason = "tool_calls" if call else "stop"
    first = {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    last = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    return [first, last, "[DONE]"]


@contextmanager
def serve_model(tool: str, arguments: Mapping[str, object]) -> Iterator[ModelApi]:
    """Serve a model API on a free port of this machine while the `with` block runs."""
    api = ModelApi(tool, arguments)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(json.dumps({"data": [], "models": []}).encode(), "application/json")

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(length).decode("utf-8", "replace")
            if "count" in self.path.lower():
                self._reply(b'{"input_tokens": 1, "totalTokens": 1}', "application/json")
                return
            events = api.answer(self.path, body)
            if ":generateContent" in self.path:
                self._reply(json.dumps(events[0]).encode(), "application/json")
                return
            self._reply(b"".join(_event(event) for event in events), "text/event-stream")

        def _reply(self, data: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()


def _event(event: dict[str, Any] | str) -> bytes:
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()
