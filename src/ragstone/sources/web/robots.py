"""The robots.txt of a site, read as RFC 9309 defines it.

Python's parser supports neither `*` nor `$` nor the longest match; `protego` matches with regular expressions, which
a hostile file can make run for hours. Matching here is linear in the length of the path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from ragstone.errors import AccessError, RagstoneError, ReadError
from ragstone.sources.web.client import HostNotReached
from ragstone.sources.web.fetch import USER_AGENT, FetchRules, accept_every_type, safe_fetch
from ragstone.sources.web.urls import Url

_MAX_BYTES: Final = 512_000
_MAX_RULES: Final = 10_000
_ESCAPE: Final = re.compile("%([0-9a-f]{2})", re.IGNORECASE)
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
_UNRESERVED: Final = re.compile(r"[A-Za-z0-9._~-]")
_OK: Final = 200
_CLIENT_ERRORS: Final = range(400, 500)


@dataclass(frozen=True, slots=True)
class RobotsRule:
    """One `Allow` or `Disallow` line."""

    pattern: str
    allow: bool

    def matches(self, target: str) -> bool:
        """Return whether the rule is about this path; `*` is any text, `$` at the end is the end of the path."""
        is_anchored = self.pattern.endswith("$")
        first, *pieces = self.pattern.removesuffix("$").split("*")
        if not target.startswith(first):
            return False
        if not pieces:
            return not is_anchored or target == first
        position = len(first)
        for piece in pieces[:-1]:
            start = target.find(piece, position)
            if start < 0:
                return False
            position = start + len(piece)
        last = pieces[-1]
        if is_anchored:
            return target.endswith(last) and len(target) - len(last) >= position
        return target.find(last, position) >= 0


def parse_robots(text: str) -> list[RobotsRule]:
    """Return the rules for this program: those of its own groups, else those of the groups for `*`."""
    groups: dict[str, list[RobotsRule]] = {}
    current: list[str] = []
    in_header = False
    for key, value in _fields(text):
        if key == "user-agent":
            if not in_header:
                current = []
            in_header = True
            name = value.lower().partition("/")[0].strip()
            if name in (USER_AGENT, "*") and name not in current:
                current.append(name)
                groups.setdefault(name, [])
        elif key in ("allow", "disallow"):
            in_header = False
            if not value:
                continue
            rule = RobotsRule(_normalise(value), key == "allow")
            for name in current:
                if len(groups[name]) < _MAX_RULES:
                    groups[name].append(rule)
    return groups.get(USER_AGENT, groups.get("*", []))


def is_allowed(rules: Iterable[RobotsRule], target: str) -> bool:
    """Return whether a path may be visited: the longest matching rule decides, and `Allow` wins a tie."""
    path = _normalise(target)
    matching = [rule for rule in rules if rule.matches(path)]
    if not matching:
        return True
    longest = max(matching, key=lambda rule: (len(rule.pattern), rule.allow))
    return longest.allow


class RobotsCache:
    """The robots.txt of every site in one run, each fetched once."""

    def __init__(self, rules: FetchRules) -> None:
        """Fetch robots.txt files by these rules."""
        self._rules = replace(rules, max_bytes=_MAX_BYTES, refuse_body=accept_every_type)
        self._rules_by_origin: dict[str, list[RobotsRule]] = {}
        self._errors: dict[str, RagstoneError] = {}

    def check(self, url: Url) -> None:
        """Raise `AccessError` if the site asks programs not to visit the address."""
        origin = url.origin
        if origin not in self._rules_by_origin and origin not in self._errors:
            self._fetch(origin)
        if origin in self._errors:
            raise self._errors[origin]
        if not is_allowed(self._rules_by_origin[origin], url.target):
            raise AccessError(
                f"{origin}/robots.txt asks programs not to fetch {url.path}",
                hint="save the page from a browser and add the file",
            )

    def _fetch(self, origin: str) -> None:
        """Store the site's rules (none if it has no robots.txt), or the reason why they are not known."""
        try:
            page = safe_fetch(f"{origin}/robots.txt", self._rules)
        except HostNotReached as error:
            self._errors[origin] = error
            return
        except ReadError as error:
            self._errors[origin] = _unknown_rules(origin, error.message)
            return
        if page.status == _OK:
            text = page.body.decode("utf-8-sig", "replace")
            self._rules_by_origin[origin] = parse_robots(text)
        elif page.status in _CLIENT_ERRORS:
            self._rules_by_origin[origin] = []
        else:
            reason = f"its robots.txt answers {page.status}"
            self._errors[origin] = _unknown_rules(origin, reason)


def _unknown_rules(origin: str, reason: str) -> AccessError:
    message = f"whether programs may visit {origin} is not known: {reason}"
    return AccessError(message, hint="try again later")


def _fields(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        without_comment = line.partition("#")[0]
        key, colon, value = without_comment.partition(":")
        if colon:
            yield key.strip().lower(), value.strip()


def _normalise(path: str) -> str:
    """Return a path with one spelling for every percent-encoded character."""
    encoded = _NOT_ASCII.sub(_encode, path)
    return _ESCAPE.sub(_decode_unreserved, encoded)


def _encode(characters: re.Match[str]) -> str:
    data = characters[0].encode("utf-8", "surrogatepass")
    return "".join(f"%{byte:02X}" for byte in data)


def _decode_unreserved(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    if _UNRESERVED.fullmatch(character):
        return character
    return escape[0].upper()
