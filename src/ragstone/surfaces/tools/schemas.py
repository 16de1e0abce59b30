"""JSON schemas that several tools share: their arguments and their results."""

from __future__ import annotations

from typing import Final

from ragstone.surfaces.tools.tool import MAX_TEXT_TOKENS, Schema

QUERY: Final[Schema] = {
    "type": "string",
    "description": "What to look for, as a question or as key words.",
}
SESSION: Final[Schema] = {
    "type": "string",
    "description": "The conversation's name.",
    "minLength": 1,
    "maxLength": 200,
}
COLLECTION: Final[Schema] = {
    "type": "string",
    "description": "Only this collection.",
    "minLength": 1,
}
MAX_TOKENS: Final[Schema] = {
    "type": "integer",
    "minimum": 100,
    "maximum": MAX_TEXT_TOKENS,
    "description": "Tokens at most.",
}
SUCCESS: Final[Schema] = {"type": "boolean"}
STRINGS: Final[Schema] = {"type": "array", "items": {"type": "string"}}


def count_schema(description: str, minimum: int = 1, maximum: int = 50) -> Schema:
    """Return the schema of a whole number."""
    return {
        "type": "integer",
        "minimum": minimum,
        "maximum": maximum,
        "description": description,
    }


def text_schema(description: str) -> Schema:
    """Return the schema of a text that must not be empty."""
    return {"type": "string", "description": description, "minLength": 1}


def result_schema(**properties: Schema) -> Schema:
    """Return the schema of a result; a failed call has only `success` and `error`."""
    return {
        "type": "object",
        "properties": {"success": SUCCESS, **properties},
        "required": ["success"],
    }


def list_schema(*fields: str, **properties: Schema) -> Schema:
    """Return the schema of a result with a list of objects, of which the important fields are named."""
    items: Schema = {"type": "object"}
    if fields:
        items["required"] = list(fields)
    return result_schema(results={"type": "array", "items": items}, **properties)


PASSAGES: Final = list_schema("citation", "path", "lines", "text", "score", "kind")
"""The schema of a result with passages."""
