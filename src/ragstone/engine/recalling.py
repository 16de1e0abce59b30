"""The verbs around what was said: remember it, recall it, forget it, carry it elsewhere, find it beside documents."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict, Unpack

from ragstone import types
from ragstone.engine import arguments as checked
from ragstone.engine import later
from ragstone.engine.components import Parts
from ragstone.engine.ground import OFF
from ragstone.engine.searching import Searching
from ragstone.errors import ConfigError, InputError, NotFound
from ragstone.indexing.sync import Keeper
from ragstone.memory import HOT
from ragstone.types import Request, Scope


class TurnOptions(TypedDict, total=False):
    """What may be known of a turn beside who said what."""

    at: float | None
    """When it was said, in seconds since 1970; now where left out."""
    speaker: str
    metadata: Mapping[str, types.Value] | None


class Recalling(Searching):
    """The part of an engine that conversations meet."""

    def remember(self, session_id: str, role: str, content: str, **about: Unpack[TurnOptions]) -> int:
        """Store what was said and return its number in the session; durable when it returns."""
        from ragstone.memory import turns as made

        made.check(session_id, role, content)
        checked.about_turn(about)
        if not self.enabled:
            return -1
        at = about.get("at")
        moment = time.time() if at is None else float(at)
        speaker, metadata = about.get("speaker", ""), about.get("metadata") or {}
        turn = types.Turn(session_id, 0, role, content, moment, speaker, metadata)
        return self.memory.remember([turn])[0].index

    def turns(self, session_id: str, limit: int = HOT) -> list[types.Turn]:
        """Return the last turns of a session, oldest first; none for a session that is not known."""
        checked.name(session_id, "a session")
        checked.whole("limit", limit)
        return self.memory.turns(session_id, limit) if self.enabled else []

    def recall(
        self, session_id: str, query: str, top_k: int = 5, *, since: float | None = None, until: float | None = None
    ) -> list[types.Recalled]:
        """Return the turns of a session that answer, best first; `since` and `until` narrow it to a time."""
        checked.name(session_id, "a session")
        wanted = checked.search(query, top_k, {})
        checked.moments(since=since, until=until)
        if not self.enabled or wanted == 0:
            return []
        search = self.settings.search
        request = Request(
            query, Scope(self.project, (session_id,)), wanted, fusion=search.fusion, candidates=search.candidates
        )
        return self.memory.recall(request, since=since, until=until)

    def forget(self, session_id: str | None, *, turn: int | None = None, before: float | None = None) -> int:
        """Remove one turn, what was said before a time, or the whole session; return how many turns went.

        With None for the session, what was said before a time goes from every session.
        """
        if turn is not None and before is not None:
            raise InputError("forget takes a turn or a time, not both", hint="forget(session, turn=3)")
        if session_id is None and before is None:
            raise InputError("forget without a session takes a time", hint="forget(None, before=…)")
        if turn is not None:
            checked.whole("turn", turn)
        checked.moments(before=before)
        if session_id is not None:
            checked.name(session_id, "a session")
        if not self.enabled:
            return 0
        names = [one.name for one in self.memory.sessions()] if session_id is None else [session_id]
        return sum(self.memory.forget(name, turn=turn, before=before) for name in names)

    def restore(self, session_id: str, turn: int) -> types.Turn:
        """Take back that a turn supersedes others, and return it; `NotFound` if there is no such turn."""
        checked.name(session_id, "a session")
        checked.whole("turn", turn)
        self._switched_on()
        return self.memory.restore(session_id, turn)

    def sessions(self) -> list[types.Collection]:
        """Return the sessions that are remembered, by name; `documents` counts their turns."""
        return self.memory.sessions() if self.enabled else []

    def export_session(self, session_id: str) -> Iterator[str]:
        """Yield a conversation as lines of JSON that `load_session` reads back; `NotFound` if there is none."""
        checked.name(session_id, "a session")
        if session_id not in [one.name for one in self.sessions()]:
            raise NotFound(f"nothing is remembered of {session_id!r}", hint="`sessions` lists them")
        from ragstone.memory.jsonl import export_lines

        return export_lines(session_id, self.memory.all(session_id))

    def load_session(self, lines: Iterable[str], session_id: str | None = None) -> int:
        """Take in what `export_session` gave, numbers and times as they were, and return how many turns are new."""
        if session_id is not None:
            checked.name(session_id, "a session")
        from ragstone.memory.jsonl import read_lines

        turns = read_lines(checked.lines(lines), session_id)
        if not self.enabled:
            raise ConfigError(OFF, hint="set rag.enabled = true")
        return self.memory.load(turns)

    def explain(
        self, query: str, top_k: int | None = None, **options: Unpack[types.SearchOptions]
    ) -> types.Explanation:
        """Return a search told in full: hits, how the query was read, and what was left out and why."""
        told = super().explain(query, top_k, **options)
        sessions = options.get("memory", False)
        if sessions is False or not self.enabled or top_k == 0:
            return told
        asked = self._asked(query, top_k, options)
        names, missing = self._sessions(sessions)
        if missing:
            told = replace(told, notes=(*told.notes, *(f"nothing is remembered of {name!r}" for name in missing)))
        if not names:
            return told
        from ragstone.memory.merge import together

        scope = self.memory.parts.scope(names)
        turns = self.memory.parts.searcher.run(replace(asked, scope=scope, merge=False))
        least = options.get("min_score")
        return together(told, turns, self.memory.superseding, top_k=asked.top_k, least=least or 0.0)

    @property
    def memory(self) -> later.Rememberer:
        """Return what keeps this project's conversations; it shares the store with the documents."""
        if self._rememberer is None or self._rememberer.parts.store is not self._parts.store:
            own = self._parts
            parts = Parts(own.home, self.settings, self.events, self.project, own.store, kind="session")
            parts.share(own)  # one model in memory does for documents and turns
            self._rememberer = later.Rememberer(parts, Keeper(parts, self._keeper.source))
        return self._rememberer

    def _sessions(self, wanted: bool | str | Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
        """Return the sessions that are meant and there, and the names of those that are not."""
        known = [one.name for one in self.memory.sessions()]
        names = known if wanted is True else [wanted] if isinstance(wanted, str) else list(wanted or ())
        return tuple(name for name in names if name in known), [name for name in names if name not in known]
