"""Options that the commands about conversations share."""

from __future__ import annotations

from datetime import datetime

import click

from ragstone.errors import InputError

session_option = click.option("--session", default="default", show_default=True, help="The conversation.")


def parse_time(text: str | None, flag: str) -> float | None:
    """Return ISO 8601 text as seconds since 1970, or None."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        hint = "for example 2026-05-08 or 2026-05-08T14:00"
        raise InputError(f"{flag} {text!r} is not a valid time", hint=hint) from error
