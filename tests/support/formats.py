"""Formats by name."""

from __future__ import annotations

from ragstone.read.file_formats import FORMATS, Format


def get_format(name: str) -> Format:
    """Return the format of this name."""
    return next(each for each in FORMATS if each.name == name)
