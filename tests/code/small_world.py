"""A project of a few files, written in a test."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent

from ragstone.code.facts import FileFacts
from ragstone.code.symbols import read
from ragstone.code.world import World
from ragstone_code.php import lower


def world(files: Mapping[str, str]) -> World:
    """Return a world of these files; PHP without its opening tag gets one, on the first line."""
    texts = {
        uri: "<?php " + dedent(text).lstrip("\n")
        if uri.endswith(".php") and "<?php" not in text
        else text
        for uri, text in files.items()
    }

    def facts(uri: str) -> FileFacts | None:
        return read(texts[uri], uri) if uri.endswith(".php") else None

    return World(tuple(sorted(texts)), texts.get, facts, lower)
