"""One story that every surface tells: search, context, memory, and two mistakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp import Client as McpClient

from ragstone import AsyncClient, Client, Engine, RagstoneError
from tests.support.running_server import RunningServer

ErrorText = tuple[str, str]
"""The code and the message of an error."""


@dataclass(frozen=True)
class Answers:
    """The answers of one surface."""

    hits: list[str]
    citations: list[str]
    turns: list[tuple[int, str]]
    errors: list[ErrorText]
    """Of a search in a collection that is not there, and of a session with a control character."""


@dataclass
class Story:
    """Sync, search, build a context, remember and recall, and search in the wrong way."""

    engine: Engine
    server: RunningServer
    query: str = "waiting longer after a failure"
    content: str = "The quarry opens at nine."
    question: str = "when does it open"
    missing: str = "nowhere"
    bad_name: str = "a\x07b"

    def through_library(self) -> Answers:
        self.engine.sync()
        self.server.state.engines.own.sync()
        return self._through(self.engine, "library")

    def through_client(self) -> Answers:
        with Client(self.server.url) as client:
            return self._through(client, "client")

    def _through(self, engine: Any, session: str) -> Answers:  # noqa: ANN401 - an engine or a client
        engine.remember(session, "user", self.content)
        recalled = engine.recall(session, self.question)
        errors = []
        try:
            engine.search(self.query, collection=self.missing)
        except RagstoneError as error:
            errors.append((error.code, error.message))
        try:
            engine.remember(self.bad_name, "user", self.content)
        except RagstoneError as error:
            errors.append((error.code, error.message))
        return Answers(
            [hit.doc_id for hit in engine.search(self.query)],
            [cited.citation for cited in engine.context(self.query, 500).cited],
            [(result.turn.index, result.turn.content) for result in recalled],
            errors,
        )

    async def through_async_client(self) -> Answers:
        async with AsyncClient(self.server.url) as client:
            await client.remember("async", "user", self.content)
            recalled = await client.recall("async", self.question)
            errors = []
            try:
                await client.search(self.query, collection=self.missing)
            except RagstoneError as error:
                errors.append((error.code, error.message))
            try:
                await client.remember(self.bad_name, "user", self.content)
            except RagstoneError as error:
                errors.append((error.code, error.message))
            hits = await client.search(self.query)
            context = await client.context(self.query, 500)
        return Answers(
            [hit.doc_id for hit in hits],
            [cited.citation for cited in context.cited],
            [(result.turn.index, result.turn.content) for result in recalled],
            errors,
        )

    def through_rest(self) -> Answers:
        post = self.server.post
        memory = "/api/rag/memory/rest"
        turn = {"role": "user", "content": self.content}
        post(f"{memory}/add", turn)
        recalled = post(f"{memory}/search", {"query": self.question}).json()["results"]
        hits = post("/api/rag/search", {"query": self.query}).json()["results"]
        context = post("/api/rag/context", {"task": self.query, "budget": 500}).json()
        wrong = {"query": self.query, "collection": self.missing}
        errors = [
            post("/api/rag/search", wrong).json()["error"],
            post("/api/rag/turns", {**turn, "session_id": self.bad_name}).json()["error"],
        ]
        return Answers(
            [hit["doc_id"] for hit in hits],
            [cited["place"] for cited in context["cited"]],
            [(result["turn_index"], result["content"]) for result in recalled],
            [(error["code"], error["message"]) for error in errors],
        )

    def through_command(self, quick: Callable[..., Any]) -> Answers:
        quick("remember", self.content, "--session", "command")
        recalled = quick("recall", self.question, "--session", "command", "--json").json
        context = quick("context", self.query, "--budget", "500", "--json").json
        wrong = ("search", self.query, "--collection", self.missing, "--json")
        bad_turn = ("remember", self.content, "--session", self.bad_name, "--json")
        errors = [quick(*wrong).json["error"], quick(*bad_turn).json["error"]]
        return Answers(
            [hit["doc_id"] for hit in quick("search", self.query, "--json").json["results"]],
            [cited["place"] for cited in context["cited"]],
            [(result["turn_index"], result["content"]) for result in recalled["results"]],
            [(error["code"], error["message"]) for error in errors],
        )

    async def through_mcp(self, transport: Any, session: str) -> Answers:  # noqa: ANN401 - of the SDK
        async with McpClient(transport) as client:
            turn = {"session_id": session, "content": self.content}
            await client.call_tool("rag_memory_add", turn)
            question = {"session_id": session, "query": self.question}
            recalled = await client.call_tool("rag_memory_search", question)
            hits = await client.call_tool("rag_search", {"query": self.query})
            task = {"task": self.query, "token_budget": 500}
            context = await client.call_tool("rag_context", task)
            wrong = {"query": self.query, "collection": self.missing}
            failed = [
                await client.call_tool("rag_search", wrong),
                await client.call_tool("rag_memory_add", {**turn, "session_id": self.bad_name}),
            ]
        results = [answer.structured_content["results"] for answer in (hits, context, recalled)]
        errors = [answer.structured_content["error"] for answer in failed]
        return Answers(
            [hit["doc_id"] for hit in results[0]],
            [cited["citation"] for cited in results[1]],
            [(result["turn_index"], result["content"]) for result in results[2]],
            [(error["code"], error["message"]) for error in errors],
        )
