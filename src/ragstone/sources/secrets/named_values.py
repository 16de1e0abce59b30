"""Values whose name stands apart from them: `name:` and `value:` of YAML, entries of a list, `ENV` of a Dockerfile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ragstone.sources.secrets import shapes

_NAME: Final = rb"(?P<name>[a-z0-9_.\-]{0,40}?(?:pass(?:word|wd|phrase)|pwd|secret|token|key)[a-z0-9_.\-]{0,20})"
_VALUE: Final = rb"(?P<quote>[\"']?)(?P<secret>[^\s\"'`,;<>(){}\[\]]{5,300})(?=[\s\"',\]}]|$)"
_LINE_END: Final = rb"[ \t]{0,20}\r?\n[ \t]{0,80}"
_KINDS: Final = ((b"pass", "password"), (b"pwd", "password"), (b"token", "token"))


class _Form(NamedTuple):
    """The expression of a name and its value in lower case, and the text that it begins with.

    An expression that begins with a fixed text is quick where that text is rare.
    """

    clue: bytes
    pattern: re.Pattern[bytes]


def _form(clue: bytes, rest: bytes) -> _Form:
    return _Form(clue, re.compile(re.escape(clue) + rest, re.M))


_THEN_VALUE: Final = (
    rb"[\"']?[ \t]{0,8}:[ \t]{0,8}[\"']?" + _NAME
    + rb"[\"']?[ \t]{0,8},?\s{0,80}[\"']?value[\"']?[ \t]{0,8}:[ \t]{0,8}" + _VALUE
)  # fmt: skip
_FORMS: Final = (
    _form(b"name", _THEN_VALUE),
    _form(b"key", _THEN_VALUE),
    _form(
        b"- ", rb" {0,8}[\"']?--?" + _NAME + rb"[\"']?" + _LINE_END + rb"-[ \t]{1,8}" + _VALUE
    ),
    _form(b"\nenv ", rb"[ \t]{0,8}" + _NAME + rb"[ \t]{1,8}" + _VALUE),
    _form(
        b'variable "',
        _NAME + rb"\"[^{}]{0,8}\{[^{}]{0,400}?\bdefault[ \t]{0,20}=[ \t]{0,20}" + _VALUE,
    ),
)
_ENTRIES: Final = (
    rb"[\"']?[ \t]{0,8}[:=][ \t]{0,8}"
    rb"(?P<entries>\[[^\]]{5,4000}\]|(?:\r?\n[ \t]{0,80}-[ \t]{1,8}[^\s:]{1,300}[ \t]{0,8}(?=\r?$)){1,200})"
)
_LISTS: Final = tuple(
    _form(word, _ENTRIES) for word in (b"passwords", b"tokens", b"secrets", b"keys")
)
_ENTRY: Final = re.compile(rb"(?:^|[\s\[,])" + _VALUE)
_NAME_CHARACTERS: Final = b"abcdefghijklmnopqrstuvwxyz0123456789_-."
_MAX_NAME: Final = 40


def find_named_values(data: bytes, lower: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, kind) of values that look like secrets and have the name of one."""
    for form in _FORMS:
        if form.clue in lower:
            for match in form.pattern.finditer(lower):
                yield from _secret_in(data, match, match["name"])
    for form in _LISTS:
        if form.clue in lower:
            for match in form.pattern.finditer(lower):
                name = _beginning(lower, match.start()) + form.clue.removesuffix(b"s")
                for entry in _ENTRY.finditer(lower, *match.span("entries")):
                    yield from _secret_in(data, entry, name)


def _beginning(lower: bytes, position: int) -> bytes:
    """Return the part of a name that stands directly before a position."""
    before = lower[max(0, position - _MAX_NAME) : position]
    return before.removeprefix(before.rstrip(_NAME_CHARACTERS))


def _secret_in(
    data: bytes, match: re.Match[bytes], name: bytes
) -> Iterator[tuple[int, int, str]]:
    """Yield the value of a match if its name is that of a secret and it looks like one."""
    if not shapes.names_secret(name):
        return
    start, end = match.span("secret")
    kind = next((kind for word, kind in _KINDS if word in name), "secret")
    looks_secret = shapes.is_password if kind == "password" else shapes.is_token
    if looks_secret(data[start:end], is_bare=not match["quote"]):
        yield start, end, kind
