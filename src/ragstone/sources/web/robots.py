"""What a site asks of programs that visit it: its `robots.txt`, as RFC 9309 reads one.

Python's own parser knows neither `*` nor `$`, nor that the longest rule decides, and would visit what was asked not to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.errors import AccessError, ReadError
from ragstone.sources.web.fetch import AGENT, Rules, anything, safe_fetch
from ragstone.sources.web.urls import Url

_MOST_BYTES: Final = 512_000
_MOST_RULES: Final = 10_000
_ESCAPE: Final = re.compile("%[0-9a-f]{2}", re.IGNORECASE)
_OK, _CLIENT_ERRORS = 200, range(400, 500)


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a group: paths that match are allowed, or not."""

    pattern: str
    allow: bool

    def matches(self, target: str) -> bool:
        """Return whether the rule is about this path; `*` is anything, `$` at the end is the end."""
        whole = self.pattern.endswith("$")
        first, *pieces = self.pattern.removesuffix("$").split("*")
        if not target.startswith(first):
            return False
        if not pieces:
            return not whole or target == first
        at = len(first)
        for piece in pieces[:-1]:
            found = target.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        last = pieces[-1]
        return target.endswith(last) and len(target) - len(last) >= at if whole else target.find(last, at) >= 0


def rules_for(text: str, agent: str = AGENT) -> list[Rule]:
    """Return the rules of a robots.txt that are for this program: those of its own groups, else those for everyone."""
    named: dict[str, list[Rule]] = {}
    here: list[str] = []
    open_group = False
    for key, value in _lines(text):
        if key == "user-agent":
            name = _token(value)
            here = here if open_group else []
            open_group = True
            if name in (agent, "*") and name not in here:  # those of others do not matter, however many there are
                here = [*here, name]
                named.setdefault(name, [])
        elif key in ("allow", "disallow"):
            open_group = False
            for one in here:
                if value and len(named[one]) < _MOST_RULES:
                    named[one].append(Rule(_escaped(value), key == "allow"))
    return named.get(agent, named.get("*", []))


def permits(rules: Iterable[Rule], target: str) -> bool:
    """Return whether a path may be visited: the longest rule that matches decides, and a tie allows."""
    path = _escaped(target)
    matching = [(len(rule.pattern), rule.allow) for rule in rules if rule.matches(path)]
    return max(matching)[1] if matching else True


@dataclass(slots=True)
class Robots:
    """The wishes of every site met in one run, each asked for once."""

    rules: Rules
    _known: dict[str, list[Rule] | str] = field(default_factory=dict)

    def check(self, url: Url) -> None:
        """Raise `AccessError` where a site does not want programs to visit."""
        if url.origin not in self._known:
            self._known[url.origin] = self._asked(url)
        found = self._known[url.origin]
        if isinstance(found, str):
            raise AccessError(f"whether programs may visit {url.origin} is not known: {found}", hint="try again later")
        if not permits(found, url.target):
            raise AccessError(
                f"{url.origin}/robots.txt asks programs not to fetch {url.target.partition('?')[0]}",
                hint="save the page from a browser and add the file",
            )

    def _asked(self, url: Url) -> list[Rule] | str:
        """Return the site's rules, none where it has no such file, or why that is not known."""
        within = replace(self.rules, max_bytes=_MOST_BYTES, wanted=anything)
        try:
            found = safe_fetch(f"{url.origin}/robots.txt", within)
        except ReadError as error:
            return error.message
        if found.status == _OK:
            return rules_for(found.body.decode("utf-8-sig", "replace"))
        return [] if found.status in _CLIENT_ERRORS else f"its robots.txt answers {found.status}"


def _lines(text: str) -> Iterable[tuple[str, str]]:
    for line in text.splitlines():
        key, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield key.strip().lower(), value.strip()


def _token(value: str) -> str:
    """Return the name of a program without its version."""
    return value.lower().partition("/")[0].strip()


def _escaped(path: str) -> str:
    """Return a path with one spelling for what is percent-encoded."""
    ascii_only = "".join(char if char.isascii() else "".join(f"%{b:02X}" for b in char.encode()) for char in path)
    return _ESCAPE.sub(_plain, ascii_only)


def _plain(found: re.Match[str]) -> str:
    char = chr(int(found[0][1:], 16))
    return char if char.isascii() and (char.isalnum() or char in "-._~") else found[0].upper()
