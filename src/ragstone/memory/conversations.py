"""Conversations: turns are stored at once, and found again by words, by meaning and by time.

A session is a collection of kind `session` and a turn is a document in it: the same write path and the same search as
for documents, and a search over documents never returns a turn.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ragstone.errors import ConfigError, Conflict, NotFound, ProviderError, StaleSpace
from ragstone.indexing.reconcile import Reconciler
from ragstone.memory.forgetting import documents_without
from ragstone.memory.recall import TurnRanking
from ragstone.memory.session_cache import LOOK_BACK, SessionCache
from ragstone.memory.session_reader import SessionReader
from ragstone.memory.turns import HOT, TURNS_BEFORE, turn_document, turn_uri
from ragstone.sources.in_memory import GivenDocuments
from ragstone.sources.secrets.redaction import redact
from ragstone.types import (
    Collection,
    CollectionKey,
    Document,
    Recalled,
    Request,
    Turn,
)
from ragstone.types.bounded_cache import BoundedCache

if TYPE_CHECKING:
    from ragstone.indexing.sync import CollectionSync
    from ragstone.retrieval.search import Searcher

MEMORY_LOCK: Final = "memory.lock"
_PAGE: Final = 500
_SESSIONS_CACHED: Final = 500
_EMBED_SECONDS: Final = 2.0
"""Seconds that a turn's vector may take; without a vector the turn is found by words until the next turn."""


class ConversationStore:
    """The conversations of one project."""

    def __init__(
        self, sync: CollectionSync, searcher: Searcher, now: Callable[[], float] = time.time
    ) -> None:
        """Take the sync of the project's session collections."""
        self.sync = sync
        self.searcher = searcher
        self._now = now
        self._caches: BoundedCache[str, SessionCache] = BoundedCache(_SESSIONS_CACHED)

    # ── writing ───────────────────────────────────────────────────────────────────────────────────

    def remember(self, turns: Sequence[Turn], *, embed: bool = True) -> list[Turn]:
        """Store turns of one session in order and return them with their numbers; durable when it returns."""
        if not turns:
            return []
        session = turns[0].session
        with self._lock():
            self._ensure_session(session)
            first = self.reader(session).next_turn
            # Numbers are taken before anything is stored: a crash leaves a gap, never two turns with one number.
            self._update_state(session, next_turn=first + len(turns))
            cache = self._cache(session)
            numbered = self._number_and_judge(turns, first, cache)
            self._store(session, _documents_after(list(cache.hot), numbered))
            cache.add(numbered)
        if embed:
            is_short = len(numbered) <= HOT
            self._embed(session, seconds=_EMBED_SECONDS if is_short else None)
        return numbered

    def load(self, turns: Sequence[Turn], *, embed: bool = True) -> int:
        """Store turns of one session under their own numbers and return how many are new.

        `Conflict` if the session has another turn with the same number; then nothing is stored.
        """
        if not turns:
            return 0
        session = turns[0].session
        with self._lock():
            redacted = [replace(turn, content=self._redact(turn.content)) for turn in turns]
            stored = {turn.index: turn for turn in self.reader(session).all()}
            _refuse_conflicts(session, redacted, stored)
            new = [turn for turn in redacted if turn.index not in stored]
            self._ensure_session(session)
            next_turn = max(self.reader(session).next_turn, redacted[-1].index + 1)
            self._update_state(session, next_turn=next_turn)
            by_index = {**stored, **{turn.index: turn for turn in new}}
            documents = [turn_document(turn, _turns_before(turn, by_index)) for turn in new]
            self._store(session, documents)
            self._invalidate(session)
        if embed and new:
            self._embed(session, seconds=None)
        return len(new)

    def forget(
        self, session: str, *, turn: int | None = None, before: float | None = None
    ) -> int:
        """Remove one turn, the turns before a time, or the whole session; return how many turns were removed.

        The turns that stay keep no words of the removed ones.
        """
        store, key = self.sync.components.store, self.sync.key(session)
        reader = self.reader(session)
        if not reader.exists:
            return 0
        self._caches.pop(session)
        if turn is None and before is None:
            return store.drop_collection(key)
        with self._lock():
            if turn is not None:
                forgotten = {turn}
            else:
                forgotten = {old.index for old in reader.all() if old.time < (before or 0.0)}
            self._invalidate(session)
            try:
                rewritten = documents_without(reader, forgotten)
                self._store(session, rewritten)
                count = store.remove(key, [turn_uri(index) for index in sorted(forgotten)])
            finally:
                # Again: another process may have read between the two writes.
                self._invalidate(session)
        if rewritten:
            self._embed(session, seconds=_EMBED_SECONDS)
        return count

    def restore(self, session: str, index: int) -> Turn:
        """Cancel that a turn supersedes others and return it; `NotFound` if there is no such turn."""
        turn = next(self.reader(session).between(index, index + 1), None)
        if turn is None:
            message = f"there is no turn {index} in session {session!r}"
            raise NotFound(message, hint="`ragstone recall --session NAME` lists the last ones")
        plain = replace(turn, supersedes=(), because="")
        before = list(self.reader(session).between(index - TURNS_BEFORE, index))
        self._store(session, [turn_document(plain, before)])
        self._invalidate(session)
        return plain

    # ── reading ───────────────────────────────────────────────────────────────────────────────────

    def sessions(self) -> list[Collection]:
        """Return the sessions by name."""
        return self.sync.components.store.collections(self.sync.scope.project, "session")

    def turns(self, session: str, limit: int = HOT) -> list[Turn]:
        """Return the last turns, oldest first; none if there is no such session."""
        if limit <= 0 or not self.reader(session).exists:
            return []
        if limit <= HOT:
            return list(self._cache(session).hot)[-limit:]
        return self.reader(session).last(limit)

    def reader(self, session: str) -> SessionReader:
        """Return the reader of a session's turns."""
        return SessionReader(self.sync.components.store, self.sync.key(session))

    def recall(
        self,
        session: str,
        request: Request,
        *,
        since: float | None = None,
        until: float | None = None,
    ) -> list[Recalled]:
        """Return the turns that answer, best first. A time that the question names raises their score."""
        if not self.reader(session).exists:
            return []
        ranking = TurnRanking(
            self.sync.components.store,
            self.sync.key(session),
            self.searcher,
            self.superseded_turns(session),
            self._now(),
        )
        return ranking.recall(request, since=since, until=until)

    def recall_everywhere(
        self, request: Request, *, since: float | None = None, until: float | None = None
    ) -> list[Recalled]:
        """Return the turns of all sessions that answer, best first."""
        search = replace(
            request, scope=self.sync.scope, top_k=max(request.top_k, HOT), merge=False
        )
        sessions = dict.fromkeys(hit.collection for hit in self.searcher.run(search).hits)
        recalled: list[Recalled] = []
        for session in sessions:
            recalled += self.recall(session, request, since=since, until=until)
        recalled.sort(key=lambda entry: -entry.score)
        return recalled[: request.top_k]

    def superseded_turns(self, session: str) -> Mapping[int, Turn]:
        """Return, for every turn that no longer holds, the last turn that supersedes it."""
        cache = self._cache(session)
        if cache.superseded is None:
            cache.superseded = {}
            for turn in self.reader(session).superseding():
                cache.note_superseded(turn)
        return cache.superseded

    # ── storage ───────────────────────────────────────────────────────────────────────────────────

    def _store(self, session: str, documents: Iterable[Document]) -> None:
        writer = self.sync.collection(session).writer()
        Reconciler(writer, GivenDocuments(documents), full=True).run()

    def _ensure_session(self, session: str) -> None:
        self.sync.components.store.ensure_collection(self.sync.key(session))

    def _lock(self) -> AbstractContextManager[object]:
        return self.sync.components.lock(MEMORY_LOCK, self.sync.default.project)

    def _redact(self, content: str) -> str:
        """Return a turn's text without secrets, as it is stored: the cache must not know more than the store."""
        if self.sync.settings.sources.secrets != "redact":
            return content
        return redact(content)[0]

    def _number_and_judge(
        self, turns: Sequence[Turn], first: int, cache: SessionCache
    ) -> list[Turn]:
        """Return the turns as they are stored: numbered, redacted, and with the turns that each supersedes."""
        if cache.statements is None:
            cache.statements = deque(maxlen=LOOK_BACK)
            for turn in self.reader(turns[0].session).last(LOOK_BACK):
                cache.note_statements(turn)
        # A copy, because storing may fail.
        draft = replace(cache, statements=deque(cache.statements, maxlen=LOOK_BACK))
        numbered = []
        for index, turn in enumerate(turns, first):
            redacted = replace(turn, index=index, content=self._redact(turn.content))
            judged = draft.judge(redacted)
            draft.note_statements(judged)
            numbered.append(judged)
        return numbered

    def _cache(self, session: str) -> SessionCache:
        """Return the cache of a session, updated to the present state of the store."""
        reader = self.reader(session)
        state = reader.state
        cache = self._caches.get(session)
        if cache is None or cache.version != state.version:
            version = state.version
            if version is None and state.next_turn is not None:
                version = self._invalidate(session)
            cache = SessionCache(version)
            cache.add(reader.last(HOT))
            self._caches[session] = cache
        elif cache.end < (state.next_turn or 0):
            cache.add(reader.between(cache.end, state.next_turn or 0))
        return cache

    def _invalidate(self, session: str) -> str:
        """Tell every process that its cache of a session is out of date, and return the new version."""
        version = secrets.token_hex(8)
        self._update_state(session, version=version)
        self._caches.pop(session)
        return version

    def _update_state(
        self, session: str, *, next_turn: int | None = None, version: str | None = None
    ) -> None:
        state = self.sync.components.store.state
        if next_turn is not None:
            state.update_session_state(self.sync.key(session), next_turn=next_turn)
        if version is not None:
            state.update_session_state(self.sync.key(session), version=version)

    def _embed(self, session: str, seconds: float | None) -> None:
        try:
            self.sync.embed(session, seconds=seconds)
        except (StaleSpace, ProviderError, ConfigError):
            return  # the turns are found by words; the next turn or `ragstone reembed` makes the vectors


def session_key(project: str, session: str) -> CollectionKey:
    """Return the key of a session's collection."""
    return CollectionKey(project, session, "session")


def _documents_after(before: Sequence[Turn], turns: Sequence[Turn]) -> list[Document]:
    """Return turns as documents, each with the turns before it."""
    earlier = list(before)
    documents = []
    for turn in turns:
        documents.append(turn_document(turn, earlier[-TURNS_BEFORE:]))
        earlier.append(turn)
    return documents


def _turns_before(turn: Turn, by_index: Mapping[int, Turn]) -> list[Turn]:
    numbers = range(turn.index - TURNS_BEFORE, turn.index)
    return [by_index[number] for number in numbers if number in by_index]


def _refuse_conflicts(session: str, turns: Sequence[Turn], stored: Mapping[int, Turn]) -> None:
    for turn in turns:
        other = stored.get(turn.index)
        if other is not None and _content(turn) != _content(other):
            message = f"the session {session!r} has another turn {turn.index}"
            raise Conflict(message, hint="import it under another name")


def _content(turn: Turn) -> tuple[str, str, str, float]:
    return turn.role, turn.speaker, turn.content, turn.time
