"""Searches, contexts and questions about code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import Response

from ragstone.access.identity import authorize
from ragstone.engine.arguments import is_system_name
from ragstone.errors import ConfigError, InputError
from ragstone.surfaces.present.context import context_json
from ragstone.surfaces.present.graph import retrieval_json
from ragstone.surfaces.present.hits import answer_json, explanation_json
from ragstone.surfaces.rest.allowed_models import check_models
from ragstone.surfaces.rest.authorised_route import AuthorisedCall, Call, needs
from ragstone.surfaces.rest.bodies import (
    ContextBody,
    InjectBody,
    RetrieveBody,
    SearchBody,
    SearchOptionsBody,
)
from ragstone.surfaces.rest.replies import reply
from ragstone.surfaces.rest.router import create_router
from ragstone.types import RetrieveLimits

router = create_router("search", "/api/rag")


@router.post("/collections/{collection_id}/search")
@needs("read")
def search_collection(call: AuthorisedCall, collection_id: str, body: SearchBody) -> Response:
    """Search one collection."""
    if body.collection is not None or body.memory is not False:
        raise InputError(
            "the address names the collection already",
            hint="POST /api/rag/search searches more",
        )
    options = body.options()
    is_system = is_system_name(collection_id)
    options["collection"] = collection_id if is_system else call.collection(collection_id).name
    with _chosen_models(call, body):
        return reply(answer_json(call.engine.explain(body.query, body.top_k, **options)))


@router.post("/search")
@needs("read")
def search(call: AuthorisedCall, body: SearchBody) -> Response:
    """Search some collections, or all of the project."""
    with _chosen_models(call, body):
        explanation = call.engine.explain(body.query, body.top_k, **body.options())
    return reply(answer_json(explanation))


@router.post("/explain")
@needs("read")
def explain(call: AuthorisedCall, body: SearchBody) -> Response:
    """Search, and explain the rank of every hit."""
    with _chosen_models(call, body):
        explanation = call.engine.explain(body.query, body.top_k, **body.options())
    return reply(explanation_json(explanation))


@router.post("/context")
@router.post("/get_context_for_prompt", include_in_schema=False)
@needs("read")
def context(call: AuthorisedCall, body: ContextBody) -> Response:
    """Return cited text for a task inside a token budget."""
    authorize(call.identity, "read", project=body.project_id)
    with _chosen_models(call, body):
        built = call.engine.context(
            body.task,
            body.tokens,
            format=body.format,
            window=body.window,
            session=body.session,
            top_k=body.top_k,
            rag_enabled=body.rag_enabled,
            **body.options(),
        )
    return reply(context_json(built))


@router.post("/inject")
@needs("read")
def inject(call: AuthorisedCall, body: InjectBody) -> Response:
    """Return a prompt with retrieved context behind it; unchanged if nothing fits."""
    prompt = call.engine.inject(body.prompt_markdown, body.user_message, budget=body.budget)
    return reply({"prompt_markdown": prompt})


@router.post("/retrieve")
@needs("read")
def retrieve(call: AuthorisedCall, body: RetrieveBody) -> Response:
    """Answer a question about code, with chunks as evidence."""
    limits = RetrieveLimits(
        body.source_types,
        body.must_include_paths,
        body.include_run_summaries,
        body.min_score,
    )
    retrieval = call.engine.graph.retrieve(
        body.query, body.top_k, limits, body.hints(), collection=body.collection
    )
    return reply(retrieval_json(retrieval))


@contextmanager
def _chosen_models(call: Call, body: SearchOptionsBody) -> Iterator[None]:
    """Check the models that a request chooses; one that cannot be used is wrong input."""
    check_models(call, body.rerank, body.embedder)
    try:
        yield
    except ConfigError as error:
        if body.rerank is None and body.embedder is None:
            raise
        raise InputError(error.message, hint=error.hint) from error
