"""Whether a value may be a secret by its looks: random enough, no stand-in, no name, and under a name that says so."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

_BLANKS: Final = (
    rb"example|placeholder|redacted|change.?me|your[_\-]|[_\-]here$|x{5}|\*{3}|\.{3}|1234567|abcdefg|(.)\1{5}"
)
_BLANK: Final = re.compile(_BLANKS)
_STAND_INS: Final = re.compile(
    _BLANKS + rb"|sample|replace|dummy|fake|your|\[secret:|x{4}|<|>|\{|\}"
    rb"|\$\(|^\$[a-z_]|^\.\.?/|%\(|%s|%[a-z_]+%|qwerty|asdf|insert|foobar|todo"
)
"""What stands where a secret would, in lower case. A random text holds one of these once in many thousands."""
_WORDS: Final = re.compile(
    rb"passw|passphrase|secret|test|token|hunter|letmein|default|undefined|none|null|true|false|admin|guest|s3cret"
    rb"|p4ss|passwd|mypass|string|value|format|config|environ|getenv|process|self\.|localhost|12345|abc123|correct"
)
"""What nobody's own password holds, and many a document's does."""
_PIECE: Final = rb"(?:[A-Za-z]++\d{0,4}+|\d{1,4}+(?:T\d\d)?)?"
_NAME: Final = re.compile(_PIECE + rb"(?:[_\-./:@+,=]++" + _PIECE + rb")*+")
"""Words and small numbers with signs between them: a name, a path, a version, a time."""
_UPPER, _LOWER, _DIGIT = re.compile(rb"[A-Z]"), re.compile(rb"[a-z]"), re.compile(rb"[0-9]")
_SYMBOL: Final = re.compile(rb"[^A-Za-z0-9_\-.]")
_TURNS: Final = re.compile(rb"(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]")

LEAST_PASSWORD: Final = 8
LEAST_TOKEN: Final = 14
_BITS_PASSWORD: Final = 2.5
_BITS_TOKEN: Final = 3.0
_BITS_RULED: Final = 2.4
"""Bits a character, below which nothing was drawn at random: 16 random hexadecimal digits have 2.8 or more."""

# A name says that its value is a secret by one of these, unless it says of what use the value is instead.
_KEY_NAMES: Final = re.compile(
    rb"(?:api|access|secret|private|priv|auth|encrypt(?:ion)?|sign(?:ing)?|master|account|service|app(?:lication)?|client"
    rb"|consumer|shared|sharedaccess|storage|deploy|admin|session|jwt|hmac|crypto|server|root|db|database|subscription"
    rb"|integration|webhook|ssh|ssl|rsa|token|project|personal|aws|azure|gcp|license|write|s3|algolia|stripe|openai"
    rb"|sendgrid|mailgun|datadog|cohere|mistral|fastly|cloudflare|twilio)[_\-. ]?key"
)
_NO_SECRET: Final = re.compile(
    rb"(?:public|pub|primary|foreign|cache|sort|partition|next|page|continuation|cursor|pagination|sync|special|eos|bos"
    rb"|pad|mask|unk|sep|cls|csrf|xsrf|error|missing|invalid|no)[_\-. ]?(?:key|token|secret|passw)"
    rb"|(?:key|token|secret|passw(?:or)?d|pwd)s?[_\-.]?(?:names?|ids?|types?|ur[il]|path|file|field|label|hint|regex"
    rb"|pattern|format|len|length|size|expir\w*|prefix|suffix|header|endpoint|class|alg\w*|arn|ref|version|count|limit"
    rb"|param\w*|policy|rotation|title|text|message|error\w*|placeholder|help|description|input|hash|digest|index"
    rb"|fingerprint|env|var|vault|store|provider|manager|storage|scope|issuer|kind|code|info|identifier|reset\w*)$"
)


def bits(value: bytes) -> float:
    """Return the Shannon entropy of a value, in bits a character."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values()) if size else 0.0


def is_stand_in(value: bytes) -> bool:
    """Return whether a value stands where a secret would: `xxxx`, `<token>`, `${VAR}`, `your-key`."""
    return _STAND_INS.search(value.lower()) is not None


def is_ruled(value: bytes) -> bool:
    """Return whether what a provider's rule matched was drawn at random, and is no stand-in."""
    return bits(value) >= _BITS_RULED and not _BLANK.search(value.lower())


def is_named(name: bytes) -> bool:
    """Return whether a name in lower case says that its value is a secret."""
    if _NO_SECRET.search(name):
        return False
    return b"key" not in name or any(word in name for word in (b"pass", b"secret")) or bool(_KEY_NAMES.search(name))


def is_token(value: bytes, *, bare: bool = False) -> bool:
    """Return whether a value looks drawn at random; a bare one, without quotes, must do so beyond doubt."""
    if len(value) < LEAST_TOKEN or not _mixed(value) or _NAME.fullmatch(value) or is_stand_in(value):
        return False
    turns = len(_TURNS.findall(value))
    if turns < (3 if bare else 2) or (bare and b"." in value and not _DIGIT.search(value.rpartition(b".")[0])):
        return False
    return bits(value) >= _BITS_TOKEN


def is_password(value: bytes, *, bare: bool = False) -> bool:
    """Return whether a value looks like a password that somebody uses."""
    if is_token(value, bare=bare):
        return True
    if (
        len(value) < LEAST_PASSWORD
        or bits(value) < _BITS_PASSWORD
        or is_stand_in(value)
        or _WORDS.search(value.lower())
    ):
        return False
    kinds = sum(bool(kind.search(value)) for kind in (_UPPER, _LOWER, _DIGIT, _SYMBOL))
    if kinds >= 3 and _DIGIT.search(value):
        return not (bare and _NAME.fullmatch(value))
    return not bare and _mixed(value) and not _NAME.fullmatch(value)


def is_given_away(value: bytes) -> bool:
    """Return whether a value in a place made for secrets, a URL or an `.env` file, is more than a stand-in."""
    if len(value) < 5 or len(set(value)) < 4 or is_stand_in(value) or _WORDS.search(value.lower()):
        return False
    return len(value) >= 10 or not value.isalpha() or not (value.islower() or value.istitle())


def _mixed(value: bytes) -> bool:
    return bool(_DIGIT.search(value)) and bool(_LOWER.search(value) or _UPPER.search(value))
