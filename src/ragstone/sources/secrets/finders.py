"""Where secrets are: four looks at a text, each quick where there is nothing to find.

Secrets of providers are long runs of letters with digits among them: runs are found first, and rules are tried at runs
only. Values are found from names that speak of secrets, passwords of addresses from `://`, key blocks from `BEGIN`.
All work is on bytes, and all of it linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from ragstone.sources.secrets import shapes
from ragstone.sources.secrets.rules import Rules, secret_of

_RUN_SIGNS: Final = b"_-ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CLASSES: Final = bytes(b"0"[0] if 48 <= code < 58 else b"a"[0] if code in _RUN_SIGNS else 32 for code in range(256))
# A digit with seven of a run behind it, or eight before it; the rest of the run is passed over.
_RUN: Final = re.compile(rb"0(?:(?=[0a]{7})|(?<=[0a]{9}))[0a]*+")
_LEFT: Final = 42
"""How far before its run a secret may start, where one of these stands before the run:"""
_WITHIN: Final = (b"$", b".", b"/", b":", b"~", b"\\")
_SHORTEST: Final = 16
_MOST_CLUES: Final = 16
"""Clues tried in one run. A run of many is no secret, and trying them all would take forever."""
_LINE: Final = 80
_BEFORE: Final = frozenset(bytes((code,)) for code in b" \t\"'`=:>(,[{|")
_NEAR_SIZES: Final = range(20, 91)
_ALNUM: Final = frozenset(bytes((code,)) for code in _RUN_SIGNS[2:] + b"0123456789")


class Seen(NamedTuple):
    """A secret in bytes: where, and of what kind; of two that overlap the lower `rank` names it."""

    start: int
    end: int
    kind: str
    rank: int


def find(data: bytes, rules: Rules, *, env: bool = False) -> list[Seen]:
    """Return all secrets in order, none overlapping; `env`: whatever a secret's name is given is one."""
    lower = data.lower()
    seen = [*blocks(data), *searched(data, rules), *provided(data, lower, rules), *in_urls(data, lower, rules)]
    seen += [*authorized(data, lower), *assigned(data, lower, rules, env=env)]
    return _merged(seen)


def _merged(seen: list[Seen]) -> list[Seen]:
    """Return what overlaps as one, so that no part of either stays."""
    found: list[Seen] = []
    for one in sorted(seen):
        if found and one.start < found[-1].end:
            before = found[-1]
            kind, rank = min((before.rank, before.kind), (one.rank, one.kind))[::-1]
            found[-1] = Seen(before.start, max(before.end, one.end), kind, rank)
        else:
            found.append(one)
    return found


# ── what providers hand out ───────────────────────────────────────────────────────────────────────


def searched(data: bytes, rules: Rules) -> Iterator[Seen]:
    """Yield secrets of the rules that are tried everywhere."""
    for rule in rules.search:
        for found in rule.pattern.finditer(data):
            start, end = secret_of(found)
            if _is_begun(data, start) and shapes.is_ruled(data[start:end]):
                yield Seen(start, end, rule.kind, 1)


def _is_begun(data: bytes, start: int) -> bool:
    """Return whether something can begin here: no letter or digit stands before it, but that of an escape."""
    return data[start - 1 : start] not in _ALNUM or data[max(0, start - 2) : start] in (b"\\n", b"\\r", b"\\t")


def provided(data: bytes, lower: bytes, rules: Rules) -> Iterator[Seen]:
    """Yield secrets that a provider's rule knows by their start or by a word before them."""
    classes = data.translate(_CLASSES)
    for run in _RUN.finditer(classes):
        start, end = classes.rfind(b" ", 0, run.start()) + 1, run.end()
        if end - start < _SHORTEST:
            continue
        known = list(_by_clue(data, rules, start, end))
        yield from known
        if not known and end - start in _NEAR_SIZES:
            yield from _by_word(data, lower, rules, start, end)


def _by_clue(data: bytes, rules: Rules, start: int, end: int) -> Iterator[Seen]:
    done = 0
    first = max(0, start - _LEFT) if data[start - 1 : start] in _WITHIN else start
    for clue in islice(rules.clues.finditer(data, first, end), _MOST_CLUES):
        at = clue.start(clue.lastindex or 0)
        if at < done:
            continue
        for rule in rules.starts[clue[clue.lastindex or 0]]:
            place = rule.at(data, at)
            if place is not None and shapes.is_ruled(data[place[0] : place[1]]):
                done = place[1]
                yield Seen(*place, rule.kind, 1)
                break


def _by_word(data: bytes, lower: bytes, rules: Rules, start: int, end: int) -> Iterator[Seen]:
    line = max(start - _LINE, lower.rfind(b"\n", max(0, start - _LINE), start) + 1, 0)
    if data[start - 1 : start] in _BEFORE and rules.near_words.search(lower, line, start):
        value = data[start:end]
        kind = _kind_near(lower[line:start], value, rules)
        if kind and shapes.is_token(value):
            yield Seen(start, end, kind, 3)


def _kind_near(before: bytes, value: bytes, rules: Rules) -> str | None:
    for words, rule in rules.near:
        if any(word in before for word in words) and rule.pattern.fullmatch(value):
            return rule.kind
    return None


# ── what a name gives away ────────────────────────────────────────────────────────────────────────

_QUOTE: Final = rb"\\{0,2}[\"'`]"
_WORDS: Final = {
    "password": (rb"pass(?:w(?:or)?d|wd|phrase|code)", rb"pwd"),
    "secret": (rb"secret",),
    "token": (rb"token",),
    "api-key": (rb"key",),
}
# A name and what is said of it, in quotes after almost anything, bare after less. Only looked at, not passed over: the
# value may hold the next name.
_QUOTED: Final = (
    rb"(?:[:=]{1,2}|=>|[(>]|(?<=[\"'`]),|value[ \t]{0,4}=)[ \t]{0,20}+[bfru@$]{0,2}" + _QUOTE
    + rb"(?P<quoted>[^\"'`\s\\]{5,300})" + _QUOTE
)  # fmt: skip
_BARE: Final = (
    rb"(?:[:=]{1,2}|=>|>|(?<=[ \t]))[ \t]{0,20}+"
    rb"(?P<bare>[^\s\"'`;&,<>(){}\[\]|\\=:][^\s\"'`;&,<>(){}\[\]|\\]{4,299}+)(?=[\s;&,<|\"'`]|$)"
)
_SAID: Final = (
    rb"(?P<rest>[a-z0-9_\-.]{0,30}+)(?:\\{0,2}[\"'`]|[\])]){0,3}[ \t]{0,20}+(?:" + _QUOTED + rb"|" + _BARE + rb")"
)
_ASSIGNED: Final = tuple(
    (kind, re.compile(word + rb"(?=" + _SAID + rb")")) for kind, words in _WORDS.items() for word in words
)
_TAKEN_OUT: Final = b"[secret:"
"""What stands before a word that is no name, but says what was there."""
_NAME_SIGNS: Final = b"abcdefghijklmnopqrstuvwxyz0123456789_-."
_AUTHORIZATION: Final = re.compile(
    rb"authorization(?:\\{0,2}[\"'`]|[\])]){0,3}[ \t]{0,8}[:=,(>][ \t]{0,8}[bfru]{0,2}(?:" + _QUOTE + rb")?"
    rb"(?P<how>basic|bearer|token|bot|apikey|api-key|genie ?key)[ \t]{1,4}(?P<value>[^\s\"'`\\<>{}$,;]{8,4000})"
)


def assigned(data: bytes, lower: bytes, rules: Rules, *, env: bool) -> Iterator[Seen]:
    """Yield values that are assigned to names which speak of secrets, and look like one."""
    for kind, pattern in _ASSIGNED:
        for found in pattern.finditer(lower):
            quoted = found.start("quoted") >= 0
            start, end = found.span("quoted" if quoted else "bare")
            left = lower[max(0, found.start() - 40) : found.start()]
            before = left.rstrip(_NAME_SIGNS)
            name = left[len(before) :] + lower[found.start() : found.end("rest")]
            value = data[start:end]
            if (
                before.endswith(_TAKEN_OUT)
                or b"://" in value
                or not _may_be(kind, name, value, env=env, bare=not quoted)
            ):
                continue
            if quoted or lower[start - 1] not in b" \t" or _is_said(lower, found.end("rest"), start, name):
                yield Seen(start, end, _kind_near(name, value, rules) or kind, 4)


def _may_be(kind: str, name: bytes, value: bytes, *, env: bool, bare: bool) -> bool:
    looks = shapes.is_password if kind == "password" else shapes.is_token
    if not (looks(value, bare=bare) or (env and shapes.is_given_away(value))):
        return False
    return shapes.is_named(name)


def _is_said(lower: bytes, name_end: int, start: int, name: bytes) -> bool:
    """Return whether a bare value after white space is one: after a sign, or after an option of a command."""
    return name.startswith(b"--") or any(sign in b":=>" for sign in lower[name_end:start])


def authorized(data: bytes, lower: bytes) -> Iterator[Seen]:
    """Yield what `Authorization` headers carry."""
    for found in _AUTHORIZATION.finditer(lower):
        start, end = found.span("value")
        value = data[start:end]
        if shapes.is_token(value) or (found["how"] == b"basic" and shapes.is_given_away(value)):
            yield Seen(start, end, "basic-auth" if found["how"] == b"basic" else "bearer-token", 3)


# ── addresses ─────────────────────────────────────────────────────────────────────────────────────

_LOGIN: Final = re.compile(
    rb"://(?P<user>[^\s:/@\"'`<>?#]{0,128}+):(?P<secret>[^\s/\"'`<>]{1,256})@(?P<host>[^\s/\"'`<>:?#@]{1,200})"
)
_SCHEME: Final = re.compile(rb"[a-z][a-z0-9]{1,20}(?=(?:\+[a-z0-9]{1,20}){0,2}$)")


def in_urls(data: bytes, lower: bytes, rules: Rules) -> Iterator[Seen]:
    """Yield passwords in addresses, and addresses that are secrets themselves."""
    if b"://" not in data:
        return
    for found in _LOGIN.finditer(data):
        value = found["secret"]
        if value == found["user"] or b"example" in found["host"].lower() or not shapes.is_given_away(value):
            continue
        scheme = _SCHEME.search(lower[max(0, found.start() - 40) : found.start()])
        yield Seen(*found.span("secret"), rules.schemes.get(scheme[0], "url-password") if scheme else "url-password", 2)
    for found in rules.hosts.finditer(lower):
        for _, rule in rules.urls:
            place = rule.at(data, found.start() + 3)
            if place is not None and shapes.is_ruled(data[place[0] : place[1]]):
                yield Seen(*place, rule.kind, 2)


# ── blocks ────────────────────────────────────────────────────────────────────────────────────────

_BEGIN: Final = re.compile(rb"BEGIN (?P<what>(?:[A-Z0-9]{1,12} ){0,3})PRIVATE KEY(?P<pgp> BLOCK)? ?-{4,5}")
_LONGEST_BLOCK: Final = 64_000
_LEAST_BODY: Final = 40
_BODY: Final = re.compile(rb"[A-Za-z0-9+/=]{16,}")
_BODY_LINE: Final = re.compile(
    rb"[^A-Za-z0-9\n]{0,16}[A-Za-z0-9+/=]{20,100}[^A-Za-z0-9\n]{0,4}(?:n[^A-Za-z0-9\n]{0,8})?(?:\n|$)"
)
_INSIDE: Final = b" \t\r\n\"'`\\,;+(){}[]|>#*"


def blocks(data: bytes) -> Iterator[Seen]:
    """Yield the bodies of private keys, from the first of their characters to the last; the lines around them stay."""
    for begin in _BEGIN.finditer(data):
        start = begin.end()
        stop = data.find(b"----", start, start + _LONGEST_BLOCK)
        if stop < 0 or not data[stop : stop + 9].lstrip(b"- ").startswith(b"END"):
            stop = _last_line(data, start)
        body = data[start:stop]
        if sum(map(len, _BODY.findall(body))) < _LEAST_BODY or shapes.is_stand_in(body[:200]):
            continue
        escaped = 2 if body.startswith(b"\\n") else 4 if body.startswith(b"\\r\\n") else 0
        start += escaped + len(body[escaped:]) - len(body[escaped:].lstrip(_INSIDE))
        stop -= len(body) - len(body.rstrip(_INSIDE))
        yield Seen(start, stop, "pgp-private-key" if begin["pgp"] else "private-key", 0)


def _last_line(data: bytes, start: int) -> int:
    """Return where lines that look like a key's end, for a block that is broken off."""
    at = data.find(b"\n", start, start + 200) + 1
    end = start
    while at and (line := _BODY_LINE.match(data, at)) and at - start < _LONGEST_BLOCK:
        at = end = line.end()
    return end
