"""The rules of `rules.toml`, ready to be tried: expressions are compiled when they are first needed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

PLACE: Final = Path(__file__).parent / "rules.toml"
_VERSION: Final = 1
"""Raised with every change of how rules are tried; the rules themselves are named by their digest."""
_ENDS: Final = r"(?![A-Za-z0-9])"
# In text within text an escaped line end may stand before the secret, and its letter is none of the secret's.
_BEGINS: Final = r"(?:\\[nrt]|(?<![A-Za-z0-9]))"


@dataclass(slots=True)
class Rule:
    """One way a secret looks: its kind, and the expression that matches all of it."""

    kind: str
    expression: str
    back: tuple[int, ...] = (0,)
    """How far before the text that gave it away it may begin."""
    _compiled: re.Pattern[bytes] | None = field(default=None, repr=False)

    @property
    def pattern(self) -> re.Pattern[bytes]:
        """Return the expression, compiled now if it was not."""
        if self._compiled is None:
            self._compiled = re.compile(self.expression.encode("ascii"))
        return self._compiled

    def at(self, data: bytes, start: int) -> tuple[int, int] | None:
        """Return where the secret is that begins at a place, or `back` before it; None if there is none."""
        for back in self.back:
            found = self.pattern.match(data, start - back) if start >= back else None
            if found is not None:
                return secret_of(found)
        return None


def secret_of(found: re.Match[bytes]) -> tuple[int, int]:
    """Return what is to be taken out of a match: its group `secret`, or all of it."""
    return found.span("secret" if "secret" in found.re.groupindex else 0)


@dataclass(frozen=True)
class Rules:
    """All rules, by what gives a secret away."""

    starts: Mapping[bytes, tuple[Rule, ...]]
    """Rules by the text that secrets start with, or hold."""
    search: tuple[Rule, ...]
    near: tuple[tuple[tuple[bytes, ...], Rule], ...]
    urls: tuple[tuple[bytes, Rule], ...]
    """Rules for what follows `://`, each with what the host holds."""
    schemes: Mapping[bytes, str]
    _held: frozenset[bytes]

    @cached_property
    def clues(self) -> re.Pattern[bytes]:
        """Return what finds, as its last group, the texts that secrets start with or hold, the longest first."""
        begun = _either({text.decode("ascii") for text in self.starts.keys() - self._held})
        held = _either({text.decode("ascii") for text in self._held})
        return re.compile(f"{_BEGINS}({begun})|({held})".encode("ascii"))

    @cached_property
    def near_words(self) -> re.Pattern[bytes]:
        """Return what finds any word that `near` rules want to see before a secret."""
        words = sorted({word for words, _ in self.near for word in words}, key=lambda word: (-len(word), word))
        return re.compile(b"|".join(map(re.escape, words)))

    @cached_property
    def hosts(self) -> re.Pattern[bytes]:
        """Return what finds an address whose host one of the `urls` rules is for."""
        either = b"|".join(re.escape(host) for host, _ in self.urls)
        return re.compile(rb"://[a-z0-9.\-]{0,80}?(?:" + either + rb")")

    @property
    def kinds(self) -> frozenset[str]:
        """Return every kind that a rule names."""
        told = [*(rule for rules in self.starts.values() for rule in rules), *self.search]
        told += [rule for _, rule in (*self.near, *self.urls)]
        return frozenset(rule.kind for rule in told) | {*self.schemes.values()}


@cache
def rules() -> Rules:
    """Return all rules."""
    import tomllib  # only where something is read

    told = tomllib.loads(_told())
    starts: dict[bytes, list[Rule]] = {}
    for text, rule in _started(told["starts"]):
        starts.setdefault(text, []).append(rule)
    held = {
        one["text"].encode("ascii"): Rule(one["kind"], one["whole"] + _ENDS, tuple(one["back"]))
        for one in told["holds"]
    }
    return Rules(
        starts={text: tuple(found) for text, found in starts.items()} | {text: (rule,) for text, rule in held.items()},
        search=tuple(Rule(one["kind"], one["whole"] + _ENDS) for one in told["search"]),
        near=tuple(
            (tuple(word.encode("ascii") for word in one["words"]), Rule(one["kind"], one["looks"]))
            for one in told["near"]
        ),
        urls=tuple((one["host"].encode("ascii"), Rule(one["kind"], one["whole"] + _ENDS)) for one in told["url"]),
        schemes={scheme.encode("ascii"): kind for scheme, kind in told["schemes"].items()},
        _held=frozenset(held),
    )


def _started(told: list[dict[str, Any]]) -> Iterator[tuple[bytes, Rule]]:
    for one in told:
        for text in one["with"]:
            yield text.encode("ascii"), Rule(one["kind"], f"{re.escape(text)}(?:{one['then']}){_ENDS}")


def _either(texts: set[str]) -> str:
    """Return an expression for any of the texts, the longest first, that looks at each character once."""
    heads: dict[str, set[str]] = {}
    for text in texts - {""}:
        heads.setdefault(text[0], set()).add(text[1:])
    told = [re.escape(head) + (_either(tails) if tails != {""} else "") for head, tails in sorted(heads.items())]
    return f"(?:{'|'.join(told)}){'?' if '' in texts else ''}"


@cache
def recipe() -> str:
    """Return what names the rules as they are, and how they are tried: another one means looking again."""
    return f"secrets/{_VERSION}/{hashlib.sha256(_told().encode()).hexdigest()[:8]}"


@cache
def _told() -> str:
    return PLACE.read_text(encoding="utf-8")
