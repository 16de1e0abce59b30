"""Contexts and answers in words as JSON."""

from __future__ import annotations

from ragstone.surfaces.present import Json, pick
from ragstone.types import Context, Spoken


def context_json(context: Context) -> Json:
    """Return a context with its citations and the passages that it leaves out."""
    return {
        "success": True,
        **pick(context, "text", "format", "budget", "tokens"),
        "cited": [
            pick(passage, "doc_id", "place", "score", "whole", "text") for passage in context.cited
        ],
        "left_out": [pick(passage, "doc_id", "place", "reason") for passage in context.left_out],
        **pick(context, "sent_before", "confidence", "needs_clarification", "question", "notes"),
    }


def spoken_json(spoken: Spoken) -> Json:
    """Return an answer in words with its quotations."""
    return {
        "success": True,
        "found": spoken.found,
        "answer": spoken.text,
        "quotes": [pick(quote, "number", "words", "place", "found") for quote in spoken.quotes],
        **pick(spoken, "model", "notes"),
    }
