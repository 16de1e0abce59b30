"""Leaves out of the index what `ragstone install` wrote: marked instructions, and settings with our server alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Final

from ragstone.types import Document

BLOCK_START: Final = "<!-- ragstone: start -->"
BLOCK_END: Final = "<!-- ragstone: end -->"
SERVER_NAME: Final = "ragstone"
"""A text without this word has nothing that we wrote."""
CONTINUE_HEAD: Final = (
    "name: Ragstone\nversion: 0.0.1\nschema: v1\n"
    f"mcpServers:\n  - name: {SERVER_NAME}\n    command: "
)
"""The beginning of the file of our server for Continue."""
TOML_TABLE: Final = f"[mcp_servers.{SERVER_NAME}]"
_BLOCK: Final = re.compile(
    rf"^{re.escape(BLOCK_START)}\r?$.*?^{re.escape(BLOCK_END)}\r?$", re.DOTALL | re.MULTILINE
)
_FRONT_MATTER: Final = re.compile(r"\A---\r?\n.*?^---\r?$", re.DOTALL | re.MULTILINE)
_SCHEMA: Final = "$schema"
_MAX_SETTINGS: Final = 2_000
"""Characters of the longest settings file that can hold our server alone."""


def blank_own_text(document: Document) -> Document:
    """Return a document with empty lines in place of what we wrote; other lines keep their numbers."""
    if document.marks:
        return document
    text = document.text
    if BLOCK_START in text:
        text = _blank_block(text)
    elif _is_own_settings(text):
        text = _empty_lines(text)
    else:
        return document
    return replace(document, text=text)


def _blank_block(text: str) -> str:
    """Return the text without our instructions; a front matter without further text was ours too."""
    blanked = _BLOCK.sub(lambda block: _empty_lines(block[0]), text)
    if not _FRONT_MATTER.sub("", blanked).strip():
        return _empty_lines(text)
    return blanked


def _empty_lines(text: str) -> str:
    return "\n" * text.count("\n")


def _is_own_settings(text: str) -> bool:
    """Return whether a settings file of an agent holds our server alone."""
    if len(text) > _MAX_SETTINGS:
        return False
    plain = text.replace("\r\n", "\n").strip()
    if plain.startswith("{"):
        return _is_own_json(plain)
    if plain.startswith(TOML_TABLE):
        return "\n[" not in plain and "#" not in plain
    return plain.startswith(CONTINUE_HEAD) and plain.count("- name:") == 1


def _is_own_json(text: str) -> bool:
    """Return whether the only server of an object of servers is ours."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return False
    data.pop(_SCHEMA, None)
    if len(data) != 1:
        return False
    (servers,) = data.values()
    if not isinstance(servers, dict) or list(servers) != [SERVER_NAME]:
        return False
    entry = servers[SERVER_NAME]
    return isinstance(entry, dict) and "command" in entry
