"""The kind and language of a file, by its path and its first lines.

Project knowledge has kinds of its own: decisions, known bugs, rules for agents, manifests, API
descriptions and configuration.
"""

from __future__ import annotations

import re
from typing import Final

from ragstone.read.file_types import (
    NAMES,
    PROGRAMS,
    SUFFIXES,
    name_of,
    suffix_of,
)

_PLAIN: Final = ("text", "text")
_README: Final = re.compile(r"read[-_ ]?me(?![a-z])")
_SHEBANG: Final = re.compile(rb"#!\s*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?")
_PROSE: Final = frozenset({"markdown", "rst", "asciidoc", "text", "org", "html"})

_ADR: Final = re.compile(
    r"(?:^|/)(?:"
    r"adrs?/(?!(?:readme|index|template)\b)[^/]+"
    r"|(?:decisions?|decision[-_]records?|architecture[-_]decisions?|arch|architecture|rfcs?)/(?:adr|rfc)?[-_]?\d[^/]*"
    r"|adr[-_]?\d[^/]*"
    r")$"
)
_KNOWN_BUG: Final = re.compile(
    r"(?:^|/)(?:known[-_ ]?(?:bugs?|issues?|problems?|limitations?)(?:\.[^/]*)?|known[-_](?:bugs|issues)/[^/]+)$"
)
_CURSOR: Final = re.compile(r"(?:^|/)(?:\.cursor/rules/.+\.(?:mdc|md)|\.cursorrules)$")
_CLAUDE: Final = re.compile(r"(?:^|/)(?:\.claude/.+\.md|claude(?:\.local)?\.md)$")
_AGENTS: Final = re.compile(
    r"(?:^|/)(?:agents?(?:\.override)?\.md|gemini\.md|\.github/copilot-instructions\.md|\.github/instructions/.+\.md"
    r"|\.windsurfrules|\.windsurf/rules/.+\.md|\.clinerules|\.clinerules/.+\.md|\.junie/guidelines\.md)$"
)
_RULES_LIKELY: Final = re.compile(
    r"\.cursor|claude|agents?\b|gemini\.md$|copilot-inst|\.github/inst|\.windsurf|\.cline|\.junie"
)
_MANIFESTS: Final = {
    "composer.json": "json",
    "package.json": "json",
    "pyproject.toml": "toml",
    "cargo.toml": "toml",
    "go.mod": "text",
    "podfile": "ruby",
    "package.swift": "swift",
}
_OPENAPI: Final = re.compile(
    rb"""^[ \t{]*["']?(?:openapi|swagger)["']?[ \t]*:[ \t]*["']?[1-3]\.\d""",
    re.MULTILINE,
)
_OPENAPI_HEAD: Final = 4096
_API_NAME: Final = re.compile(r"openapi|swagger|api[-_]?docs?")
_PHP_CONFIG: Final = re.compile(r"(?:^|/)config/(?:[^/]+/)*[^/]+\.php$")
_PHP_RETURN: Final = re.compile(rb"^return\s*(?:\[|array\s*\()", re.MULTILINE)
_PHP_HEAD: Final = 16_384


def kind_of(uri: str, data: bytes = b"") -> tuple[str, str]:
    """Return the kind and language of a file; its first line decides if the name is unknown."""
    name = name_of(uri).lower()
    by_name = NAMES.get(name) or SUFFIXES.get(suffix_of(name))
    kind, language = by_name or _kind_by_start(name, data)
    knowledge = _knowledge_kind(uri.lower(), name, language, data)
    if knowledge is not None:
        return knowledge
    if kind in ("doc", "text") and _README.match(name):
        return "readme", language
    return kind, language


def _kind_by_start(name: str, data: bytes) -> tuple[str, str]:
    """Return the kind of a file by the start of its name, or by the program in its first line."""
    if name.startswith("dockerfile."):
        return "config", "docker"
    if name.startswith(".env"):
        return "config", "dotenv"
    match = _SHEBANG.match(data[:200])
    if match is None:
        return _PLAIN
    program = match[1].rpartition(b"/")[2]
    if program == b"env" and match[2]:
        program = match[2].rpartition(b"/")[2]
    name_without_version = program.decode("ascii", "replace").lower().rstrip("0123456789.")
    language = PROGRAMS.get(name_without_version)
    return ("code", language) if language else _PLAIN


def _knowledge_kind(path: str, name: str, language: str, data: bytes) -> tuple[str, str] | None:
    """Return the kind and language of project knowledge, or None; path and name are in lower case."""
    rule_kind = _rule_kind(path)
    if rule_kind:
        return rule_kind, "markdown"
    if name in _MANIFESTS:
        return "manifest", _MANIFESTS[name]
    if language in _PROSE:
        return _prose_kind(path, language)
    if language in ("json", "yaml") and _is_openapi(name, data):
        return "openapi", language
    if language == "php" and _is_php_config(path, data):
        return "config", "php"
    return None


def _prose_kind(path: str, language: str) -> tuple[str, str] | None:
    if _KNOWN_BUG.search(path):
        return "known_bug", language
    if _ADR.search(path):
        return "adr", language
    return None


def _is_php_config(path: str, data: bytes) -> bool:
    """Return whether a PHP file is in a folder `config` and returns an array."""
    if not _PHP_CONFIG.search(path):
        return False
    return _PHP_RETURN.search(data[:_PHP_HEAD]) is not None


def _rule_kind(path: str) -> str:
    """Return the kind of a file with rules for agents; empty for other files."""
    if _RULES_LIKELY.search(path):
        for kind, pattern in (
            ("cursor_rule", _CURSOR),
            ("claude_rule", _CLAUDE),
            ("agent_rule", _AGENTS),
        ):
            if pattern.search(path):
                return kind
    return ""


def _is_openapi(name: str, data: bytes) -> bool:
    head = data if _API_NAME.search(name) else data[:_OPENAPI_HEAD]
    return _OPENAPI.search(head) is not None
