"""Conversations: what is said is stored at once, found again by words, by meaning and by when it was said.

A session is a collection and a turn a document, in a project of its own beside the project's documents: one write path,
one read path, and no search for documents ever meets a turn.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.errors import NotFound, StaleSpace
from ragstone.keeping import Keeper
from ragstone.memory import turns as made
from ragstone.memory.facts import Fact, contradicts, facts, restates, wording
from ragstone.memory.times import Span, spans
from ragstone.parts import Parts
from ragstone.sources.secrets import redact
from ragstone.store.lock import FileLock
from ragstone.types import Collection, Condition, Filter, Hit, Recalled, Request, Scope, Turn

MEMORY_LOCK: Final = "memory.lock"
_NEXT: Final = "next_turn"
_PAGE: Final = 500
_LOOK_BACK: Final = 1000
"""Turns that a new one is compared with: what was said longer ago is not quietly taken back."""
_WIDER: Final = 3
"""Candidates for each turn wanted, so that collapsing and time have something to choose from."""
_AT_THAT_TIME: Final = 1.3
_SUPERSEDED: Final = 0.6


@dataclass(slots=True)
class _Known:
    """What this process holds of a session: valid as long as the store has not changed."""

    generation: int
    hot: deque[Turn]
    facts: list[tuple[Turn, list[Fact]]] | None = None


@dataclass(slots=True)
class Rememberer:
    """The conversations of one project; `parts` and `keeper` are those of its memory."""

    parts: Parts
    keeper: Keeper
    now: Callable[[], float] = time.time
    _known: dict[str, _Known] = field(default_factory=dict)

    # ── writing ───────────────────────────────────────────────────────────────────────────────────

    def remember(self, given: Sequence[Turn], *, embed: bool = True) -> list[Turn]:
        """Store turns of one session, in order, and return them with their numbers; durable when it returns."""
        if not given:
            return []
        session = given[0].session
        store, project = self.parts.store, self.parts.project  # opened first: the lock lies in its folder
        with FileLock(None if self.parts.in_memory else self.parts.home / MEMORY_LOCK):
            writer = self.parts.writer(session)
            first = self._next(session)
            # The numbers are taken before anything is stored: a crash leaves a gap, never two turns with one number.
            store.set_note(project, f"{_NEXT}:{session}", str(first + len(given)))
            known = self._of(session)
            before = known.hot[-1] if known.hot else None
            stored: list[Turn] = []
            for number, turn in enumerate(given, first):
                stored.append(self._judged(replace(turn, index=number, content=self._clean(turn.content)), known))
            writer.add(made.document(turn, last) for turn, last in zip(stored, [before, *stored], strict=False))
            known.hot.extend(stored)
            known.generation = store.generation()
        if embed:
            self._embed(session)
        return stored

    def forget(self, session: str, *, turn: int | None = None, before: float | None = None) -> int:
        """Remove one turn, the turns said before a time, or the whole session; return how many went."""
        store, project = self.parts.store, self.parts.project
        if not self._exists(session):
            return 0
        self._known.pop(session, None)
        if turn is None and before is None:
            return store.drop_collection(project, session)
        if turn is not None:
            gone = [made.uri_of(turn)]
        else:
            gone = [made.uri_of(one.index) for one in self._all(session) if one.time < (before or 0.0)]
        return store.remove(project, session, gone)

    def restore(self, session: str, turn: int) -> Turn:
        """Take back that a turn supersedes others, and return it; `NotFound` if there is no such turn."""
        found = next((one for one in self._between(session, turn, turn + 1)), None)
        if found is None:
            raise NotFound(f"there is no turn {turn} in session {session!r}", hint="`turns` lists them")
        last = next(iter(self._between(session, turn - 1, turn)), None)
        plain = replace(found, supersedes=(), because="")
        self.parts.writer(session).add([made.document(plain, last)])
        self._known.pop(session, None)
        return plain

    # ── reading ───────────────────────────────────────────────────────────────────────────────────

    def sessions(self) -> list[Collection]:
        """Return the sessions there are, by name."""
        return self.parts.store.collections(self.parts.project)

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
            scope=Scope(self.parts.project, (session,)),
            top_k=max(request.top_k * _WIDER, made.HOT),
            merge=False,
            filter=_between_times(since, until),
        )
        hits = self.parts.searcher.run(wide).hits
        named = spans(request.query, self.now())
        later = self._superseding(session)
        found = [self._recalled(hit, session, named, later) for hit in _one_a_turn(hits)]
        ranked = sorted(found, key=lambda one: (-one.score, -one.turn.index))
        return _collapsed(ranked)[: request.top_k]

    # ── what is known of a session ────────────────────────────────────────────────────────────────

    def _recalled(self, hit: Hit, session: str, named: Sequence[Span], superseding: Mapping[int, Turn]) -> Recalled:
        turn = made.turn_of(hit.metadata, self._text(session, hit))
        boosts: list[tuple[str, float]] = []
        span = next((one for one in named if one.holds(turn.time)), None)
        if span is not None:
            boosts.append((f"said at that time: {span.words}", _AT_THAT_TIME))
        later = superseding.get(turn.index)
        if later is not None:
            boosts.append((f"superseded by turn {later.index}", _SUPERSEDED))
        score = hit.score
        for _, factor in boosts:
            score *= factor
        by, why = (later.index, later.because) if later else (None, "")
        return Recalled(turn, min(1.0, score), (), by, why, tuple(boosts))

    def _text(self, session: str, hit: Hit) -> str:
        """Return the whole turn: a long one may have been found by a part of it."""
        if hit.metadata.get("length") == len(hit.text):
            return hit.text
        return self.parts.store.text(self.parts.project, session, hit.source_doc_id) or hit.text

    def _clean(self, content: str) -> str:
        """Return what was said without its secrets, as it will be stored: what is at hand must not know more."""
        return redact(content)[0] if self.parts.settings.sources.secrets == "redact" else content

    def _judged(self, turn: Turn, known: _Known) -> Turn:
        """Return a turn with what it supersedes, and make it known."""
        said = facts(turn.content)
        earlier = self._facts(turn.session, known)
        reasons = {
            old.index: why
            for old, told in earlier
            if said and _speaker(old) == _speaker(turn) and (why := contradicts(said, told))
        }
        if reasons:
            turn = replace(turn, supersedes=tuple(reasons), because="; ".join(dict.fromkeys(reasons.values())))
        if said:
            earlier.append((turn, said))
        return turn

    def _facts(self, session: str, known: _Known) -> list[tuple[Turn, list[Fact]]]:
        if known.facts is None:
            told = ((turn, facts(turn.content)) for turn in self._last(session, _LOOK_BACK))
            known.facts = [(turn, said) for turn, said in told if said]
        return known.facts

    def _superseding(self, session: str) -> dict[int, Turn]:
        """Return, for every turn that no longer holds, the last one that supersedes it."""
        told = self._facts(session, self._of(session))
        return {old: turn for turn, _ in told for old in turn.supersedes}

    def _of(self, session: str) -> _Known:
        generation = self.parts.store.generation()
        known = self._known.get(session)
        if known is None or known.generation != generation:
            known = _Known(generation, deque(self._last(session, made.HOT), maxlen=made.HOT))
            if len(self._known) >= _PAGE:
                self._known.clear()
            self._known[session] = known
        return known

    def _exists(self, session: str) -> bool:
        return self.parts.store.note(self.parts.project, f"{_NEXT}:{session}") is not None

    def _next(self, session: str) -> int:
        return int(self.parts.store.note(self.parts.project, f"{_NEXT}:{session}") or 0)

    def _last(self, session: str, limit: int) -> list[Turn]:
        """Return the last turns, oldest first, also where some between them were forgotten."""
        end = self._next(session)
        found: list[Turn] = []
        while end > 0 and len(found) < limit:
            start = max(0, end - max(limit, made.HOT))
            found = [*self._between(session, start, end), *found]
            end = start
        return found[-limit:] if limit > 0 else []

    def _all(self, session: str) -> Iterator[Turn]:
        for start in range(0, self._next(session), _PAGE):
            yield from self._between(session, start, start + _PAGE)

    def _between(self, session: str, start: int, end: int) -> Iterator[Turn]:
        """Yield the turns numbered from start to before end."""
        store, project = self.parts.store, self.parts.project
        if end <= 0:
            return
        after = (session, made.uri_of(start - 1)) if start > 0 else None
        for stored in store.documents(Scope(project, (session,)), after=after, limit=end - max(0, start)):
            if stored.uri >= made.uri_of(end):
                break
            yield made.of_stored(stored, store.text(project, session, stored.uri) or "")

    def _embed(self, session: str) -> None:
        try:
            self.keeper.embed(session)
        except StaleSpace:
            return  # found by words; `ragstone reembed` is the user's to choose


def _speaker(turn: Turn) -> str:
    return turn.speaker or turn.role


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
        own = (_speaker(one.turn), wording(one.turn.content))
        place = next((n for n, (who, words) in enumerate(said) if who == own[0] and restates(words, own[1])), None)
        if place is None:
            kept.append(one)
            said.append(own)
        else:
            kept[place] = replace(kept[place], said_again=(*kept[place].said_again, one.turn.index))
    return kept
