"""Metadata in text files: the status and date of a decision, the name and version of a package, the scope of a rule."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Final

from ragstone.text.json_comments import blank_comments
from ragstone.types import Metadata

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
    if kind == "manifest" and len(text) <= _MAX_MANIFEST:
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
