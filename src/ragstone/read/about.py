"""What a text file says about itself: an ADR's status and date, a package's name and version, whether JSON is sound."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ragstone.types import Metadata

_HEAD: Final = 20_000
_LONGEST: Final = 200
_LARGEST_PARSED: Final = 1_000_000
"""Characters. What is larger was made by a program, and its name says what it is."""
_PAIR: Final = re.compile(r"^([A-Za-z][\w-]*)[ \t]*:[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE)
_FIELD: Final = r"(?im)^(?:[-*+][ \t]+)?\**{name}\**[ \t]*:[ \t]*\**[ \t]*(\S[^\r\n]*)"
_SECTION: Final = (
    r"(?im)^(?:\#+[ \t]*{name}[ \t]*\#*|{name}[ \t]*\r?\n[=~-]{{3,}})[ \t]*\r?\n\s*(?:[-*+][ \t]+)?(\S[^\r\n]*)"
)
_DATE: Final = re.compile(r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z-]*")
_COMMENTS: Final = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?', re.DOTALL)
_LAST_COMMA: Final = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|,(?=\s*+[}\]])', re.DOTALL)
_DEPENDENCIES: Final = (
    ("dependencies",), ("devDependencies",), ("peerDependencies",), ("require",), ("require-dev",),
    ("dev-dependencies",), ("build-dependencies",), ("project", "dependencies"), ("tool", "poetry", "dependencies"),
)  # fmt: skip
_TITLE: Final = re.compile(r"""^[ \t]*["']?title["']?[ \t]*:[ \t]*["']?([^"'\r\n,]{1,120})""", re.MULTILINE)


def about(kind: str, language: str, text: str) -> Metadata:
    """Return what is known of a document of this kind beside its text."""
    if kind == "adr":
        return _decision(text[:_HEAD])
    if kind == "manifest":
        return _manifest(language, text) if len(text) <= _LARGEST_PARSED else {}
    if kind in ("cursor_rule", "claude_rule", "agent_rule"):
        matter = front_matter(text)
        return {key: matter[key][:_LONGEST] for key in ("name", "description", "globs") if matter.get(key)}
    return {}


def remark(language: str, text: str) -> str:
    """Return what a person should know about a text that is not what its name says, or nothing."""
    if language != "json" or not text.strip() or _is_json(text):
        return ""
    return "no sound JSON: cut by lines"


def api_title(text: str) -> str:
    """Return the title that the description of an API gives."""
    found = _TITLE.search(text[:_HEAD])
    return found[1].strip() if found else ""


def front_matter(text: str) -> dict[str, str]:
    """Return the plain pairs of a text's front matter, keys in lower case."""
    lines = text[:_HEAD].removeprefix("\ufeff")
    if not lines.startswith("---"):
        return {}
    end = lines.find("\n---", 3)
    pairs = _PAIR.findall(lines[3 : end if end > 0 else 0])
    return {key.lower(): value.strip("\"'") for key, value in pairs}


def _decision(text: str) -> Metadata:
    """Return the status, in lower case, and the date of a decision, where it tells them."""
    matter = front_matter(text)
    found: dict[str, str] = {}
    status = _WORD.search(_told("status", text, matter))
    if status:
        found["status"] = status[0].lower()
    date = _DATE.search(_told("date", text, matter))
    if date:
        found["date"] = f"{date[1]}-{int(date[2]):02}-{int(date[3]):02}"
    return found


def _told(name: str, text: str, matter: Mapping[str, str]) -> str:
    if matter.get(name):
        return matter[name]
    for form in (_FIELD, _SECTION):
        found = re.search(form.format(name=name), text)
        if found:
            return found[1]
    return ""


def _is_json(text: str) -> bool:
    """Return whether a text is JSON, with comments and trailing commas allowed, as editors allow them."""
    return _parses(text) or _parses(_LAST_COMMA.sub(_without, _COMMENTS.sub(_without, text)))


def _parses(text: str) -> bool:
    try:
        json.loads(text, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True


def _without(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else " "


def _manifest(language: str, text: str) -> Metadata:
    """Return a package's name, version and how many others it asks for."""
    if language in ("json", "toml"):
        try:
            tree = json.loads(text) if language == "json" else tomllib.loads(text)
        except (ValueError, RecursionError):
            return {}
        return _of_tree(tree) if isinstance(tree, dict) else {}
    if re.search(r"(?m)^module[ \t]+\S", text):
        return _of_go(text)
    found: dict[str, str | int] = {}
    named = re.search(r'name:[ \t]*"([^"\n]+)"', text) if language == "swift" else None
    if named:
        found["name"] = named[1]
    wanted = r"\.package\(" if language == "swift" else r"(?m)^[ \t]*pod[ \t]+['\"]"
    found["dependencies"] = len(re.findall(wanted, text))
    return found


def _of_tree(tree: dict[str, Any]) -> Metadata:
    found: dict[str, str | int] = {}
    for path in ((), ("project",), ("package",), ("tool", "poetry")):
        part = _inside(tree, path)
        for key in ("name", "version"):
            if isinstance(part, dict) and isinstance(part.get(key), str):
                found.setdefault(key, part[key][:_LONGEST])
    parts = [_inside(tree, path) for path in _DEPENDENCIES]
    found["dependencies"] = sum(len(part) for part in parts if isinstance(part, dict | list))
    return found


def _inside(tree: Any, path: tuple[str, ...]) -> Any:  # noqa: ANN401 - what JSON or TOML holds is seen by looking
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def _of_go(text: str) -> Metadata:
    found: dict[str, str | int] = {}
    for key, word in (("name", "module"), ("go", "go")):
        told = re.search(rf"(?m)^{word}[ \t]+(\S+)", text)
        if told:
            found[key] = told[1]
    blocks = re.findall(r"(?m)^require[ \t]*\(([^)]*)\)", text)
    many = sum(len(re.findall(r"(?m)^[ \t]*[^\s/]\S*[ \t]+v\S+", block)) for block in blocks)
    found["dependencies"] = many + len(re.findall(r"(?m)^require[ \t]+[^\s(]", text))
    return found
