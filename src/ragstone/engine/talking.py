"""The verbs around a conversation: remember what was said, recall it, and give a prompt what it should know."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypedDict, Unpack

from ragstone.answer.chat import Chat
from ragstone.answer.check import INSTRUCTIONS, NOT_FOUND, declined, question, quotes
from ragstone.context.build import SURE_ENOUGH, Wish, build, sent_mark
from ragstone.context.fence import neutral, new_mark
from ragstone.context.select import Candidate, as_hits, merged
from ragstone.engine.searching import Searching
from ragstone.errors import ConfigError, InputError
from ragstone.events import CONTEXT_LOADED
from ragstone.keeping import Keeper
from ragstone.memory import turns as made
from ragstone.parts import Parts
from ragstone.remembering import Rememberer
from ragstone.tokens import at_most
from ragstone.types import (
    Cited,
    Collection,
    Context,
    ContextFormat,
    Recalled,
    Request,
    Scope,
    SearchOptions,
    Spoken,
    Turn,
    Value,
)
from ragstone.words import query_terms

RAG_OFF: Final = "RAG is OFF for this run: no project documents were retrieved; answer from the conversation alone."
_SENT: Final = "sent"
_MOST_SENT: Final = 2000
"""Pieces remembered as sent to one session; the oldest are forgotten first."""
_CANDIDATES: Final = 12
"""Hits that a context chooses from unless the caller says how many."""
_LEAST, _MOST = 1, 10_000_000


class ContextOptions(SearchOptions, total=False):
    """What a caller may say about a context beside the task and the budget."""

    format: ContextFormat
    window: int | None
    """The model's window in tokens: at most two fifths of it are used."""
    session: str | None
    """Whoever is given this: what it was given before is named, not repeated."""
    top_k: int | None
    count: Callable[[str], int] | None
    """The model's own tokenizer: how many tokens a text has."""
    rag_enabled: bool
    """False skips retrieval for this run and says so."""


class TurnOptions(TypedDict, total=False):
    """What may be known of a turn beside who said what."""

    at: float | None
    """When it was said, in seconds since 1970; now where left out."""
    speaker: str
    metadata: Mapping[str, Value] | None


class Talking(Searching):
    """The part of an engine that conversations and prompts meet."""

    # ── memory ────────────────────────────────────────────────────────────────────────────────────

    def remember(self, session_id: str, role: str, content: str, **about: Unpack[TurnOptions]) -> int:
        """Store what was said and return its number in the session; durable when it returns."""
        made.check(session_id, role, content)
        if not self.enabled:
            return -1
        at = about.get("at")
        moment = time.time() if at is None else float(at)
        speaker, metadata = about.get("speaker", ""), about.get("metadata") or {}
        turn = Turn(session_id, 0, role, content, moment, speaker, metadata)
        return self.memory.remember([turn])[0].index

    def turns(self, session_id: str, limit: int = made.HOT) -> list[Turn]:
        """Return the last turns of a session, oldest first; none for a session that is not known."""
        if limit < 0:
            raise InputError("a limit is a number from 0 on", hint="limit=20")
        return self.memory.turns(session_id, limit) if self.enabled else []

    def recall(
        self, session_id: str, query: str, top_k: int = 5, *, since: float | None = None, until: float | None = None
    ) -> list[Recalled]:
        """Return the turns of a session that answer, best first; `since` and `until` narrow it to a time."""
        if top_k < 0:
            raise InputError("top_k is a number from 0 on", hint="top_k=5")
        if not self.enabled or top_k == 0:
            return []
        search = self.settings.search
        request = Request(
            query, Scope(self.project, (session_id,)), top_k, fusion=search.fusion, candidates=search.candidates
        )
        return self.memory.recall(request, since=since, until=until)

    def forget(self, session_id: str, *, turn: int | None = None, before: float | None = None) -> int:
        """Remove one turn, what was said before a time, or the whole session; return how many turns went."""
        if turn is not None and before is not None:
            raise InputError("forget takes a turn or a time, not both", hint="forget(session, turn=3)")
        return self.memory.forget(session_id, turn=turn, before=before) if self.enabled else 0

    def sessions(self) -> list[Collection]:
        """Return the sessions that are remembered, by name; `documents` counts their turns."""
        return self.memory.sessions() if self.enabled else []

    @property
    def memory(self) -> Rememberer:
        """Return what keeps this project's conversations; it shares the store with the documents."""
        if self._rememberer is None or self._rememberer.parts.store is not self._parts.store:
            parts = Parts(
                self._parts.home, self.settings, self.events, made.project_of(self.project), self._parts.store
            )
            self._rememberer = Rememberer(parts, Keeper(parts, self._keeper.source))
        return self._rememberer

    # ── context ───────────────────────────────────────────────────────────────────────────────────

    def context(self, task: str, budget: int = 1500, **options: Unpack[ContextOptions]) -> Context:
        """Return cited text for a task inside a hard token budget, and what was left out of it."""
        form = options.pop("format", "block")
        session, window = options.pop("session", None), options.pop("window", None)
        count = options.pop("count", None) or at_most
        top_k = options.pop("top_k", None) or _CANDIDATES
        _whole("budget", budget)
        if window is not None:
            _whole("window", window)
        if not options.pop("rag_enabled", True) or not self.enabled:
            self.events.emit(CONTEXT_LOADED, rag=False, task=task, tokens=0, ids=[])
            return Context(RAG_OFF, form, budget, 0, notes=("retrieval was not asked for",))
        told = self.explain(task, top_k, **options)  # type: ignore[misc]  # what is left are search options
        sent = self._sent(session)
        made_now = build(Wish(task, budget, form, window, count, frozenset(sent)), told.hits, empty=self.is_empty())
        if session is not None and made_now.cited:
            self._note_sent(session, [*sent, *map(sent_mark, made_now.cited)])
        self.events.emit(
            CONTEXT_LOADED,
            rag=True,
            task=task,
            tokens=made_now.tokens,
            ids=[cited.doc_id for cited in made_now.cited],
        )
        return made_now

    def select(
        self, task: str, candidates: Sequence[Candidate], budget: int = 1500, *, top_k: int = _CANDIDATES
    ) -> Context:
        """Return a context of what the caller chose and what is known here, ranked together inside one budget."""
        _whole("budget", budget)
        found = self.explain(task, top_k).hits if self.enabled else ()
        own = as_hits(candidates, query_terms(task), self._cosines(task, candidates))
        return build(Wish(task, budget), merged(own, found), empty=not candidates and self.is_empty())

    def ask(
        self, query: str, *, tell: Callable[[str], object] | None = None, **options: Unpack[SearchOptions]
    ) -> Spoken:
        """Return an answer in words, each statement quoted from a source and checked; `tell` hears it as it comes."""
        chat = self._chat()
        made_now = self.context(query, self.settings.ask.budget, format="json", **options)
        if not made_now.cited:
            return Spoken(NOT_FOUND, False, model=chat.model, notes=made_now.notes)
        pieces = [replace(one, text=neutral(one.text)) for one in made_now.cited]
        mark = new_mark([query, *(piece.text for piece in pieces)])
        messages = (
            {"role": "system", "content": INSTRUCTIONS},
            {"role": "user", "content": question(query, pieces, mark)},
        )
        said = []
        for part in chat.stream(messages):
            said.append(part)
            if tell is not None:
                tell(part)
        return _judged("".join(said), pieces, chat.model)

    def _chat(self) -> Chat:
        ask = self.settings.ask
        if not self.enabled or ask.url is None or ask.model is None:
            raise ConfigError(
                "no language model is set up" if self.enabled else "retrieval is switched off (rag.enabled)",
                hint="set RAGSTONE_ASK_URL (Ollama: http://127.0.0.1:11434/v1) and RAGSTONE_ASK_MODEL",
            )
        return Chat(ask.url, ask.model, ask.api_key, ask.seconds)

    def _cosines(self, task: str, candidates: Sequence[Candidate]) -> list[float | None]:
        """Return how near each piece is to the task, None where it came with a score or nothing can tell."""
        unknown = [one.text for one in candidates if one.score is None]
        if not self.enabled or not unknown:
            return [None] * len(candidates)
        embedder = self._parts.embedder(self.settings.rag.embedding_provider)
        query = embedder.embed([task], "query")[0]
        near = iter((embedder.embed(unknown, "document") @ query).tolist())
        return [next(near) if one.score is None else None for one in candidates]

    def _sent(self, session: str | None) -> list[str]:
        if session is None:
            return []
        note = self._parts.store.note(self.project, f"{_SENT}:{session}")
        return list(json.loads(note)) if note else []

    def _note_sent(self, session: str, marks: list[str]) -> None:
        kept = list(dict.fromkeys(marks))[-_MOST_SENT:]
        self._parts.store.set_note(self.project, f"{_SENT}:{session}", json.dumps(kept))


def _judged(text: str, pieces: Sequence[Cited], model: str) -> Spoken:
    """Return what the model said, or that nothing was found where no quotation of it stands in the sources."""
    if declined(text):
        return Spoken(NOT_FOUND, False, model=model)
    found = tuple(quotes(text, pieces))
    if not any(quote.found for quote in found):
        why = "none of its quotations stands in the sources" if found else "it quotes no source"
        return Spoken(NOT_FOUND, False, found, model, (f"the model answered, but {why}",))
    wrong = sum(not quote.found for quote in found)
    notes = (f"{wrong} of {len(found)} quotations do not stand in the sources",) if wrong else ()
    return Spoken(text.strip(), True, found, model, notes)


def inject(
    prompt_markdown: str,
    user_message: str,
    engine: Talking | None = None,
    *,
    budget: int = 1500,
    min_score: float = SURE_ENOUGH,
) -> str:
    """Return the prompt with what is known about the message behind it; untouched where there is nothing to add."""
    if engine is None or not engine.enabled or engine.is_empty() or not user_message.strip():
        return prompt_markdown
    found = engine.context(user_message, budget, format="block", min_score=min_score)
    return f"{prompt_markdown.rstrip()}\n\n{found.text}\n" if found.cited else prompt_markdown


def _whole(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not _LEAST <= value <= _MOST:
        raise InputError(f"{name} is a number of tokens, from {_LEAST} on", hint=f"{name}=1500")
