"""Conversations: what is said is stored at once, found again by words, by meaning and by when it was said.

A session is a collection and a turn a document, in a project of its own beside the project's documents: one write path,
one read path, and no search for documents ever meets a turn.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.engine.components import Parts
from ragstone.errors import Conflict, NotFound, StaleSpace, StoreDamaged
from ragstone.indexing.sync import Keeper
from ragstone.memory import turns as made
from ragstone.memory.facts import restates, wording
from ragstone.memory.merge import SUPERSEDED
from ragstone.memory.session_cache import LOOK_BACK, Known, speaker
from ragstone.memory.times import Span, spans
from ragstone.sources.secrets.redaction import redact
from ragstone.store.lock import FileLock
from ragstone.types import Collection, Condition, Filter, Hit, Recalled, Request, Turn

MEMORY_LOCK: Final = "memory.lock"
_PAGE: Final = 500
_WIDER: Final = 3
"""Candidates for each turn wanted, so that collapsing and time have something to choose from."""
_MOST_AGAIN: Final = 50
"""Turns with the very same words that are looked at for one that is found."""
_PATIENCE: Final = 2.0
"""Seconds that a turn's vector may take; without one it is found by words until the next turn brings both in."""
_AT_THAT_TIME: Final = 1.3


@dataclass(slots=True)
class Rememberer:
    """The conversations of one project; `parts` and `keeper` are those of its memory."""

    parts: Parts
    keeper: Keeper
    now: Callable[[], float] = time.time
    _known: dict[str, Known] = field(default_factory=dict)

    # ── writing ───────────────────────────────────────────────────────────────────────────────────

    def remember(self, given: Sequence[Turn], *, embed: bool = True) -> list[Turn]:
        """Store turns of one session, in order, and return them with their numbers; durable when it returns."""
        if not given:
            return []
        session = given[0].session
        store, key = self.parts.store, self.parts.key(session)  # opened first: the lock lies in its folder
        with FileLock(None if self.parts.in_memory else self.parts.home / MEMORY_LOCK):
            writer = self.parts.writer(session)
            first = self._next(session)
            # The numbers are taken before anything is stored: a crash leaves a gap, never two turns with one number.
            store.state.update_session_state(key, next_turn=first + len(given))
            known = self._of(session)
            stored = self._judged(given, first, known)
            every = [*list(known.hot)[-made.BEFORE :], *stored]
            ahead = len(every) - len(stored)
            before = (every[max(0, ahead + place - made.BEFORE) : ahead + place] for place in range(len(stored)))
            writer.add(made.document(turn, last) for turn, last in zip(stored, before, strict=True))
            known.take(stored)
            self._known[session] = known
        if embed:
            self._embed(session, few=len(stored) <= made.HOT)
        return stored

    def load(self, turns: Sequence[Turn], *, embed: bool = True) -> int:
        """Store turns of one session under the numbers they have, and return how many are new.

        `Conflict` where the session has another turn of a number; then nothing is stored.
        """
        if not turns:
            return 0
        session, store = turns[0].session, self.parts.store
        key = self.parts.key(session)
        with FileLock(None if self.parts.in_memory else self.parts.home / MEMORY_LOCK):
            clean = [replace(turn, content=self._clean(turn.content)) for turn in turns]
            there = {turn.index: turn for turn in self.all(session)}
            other = next((one.index for one in clean if one.index in there and not _same(one, there[one.index])), None)
            if other is not None:
                raise Conflict(
                    f"the session {session!r} has another turn {other}", hint="take it in under another name"
                )
            new = [turn for turn in clean if turn.index not in there]
            writer = self.parts.writer(session)
            following = max(self._next(session), clean[-1].index + 1)
            store.state.update_session_state(key, next_turn=following)
            every = {**there, **{turn.index: turn for turn in clean}}
            writer.add(made.document(turn, _said_before(turn, every)) for turn in new)
            self._changed(session)
        if embed and new:
            self._embed(session, few=False)
        return len(new)

    def forget(self, session: str, *, turn: int | None = None, before: float | None = None) -> int:
        """Remove one turn, the turns said before a time, or the whole session; return how many went."""
        store, key = self.parts.store, self.parts.key(session)
        if not self._exists(session):
            return 0
        self._known.pop(session, None)
        if turn is None and before is None:
            return store.drop_collection(key)
        if turn is not None:
            gone = [made.uri_of(turn)]
        else:
            gone = [made.uri_of(one.index) for one in self.all(session) if one.time < (before or 0.0)]
        self._changed(session)
        try:
            return store.remove(key, gone)
        finally:
            self._changed(session)  # again: another process may have looked in between

    def restore(self, session: str, turn: int) -> Turn:
        """Take back that a turn supersedes others, and return it; `NotFound` if there is no such turn."""
        found = next((one for one in self._between(session, turn, turn + 1)), None)
        if found is None:
            raise NotFound(f"there is no turn {turn} in session {session!r}", hint="`turns` lists them")
        last = list(self._between(session, turn - made.BEFORE, turn))
        plain = replace(found, supersedes=(), because="")
        self.parts.writer(session).add([made.document(plain, last)])
        self._changed(session)
        return plain

    # ── reading ───────────────────────────────────────────────────────────────────────────────────

    def sessions(self) -> list[Collection]:
        """Return the sessions there are, by name."""
        return self.parts.collections()

    def turns(self, session: str, limit: int = made.HOT) -> list[Turn]:
        """Return the last turns, oldest first; none for a session that is not known."""
        if limit <= made.HOT:
            return list(self._of(session).hot)[-limit:] if limit > 0 and self._exists(session) else []
        return self._last(session, limit)

    def recall(self, request: Request, *, since: float | None = None, until: float | None = None) -> list[Recalled]:
        """Return the turns that answer, best first; times that the question names count."""
        session = (request.scope.collections or ("",))[0]
        if not self._exists(session):
            return []
        wide = replace(
            request,
            scope=self.parts.scope((session,)),
            top_k=max(request.top_k * _WIDER, made.HOT),
            merge=False,
            filter=_between_times(since, until),
        )
        hits = self.parts.searcher.run(wide).hits
        named = spans(request.query, self.now())
        later = self.superseding(session)
        turns = [(turn, hit.score) for hit in _one_a_turn(hits) for turn in self._turns_of(hit, wide)]
        found = [_recalled(turn, score, named, later) for turn, score in turns]
        ranked = sorted(found, key=lambda one: (-one.score, -one.turn.index))
        return _collapsed(ranked)[: request.top_k]

    # ── what is known of a session ────────────────────────────────────────────────────────────────

    def _turns_of(self, hit: Hit, wide: Request) -> list[Turn]:
        """Return the turn that was hit, and those that say the very same: a search shows a text once."""
        session = hit.collection
        turn = made.turn_of(hit.metadata, self._text(session, hit))
        whole = hit.metadata.get("length") == len(hit.text)
        if not whole or not (hit.also_at or wide.filter):
            return [turn]
        store, key = self.parts.store, self.parts.key(session)
        chunks = store.document_chunks(key, hit.source_doc_id)
        ids = store.copies(wide.scope, [chunk.text_id for chunk in chunks])
        rows = store.chunks(key.project, [number for some in ids.values() for number in some[-_MOST_AGAIN:]])
        again = {row.uri: made.turn_of(row.metadata, row.chunk.text) for row in rows.values()}
        again = {uri: one for uri, one in again.items() if len(one.content) == len(turn.content)}
        return list({**_in_time(again, wide.filter), hit.source_doc_id: turn}.values())

    def _text(self, session: str, hit: Hit) -> str:
        """Return the whole turn: a long one may have been found by a part of it."""
        if hit.metadata.get("length") == len(hit.text):
            return hit.text
        try:
            return self.parts.store.text(self.parts.key(session), hit.source_doc_id) or hit.text
        except StoreDamaged:
            return hit.text

    def _clean(self, content: str) -> str:
        """Return what was said without its secrets, as it will be stored: what is at hand must not know more."""
        return redact(content)[0] if self.parts.settings.sources.secrets == "redact" else content

    def _judged(self, given: Sequence[Turn], first: int, known: Known) -> list[Turn]:
        """Return turns as they are stored: numbered, without their secrets, and with what each supersedes."""
        heard = self._heard(given[0].session, known)
        stored = []
        for number, turn in enumerate(given, first):
            stored.append(heard.judged(replace(turn, index=number, content=self._clean(turn.content))))
            heard.hear(stored[-1])
        return stored

    def _heard(self, session: str, known: Known) -> Known:
        """Return what is known with what was said plainly: a copy, as what is now to be stored may fail to be."""
        if known.said is None:
            known.said = deque(maxlen=LOOK_BACK)
            for turn in self._last(session, LOOK_BACK):
                known.hear(turn)
        return replace(known, said=deque(known.said, maxlen=LOOK_BACK))

    def superseding(self, session: str) -> Mapping[int, Turn]:
        """Return, for every turn that no longer holds, the last one that supersedes it."""
        known = self._of(session)
        if known.later is None:
            known.later = {}
            for turn in self._superseders(session):
                known.note(turn)
        return known.later

    def _superseders(self, session: str) -> Iterator[Turn]:
        """Yield the turns that supersede others, without their texts."""
        scope, told = self.parts.scope((session,)), Filter((Condition("meta.supersedes", "exists", True),))
        after: tuple[str, str] | None = None
        while page := self.parts.store.documents(scope, filter=told, after=after, limit=_PAGE):
            yield from (made.of_stored(stored, "") for stored in page)
            after = (session, page[-1].uri)

    def _of(self, session: str) -> Known:
        """Return what is known of a session, level with the store."""
        stamp = self.parts.store.state.session_state(self.parts.key(session)).version
        known = self._known.get(session)
        if known is None or known.stamp != stamp:
            if stamp is None and self._exists(session):
                stamp = self._changed(session)
            known = Known(stamp)
            known.take(self._last(session, made.HOT))
            if len(self._known) >= _PAGE:
                self._known.clear()
            self._known[session] = known
        elif known.end < self._next(session):
            known.take(self._between(session, known.end, self._next(session)))
        return known

    def _changed(self, session: str) -> str:
        """Tell every process that what it knows of a session is no longer so, and return the new stamp."""
        stamp = secrets.token_hex(8)
        self.parts.store.state.update_session_state(self.parts.key(session), version=stamp)
        self._known.pop(session, None)
        return stamp

    def _exists(self, session: str) -> bool:
        return self.parts.store.state.session_state(self.parts.key(session)).next_turn is not None

    def _next(self, session: str) -> int:
        return self.parts.store.state.session_state(self.parts.key(session)).next_turn or 0

    def _last(self, session: str, limit: int) -> list[Turn]:
        """Return the last turns, oldest first, also where some between them were forgotten."""
        end = self._next(session)
        found: list[Turn] = []
        while end > 0 and len(found) < limit:
            start = max(0, end - max(limit, made.HOT))
            found = [*self._between(session, start, end), *found]
            end = start
        return found[-limit:] if limit > 0 else []

    def all(self, session: str) -> Iterator[Turn]:
        """Yield every turn of a session, oldest first."""
        for start in range(0, self._next(session), _PAGE):
            yield from self._between(session, start, start + _PAGE)

    def _between(self, session: str, start: int, end: int) -> Iterator[Turn]:
        """Yield the turns numbered from start to before end."""
        store, key = self.parts.store, self.parts.key(session)
        if end <= 0:
            return
        after = (session, made.uri_of(start - 1)) if start > 0 else None
        for stored in store.documents(key.scope, after=after, limit=end - max(0, start)):
            if stored.uri >= made.uri_of(end):
                break
            yield made.of_stored(stored, store.text(key, stored.uri) or "")

    def _embed(self, session: str, *, few: bool) -> None:
        try:
            # Somebody waits for what they said to be stored, not for whoever makes vectors of a whole folder just now.
            self.keeper.embed(session, seconds=_PATIENCE if few else None)
        except StaleSpace:
            return  # found by words; `ragstone reembed` is the user's to choose


def _recalled(turn: Turn, score: float, named: Sequence[Span], superseding: Mapping[int, Turn]) -> Recalled:
    """Return a turn with what its time and later turns make of its score."""
    boosts: list[tuple[str, float]] = []
    span = next((one for one in named if one.holds(turn.time)), None)
    if span is not None:
        boosts.append((f"said at that time: {span.words}", _AT_THAT_TIME))
    later = superseding.get(turn.index)
    if later is not None:
        boosts.append((f"superseded by turn {later.index}", SUPERSEDED))
    for _, factor in boosts:
        score *= factor
    by, why = (later.index, later.because) if later else (None, "")
    return Recalled(turn, min(1.0, score), (), by, why, tuple(boosts))


def _same(one: Turn, other: Turn) -> bool:
    return (one.role, one.speaker, one.content, one.time) == (other.role, other.speaker, other.content, other.time)


def _in_time(turns: Mapping[str, Turn], wanted: Filter | None) -> dict[str, Turn]:
    """Return the turns that were said when they should have been."""
    bounds = {condition.operator: condition.value for condition in wanted.conditions} if wanted else {}
    since, until = (float(value) if isinstance(value := bounds.get(name), int | float) else None
                    for name in ("gte", "lte"))  # fmt: skip
    return {
        uri: turn
        for uri, turn in turns.items()
        if (since is None or turn.time >= since) and (until is None or turn.time <= until)
    }


def _said_before(turn: Turn, every: Mapping[int, Turn]) -> list[Turn]:
    return [every[index] for index in range(turn.index - made.BEFORE, turn.index) if index in every]


def _between_times(since: float | None, until: float | None) -> Filter | None:
    conditions = []
    if since is not None:
        conditions.append(Condition("meta.time", "gte", since))
    if until is not None:
        conditions.append(Condition("meta.time", "lte", until))
    return Filter(tuple(conditions)) if conditions else None


def _one_a_turn(hits: Sequence[Hit]) -> list[Hit]:
    """Return the best hit of every turn: a long turn has several chunks."""
    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(hit.source_doc_id, hit)
    return list(best.values())


def _collapsed(ranked: Sequence[Recalled]) -> list[Recalled]:
    """Return the turns without those that only say again what a better one says; the receipts stay with that one."""
    kept: list[Recalled] = []
    said: list[tuple[str, frozenset[str]]] = []
    for one in ranked:
        own = (speaker(one.turn), wording(one.turn.content))
        place = next((n for n, (who, words) in enumerate(said) if who == own[0] and restates(words, own[1])), None)
        if place is None:
            kept.append(one)
            said.append(own)
        else:
            kept[place] = replace(kept[place], said_again=(*kept[place].said_again, one.turn.index))
    return kept
