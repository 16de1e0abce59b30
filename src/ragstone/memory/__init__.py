"""What a conversation leaves behind: turns, when they were said, and which of them still hold."""

from __future__ import annotations

from typing import Final

HOT: Final = 20
"""Turns of a session that are at hand without asking the store."""
