"""Contexts and answers in words as JSON."""

from __future__ import annotations

from ragstone.surfaces.present import Json
from ragstone.types import Context, Spoken


def context_json(context: Context) -> Json:
    """Return a context with its citations and the passages that it leaves out."""
    cited = [
        {
            "doc_id": passage.doc_id,
            "place": passage.place,
            "score": passage.score,
            "whole": passage.whole,
            "text": passage.text,
        }
        for passage in context.cited
    ]
    left_out = [
        {"doc_id": passage.doc_id, "place": passage.place, "reason": passage.reason} for passage in context.left_out
    ]
    return {
        "success": True,
        "text": context.text,
        "format": context.format,
        "budget": context.budget,
        "tokens": context.tokens,
        "cited": cited,
        "left_out": left_out,
        "sent_before": list(context.sent_before),
        "confidence": context.confidence,
        "needs_clarification": context.needs_clarification,
        "question": context.question,
        "notes": list(context.notes),
    }


def spoken_json(spoken: Spoken) -> Json:
    """Return an answer in words with its quotations."""
    quotes = [
        {"number": quote.number, "words": quote.words, "place": quote.place, "found": quote.found}
        for quote in spoken.quotes
    ]
    return {
        "success": True,
        "found": spoken.found,
        "answer": spoken.text,
        "quotes": quotes,
        "model": spoken.model,
        "notes": list(spoken.notes),
    }
