"""Whether a value looks like a secret: random, not a placeholder, not a name; and whether a name means a secret."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

_STATED: Final = (
    rb"example|placeholder|redacted|change.?me|your[_\-]|[_\-]here$|x{5}|\*{3}|\.{3}|(.)\1{5}"
)
_STATED_PLACEHOLDER: Final = re.compile(_STATED)
_PLACEHOLDERS: Final = _STATED + rb"|1234567|abcdefg"
_PLACEHOLDER: Final = re.compile(_PLACEHOLDERS)
_SIGNS: Final = (
    _PLACEHOLDERS + rb"|\[secret:|x{4}|<|>|\{|\}|\$\(|^\$[a-z_]|^\.\.?/|%\(|%s|%[a-z_]+%"
)
_SIGN: Final = re.compile(_SIGNS)
_FILL_IN: Final = rb"sample|replace|dummy|fake|your|qwerty|asdf|insert|foobar|todo"
_FILL_IN_WORDS: Final = re.compile(_FILL_IN)
_LOOSE_PLACEHOLDER: Final = re.compile(_SIGNS + rb"|" + _FILL_IN)
"""Parts of placeholders, in lower case. One random text in many thousands holds one of these."""
_WORDS: Final = re.compile(
    rb"passw|passphrase|secret|test|token|hunter|letmein|default|undefined|none|null|true|false|admin|guest|s3cret"
    rb"|p4ss|passwd|mypass|string|value|format|config|environ|getenv|process|self\.|localhost|12345|abc123|correct"
)
"""Words in the passwords of examples."""
_FILLERS: Final = re.compile(
    rb"(?:my|the|your|an?|some|this|is|in|for|of|with|user|name|db|app|root|demo|new|old|real|here|w?[o0]rd|key|api|pass"
    rb"|s|ing)*+\d{0,4}"
)
"""Words and letters around them in an example: `my-secret-1`, but not `S3cretPw99`."""
_LETTERS_OR_NUMBER: Final = re.compile(rb"[a-z]*\d{0,4}")
_RUNS: Final = re.compile(rb"[a-z0-9]+")
_MIN_BESIDES_WORDS: Final = 7
"""Letters and digits besides such words with which a password is in use: `hunter2-seagull`."""
_LONG: Final = 48
"""Characters of a value in the format of a provider that is no example because a row of letters is in it."""
_PIECE: Final = rb"(?:[A-Za-z]++\d{0,4}+|\d{1,4}+(?:T\d\d)?)?"
_NAME: Final = re.compile(_PIECE + rb"(?:[_\-./:@+,=]++" + _PIECE + rb")*+")
"""Words and small numbers with separators: a name, a path, a version, a time."""
_UPPER: Final = re.compile(rb"[A-Z]")
_LOWER: Final = re.compile(rb"[a-z]")
_DIGIT: Final = re.compile(rb"[0-9]")
_SYMBOL: Final = re.compile(rb"[^A-Za-z0-9_\-.]")
_SWITCHES: Final = re.compile(rb"(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]")

_MIN_PASSWORD: Final = 8
_MIN_TOKEN: Final = 14
_BITS_PASSWORD: Final = 2.5
_BITS_TOKEN: Final = 3.0
_BITS_RANDOM: Final = 2.4
"""Entropy per character of random texts; 16 random hexadecimal digits have 2.8 or more."""

# Names of keys that are secrets; other keys are cache keys, sort keys and the like.
_SECRET_KEYS: Final = re.compile(
    rb"(?:api|access|secret|private|priv|auth|encrypt(?:ion)?|sign(?:ing)?|master|account|service|app(?:lication)?|client"
    rb"|consumer|shared|sharedaccess|storage|deploy|admin|session|jwt|hmac|crypto|server|root|db|database|subscription"
    rb"|integration|webhook|ssh|ssl|rsa|token|project|personal|aws|azure|gcp|license|write|s3|algolia|stripe|openai"
    rb"|sendgrid|mailgun|datadog|cohere|mistral|fastly|cloudflare|twilio)[_\-. ]?key"
)
_HARMLESS_NAMES: Final = re.compile(
    rb"(?:public|pub|primary|foreign|cache|sort|partition|next|page|continuation|cursor|pagination|sync|special|eos|bos"
    rb"|pad|mask|unk|sep|cls|csrf|xsrf|error|missing|invalid|no)[_\-. ]?(?:key|token|secret|passw)"
    rb"|(?:key|token|secret|passw(?:or)?d|pwd)s?[_\-.]?(?:names?|ids?|types?|ur[il]|path|file|field|label|hint|regex"
    rb"|pattern|format|len|length|size|expir\w*|prefix|suffix|header|endpoint|class|alg\w*|arn|ref|version|count|limit"
    rb"|param\w*|policy|rotation|title|text|message|error\w*|placeholder|help|description|input|hash|digest|index"
    rb"|fingerprint|env|var|vault|store|provider|manager|storage|scope|issuer|kind|code|info|identifier|reset\w*)$"
)


def entropy(value: bytes) -> float:
    """Return the Shannon entropy of a value, in bits per character."""
    counts = Counter(value)
    shares = [count / len(value) for count in counts.values()]
    return -sum(share * math.log2(share) for share in shares)


def is_placeholder(value: bytes) -> bool:
    """Return whether a value is a placeholder, such as `xxxx`, `<token>`, `${VAR}` or `your-key`."""
    return _LOOSE_PLACEHOLDER.search(value.lower()) is not None


def is_random(value: bytes) -> bool:
    """Return whether a value in the format of a provider is random, not an example."""
    placeholder = _STATED_PLACEHOLDER if len(value) >= _LONG else _PLACEHOLDER
    return entropy(value) >= _BITS_RANDOM and not placeholder.search(value.lower())


def names_secret(name: bytes) -> bool:
    """Return whether a name in lower case is that of a secret."""
    if _HARMLESS_NAMES.search(name):
        return False
    is_key = b"key" in name and b"pass" not in name and b"secret" not in name
    return not is_key or _SECRET_KEYS.search(name) is not None


def is_token(value: bytes, *, is_bare: bool = False) -> bool:
    """Return whether a value looks random; for a bare value, without quotes, the test is stricter."""
    if len(value) < _MIN_TOKEN or not _is_mixed(value):
        return False
    if _NAME.fullmatch(value) or is_placeholder(value):
        return False
    min_switches = 3 if is_bare else 2
    if len(_SWITCHES.findall(value)) < min_switches:
        return False
    before_dot, dot, _ = value.rpartition(b".")
    if is_bare and dot and not _DIGIT.search(before_dot):
        return False
    return entropy(value) >= _BITS_TOKEN


def is_password(value: bytes, *, is_bare: bool = False) -> bool:
    """Return whether a value looks like a password in use."""
    if is_token(value, is_bare=is_bare):
        return True
    if len(value) < _MIN_PASSWORD or entropy(value) < _BITS_PASSWORD or _is_example(value):
        return False
    is_name = _NAME.fullmatch(value) is not None
    if _count_classes(value) >= 3 and _DIGIT.search(value):
        return not (is_bare and is_name)
    return not is_bare and not is_name and _is_mixed(value)


def _count_classes(value: bytes) -> int:
    """Return how many of upper case, lower case, digits and symbols are in a value."""
    patterns = (_UPPER, _LOWER, _DIGIT, _SYMBOL)
    return sum(pattern.search(value) is not None for pattern in patterns)


def is_filled_in(value: bytes) -> bool:
    """Return whether a value in a place for secrets, such as an `.env` file, is more than a placeholder."""
    different = set(value)
    if len(value) < 5 or len(different) < 4 or _is_example(value):
        return False
    is_one_word = value.isalpha() and (value.islower() or value.istitle())
    return len(value) >= 10 or not is_one_word


def _is_example(value: bytes) -> bool:
    """Return whether a password is a placeholder as a whole; one that only contains a word of examples is in use."""
    lower = value.lower()
    if _SIGN.search(lower):
        return True
    around_fill_in = _runs_around(_FILL_IN_WORDS, lower)
    if around_fill_in is not None and all(map(_LETTERS_OR_NUMBER.fullmatch, around_fill_in)):
        return True
    around_words = _runs_around(_WORDS, lower)
    if around_words is None or sum(map(len, around_words)) >= _MIN_BESIDES_WORDS:
        return False
    return all(map(_FILLERS.fullmatch, around_words))


def _runs_around(words: re.Pattern[bytes], lower: bytes) -> list[bytes] | None:
    """Return the letters and digits around the words in a value; None if it has none of the words."""
    rest, count = words.subn(b" ", lower)
    return _RUNS.findall(rest) if count else None


def _is_mixed(value: bytes) -> bool:
    """Return whether a value has both digits and letters."""
    has_letter = _LOWER.search(value) or _UPPER.search(value)
    return bool(has_letter) and _DIGIT.search(value) is not None
