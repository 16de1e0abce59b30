"""A context selector that runs beside the caller's own selection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from ragstone.engine.engine import DEFAULT_PROJECT, Engine
from ragstone.engine.prompts import CANDIDATES
from ragstone.errors import InputError, NotFound
from ragstone.retrieval.context.selection import Candidate
from ragstone.types import Context


class BaseSelector(Protocol):
    """The caller's own selection of context for a task."""

    def select_context(
        self, task_description: str, project_id: str | None, max_tokens: int
    ) -> str | Sequence[Candidate | str]:
        """Return the pieces that fit the task, or one text; a text without a source is cited as `context N`."""
        ...


class RAGContextSelector:
    """Runs the caller's selection and a search in parallel, and ranks both inside one budget."""

    def __init__(self, base: BaseSelector, engine: Engine | None = None) -> None:
        """Take the caller's selector; without an engine, a selection opens the current folder."""
        if not callable(getattr(base, "select_context", None)):
            message = f"a {type(base).__name__} cannot select context"
            raise InputError(message, hint="give an object with a method select_context")
        self._base = base
        self._engine = engine

    def select_context(
        self, task_description: str, project_id: str | None = None, max_tokens: int = 1500
    ) -> Context:
        """Return the best pieces of both; `NotFound` if the engine belongs to another project.

        An exception of the caller's selector is raised unchanged: a context without its pieces would look complete.
        """
        if self._engine is None:
            with Engine.open(project=project_id or DEFAULT_PROJECT) as engine:
                return self._select(engine, task_description, project_id, max_tokens)
        if project_id not in (None, self._engine.project):
            hint = f"this engine belongs to {self._engine.project!r}"
            raise NotFound(f"there is no project {project_id!r} here", hint=hint)
        return self._select(self._engine, task_description, project_id, max_tokens)

    def _select(
        self, engine: Engine, task: str, project_id: str | None, max_tokens: int
    ) -> Context:
        with ThreadPoolExecutor(1, thread_name_prefix="ragstone-base-selector") as pool:
            own = pool.submit(self._base.select_context, task, project_id, max_tokens)
            retrieved = engine.explain(task, CANDIDATES)
            candidates = _to_candidates(own.result())
        return engine.prompts.select(task, candidates, max_tokens, retrieved=retrieved)


def _to_candidates(pieces: object) -> list[Candidate]:
    """Return the pieces of the caller's selector; raise `InputError` if it returned something else."""
    if pieces is None:
        return []
    if isinstance(pieces, (str, Candidate)):
        pieces = [pieces]
    if isinstance(pieces, Mapping) or not isinstance(pieces, Iterable):
        raise _wrong_pieces(pieces)
    return [_to_candidate(piece, number) for number, piece in enumerate(pieces, 1)]


def _to_candidate(piece: object, number: int) -> Candidate:
    if isinstance(piece, Candidate):
        return piece
    if isinstance(piece, str):
        return Candidate(piece, f"context {number}")
    raise _wrong_pieces(piece)


def _wrong_pieces(value: object) -> InputError:
    return InputError(
        f"select_context returned a {type(value).__name__}",
        hint="return a text, or a list of texts and Candidate objects",
    )
