"""Where secrets are in a text. Every finder works on bytes, in linear time, and is quick if there is nothing to find.

Tokens of providers are long runs of letters and digits: runs are found first, and rules are tried only at runs. Values
are found by names such as `password`, passwords in addresses by `://`, and key blocks by `BEGIN`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from ragstone.sources.secrets import value_shapes
from ragstone.sources.secrets.known_places import find_named_values, find_places
from ragstone.sources.secrets.rules import SecretRule, SecretRules, secret_span


class SecretSpan(NamedTuple):
    """A secret in bytes; of two that overlap, the one of lower `rank` gives its kind."""

    start: int
    end: int
    kind: str
    rank: int


def find_secrets(
    data: bytes, rules: SecretRules, *, is_env_file: bool = False
) -> list[SecretSpan]:
    """Return all secrets in order, without overlaps; in an `.env` file simple values count too."""
    lower = data.lower()
    spans = [
        *find_key_blocks(data),
        *find_anywhere(data, rules),
        *find_tokens(data, lower, rules),
        *find_in_urls(data, lower, rules),
        *find_authorizations(data, lower),
        *find_assignments(data, lower, rules, is_env_file=is_env_file),
        *(SecretSpan(*place, 3) for place in find_places(data, lower)),
        *(SecretSpan(*value, 4) for value in find_named_values(data, lower)),
    ]
    return _merge(spans)


def _merge(spans: list[SecretSpan]) -> list[SecretSpan]:
    """Return the spans with overlapping ones joined, so that no part of either stays."""
    merged: list[SecretSpan] = []
    for span in sorted(spans):
        if not merged or span.start >= merged[-1].end:
            merged.append(span)
            continue
        previous = merged[-1]
        rank, kind = min(
            (previous.rank, previous.kind),
            (span.rank, span.kind),
        )
        end = max(previous.end, span.end)
        merged[-1] = SecretSpan(previous.start, end, kind, rank)
    return merged


# ── tokens of providers ───────────────────────────────────────────────────────────────────────────

_LETTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS: Final = b"0123456789"
_RUN_LETTERS: Final = _LETTERS + b"_-"


def _character_class(code: int) -> bytes:
    """Return `0` for a digit, `a` for another character of a run, a space for the rest."""
    if code in _DIGITS:
        return b"0"
    return b"a" if code in _RUN_LETTERS else b" "


_CHARACTER_CLASSES: Final = b"".join(_character_class(code) for code in range(256))
# A digit with seven characters of a run after it, or eight before it; the rest of the run is skipped.
_RUN: Final = re.compile(rb"0(?:(?=[0a]{7})|(?<=[0a]{9}))[0a]*+")
_MIN_RUN: Final = 16
_MAX_CLUES: Final = 16
"""Clues that are tried in one run; a run with more is no secret."""
_BEFORE_RUN: Final = (b"$", b".", b"/", b":", b"~", b"\\")
_MAX_BEFORE_RUN: Final = 42
"""How far before its run a secret may begin, if one of these characters is before the run."""
_BEFORE_VALUE: Final = frozenset(bytes((code,)) for code in b" \t\"'`=:>(,[{|")
_VALUE_LENGTHS: Final = range(20, 91)
_MAX_LINE: Final = 80
_ALPHANUMERIC: Final = frozenset(bytes((code,)) for code in _LETTERS + _DIGITS)


def find_anywhere(data: bytes, rules: SecretRules) -> Iterator[SecretSpan]:
    """Yield secrets of the rules that are tried everywhere."""
    for rule in rules.anywhere:
        for match in rule.pattern.finditer(data):
            start, end = secret_span(match)
            if _may_begin(data, start) and value_shapes.is_random(data[start:end]):
                yield SecretSpan(start, end, rule.kind, 1)


def _may_begin(data: bytes, start: int) -> bool:
    """Return whether no letter or digit is before a position, except that of an escaped line end."""
    character = data[start - 1 : start]
    if character not in _ALPHANUMERIC:
        return True
    return data[max(0, start - 2) : start] in (b"\\n", b"\\r", b"\\t")


def find_tokens(data: bytes, lower: bytes, rules: SecretRules) -> Iterator[SecretSpan]:
    """Yield secrets that a rule recognises by their start, by a part, or by a word before them."""
    classes = data.translate(_CHARACTER_CLASSES)
    for run in _RUN.finditer(classes):
        start = classes.rfind(b" ", 0, run.start()) + 1
        end = run.end()
        length = end - start
        if length < _MIN_RUN:
            continue
        spans = list(_find_by_clue(data, rules, start, end))
        yield from spans
        if not spans and length in _VALUE_LENGTHS:
            yield from _find_by_word(data, lower, rules, start, end)


def _find_by_clue(
    data: bytes, rules: SecretRules, start: int, end: int
) -> Iterator[SecretSpan]:
    first = start
    if data[start - 1 : start] in _BEFORE_RUN:
        first = max(0, start - _MAX_BEFORE_RUN)
    done = 0
    clues = rules.clues.finditer(data, first, end)
    for match in islice(clues, _MAX_CLUES):
        group = match.lastindex or 0
        position = match.start(group)
        if position < done:
            continue
        span = _match_rules(data, position, rules.rules_of_clue(match[group]))
        if span is not None:
            done = span.end
            yield span


def _match_rules(data: bytes, position: int, rules: Iterable[SecretRule]) -> SecretSpan | None:
    """Return the secret of the first rule that matches with its clue at a position."""
    for rule in rules:
        bounds = rule.match_at(data, position)
        if bounds is not None:
            start, end = bounds
            if value_shapes.is_random(data[start:end]):
                return SecretSpan(start, end, rule.kind, 1)
    return None


def _find_by_word(
    data: bytes, lower: bytes, rules: SecretRules, start: int, end: int
) -> Iterator[SecretSpan]:
    if data[start - 1 : start] not in _BEFORE_VALUE:
        return
    first = max(0, start - _MAX_LINE)
    line_start = max(first, lower.rfind(b"\n", first, start) + 1)
    if rules.words.search(lower, line_start, start):
        value = data[start:end]
        kind = _kind_by_word(lower[line_start:start], value, rules)
        if kind and value_shapes.is_token(value):
            yield SecretSpan(start, end, kind, 3)


def _kind_by_word(before: bytes, value: bytes, rules: SecretRules) -> str | None:
    """Return the kind of the first rule with a word in the text before a value that has the rule's format."""
    for words, rule in rules.near_words:
        has_word = any(word in before for word in words)
        if has_word and rule.pattern.fullmatch(value):
            return rule.kind
    return None


# ── values of names such as `password` ────────────────────────────────────────────────────────────

_QUOTE: Final = rb"\\{0,2}[\"'`]"
_NAME_WORDS: Final = (
    ("password", rb"pass(?:w(?:or)?d|wd|phrase|code)"),
    ("password", rb"pwd"),
    ("password", rb"(?:pass|kenn)wort"),
    ("password", rb"contrase(?:\xc3\xb1|n)a"),
    ("password", rb"mot[ _-]de[ _-]passe"),
    ("password", rb"(?:senha|wachtwoord|has\xc5\x82o)"),
    ("secret", rb"secret"),
    ("token", rb"token"),
    ("api-key", rb"key"),
)
# A quoted value may follow almost any separator, a bare value fewer. Both are in a lookahead, because the value may
# hold the next name.
_QUOTED: Final = (
    rb"(?:[:=]{1,2}|=>|[(>]|(?<=[\"'`]),|value[ \t]{0,4}=)[ \t]{0,20}+[bfru@$]{0,2}" + _QUOTE
    + rb"(?P<quoted>[^\"'`\s\\]{5,300})" + _QUOTE
)  # fmt: skip
_BARE: Final = (
    rb"(?:[:=]{1,2}|=>|>|(?<=[ \t]))[ \t]{0,20}+"
    rb"(?P<bare>[^\s\"'`;&,<>(){}\[\]|\\=:][^\s\"'`;&,<>(){}\[\]|\\]{4,299}+)(?=[\s;&,<|}\"'`]|$)"
)
_REST_AND_VALUE: Final = (
    rb"(?P<rest>[a-z0-9_\-.]{0,30}+)(?:\\{0,2}[\"'`]|[\])]){0,3}[ \t]{0,20}+(?:"
    + _QUOTED
    + rb"|"
    + _BARE
    + rb")"
)
_ASSIGNMENTS: Final = tuple(
    (kind, re.compile(word + rb"(?=" + _REST_AND_VALUE + rb")")) for kind, word in _NAME_WORDS
)
_OWN_PLACEHOLDER: Final = b"[secret:"
_NAME_CHARACTERS: Final = b"abcdefghijklmnopqrstuvwxyz0123456789_-."
_MAX_NAME: Final = 40
_AUTHORIZATION: Final = re.compile(
    rb"authorization(?:\\{0,2}[\"'`]|[\])]){0,3}[ \t]{0,8}[:=,(>][ \t]{0,8}[bfru]{0,2}(?:"
    + _QUOTE
    + rb")?"
    rb"(?P<how>basic|bearer|token|bot|apikey|api-key|genie ?key)[ \t]{1,4}(?P<value>[^\s\"'`\\<>{}$,;]{8,4000})"
)


def find_assignments(
    data: bytes, lower: bytes, rules: SecretRules, *, is_env_file: bool
) -> Iterator[SecretSpan]:
    """Yield values that look like secrets and are assigned to names of secrets."""
    for kind, pattern in _ASSIGNMENTS:
        for match in pattern.finditer(lower):
            is_bare = match.start("quoted") < 0
            start, end = match.span("bare" if is_bare else "quoted")
            value = data[start:end]
            name = _name_around(lower, match)
            if name is None or not value_shapes.names_secret(name):
                continue
            if is_bare and not _is_assigned(lower, match.end("rest"), start, name):
                continue
            if _looks_secret(kind, value, is_bare=is_bare, is_env_file=is_env_file):
                specific_kind = _kind_by_word(name, value, rules)
                yield SecretSpan(start, end, specific_kind or kind, 4)


def _name_around(lower: bytes, match: re.Match[bytes]) -> bytes | None:
    """Return the complete name around a matched word, or None if it is part of our own placeholder."""
    start = match.start()
    before = lower[max(0, start - _MAX_NAME) : start]
    without_name = before.rstrip(_NAME_CHARACTERS)
    if without_name.endswith(_OWN_PLACEHOLDER):
        return None
    beginning = before.removeprefix(without_name)
    return beginning + lower[start : match.end("rest")]


def _looks_secret(kind: str, value: bytes, *, is_bare: bool, is_env_file: bool) -> bool:
    if b"://" in value:
        return False
    if is_env_file and value_shapes.is_filled_in(value):
        return True
    if kind == "password":
        return value_shapes.is_password(value, is_bare=is_bare)
    return value_shapes.is_token(value, is_bare=is_bare)


def _is_assigned(lower: bytes, name_end: int, start: int, name: bytes) -> bool:
    """Return whether a bare value belongs to the name: directly, after a sign, or after a command's option."""
    if lower[start - 1] not in b" \t" or name.startswith(b"--"):
        return True
    return any(sign in b":=>" for sign in lower[name_end:start])


def find_authorizations(data: bytes, lower: bytes) -> Iterator[SecretSpan]:
    """Yield the credentials of `Authorization` headers."""
    for match in _AUTHORIZATION.finditer(lower):
        start, end = match.span("value")
        value = data[start:end]
        is_basic = match["how"] == b"basic"
        if value_shapes.is_token(value) or (is_basic and value_shapes.is_filled_in(value)):
            kind = "basic-auth" if is_basic else "bearer-token"
            yield SecretSpan(start, end, kind, 3)


# ── addresses ─────────────────────────────────────────────────────────────────────────────────────

_LOGIN: Final = re.compile(
    rb"://(?P<user>[^\s:/@\"'`<>?#]{0,128}+):(?P<secret>[^\s/\"'`<>]{1,256})@(?P<host>[^\s/\"'`<>:?#@]{1,200})"
)
_SCHEME: Final = re.compile(rb"[a-z][a-z0-9]{1,20}(?=(?:\+[a-z0-9]{1,20}){0,2}$)")
_MAX_SCHEME: Final = 40


def find_in_urls(data: bytes, lower: bytes, rules: SecretRules) -> Iterator[SecretSpan]:
    """Yield passwords in addresses, and addresses that are secrets themselves."""
    if b"://" not in data:
        return
    for match in _LOGIN.finditer(data):
        if _is_login(match):
            start, end = match.span("secret")
            yield SecretSpan(start, end, _kind_by_scheme(lower, match.start(), rules), 2)
    for match in rules.hosts.finditer(lower):
        host_start = match.start() + len(b"://")
        for _, rule in rules.urls:
            span = _match_rules(data, host_start, [rule])
            if span is not None:
                yield span._replace(rank=2)


def _kind_by_scheme(lower: bytes, scheme_end: int, rules: SecretRules) -> str:
    """Return the kind of a password in an address, by the scheme that ends at a position."""
    scheme = _SCHEME.search(lower[max(0, scheme_end - _MAX_SCHEME) : scheme_end])
    if scheme is None:
        return "url-password"
    return rules.schemes.get(scheme[0], "url-password")


def _is_login(match: re.Match[bytes]) -> bool:
    """Return whether an address holds a real password, not an example."""
    password = match["secret"]
    if password == match["user"] or b"example" in match["host"].lower():
        return False
    return value_shapes.is_filled_in(password)


# ── key blocks ────────────────────────────────────────────────────────────────────────────────────

_BEGIN: Final = re.compile(
    rb"BEGIN (?:(?:[A-Z0-9]{1,12} ){0,3})PRIVATE KEY(?P<pgp> BLOCK)? ?-{4,5}"
)
_MAX_BLOCK: Final = 64_000
_MIN_BODY: Final = 40
_BODY: Final = re.compile(rb"[A-Za-z0-9+/=]{16,}")
_BODY_LINE: Final = re.compile(
    rb"[^A-Za-z0-9\n]{0,16}[A-Za-z0-9+/=]{20,100}[^A-Za-z0-9\n]{0,4}(?:n[^A-Za-z0-9\n]{0,8})?(?:\n|$)"
)
_AROUND_BODY: Final = b" \t\r\n\"'`\\,;+(){}[]|>#*"
_ESCAPED_LINE_ENDS: Final = (b"\\r\\n", b"\\n")


def find_key_blocks(data: bytes) -> Iterator[SecretSpan]:
    """Yield the bodies of private keys, without the BEGIN and END lines."""
    for begin in _BEGIN.finditer(data):
        start = begin.end()
        end = _end_of_block(data, start)
        body = data[start:end]
        length = sum(len(piece) for piece in _BODY.findall(body))
        if length < _MIN_BODY or value_shapes.is_placeholder(body[:200]):
            continue
        for line_end in _ESCAPED_LINE_ENDS:
            body = body.removeprefix(line_end)
        body = body.lstrip(_AROUND_BODY)
        start = end - len(body)
        end = start + len(body.rstrip(_AROUND_BODY))
        kind = "pgp-private-key" if begin["pgp"] else "private-key"
        yield SecretSpan(start, end, kind, 0)


def _end_of_block(data: bytes, start: int) -> int:
    """Return the start of the END line, or the end of the lines that look like a key if there is none."""
    end = data.find(b"----", start, start + _MAX_BLOCK)
    if end >= 0:
        marker = data[end : end + 9].lstrip(b"- ")
        if marker.startswith(b"END"):
            return end
    position = data.find(b"\n", start, start + 200) + 1
    end = start
    while position and position - start < _MAX_BLOCK:
        line = _BODY_LINE.match(data, position)
        if line is None:
            break
        position = end = line.end()
    return end
