"""A session of MCP clients with one engine: calls are answered at once, while a thread brings the index up to date."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import anyio
from mcp.server.context import ServerRequestContext

from ragstone.engine import DEFAULT_PROJECT, Engine
from ragstone.errors import RagstoneError
from ragstone.protocols.cancellation import Cancellation
from ragstone.sources.folder.roots import is_risky
from ragstone.surfaces.mcp.other_servers import store_tools
from ragstone.surfaces.present.index_notes import (
    FIRST_INDEXING,
    SCANNING,
    describe_home_in_cache,
    describe_vectors,
)
from ragstone.surfaces.tools.tool import Tool, ToolAnswer, limit_answer

FIRST_CALL_SECONDS: Final = 8.0
"""In a folder without an index, the first call waits this long for the words to be indexed."""
_CLOSE_SECONDS: Final = 3.0
_MAX_IDLE_ROUNDS: Final = 60
"""Another process is making the vectors: after this many rounds without work, leave them to it."""
logger = logging.getLogger(__name__)
Result = TypeVar("Result")
Lifespan: TypeAlias = dict[str, object]
"""The state of an MCP server while it runs: empty."""
RequestContext: TypeAlias = ServerRequestContext[Lifespan]


class _SessionClosed(Exception):
    """Ends the indexing thread when the client has disconnected."""


class McpSession:
    """Answers tool calls with one engine; a thread brings its index up to date.

    Until the thread has indexed all words, calls are answered from the index as it is. Calls may come from several
    threads at once.
    """

    def __init__(
        self, engine: Engine, *, first_call_seconds: float = FIRST_CALL_SECONDS
    ) -> None:
        """Take an engine, which the caller closes; `start` starts the thread."""
        self.engine = engine
        self._first_call_seconds = first_call_seconds
        self._note = ""
        self._is_embedding = False
        self._place_note = ""
        """A note for the first answer, if the index is not in the folder."""
        if engine.settings.is_home_in_cache and not engine.exists:
            self._place_note = describe_home_in_cache(engine.home)
        self._is_current = False
        self._first_attempt = threading.Event()
        """Set after the first attempt to index all words, also if it failed."""
        self._graph_updated = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self.progress: tuple[str, int, int] = ("scan", 0, 0)
        """What the thread works on: the stage, the items done, and their number if it is known."""

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        project: str = DEFAULT_PROJECT,
        config: Mapping[str, object] | None = None,
        first_call_seconds: float = FIRST_CALL_SECONDS,
    ) -> McpSession:
        """Return a session with an engine for a folder."""
        engine = Engine.open(folder, config=config, project=project)
        return cls(engine, first_call_seconds=first_call_seconds)

    def start(self) -> None:
        """Start the thread that brings the index up to date, unless the folder is risky or retrieval is off."""
        risk = is_risky(self.engine.folder)
        if not self.engine.enabled or (risk and not self.engine.exists):
            if risk:
                self._note = (
                    f"this folder is not indexed: {risk}; `ragstone sync --yes` indexes it"
                )
            self._is_current = True
            self._first_attempt.set()
            return
        self._note = SCANNING if self.engine.exists else FIRST_INDEXING
        self._thread = threading.Thread(
            target=self._update_index, name="ragstone-mcp", daemon=True
        )
        self._thread.start()

    def use_index_as_it_is(self) -> None:
        """Answer at once: the owner of the engine keeps the index up to date."""
        self._is_current = True
        self._first_attempt.set()

    @property
    def note(self) -> str:
        """Return the state of the index in words; empty if it is up to date."""
        if self._is_embedding and self.engine.admin.lacks_vectors():
            return describe_vectors(self.engine, is_embedding=True)
        return self._note

    @property
    def has_other_servers(self) -> bool:
        """Return whether the settings name other MCP servers, whose tools can be found."""
        return bool(self.engine.settings.mcp.servers)

    async def run(self, work: Callable[[], Result]) -> Result:
        """Return the result of some work in a thread; a session with its own process has no further limit."""
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)

    @property
    def first_call_seconds(self) -> float:
        """Return how long a call waits for the first indexing."""
        return self._first_call_seconds

    @property
    def is_ready(self) -> bool:
        """Return whether all words are indexed, or could not be."""
        return self._first_attempt.is_set()

    def wait_until_ready(self) -> None:
        """Wait until all words are indexed, but no longer than a first call waits."""
        self._first_attempt.wait(self._first_call_seconds)

    def answer(
        self,
        tool: Tool,
        arguments: Mapping[str, object],
        cancellation: Cancellation | None = None,
    ) -> ToolAnswer:
        """Return a tool's answer with a note about the state of the index."""
        self.wait_until_ready()
        try:
            answer = tool(
                self.engine, arguments, fresh=self._is_current, cancellation=cancellation
            )
        except Exception as error:  # a bug in one tool must not end the conversation
            logger.warning("%s failed: %r", tool.name, error, exc_info=True)
            answer = ToolAnswer(
                f"{tool.name} failed: {type(error).__name__}", {"success": False}, failed=True
            )
        place_note, self._place_note = self._place_note, ""
        return limit_answer(answer, "; ".join(filter(None, (place_note, self.note))))

    def take_graph_update(self) -> bool:
        """Return whether the thread has updated the code graph since this was last asked."""
        is_updated = self._graph_updated.is_set()
        if is_updated:
            self._graph_updated.clear()
        return is_updated

    def has_graph(self) -> bool:
        """Return whether the project has a code graph, or indexed code that the first question makes one of."""
        try:
            if not self.engine.exists:
                return False
            code = {"kind": "code"}
            has_code = bool(self.engine.admin.documents(filters=code, limit=1))
            return has_code or self.engine.graph.exists()
        except RagstoneError:
            return False

    def wait_until_current(self, timeout: float) -> bool:
        """Wait for the indexing thread; return whether it has ended."""
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def close(self) -> None:
        """Stop the thread and close the engine; stored work stays."""
        self._closing.set()
        self.wait_until_current(_CLOSE_SECONDS)
        if self._is_current:
            with suppress(RagstoneError):  # the client is gone
                self.engine.admin.embed_in_background()
        self.engine.close()

    def _update_index(self) -> None:
        """Index all words, then the code graph, then the vectors; a failure becomes the note of every answer."""
        try:
            self.engine.admin.refresh(embed=False, progress=self._note_progress)
            self._is_current = True
            self._note = ""
            self._is_embedding = True
            self._first_attempt.set()
            self.engine.graph.update(progress=self._note_progress)
            self._graph_updated.set()
            store_tools(self.engine)
            self._make_vectors()
        except _SessionClosed:
            return
        except RagstoneError as error:
            self._note = f"the index could not be brought up to date: {error}"
        except Exception as error:  # calls are still answered from the index as it is
            logger.warning(
                "the index could not be brought up to date: %r", error, exc_info=True
            )
            self._note = f"the index could not be brought up to date: {type(error).__name__}"
        finally:
            self._is_embedding = False
            self._first_attempt.set()

    def _make_vectors(self) -> None:
        """Embed all texts, one second at a time, so that `remember` can embed in between."""
        idle_rounds = 0
        while (
            idle_rounds < _MAX_IDLE_ROUNDS
            and self.engine.admin.lacks_vectors()
            and not self._closing.is_set()
        ):
            names = [collection.name for collection in self.engine.admin.collections()]
            count = sum(self.engine.admin.embed(collection=name, seconds=1.0) for name in names)
            idle_rounds = 0 if count else idle_rounds + 1
            self._closing.wait(0.05 if count else 1.0)

    def _note_progress(self, stage: str, done: int, total: int) -> None:
        """Keep the progress for waiting calls; end the work when the session closes."""
        self.progress = (stage, done, total)
        if self._closing.is_set():
            raise _SessionClosed
