"""The prompts facet: contexts for a prompt, selections, and answers of a language model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Unpack

from ragstone.config.validation import TOKEN_RANGE, check_number
from ragstone.engine import arguments
from ragstone.engine.engine import Engine
from ragstone.engine.project import OFF
from ragstone.engine.searches import Searches
from ragstone.errors import ConfigError, InputError, ProviderError
from ragstone.indexing.events import CONTEXT_LOADED
from ragstone.indexing.sync import Policy
from ragstone.retrieval.ask.chat import Chat
from ragstone.retrieval.ask.quotes import (
    INSTRUCTIONS,
    NOT_FOUND,
    build_question,
    check_quotes,
    is_declined,
)
from ragstone.retrieval.context.builder import (
    WEAK_SHARE,
    ContextRequest,
    build_context,
    build_vague_context,
)
from ragstone.retrieval.context.fence import new_mark, reveal_hidden
from ragstone.retrieval.context.formatters import FORMATTERS, one_line
from ragstone.retrieval.context.selection import Candidate, merge_hits, score_candidates
from ragstone.retrieval.context.shown_sentences import hash_sentences
from ragstone.retrieval.context.vague_tasks import is_vague
from ragstone.retrieval.ranking.confidence import WEAK_CONFIDENCE
from ragstone.text import query_terms
from ragstone.text.tokens import at_most
from ragstone.types import (
    Cited,
    Context,
    ContextOptions,
    Explanation,
    Hit,
    SearchOptions,
    Spoken,
)

RAG_OFF: Final = "RAG is OFF for this run: no project documents were retrieved; answer from the conversation alone."
_MAX_SHOWN: Final = 10_000
"""Passages that are remembered as shown to one session; the oldest are forgotten first."""
CANDIDATES: Final = 12
"""Hits that a context chooses from, unless the caller says how many."""


class Prompts:
    """Builds contexts and answers from the hits of searches."""

    def __init__(self, searches: Searches) -> None:
        """Take the searches of a project."""
        self._searches = searches
        self._project = searches.project

    def context(
        self,
        task: str,
        budget: int = 1500,
        *,
        policy: Policy | None = None,
        **options: Unpack[ContextOptions],
    ) -> Context:
        """Return cited text for a task inside a hard token budget, and the list of omitted hits."""
        arguments.check_option_names("a context", options, ContextOptions.__annotations__)
        form = options.pop("format", "block")
        session = options.pop("session", None)
        window = options.pop("window", None)
        count = options.pop("count", None) or at_most
        top_k = options.pop("top_k", None)
        rag_enabled = options.pop("rag_enabled", True)
        check_number("budget", budget, TOKEN_RANGE)
        if window is not None:
            check_number("window", window, TOKEN_RANGE)
        _check_context(form, session, count)
        if not rag_enabled or not self._project.enabled:
            self._project.events.emit(CONTEXT_LOADED, rag=False, task=task, tokens=0, ids=[])
            note = "retrieval was not asked for" if self._project.enabled else OFF
            return Context(RAG_OFF, form, budget, count(RAG_OFF), notes=(note,))
        shown = self._shown_passages(session)
        limit = CANDIDATES if top_k is None else top_k
        explanation = self._searches.find(task, limit, policy, **options)  # type: ignore[misc]
        request = ContextRequest(
            task, budget, form, window, count, frozenset(shown), weak_share=WEAK_SHARE
        )
        is_limited = bool(options.get("filters") or options.get("collection"))
        context = self._context_of(request, explanation.hits, is_limited=is_limited)
        context = _with_search(context, explanation)
        ids = [cited.doc_id for cited in context.cited]
        asked = self._searches.asked(limit, options)
        self._searches.emit_completed(
            task, explanation.hits, explanation.milliseconds, asked, chosen=ids
        )
        self._remember_shown(session, context)
        self._project.events.emit(
            CONTEXT_LOADED, rag=True, task=task, tokens=context.tokens, ids=ids
        )
        return context

    def _context_of(
        self, request: ContextRequest, hits: Sequence[Hit], *, is_limited: bool
    ) -> Context:
        """Return the context of the hits; a question if neither the task nor a limit names a subject."""
        is_empty = self._project.is_empty()
        if not is_limited and not is_empty and is_vague(request.task):
            return build_vague_context(request, hits)
        return build_context(request, hits, index_is_empty=is_empty)

    def select(
        self,
        task: str,
        candidates: Sequence[Candidate],
        budget: int = 1500,
        *,
        top_k: int = CANDIDATES,
        retrieved: Explanation | None = None,
    ) -> Context:
        """Return a context of the caller's own pieces and the engine's, ranked together inside one budget.

        The engine's pieces are the hits of `retrieved`, by default a search for the task.
        """
        check_number("budget", budget, TOKEN_RANGE)
        if not _is_candidate_list(candidates):
            hint = '[Candidate("text", "source")]'
            raise InputError("select takes a list of candidates", hint=hint)
        if retrieved is None:
            retrieved = self._searches.explain(task, top_k)
        cosines = self._cosines(task, candidates)
        own = score_candidates(candidates, query_terms(task), cosines)
        context = build_context(
            ContextRequest(task, budget),
            merge_hits(own, retrieved.hits),
            index_is_empty=not candidates and self._project.is_empty(),
        )
        return _with_search(context, retrieved)

    def inject(
        self,
        prompt_markdown: str,
        user_message: str,
        *,
        budget: int = 1500,
        min_score: float = WEAK_CONFIDENCE,
    ) -> str:
        """Return the prompt with retrieved context after it; unchanged if nothing passes the threshold."""
        if not self._project.enabled or self._project.is_empty() or not user_message.strip():
            return prompt_markdown
        context = self.context(user_message, budget, format="block", min_score=min_score)
        if not context.cited:
            return prompt_markdown
        return f"{prompt_markdown.rstrip()}\n\n{context.text}\n"

    def ask(
        self,
        query: str,
        top_k: int | None = None,
        *,
        tell: Callable[[str], object] | None = None,
        policy: Policy | None = None,
        **options: Unpack[SearchOptions],
    ) -> Spoken:
        """Return a language model's answer with checked quotations; `tell` gets each part of it as it comes."""
        chat = self._chat()
        budget = self._project.settings.ask.budget
        context = self.context(
            query, budget, policy=policy, format="json", top_k=top_k, **options
        )
        if not context.cited:
            return Spoken(NOT_FOUND, False, model=chat.model, notes=context.notes)
        pieces = [_plain_piece(cited) for cited in context.cited]
        mark = new_mark([query, *(piece.text for piece in pieces)])
        messages = (
            {"role": "system", "content": INSTRUCTIONS},
            {"role": "user", "content": build_question(query, pieces, mark)},
        )
        parts = []
        for part in chat.stream(messages):
            parts.append(part)
            if tell is not None:
                tell(part)
        answer = _check_answer("".join(parts), pieces, chat.model)
        return replace(answer, notes=(*context.notes, *answer.notes))

    def _chat(self) -> Chat:
        ask = self._project.settings.ask
        if not self._project.enabled or ask.url is None or ask.model is None:
            message = "no language model is set up" if self._project.enabled else OFF
            hint = "set RAGSTONE_ASK_MODEL, and RAGSTONE_ASK_URL: http://127.0.0.1:11434/v1 is Ollama"
            raise ConfigError(message, hint=hint)
        return Chat(ask.url, ask.model, ask.api_key, ask.seconds, ask.temperature)

    def _cosines(self, task: str, candidates: Sequence[Candidate]) -> list[float | None]:
        """Return how near each piece is to the task; None if it has a score already."""
        texts = [piece.text for piece in candidates if piece.score is None]
        if not self._project.enabled or not texts:
            return [None] * len(candidates)
        try:
            embedder = self._project.workspace.components.embedder()
            query = embedder.embed([task], "query")[0]
            similarities = embedder.embed(texts, "document") @ query
        except (ProviderError, ConfigError):
            return [None] * len(candidates)  # words decide
        by_text = dict(zip(texts, similarities.tolist(), strict=True))
        cosines: list[float | None] = []
        for piece in candidates:
            cosines.append(by_text[piece.text] if piece.score is None else None)
        return cosines

    def _shown_passages(self, session: str | None) -> list[str]:
        if session is None:
            return []
        return self._project.store.state.shown_passages(self._project.name, session)

    def _remember_shown(self, session: str | None, context: Context) -> None:
        if session is None or not context.cited:
            return
        hashes: list[str] = []
        for cited in context.cited:
            hashes += hash_sentences(cited)
        self._project.store.state.add_shown_passages(
            self._project.name, session, hashes, keep=_MAX_SHOWN
        )


def _check_answer(text: str, pieces: Sequence[Cited], model: str) -> Spoken:
    """Return the model's answer, or that nothing was found if no quotation of it is in the sources."""
    if is_declined(text):
        return Spoken(NOT_FOUND, False, model=model)
    quotes = tuple(check_quotes(text, pieces))
    wrong = sum(not quote.found for quote in quotes)
    if wrong == len(quotes):
        reason = "none of its quotations is in the sources" if quotes else "it quotes no source"
        return Spoken(NOT_FOUND, False, quotes, model, (f"the model answered, but {reason}",))
    notes: tuple[str, ...] = ()
    if wrong:
        notes = (f"{wrong} of {len(quotes)} quotations are not in the sources",)
    return Spoken(text.strip(), True, quotes, model, notes)


def _plain_piece(cited: Cited) -> Cited:
    """Return a piece for a model, with its hidden characters shown."""
    slices = [replace(part, text=reveal_hidden(part.text)) for part in cited.slices]
    return replace(
        cited,
        text=reveal_hidden(cited.text),
        citation=one_line(cited.citation),
        slices=tuple(slices),
    )


def _with_search(context: Context, explanation: Explanation) -> Context:
    """Return a context with the notes of its sync and search, and the options that the plan switched off."""
    notes = [*context.notes, *explanation.notes]
    if explanation.sync is not None:
        notes = [*explanation.sync.notes, *notes]
    unique = tuple(dict.fromkeys(notes))
    return replace(context, notes=unique, downgraded=explanation.downgraded)


def _is_candidate_list(value: object) -> bool:
    return isinstance(value, Sequence) and all(isinstance(piece, Candidate) for piece in value)


def _check_context(form: object, session: object, count: object) -> None:
    if form not in FORMATTERS:
        known_forms = ", ".join(FORMATTERS)
        raise InputError(
            f"there is no context format {form!r}", hint=f"known are {known_forms}"
        )
    if session is not None and (not isinstance(session, str) or not session.strip()):
        raise InputError(f"session is {session!r}", hint="give a name")
    if not callable(count):
        raise InputError(
            f"count is {count!r}", hint="give a function that counts a text's tokens"
        )


def inject(
    prompt_markdown: str,
    user_message: str,
    engine: Engine | None = None,
    *,
    budget: int = 1500,
    min_score: float = WEAK_CONFIDENCE,
) -> str:
    """Return the prompt with retrieved context after it; unchanged if there is no engine or nothing fits."""
    for name, value in (("prompt_markdown", prompt_markdown), ("user_message", user_message)):
        if not isinstance(value, str):
            raise InputError(
                f"{name} is no text: {value!r}", hint='inject("# Task", "question")'
            )
    if engine is None:
        return prompt_markdown
    return engine.prompts.inject(
        prompt_markdown, user_message, budget=budget, min_score=min_score
    )
