"""Where the keys of a structured text stand: JSON by its values, YAML and PHP arrays by indentation, TOML and INI by
sections. Nothing is rewritten: a part is a slice of the text, and the parts within one are all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from json import JSONDecoder
from typing import Final, NamedTuple


class Part(NamedTuple):
    """A key and its value: the slice it stands in, the path of keys that leads to it, where its inside begins."""

    start: int
    end: int
    path: tuple[str, ...] = ()
    inside: int = 0
    """The offset where what it holds begins; -1 where it holds nothing that could be parted."""


Split = Callable[[str, Part], list[Part]]

_LONGEST_KEY: Final = 120


def _covering(found: list[Part], whole: Part) -> list[Part]:
    """Return the parts stretched so that they are all of the whole, each up to where the next one begins."""
    if not found:
        return []
    found[0] = found[0]._replace(start=whole.start)
    ends = [*(part.start for part in found[1:]), whole.end]
    return [part._replace(end=end) for part, end in zip(found, ends, strict=True)]


# ── JSON ──────────────────────────────────────────────────────────────────────────────────────────

_DECODE: Final = JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).raw_decode
_SPACE: Final = re.compile(r"[ \t\r\n]*+")
_COMMENTS: Final = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?', re.DOTALL)
_LAST_COMMA: Final = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|,(?=\s*+[}\]])', re.DOTALL)
_NOT_SHOWN: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_SIGN: Final = re.compile(r"[^\n]")


def json_parts(text: str, whole: Part) -> list[Part]:
    """Return the members of an object or an array, or raise `ValueError` where it is none that can be read."""
    at = _after_space(text, whole.inside)
    opening = text[at : at + 1]
    if opening not in ("{", "["):
        return []
    closing = "}" if opening == "{" else "]"
    found: list[Part] = []
    start = at + 1
    at = _after_space(text, start)
    while text[at : at + 1] != closing:
        name: object = len(found)
        if opening == "{":
            name, at = _DECODE(text, at)
            at = _expected(text, _after_space(text, at), ":")
        inside = _after_space(text, at)
        value, at = _DECODE(text, inside)
        holds = inside if value and isinstance(value, dict | list) else -1
        found.append(Part(start, at, (*whole.path, _key(str(name))), holds))
        at = _after_space(text, at)
        if text[at : at + 1] != closing:
            start = _expected(text, at, ",")
            at = _after_space(text, start)
    if not whole.path and text[at + 1 :].strip():
        raise ValueError("more than one value")
    return _covering(found, whole)


def _key(name: str) -> str:
    """Return a key as it can be shown: what was written as an escape may be anything."""
    return _NOT_SHOWN.sub("_", name[:_LONGEST_KEY])


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _expected(text: str, at: int, sign: str) -> int:
    if text[at : at + 1] != sign:
        raise ValueError(f"{sign} expected at {at}")
    return at + 1


def without_comments(text: str) -> str:
    """Return JSON with its comments and trailing commas as spaces, so that everything else stays where it is."""
    for extra in (_COMMENTS, _LAST_COMMA):
        text = extra.sub(lambda found: found[0] if found[0][0] == '"' else _SIGN.sub(" ", found[0]), text)
    return text


# ── YAML and PHP arrays ───────────────────────────────────────────────────────────────────────────

_LINE: Final = re.compile(r"^(?P<indent>[ ]*+)(?P<body>[^\s#][^\n]*+)", re.MULTILINE)
_YAML_KEY: Final = re.compile(
    r"""(?:"(?P<a>[^"\n]*+)"|'(?P<b>[^'\n]*+)'|(?P<c>[^\s:#"'\[{][^:#\n]*+))[ \t]*+:(?=[ \t\r]|$)(?P<rest>[^\n]*+)"""
)
_BLOCK: Final = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?\r?$")
_PHP_LINE: Final = re.compile(
    r"^(?P<indent>[ \t]*+)(?P<body>['\"](?P<key>[^'\"\n]{1,120})['\"][ \t]*+=>[^\n]*+)", re.MULTILINE
)
_PHP_OPENS: Final = re.compile(r"(?:\[|\(|function[^\n]*\{)[ \t]*(?://.*)?\r?$")
_YAML_ABOVE: Final = re.compile(r"[ \t]*#")
_PHP_ABOVE: Final = re.compile(r"[ \t]*(?:/\*|\*|\||//|#|\r?\n)")


def yaml_parts(text: str, whole: Part) -> list[Part]:
    """Return the keys, or the items, of one level of indentation."""
    found: list[Part] = []
    base, listed, items = -1, False, 0
    for line in _LINE.finditer(text, whole.inside, whole.end):
        indent, body = len(line["indent"]), line["body"]
        if base < 0:
            base, listed = indent, _is_item(body)
        if indent > base:
            continue
        start = _with_comments(text, line.start(), whole.inside, _YAML_ABOVE)
        if listed and _is_item(body):
            found.append(Part(start, line.end(), (*whole.path, str(items)), line.end()))
            items += 1
            continue
        key = None if _is_item(body) else _YAML_KEY.match(body)
        if key is not None:
            name = (key["a"] or key["b"] or key["c"] or "").strip()[:_LONGEST_KEY]
            holds = -1 if _BLOCK.search(key["rest"]) else line.end()
            found.append(Part(start, line.end(), (*whole.path, name), holds))
        elif body.startswith("---"):
            found.append(Part(start, line.end(), whole.path, -1))
    return _covering(found, whole)


def _is_item(body: str) -> bool:
    return body.startswith("- ") or body.rstrip() == "-"


def php_parts(text: str, whole: Part) -> list[Part]:
    """Return the keys of one level of a PHP array that is written over several lines."""
    found: list[Part] = []
    base = ""
    for line in _PHP_LINE.finditer(text, whole.inside, whole.end):
        if not found:
            base = line["indent"]
        if len(line["indent"]) > len(base):
            continue
        start = _with_comments(text, line.start(), whole.inside, _PHP_ABOVE)
        holds = line.end() if _PHP_OPENS.search(line["body"]) else -1
        found.append(Part(start, line.end(), (*whole.path, line["key"]), holds))
    return _covering(found, whole)


def _with_comments(text: str, start: int, least: int, above: re.Pattern[str]) -> int:
    """Return where the comments right above a line begin."""
    while start > least:
        before = text.rfind("\n", 0, start - 1) + 1
        if before < least or not above.match(text, before, start):
            break
        start = before
    return start


# ── TOML, INI, .env ───────────────────────────────────────────────────────────────────────────────

_STRINGS: Final = (
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?'
    r"|'''(?:[^']|'(?!''))*+(?:''')?"
    r'|"(?:[^"\\\n]|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+"
)
"""None of them fails once it has begun: an open quote ends with its line, or with the text."""
_TOP: Final = re.compile(
    r"^[ \t]*+\[\[?[ \t]*+(?P<section>[^\[\]\n]++)\]\]?"
    r"""|^[ \t]*+(?P<key>[\w"'.-]++(?:[ \t]*+\.[ \t]*+[\w"'.-]++)*+)[ \t]*+="""
    rf"|{_STRINGS}|(?P<open>[\[{{])",
    re.MULTILINE | re.DOTALL,
)
_NESTED: Final = re.compile(rf"{_STRINGS}|(?P<open>[\[{{])|(?P<close>[\]}}])", re.DOTALL)
_INI: Final = re.compile(
    r"^[ \t]*+\[(?P<section>[^\]\n]++)\]"
    r"|^[ \t]*+(?:export[ \t]++)?(?P<key>[A-Za-z_][\w.-]*+(?:[ ][\w.-]++)*+)[ \t]*+[=:]",
    re.MULTILINE,
)
_HASH_ABOVE: Final = re.compile(r"[ \t]*[#;]")


def toml_parts(text: str, whole: Part) -> list[Part]:
    """Return the sections, and the keys before the first of them; of a section its keys."""
    return _sections(text, whole, list(_toml_lines(text, whole.inside, whole.end)))


def ini_parts(text: str, whole: Part) -> list[Part]:
    """Return the sections, and the keys before the first of them; of a section its keys."""
    return _sections(text, whole, list(_INI.finditer(text, whole.inside, whole.end)))


def _sections(text: str, whole: Part, lines: list[re.Match[str]]) -> list[Part]:
    found: list[Part] = []
    inside_section = False
    for line in lines:
        start = _with_comments(text, line.start(), whole.inside, _HASH_ABOVE)
        if line["section"]:
            inside_section = True
            path = tuple(part.strip(" \t\"'") for part in line["section"].split("."))
            found.append(Part(start, line.end(), path, line.end()))
        elif not inside_section:
            key = re.sub(r"[\s\"']", "", line["key"])
            found.append(Part(start, line.end(), (*whole.path, key[:_LONGEST_KEY]), -1))
    return _covering(found, whole)


def _toml_lines(text: str, at: int, end: int) -> Iterator[re.Match[str]]:
    """Yield the lines that open a section or give a key, none of those within a string or an array."""
    depth = 0
    while found := (_NESTED if depth else _TOP).search(text, at, end):
        at = max(found.end(), at + 1)
        if found["open"]:
            depth += 1
        elif depth:
            depth -= bool(found["close"])
        elif found["section"] or found["key"]:
            yield found
