"""The verbs around a prompt: give it what it should know, choose with the caller, answer in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Unpack, get_args

from ragstone import types
from ragstone.engine import later
from ragstone.engine.recalling import Recalling
from ragstone.errors import ConfigError, InputError
from ragstone.events import CONTEXT_LOADED, SEARCH_COMPLETED
from ragstone.retrieval.context import SURE_ENOUGH

RAG_OFF: Final = "RAG is OFF for this run: no project documents were retrieved; answer from the conversation alone."
_MOST_SENT: Final = 10_000
"""Sentences and lines remembered as sent to one session; the oldest are forgotten first."""
_CANDIDATES: Final = 12
"""Hits that a context chooses from unless the caller says how many."""
_LEAST, _MOST = 1, 10_000_000


class ContextOptions(types.SearchOptions, total=False):
    """What a caller may say about a context beside the task and the budget."""

    format: types.ContextFormat
    window: int | None
    """The model's window in tokens: at most two fifths of it are used."""
    session: str | None
    """Whoever is given this: what it was given before is named, not repeated."""
    top_k: int | None
    count: Callable[[str], int] | None
    """The model's own tokenizer: how many tokens a text has."""
    rag_enabled: bool
    """False skips retrieval for this run and says so."""


class Talking(Recalling):
    """The part of an engine that prompts meet."""

    # ── context ───────────────────────────────────────────────────────────────────────────────────

    def context(self, task: str, budget: int = 1500, **options: Unpack[ContextOptions]) -> types.Context:
        """Return cited text for a task inside a hard token budget, and what was left out of it."""
        from ragstone.retrieval.context.build import Wish, build, sent_marks
        from ragstone.text.tokens import at_most

        form = options.pop("format", "block")
        session, window = options.pop("session", None), options.pop("window", None)
        count = options.pop("count", None) or at_most
        asked = options.pop("top_k", None)
        top_k = _CANDIDATES if asked is None else asked
        _whole("budget", budget)
        if window is not None:
            _whole("window", window)
        _checked(form, session, count)
        if not options.pop("rag_enabled", True) or not self.enabled:
            self.events.emit(CONTEXT_LOADED, rag=False, task=task, tokens=0, ids=[])
            return types.Context(RAG_OFF, form, budget, count(RAG_OFF), notes=("retrieval was not asked for",))
        sent = self._sent(session)
        wish = Wish(task, budget, form, window, count, frozenset(sent))
        with self.events.holding(SEARCH_COMPLETED) as searches:
            told = self.explain(task, top_k, **options)  # type: ignore[misc]  # what is left are search options
            made_now = build(wish, told.hits, empty=self.is_empty())
            for search in searches:
                search["chosen"] = [cited.doc_id for cited in made_now.cited]
        made_now = replace(made_now, notes=tuple(dict.fromkeys((*made_now.notes, *told.notes))))
        if session is not None and made_now.cited:
            marks = [mark for cited in made_now.cited for mark in sent_marks(cited)]
            self._parts.store.state.add_shown_passages(self.project, session, marks, keep=_MOST_SENT)
        self.events.emit(
            CONTEXT_LOADED,
            rag=True,
            task=task,
            tokens=made_now.tokens,
            ids=[cited.doc_id for cited in made_now.cited],
        )
        return made_now

    def select(
        self, task: str, candidates: Sequence[later.Candidate], budget: int = 1500, *, top_k: int = _CANDIDATES
    ) -> types.Context:
        """Return a context of what the caller chose and what is known here, ranked together inside one budget."""
        from ragstone.retrieval.context.build import Wish, build
        from ragstone.retrieval.context.select import as_hits, merged
        from ragstone.text import query_terms

        _whole("budget", budget)
        if not isinstance(candidates, Sequence) or not all(isinstance(one, later.Candidate) for one in candidates):
            raise InputError("select takes a list of candidates", hint='[Candidate("text", "source")]')
        found = self.explain(task, top_k).hits if self.enabled else ()
        own = as_hits(candidates, query_terms(task), self._cosines(task, candidates))
        return build(Wish(task, budget), merged(own, found), empty=not candidates and self.is_empty())

    def ask(
        self,
        query: str,
        top_k: int | None = None,
        *,
        tell: Callable[[str], object] | None = None,
        **options: Unpack[types.SearchOptions],
    ) -> types.Spoken:
        """Return an answer in words, each statement quoted from a source and checked; `tell` hears it as it comes."""
        from ragstone.retrieval.ask.quotes import INSTRUCTIONS, NOT_FOUND, build_question
        from ragstone.retrieval.context.fence import neutral, new_mark
        from ragstone.retrieval.context.layout import line

        chat = self._chat()
        made_now = self.context(query, self.settings.ask.budget, format="json", top_k=top_k, **options)
        if not made_now.cited:
            return types.Spoken(NOT_FOUND, False, model=chat.model, notes=made_now.notes)
        pieces = [replace(one, text=neutral(one.text), place=line(one.place)) for one in made_now.cited]
        mark = new_mark([query, *(piece.text for piece in pieces)])
        messages = (
            {"role": "system", "content": INSTRUCTIONS},
            {"role": "user", "content": build_question(query, pieces, mark)},
        )
        said = []
        for part in chat.stream(messages):
            said.append(part)
            if tell is not None:
                tell(part)
        return _judged("".join(said), pieces, chat.model)

    def _chat(self) -> later.Chat:
        ask = self.settings.ask
        if not self.enabled or ask.url is None or ask.model is None:
            raise ConfigError(
                "no language model is set up" if self.enabled else "retrieval is switched off (rag.enabled)",
                hint="set RAGSTONE_ASK_URL (Ollama: http://127.0.0.1:11434/v1) and RAGSTONE_ASK_MODEL",
            )
        return later.Chat(ask.url, ask.model, ask.api_key, ask.seconds)

    def _cosines(self, task: str, candidates: Sequence[later.Candidate]) -> list[float | None]:
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
        return self._parts.store.state.shown_passages(self.project, session)


def _judged(text: str, pieces: Sequence[types.Cited], model: str) -> types.Spoken:
    """Return what the model said, or that nothing was found where no quotation of it stands in the sources."""
    from ragstone.retrieval.ask.quotes import NOT_FOUND, check_quotes, is_declined

    if is_declined(text):
        return types.Spoken(NOT_FOUND, False, model=model)
    found = tuple(check_quotes(text, pieces))
    if not any(quote.found for quote in found):
        why = "none of its quotations stands in the sources" if found else "it quotes no source"
        return types.Spoken(NOT_FOUND, False, found, model, (f"the model answered, but {why}",))
    wrong = sum(not quote.found for quote in found)
    notes = (f"{wrong} of {len(found)} quotations do not stand in the sources",) if wrong else ()
    return types.Spoken(text.strip(), True, found, model, notes)


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


def _checked(form: object, session: object, count: object) -> None:
    known = get_args(types.ContextFormat)
    if form not in known:
        raise InputError(f"there is no context format {form!r}", hint=f"known are {', '.join(known)}")
    if session is not None and (not isinstance(session, str) or not session.strip()):
        raise InputError(f"session is {session!r}", hint="give a name")
    if not callable(count):
        raise InputError(f"count is {count!r}", hint="give a function that counts a text's tokens")


def _whole(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not _LEAST <= value <= _MOST:
        raise InputError(f"{name} is a number of tokens, from {_LEAST} on", hint=f"{name}=1500")
