"""The memory facet: conversations of a project."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Unpack

from ragstone.engine import arguments
from ragstone.engine.project import Project
from ragstone.errors import InputError, NotFound
from ragstone.indexing.sync import CollectionSync
from ragstone.memory.conversations import ConversationStore, session_key
from ragstone.memory.jsonl import export_lines, read_lines
from ragstone.memory.merge import merge_explanations
from ragstone.memory.turns import HOT, check_turn
from ragstone.types import Collection, Explanation, Recalled, Request, Scope, Turn, TurnOptions


class Memory:
    """Remember turns, recall and forget them, export and import sessions."""

    def __init__(self, project: Project) -> None:
        """Take the project; nothing is opened yet."""
        self._project = project

    @cached_property
    def conversations(self) -> ConversationStore:
        """Return the store of the project's conversations."""
        project = self._project
        sync = CollectionSync(
            project.workspace.components,
            project.settings,
            project.events,
            session_key(project.name, ""),
            Scope(project.name, kind="session"),
        )
        return ConversationStore(sync, project.workspace.searcher)

    def remember(
        self, session_id: str, role: str, content: str, **options: Unpack[TurnOptions]
    ) -> int:
        """Store a turn and return its number in the session; -1 if retrieval is switched off."""
        check_turn(session_id, role, content)
        arguments.check_plain_name(session_id, "a session")
        arguments.check_turn_options(options)
        if not self._project.enabled:
            return -1
        moment = options.get("at")
        if moment is None:
            moment = time.time()
        turn = Turn(
            session_id,
            index=0,
            role=role,
            content=content,
            time=float(moment),
            speaker=options.get("speaker", ""),
            metadata=options.get("metadata") or {},
        )
        stored = self.conversations.remember([turn])
        return stored[0].index

    def turns(self, session_id: str, limit: int = HOT) -> list[Turn]:
        """Return the last turns of a session, oldest first; none if there is no such session."""
        arguments.check_name(session_id, "a session")
        arguments.check_count("limit", limit)
        if not self._project.enabled:
            return []
        return self.conversations.turns(session_id, limit)

    def recall(
        self,
        session_id: str | None,
        query: str,
        top_k: int = 5,
        *,
        since: float | None = None,
        until: float | None = None,
    ) -> list[Recalled]:
        """Return the turns of a session that answer, best first; `since` and `until` limit the time.

        If the session is None, all sessions of the project are searched.
        """
        if session_id is not None:
            arguments.check_name(session_id, "a session")
        limit = arguments.check_search(query, top_k, {})
        arguments.check_moments(since=since, until=until)
        if not self._project.enabled or limit == 0:
            return []
        search = self._project.settings.search
        scope = session_key(self._project.name, session_id or "").scope
        request = Request(
            query, scope, limit, fusion=search.fusion, candidates=search.candidates
        )
        if session_id is None:
            return self.conversations.recall_everywhere(request, since=since, until=until)
        return self.conversations.recall(session_id, request, since=since, until=until)

    def notes(self) -> list[str]:
        """Return why the vectors of turns do not answer at the moment; nothing if all is well."""
        problems = self._project.workspace.components.embedders.problems()
        fallback = self._project.settings.embed.fallback
        found_by = "words"
        if fallback:
            found_by = f"the vectors of {fallback}"
        return [f"turns are stored and found by {found_by}: {problem}" for problem in problems]

    def forget(
        self, session_id: str | None, *, turn: int | None = None, before: float | None = None
    ) -> int:
        """Remove one turn, the turns before a time, or the whole session; return how many turns were removed.

        If the session is None, the turns before a time are removed from every session.
        """
        _check_forget(session_id, turn, before)
        if not self._project.enabled:
            return 0
        names = [session_id]
        if session_id is None:
            names = [session.name for session in self.sessions()]
        count = 0
        for name in names:
            count += self.conversations.forget(str(name), turn=turn, before=before)
        if count:
            self._project.events.audit("memory.delete", session=session_id, turns=count)
        return count

    def restore(self, session_id: str, turn: int) -> Turn:
        """Cancel that a turn supersedes others and return it; `NotFound` if there is no such turn."""
        arguments.check_name(session_id, "a session")
        arguments.check_count("turn", turn)
        self._project.require_enabled()
        return self.conversations.restore(session_id, turn)

    def sessions(self) -> list[Collection]:
        """Return the sessions by name; `documents` counts their turns."""
        if not self._project.enabled:
            return []
        return self.conversations.sessions()

    def export(self, session_id: str) -> Iterator[str]:
        """Yield a conversation as lines of JSON that `load` reads; `NotFound` if there is none."""
        arguments.check_name(session_id, "a session")
        if session_id not in [session.name for session in self.sessions()]:
            raise NotFound(
                f"nothing is remembered of {session_id!r}",
                hint="`ragstone sessions` lists them",
            )
        return export_lines(session_id, self.conversations.reader(session_id).all())

    def load(self, lines: Iterable[str], session_id: str | None = None) -> int:
        """Import an exported conversation with its numbers and times; return how many turns are new."""
        if session_id is not None:
            arguments.check_plain_name(session_id, "a session")
        turns = read_lines(arguments.check_lines(lines), session_id)
        self._project.require_enabled()
        return self.conversations.load(turns)

    def add_turns(
        self, explanation: Explanation, request: Request, sessions: bool | str | Sequence[str]
    ) -> Explanation:
        """Return a search over documents with the turns of some sessions merged in."""
        if not self._project.enabled or request.top_k == 0:
            return explanation
        existing, missing = self._split_existing(sessions)
        if missing:
            notes = [f"nothing is remembered of {name!r}" for name in missing]
            explanation = replace(explanation, notes=(*explanation.notes, *notes))
        if not existing:
            return explanation
        scope = Scope(self._project.name, tuple(existing), "session")
        turns = self._project.workspace.searcher.run(replace(request, scope=scope, merge=False))
        return merge_explanations(
            explanation,
            turns,
            self.conversations.superseded_turns,
            top_k=request.top_k,
            min_score=request.min_score or 0.0,
        )

    def _split_existing(
        self, sessions: bool | str | Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """Return the named sessions that exist, and the names of those that do not."""
        stored = [session.name for session in self.sessions()]
        if sessions is True:
            return stored, []
        names = [sessions] if isinstance(sessions, str) else list(sessions or ())
        existing = [name for name in names if name in stored]
        missing = [name for name in names if name not in stored]
        return existing, missing


def _check_forget(session_id: object, turn: object, before: object) -> None:
    """Raise `InputError` if the arguments of `forget` contradict each other or make no sense."""
    if turn is not None and before is not None:
        hint = "forget(session, turn=3)"
        raise InputError("forget takes a turn or a time, not both", hint=hint)
    if session_id is None and before is None:
        raise InputError("forget without a session takes a time", hint="forget(None, before=…)")
    if turn is not None:
        arguments.check_count("turn", turn)
    arguments.check_moments(before=before)
    if session_id is not None:
        arguments.check_name(session_id, "a session")
