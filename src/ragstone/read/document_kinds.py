"""The kind and language of a file, by its path and its first lines, and the metadata that its kind has.

Project knowledge has its own kinds: decisions, known bugs, rules for agents, manifests, API
descriptions and configuration. The core knows no framework: plug-ins propose finer kinds.
"""

from __future__ import annotations

import json
import logging
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Final

from ragstone import registry
from ragstone.protocols import KindRules
from ragstone.read.file_formats import (
    NAMES,
    PROGRAMS,
    SUFFIXES,
    name_of,
    suffix_of,
)
from ragstone.text.json_comments import blank_comments
from ragstone.types import Metadata
from ragstone.types.documents import PROPOSED_KINDS

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
        return "package", _MANIFESTS[name]
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


# ── metadata of a kind ────────────────────────────────────────────────────────────────────────

_HEAD: Final = 20_000
_MAX_VALUE: Final = 200
_MAX_MANIFEST: Final = 1_000_000
"""Characters. A program wrote a longer manifest."""
_RULE_KINDS: Final = ("cursor_rule", "claude_rule", "agent_rule")
_FRONT_MATTER_PAIR: Final = re.compile(
    r"^([A-Za-z][\w-]*)[ \t]*:[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE
)
_FIELD: Final = r"(?im)^(?:[-*+][ \t]+)?\**{name}\**[ \t]*:[ \t]*\**[ \t]*(\S[^\r\n]*)"
_SECTION: Final = r"(?im)^(?:\#+[ \t]*{name}[ \t]*\#*|{name}[ \t]*\r?\n[=~-]{{3,}})[ \t]*\r?\n\s*(?:[-*+][ \t]+)?(\S[^\r\n]*)"
_DATE: Final = re.compile(r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z-]*")
_API_TITLE: Final = re.compile(
    r"""^[ \t]*["']?title["']?[ \t]*:[ \t]*["']?([^"'\r\n,]{1,120})""",
    re.MULTILINE,
)
_PACKAGE_TABLES: Final = (
    (),
    ("project",),
    ("package",),
    ("tool", "poetry"),
)
_DEPENDENCY_TABLES: Final = (
    ("dependencies",),
    ("devDependencies",),
    ("peerDependencies",),
    ("require",),
    ("require-dev",),
    ("dev-dependencies",),
    ("build-dependencies",),
    ("project", "dependencies"),
    ("tool", "poetry", "dependencies"),
)
_SWIFT_NAME: Final = re.compile(r'name:[ \t]*"([^"\n]+)"')
_SWIFT_PACKAGE: Final = re.compile(r"\.package\(")
_POD: Final = re.compile(r"(?m)^[ \t]*pod[ \t]+['\"]")
_GO_MODULE: Final = re.compile(r"(?m)^module[ \t]+(\S+)")
_GO_VERSION: Final = re.compile(r"(?m)^go[ \t]+(\S+)")
_GO_REQUIRE_BLOCK: Final = re.compile(r"(?m)^require[ \t]*\(([^)]*)\)")
_GO_REQUIRE_LINE: Final = re.compile(r"(?m)^require[ \t]+[^\s(]")
_GO_REQUIREMENT: Final = re.compile(r"(?m)^[ \t]*[^\s/]\S*[ \t]+v\S+")


def extract_metadata(kind: str, language: str, text: str) -> Metadata:
    """Return the metadata in a document of this kind."""
    if kind == "adr":
        return _decision_metadata(text[:_HEAD])
    if kind == "package" and len(text) <= _MAX_MANIFEST:
        return _manifest_metadata(language, text)
    if kind in _RULE_KINDS:
        values = parse_front_matter(text)
        return {
            key: values[key][:_MAX_VALUE]
            for key in ("name", "description", "globs")
            if values.get(key)
        }
    return {}


def find_api_title(text: str) -> str:
    """Return the title in the description of an API; empty if there is none."""
    match = _API_TITLE.search(text[:_HEAD])
    return match[1].strip() if match else ""


def parse_front_matter(text: str) -> dict[str, str]:
    """Return the plain pairs of a text's front matter, with keys in lower case."""
    head = text[:_HEAD].removeprefix("\ufeff")
    end = head.find("\n---", 3)
    if not head.startswith("---") or end < 0:
        return {}
    pairs = _FRONT_MATTER_PAIR.findall(head[3:end])
    return {key.lower(): value.strip("\"'") for key, value in pairs}


def is_json(text: str) -> bool:
    """Return whether a text is JSON; comments and trailing commas are allowed, as in editors."""
    if _parses_as_json(text):
        return True
    return _parses_as_json(blank_comments(text))


def _parses_as_json(text: str) -> bool:
    try:
        json.loads(text, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True


def _decision_metadata(text: str) -> Metadata:
    """Return the status, in lower case, and the date of a decision."""
    front_matter = parse_front_matter(text)
    metadata: dict[str, str] = {}
    status = _WORD.search(_find_field("status", text, front_matter))
    if status:
        metadata["status"] = status[0].lower()
    date = _DATE.search(_find_field("date", text, front_matter))
    if date:
        year, month, day = date.groups()
        metadata["date"] = f"{year}-{month:0>2}-{day:0>2}"
    return metadata


def _find_field(name: str, text: str, front_matter: Mapping[str, str]) -> str:
    """Return the value of a field: in the front matter, in a line, or under a heading."""
    if front_matter.get(name):
        return front_matter[name]
    for pattern in (_FIELD, _SECTION):
        match = re.search(pattern.format(name=name), text)
        if match:
            return match[1]
    return ""


# ── manifests ─────────────────────────────────────────────────────────────────────────────────────


def _manifest_metadata(language: str, text: str) -> Metadata:
    """Return a package's name, version and number of dependencies."""
    if language in ("json", "toml"):
        return _tree_metadata(language, text)
    if _GO_MODULE.search(text):
        return _go_metadata(text)
    metadata: dict[str, str | int] = {}
    if language == "swift":
        name = _SWIFT_NAME.search(text)
        if name:
            metadata["name"] = name[1]
        metadata["dependencies"] = len(_SWIFT_PACKAGE.findall(text))
    else:
        metadata["dependencies"] = len(_POD.findall(text))
    return metadata


def _tree_metadata(language: str, text: str) -> Metadata:
    try:
        tree = json.loads(text) if language == "json" else tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(tree, dict):
        return {}
    metadata: dict[str, str | int] = {}
    for path in _PACKAGE_TABLES:
        for key in ("name", "version"):
            value = _find_value(tree, (*path, key))
            if isinstance(value, str):
                metadata.setdefault(key, value[:_MAX_VALUE])
    dependencies = 0
    for table_path in _DEPENDENCY_TABLES:
        table = _find_value(tree, table_path)
        if isinstance(table, dict | list):
            dependencies += len(table)
    metadata["dependencies"] = dependencies
    return metadata


def _find_value(tree: object, path: tuple[str, ...]) -> object:
    """Return the value at a path of keys; None if there is none."""
    for key in path:
        if not isinstance(tree, dict):
            return None
        tree = tree.get(key)
    return tree


def _go_metadata(text: str) -> Metadata:
    metadata: dict[str, str | int] = {}
    for key, pattern in (("name", _GO_MODULE), ("go", _GO_VERSION)):
        match = pattern.search(text)
        if match:
            metadata[key] = match[1]
    dependencies = len(_GO_REQUIRE_LINE.findall(text))
    for block in _GO_REQUIRE_BLOCK.findall(text):
        dependencies += len(_GO_REQUIREMENT.findall(block))
    metadata["dependencies"] = dependencies
    return metadata


_REFINED: Final = frozenset({"code", "doc", "text"})
"""Kinds that say little, so that a finer one may replace them."""

logger = logging.getLogger(__name__)


def refine_kind(kind: str, language: str, uri: str, text: str) -> str:
    """Return the kind that a plug-in proposes for a file, or the given one."""
    if kind not in _REFINED:
        return kind
    head = text[:_HEAD]
    for rules in _load_rules():
        try:
            proposed = rules.kind_of(uri, language, head)
        except Exception as error:
            logger.warning("the kind of %s is not known", uri, exc_info=error)
            continue
        if proposed in PROPOSED_KINDS:
            return proposed
    return kind


@cache
def _load_rules() -> tuple[KindRules, ...]:
    """Return the rules of all plug-ins. One that cannot be loaded is left out: files are read without it."""
    rules: list[KindRules] = []
    for name in registry.names("kinds"):
        try:
            rules.append(registry.load("kinds", name)())
        except Exception as error:
            logger.warning("the kinds of %s are not known", name, exc_info=error)
    return tuple(rules)
