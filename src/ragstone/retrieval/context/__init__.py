"""Contexts: cited text for a prompt, inside a token budget."""

from __future__ import annotations

from typing import Final

MIN_CONFIDENCE: Final = 0.25
"""If the best hit has a lower confidence, the context asks the user a question instead of guessing."""
