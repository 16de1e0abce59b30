"""Project knowledge with a kind of its own: decisions, known bugs, rules for agents, manifests, APIs, configuration.

A kind is told by a file's path, and by its first lines where a path is not enough.
"""

from __future__ import annotations

import re
from typing import Final

PROSE: Final = frozenset({"markdown", "rst", "asciidoc", "text", "org", "html"})

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
_OPENAPI: Final = re.compile(rb"""^[ \t{]*["']?(?:openapi|swagger)["']?[ \t]*:[ \t]*["']?[1-3]\.\d""", re.MULTILINE)
_OPENAPI_HEAD: Final = 4096
_API_NAME: Final = re.compile(r"openapi|swagger|api[-_]?docs?")
_PHP_CONFIG: Final = re.compile(r"(?:^|/)config/(?:[^/]+/)*[^/]+\.php$")
_PHP_RETURN: Final = re.compile(rb"^return\s*(?:\[|array\s*\()", re.MULTILINE)
_PHP_HEAD: Final = 16_384


def knowledge_kind(uri: str, name: str, language: str, data: bytes) -> tuple[str, str] | None:
    """Return kind and language of a file that is project knowledge, or None; `name` is in lower case."""
    path = uri.lower()
    if _RULES_LIKELY.search(path):
        for kind, rule in (("cursor_rule", _CURSOR), ("claude_rule", _CLAUDE), ("agent_rule", _AGENTS)):
            if rule.search(path):
                return kind, "markdown"
    if name in _MANIFESTS:
        return "manifest", _MANIFESTS[name]
    if language in PROSE:
        return _told(path, language)
    if language in ("json", "yaml"):
        head = data if _API_NAME.search(name) else data[:_OPENAPI_HEAD]
        return ("openapi", language) if _OPENAPI.search(head) else None
    if language == "php" and _PHP_CONFIG.search(path) and _PHP_RETURN.search(data[:_PHP_HEAD]):
        return "config", "php"
    return None


def _told(path: str, language: str) -> tuple[str, str] | None:
    """Return the kind of prose whose path says more than that it is prose."""
    if _KNOWN_BUG.search(path):
        return "known_bug", language
    if _ADR.search(path):
        return "adr", language
    return None
