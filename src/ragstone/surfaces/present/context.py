"""Contexts and answers in words as JSON."""

from __future__ import annotations

from ragstone.surfaces.present import Json, pick
from ragstone.surfaces.present.hits import downgraded_json, slices_json, span_json, summary_json
from ragstone.types import Cited, Context, LeftOut, Quote, Spoken


def context_json(context: Context) -> Json:
    """Return a context with its citations and the passages that it leaves out."""
    return {
        "success": True,
        **pick(context, "text", "format", "budget", "tokens"),
        "cited": [_cited_json(passage) for passage in context.cited],
        "left_out": [_left_out_json(passage) for passage in context.left_out],
        **pick(
            context, "sent_before", "confidence", "needs_clarification", "question", "notes"
        ),
        **downgraded_json(context),
    }


def spoken_json(spoken: Spoken) -> Json:
    """Return an answer in words with its quotations."""
    return {
        "success": True,
        "found": spoken.found,
        "answer": spoken.text,
        "quotes": [_quote_json(quote) for quote in spoken.quotes],
        **pick(spoken, "model", "notes"),
    }


def _cited_json(passage: Cited) -> Json:
    return {
        "doc_id": passage.doc_id,
        "source_doc_id": passage.uri,
        "path": passage.path,
        "chunk_index": passage.chunk_index,
        **span_json(passage.span),
        "lines": list(passage.lines),
        "citation": passage.citation,
        "place": passage.citation,
        "score": passage.score,
        "whole": passage.whole,
        "kind": passage.kind,
        "text": passage.text,
        **slices_json(passage),
        **summary_json(passage),
    }


def _left_out_json(passage: LeftOut) -> Json:
    citation = passage.citation
    return {
        "doc_id": passage.doc_id,
        "citation": citation,
        "place": citation,
        "reason": passage.reason,
    }


def _quote_json(quote: Quote) -> Json:
    return {
        "number": quote.number,
        "words": quote.words,
        "citation": quote.citation,
        "place": quote.citation,
        "found": quote.found,
    }
