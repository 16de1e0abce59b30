"""The rules of `rules.toml`. Expressions are compiled when they are first used."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final

RULES_FILE: Final = Path(__file__).parent / "rules.toml"
_VERSION: Final = 7
"""Raised with every change of the algorithm; changes of the rules show in their digest."""
_END: Final = r"(?![A-Za-z0-9])"
# In a string literal an escaped line end may be before the secret; its letter is not part of the secret.
_BEGIN: Final = r"(?:\\[nrt]|(?<![A-Za-z0-9]))"


@dataclass(frozen=True)
class SecretRule:
    """One format of a secret: its kind, and an expression that matches all of it."""

    kind: str
    expression: str
    offsets: tuple[int, ...] = (0,)
    """How far before its clue the secret may begin."""

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """Return the compiled expression."""
        return re.compile(self.expression.encode("ascii"))

    def match_at(self, data: bytes, clue: int) -> tuple[int, int] | None:
        """Return the span of the secret whose clue is at a position, or None."""
        for offset in self.offsets:
            start = clue - offset
            if start < 0:
                continue
            match = self.pattern.match(data, start)
            if match is not None:
                return secret_span(match)
        return None


def secret_span(match: re.Match[bytes]) -> tuple[int, int]:
    """Return the part of a match that is redacted: the group `secret`, or all of it."""
    if "secret" in match.re.groupindex:
        return match.span("secret")
    return match.span()


@dataclass(frozen=True)
class SecretRules:
    """All rules, grouped by the way a secret is recognised."""

    by_prefix: Mapping[bytes, tuple[SecretRule, ...]]
    """By the text that secrets start with."""
    by_part: Mapping[bytes, tuple[SecretRule, ...]]
    """By a text inside the secret."""
    anywhere: tuple[SecretRule, ...]
    near_words: tuple[tuple[tuple[bytes, ...], SecretRule], ...]
    """Rules for values with one of these words before them."""
    urls: tuple[tuple[bytes, SecretRule], ...]
    """Rules for the text after `://`, each with a part of the host."""
    schemes: Mapping[bytes, str]

    @cached_property
    def clues(self) -> re.Pattern[bytes]:
        """Return an expression whose last group is a prefix or part of secrets, the longest first."""
        prefixes = _alternatives({text.decode("ascii") for text in self.by_prefix})
        parts = _alternatives({text.decode("ascii") for text in self.by_part})
        expression = f"{_BEGIN}({prefixes})|({parts})"
        return re.compile(expression.encode("ascii"))

    @cached_property
    def words(self) -> re.Pattern[bytes]:
        """Return an expression for any word in `near_words`."""
        words: set[bytes] = set()
        for group, _ in self.near_words:
            words |= set(group)
        longest_first = sorted(words, key=lambda word: (-len(word), word))
        escaped = [re.escape(word) for word in longest_first]
        return re.compile(b"|".join(escaped))

    @cached_property
    def hosts(self) -> re.Pattern[bytes]:
        """Return an expression for an address with a host that `urls` names."""
        escaped = [re.escape(host) for host, _ in self.urls]
        hosts = b"|".join(escaped)
        return re.compile(rb"://[a-z0-9.\-]{0,80}?(?:" + hosts + rb")")

    def rules_of_clue(self, clue: bytes) -> tuple[SecretRule, ...]:
        """Return the rules for secrets that start with a clue, and for those that hold it."""
        return self.by_prefix.get(clue, ()) + self.by_part.get(clue, ())


@cache
def load_rules() -> SecretRules:
    """Return all rules."""
    tables = tomllib.loads(rules_text())
    by_prefix: dict[bytes, tuple[SecretRule, ...]] = {}
    for entry in tables["starts"]:
        for prefix in entry["with"]:
            expression = f"{re.escape(prefix)}(?:{entry['then']}){_END}"
            rule = SecretRule(entry["kind"], expression)
            key = prefix.encode("ascii")
            by_prefix[key] = (*by_prefix.get(key, ()), rule)
    by_part = {}
    for entry in tables["holds"]:
        key = entry["text"].encode("ascii")
        by_part[key] = (_complete_rule(entry, tuple(entry["back"])),)
    near_words = []
    for entry in tables["near"]:
        words = tuple(word.encode("ascii") for word in entry["words"])
        rule = SecretRule(entry["kind"], entry["looks"])
        near_words.append((words, rule))
    urls = []
    for entry in tables["url"]:
        host = entry["host"].encode("ascii")
        urls.append((host, _complete_rule(entry)))
    return SecretRules(
        by_prefix=by_prefix,
        by_part=by_part,
        anywhere=tuple(_complete_rule(entry) for entry in tables["search"]),
        near_words=tuple(near_words),
        urls=tuple(urls),
        schemes={scheme.encode("ascii"): kind for scheme, kind in tables["schemes"].items()},
    )


def _complete_rule(entry: Mapping[str, str], offsets: tuple[int, ...] = (0,)) -> SecretRule:
    """Return the rule of an entry whose expression matches a complete secret."""
    return SecretRule(entry["kind"], entry["whole"] + _END, offsets)


def _alternatives(texts: set[str]) -> str:
    """Return an expression for any of the texts, the longest first, that looks at each character once."""
    tails_by_head: dict[str, set[str]] = {}
    for text in texts - {""}:
        tails_by_head.setdefault(text[0], set()).add(text[1:])
    branches = []
    for head, tails in sorted(tails_by_head.items()):
        branch = re.escape(head)
        if tails != {""}:
            branch += _alternatives(tails)
        branches.append(branch)
    optional = "?" if "" in texts else ""
    return f"(?:{'|'.join(branches)}){optional}"


@cache
def recipe() -> str:
    """Return a name for the rules and the algorithm; with another name, every file has to be scanned again."""
    digest = hashlib.sha256(rules_text().encode()).hexdigest()
    return f"secrets/{_VERSION}/{digest[:8]}"


@cache
def rules_text() -> str:
    """Return the text of the file with the rules; it is read once."""
    return RULES_FILE.read_text(encoding="utf-8")
