"""What a question asks for, by a small lexicon that is data: `intents.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from ragstone.text.stemming import stem
from ragstone.types import Json, Node

LEAST: Final = 2
"""A word or two of weight: below that a question does not ask for a thing, it only mentions it."""
_SHARE: Final = 0.6
"""What a second intent needs of the first one's weight to be answered as well."""

_LOOSE: Final = 0.4
"""The same where nothing is named: then what is found has a word in it too."""
_AS_ANY_CLASS: Final = 0.5

CLASSES: Final = frozenset(
    "class interface trait enum model controller request resource policy event listener observer job middleware"
    " notification mail command provider cast rule scope channel factory seeder exception".split()
)


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing that can be asked, and what it can be asked of."""

    name: str
    anchors: tuple[str, ...]
    cues: tuple[tuple[re.Pattern[str], int], ...]
    via: tuple[str, ...]
    """Links that its paths may take."""
    target: str
    """What its paths end at."""
    none: Mapping[str, Json]
    """The facts where there is none."""
    back: bool | None = None
    """Between two of one role: against the links, or along them."""
    along: tuple[str, ...] = ()
    """What is always told with it."""

    def weight(self, text: str) -> int:
        """Return how much a question asks for it."""
        return sum(weight for cue, weight in self.cues if cue.search(text))


@dataclass(frozen=True, slots=True)
class Wanted:
    """An intent with the weight a question gives it."""

    intent: Intent
    weight: float


@cache
def intents() -> Mapping[str, Intent]:
    """Return all of them by name."""
    return {
        name: Intent(
            name,
            tuple(one["anchors"]),
            tuple((re.compile(cue), weight) for cue, weight in one["cues"].items()),
            tuple(one["via"]),
            one["target"],
            one.get("none", {}),
            one.get("back"),
            tuple(one.get("with", ())),
        )
        for name, one in _lexicon()["intents"].items()
    }


def asked_of(text: str, roles: Sequence[str]) -> list[Wanted]:
    """Return what a question asks of a node that has these roles, the weightiest first; its roles' default if nothing.

    `text` is the question in lower case without its names.
    """
    fitting = [one for one in intents().values() if any(role in one.anchors for role in roles)]
    ranked = _ranked(fitting, text, roles)
    if ranked:
        most = ranked[0].weight
        return [one for one in ranked if one.weight >= max(LEAST, _SHARE * most)]
    names = [name for role in roles if (name := _lexicon()["default"].get(role))]
    return [Wanted(intents()[names[0]], 0)] if names else []


def asked(text: str) -> list[Wanted]:
    """Return what a question without a known name asks, the weightiest first."""
    ranked = _ranked(intents().values(), text, ())
    return [one for one in ranked if one.weight >= max(LEAST, _LOOSE * ranked[0].weight)] if ranked else []


def roles(node: Node, alias: str = "") -> tuple[str, ...]:
    """Return what a node can be asked as, the most telling first."""
    if alias == "route_resource":
        return ("resource_routes", "route")
    if node.kind in CLASSES or node.key.startswith("class:"):
        return tuple(dict.fromkeys((node.kind, "class")))
    return (node.kind,)


def verbs(words: Iterable[str]) -> frozenset[str]:
    """Return the resource actions that the verbs of a question stand for: `renames` is an update."""
    spoken = {stem(word) for word in words}
    named = _lexicon()["verbs"].items()
    return frozenset(action for action, names in named if spoken.intersection(map(stem, names)))


def _ranked(among: Iterable[Intent], text: str, roles: Sequence[str]) -> list[Wanted]:
    """Return what is asked; what only any class may be asked for counts less where the class is known for more."""
    found: list[tuple[float, int, Wanted]] = []
    for one in among:
        weight: float = one.weight(text)
        if roles and roles[0] != "class" and roles[0] not in one.anchors:
            weight *= _AS_ANY_CLASS
        fits = [one.anchors.index(role) for role in roles if role in one.anchors]
        if weight >= LEAST:
            found.append((-weight, min(fits, default=0), Wanted(one, weight)))
    return [wanted for _, _, wanted in sorted(found, key=lambda row: row[:2])]


@cache
def _lexicon() -> dict[str, Any]:
    lexicon: dict[str, Any] = json.loads(files(__package__).joinpath("intents.json").read_text(encoding="utf-8"))
    return lexicon
