"""Finding the keys of structured text: JSON, YAML, PHP arrays, TOML, INI and .env files.

A part is a slice of the text, and the parts inside a part are all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from json import JSONDecoder
from typing import Final, NamedTuple


class KeyPart(NamedTuple):
    """A key with its value: its slice of the text, and the path of keys that leads to it."""

    start: int
    end: int
    path: tuple[str, ...] = ()
    inside: int = 0
    """Where the parts inside it start; -1 if there are none."""

    @property
    def key(self) -> str:
        """Return the last key of the path; empty if there is none."""
        return self.path[-1] if self.path else ""

    def child(self, key: str, start: int, end: int, inside: int = -1) -> KeyPart:
        """Return the part of a key directly inside this one."""
        path = (*self.path, key[:_MAX_KEY])
        return KeyPart(start, end, path, inside)


KeyParser = Callable[[str, KeyPart], list[KeyPart]]

_MAX_KEY: Final = 120


def _stretch(parts: list[KeyPart], parent: KeyPart) -> list[KeyPart]:
    """Return the parts stretched up to the start of the next one, so that they cover their parent."""
    if not parts:
        return []
    parts[0] = parts[0]._replace(start=parent.start)
    stretched = []
    for part, following in pairwise(parts):
        stretched.append(part._replace(end=following.start))
    last = parts[-1]._replace(end=parent.end)
    return [*stretched, last]


# ── JSON ──────────────────────────────────────────────────────────────────────────────────────────

_DECODE: Final = JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).raw_decode
_SPACE: Final = re.compile(r"[ \t\r\n]*+")
_NOT_SHOWN: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def parse_json(text: str, parent: KeyPart) -> list[KeyPart]:
    """Return the members of an object or an array. Raise `ValueError` if it is not valid JSON."""
    position = _skip_space(text, parent.inside)
    opening = text[position : position + 1]
    if opening not in ("{", "["):
        return []
    closing = "}" if opening == "{" else "]"
    parts: list[KeyPart] = []
    start = position + 1
    position = _skip_space(text, start)
    while text[position : position + 1] != closing:
        name: object = len(parts)
        if opening == "{":
            name, position = _DECODE(text, position)
            position = _skip_space(text, position)
            position = _skip_sign(text, position, ":")
        value_start = _skip_space(text, position)
        value, position = _DECODE(text, value_start)
        has_members = bool(value) and isinstance(value, dict | list)
        inside = value_start if has_members else -1
        key = _clean_key(str(name))
        parts.append(parent.child(key, start, position, inside))
        position = _skip_space(text, position)
        if text[position : position + 1] != closing:
            start = _skip_sign(text, position, ",")
            position = _skip_space(text, start)
    rest = text[position + 1 :]
    if not parent.path and rest.strip():
        raise ValueError("more than one value")
    return _stretch(parts, parent)


def _clean_key(name: str) -> str:
    """Return a key without characters that cannot be shown: an escape may be any character."""
    return _NOT_SHOWN.sub("_", name[:_MAX_KEY])


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _skip_sign(text: str, position: int, sign: str) -> int:
    if text[position : position + 1] != sign:
        raise ValueError(f"{sign} expected at {position}")
    return position + 1


# ── YAML and PHP arrays ───────────────────────────────────────────────────────────────────────────

_LINE: Final = re.compile(r"^(?P<indent>[ ]*+)(?P<body>[^\s#][^\n]*+)", re.MULTILINE)
_YAML_KEY: Final = re.compile(
    r"""(?:"(?P<a>[^"\n]*+)"|'(?P<b>[^'\n]*+)'|(?P<c>[^\s:#"'\[{][^:#\n]*+))[ \t]*+:(?=[ \t\r]|$)(?P<rest>[^\n]*+)"""
)
_YAML_ITEM: Final = re.compile(r"-(?: |\s*$)")
_BLOCK: Final = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?\r?$")
_PHP_LINE: Final = re.compile(
    r"^(?P<indent>[ \t]*+)(?P<body>['\"](?P<key>[^'\"\n]{1,120})['\"][ \t]*+=>[^\n]*+)",
    re.MULTILINE,
)
_PHP_OPENS: Final = re.compile(r"(?:\[|\(|function[^\n]*\{)[ \t]*(?://.*)?\r?$")
_YAML_ABOVE: Final = re.compile(r"[ \t]*#")
_PHP_ABOVE: Final = re.compile(r"[ \t]*(?:/\*|\*|\||//|#|\r?\n)")


def parse_yaml(text: str, parent: KeyPart) -> list[KeyPart]:
    """Return the keys, or the items, of one level of indentation."""
    parts: list[KeyPart] = []
    level = -1
    is_list = False
    items = 0
    for line in _LINE.finditer(text, parent.inside, parent.end):
        indentation = len(line["indent"])
        is_item = _YAML_ITEM.match(line["body"]) is not None
        if level < 0:
            level = indentation
            is_list = is_item
        if indentation > level:
            continue
        start = _include_comments(text, line.start(), parent.inside, _YAML_ABOVE)
        if not is_item:
            parts += _yaml_key_parts(line, start, parent)
        elif is_list:
            end = line.end()
            parts.append(parent.child(str(items), start, end, inside=end))
            items += 1
    return _stretch(parts, parent)


def _yaml_key_parts(line: re.Match[str], start: int, parent: KeyPart) -> list[KeyPart]:
    """Return the part of a line with a key, or of a line between two documents; else nothing."""
    end = line.end()
    key = _YAML_KEY.match(line["body"])
    if key is not None:
        name = key["a"] or key["b"] or key["c"] or ""
        is_block_text = _BLOCK.search(key["rest"]) is not None
        inside = -1 if is_block_text else end
        return [parent.child(name.strip(), start, end, inside)]
    if line["body"].startswith("---"):
        return [KeyPart(start, end, parent.path, -1)]
    return []


def parse_php(text: str, parent: KeyPart) -> list[KeyPart]:
    """Return the keys of one level of a PHP array that is written over several lines."""
    parts: list[KeyPart] = []
    level = -1
    for line in _PHP_LINE.finditer(text, parent.inside, parent.end):
        indentation = len(line["indent"])
        if level < 0:
            level = indentation
        if indentation > level:
            continue
        start = _include_comments(text, line.start(), parent.inside, _PHP_ABOVE)
        opens_array = _PHP_OPENS.search(line["body"]) is not None
        inside = line.end() if opens_array else -1
        parts.append(parent.child(line["key"], start, line.end(), inside))
    return _stretch(parts, parent)


def _include_comments(text: str, start: int, least: int, comment: re.Pattern[str]) -> int:
    """Return where the comments directly above a line start."""
    while start > least:
        before = text.rfind("\n", 0, start - 1) + 1
        is_comment = comment.match(text, before, start) is not None
        if before < least or not is_comment:
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
"""No alternative fails after its first character: an open quote ends with its line or with the text."""
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


def parse_toml(text: str, parent: KeyPart) -> list[KeyPart]:
    """Return the sections and the keys before the first one; for a section, its keys."""
    lines = _find_toml_lines(text, parent.inside, parent.end)
    return _parse_sections(text, parent, lines)


def parse_ini(text: str, parent: KeyPart) -> list[KeyPart]:
    """Return the sections and the keys before the first one; for a section, its keys."""
    lines = _INI.finditer(text, parent.inside, parent.end)
    return _parse_sections(text, parent, lines)


def _parse_sections(
    text: str, parent: KeyPart, lines: Iterable[re.Match[str]]
) -> list[KeyPart]:
    parts: list[KeyPart] = []
    is_in_section = False
    for line in lines:
        start = _include_comments(text, line.start(), parent.inside, _HASH_ABOVE)
        if line["section"]:
            is_in_section = True
            names = line["section"].split(".")
            path = tuple(name.strip(" \t\"'") for name in names)
            parts.append(KeyPart(start, line.end(), path, line.end()))
        elif not is_in_section:
            key = re.sub(r"[\s\"']", "", line["key"])
            parts.append(parent.child(key, start, line.end()))
    return _stretch(parts, parent)


def _find_toml_lines(text: str, position: int, end: int) -> Iterator[re.Match[str]]:
    """Yield the lines that open a section or set a key, except those inside a string or an array."""
    depth = 0
    while True:
        pattern = _NESTED if depth else _TOP
        match = pattern.search(text, position, end)
        if match is None:
            return
        position = max(match.end(), position + 1)
        if match["open"]:
            depth += 1
        elif depth:
            depth -= bool(match["close"])
        elif match["section"] or match["key"]:
            yield match
