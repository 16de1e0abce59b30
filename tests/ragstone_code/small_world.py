"""A project of a few files, written in a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import dedent

from ragstone.code.symbols import read_facts
from ragstone.types.code import FileFacts
from ragstone_code.project_files import World


@dataclass(frozen=True)
class TextFiles:
    """Files by path, as the core hands them to a framework."""

    texts: Mapping[str, str]

    @property
    def uris(self) -> tuple[str, ...]:
        return tuple(sorted(self.texts))

    def text(self, uri: str) -> str | None:
        return self.texts.get(uri)

    def facts(self, uri: str) -> FileFacts | None:
        return read_facts(self.texts[uri], uri) if uri.endswith(".php") else None

    def enter(self, uri: str) -> None:
        """Nothing looks for a file that never ends."""


def world_of(texts: Mapping[str, str]) -> World:
    """Return the world of these files."""
    return World(TextFiles(texts))


def world(files: Mapping[str, str]) -> World:
    """Return a world of these files; PHP without its opening tag gets one, on the first line."""
    texts = dict(files)
    for uri, text in files.items():
        if uri.endswith(".php") and "<?php" not in text:
            texts[uri] = "<?php " + dedent(text).lstrip("\n")
    return world_of(texts)
