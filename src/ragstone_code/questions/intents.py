"""The intents of questions, recognised by a small lexicon: `intents.json`."""

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

MIN_WEIGHT: Final = 2
"""A question with less weight only mentions a thing and does not ask for it."""
_MIN_SHARE: Final = 0.6
"""The share of the first intent's weight that a further intent needs."""
_MIN_SHARE_WITHOUT_NAME: Final = 0.4
"""The same for a question that names no node: the nodes that search finds decide too."""
_GENERAL_CLASS_FACTOR: Final = 0.5
"""Factor for an intent that fits a node only because the node is some class."""

CLASS_KINDS: Final = frozenset(
    "class interface trait enum model controller request resource policy event listener observer job middleware"
    " notification mail command provider cast rule scope channel factory seeder exception".split()
)


@dataclass(frozen=True, slots=True)
class Intent:
    """A thing that can be asked, and the roles of nodes it can be asked about."""

    name: str
    anchors: tuple[str, ...]
    """Roles of nodes that the question can be about, the most likely first."""
    cues: tuple[tuple[re.Pattern[str], int], ...]
    via: tuple[str, ...]
    """Kinds of links that its paths may take."""
    target: str
    """The role that its paths end at."""
    none: Mapping[str, Json]
    """The facts of a negative answer."""
    back: bool | None = None
    """Direction of links between two nodes of one role: true goes from target to source."""
    along: tuple[str, ...] = ()
    """Intents that are always answered together with this one."""
    needs_name: bool = False
    """Whether it is only asked of a node that the question names, never of one that a search finds."""

    def weight(self, text: str) -> int:
        """Return how strongly a text asks for this intent."""
        return sum(weight for cue, weight in self.cues if cue.search(text))


@dataclass(frozen=True, slots=True)
class RankedIntent:
    """An intent and the weight that a question gives it."""

    intent: Intent
    weight: float


@cache
def all_intents() -> Mapping[str, Intent]:
    """Return all intents by name."""
    return {name: _parse_intent(name, data) for name, data in _lexicon()["intents"].items()}


def _parse_intent(name: str, data: Mapping[str, Any]) -> Intent:
    """Return one intent of the lexicon."""
    return Intent(
        name,
        anchors=tuple(data["anchors"]),
        cues=tuple((re.compile(cue), weight) for cue, weight in data["cues"].items()),
        via=tuple(data["via"]),
        target=data["target"],
        none=data.get("none", {}),
        back=data.get("back"),
        along=tuple(data.get("with", ())),
        needs_name=data.get("needs_name", False),
    )


def rank_intents_for_roles(text: str, roles: Sequence[str]) -> list[RankedIntent]:
    """Return the intents of a question about a node with these roles, the strongest first.

    `text` is the question in lower case without its names. If it asks for nothing, the default intent of the
    first role that has one is returned.
    """
    fitting = [
        intent for intent in all_intents().values() if not set(roles).isdisjoint(intent.anchors)
    ]
    ranked = _rank(fitting, text, roles)
    if ranked:
        return _strong_intents(ranked, _MIN_SHARE)
    defaults = _lexicon()["default"]
    for role in roles:
        if defaults.get(role):
            return [RankedIntent(all_intents()[defaults[role]], 0)]
    return []


def rank_intents(text: str) -> list[RankedIntent]:
    """Return the intents of a question that names no node, the strongest first."""
    intents = [intent for intent in all_intents().values() if not intent.needs_name]
    ranked = _rank(intents, text, ())
    return _strong_intents(ranked, _MIN_SHARE_WITHOUT_NAME)


def _strong_intents(ranked: Sequence[RankedIntent], min_share: float) -> list[RankedIntent]:
    """Return the intents that have enough weight compared with the first."""
    if not ranked:
        return []
    min_weight = max(MIN_WEIGHT, min_share * ranked[0].weight)
    return [item for item in ranked if item.weight >= min_weight]


def _rank(intents: Iterable[Intent], text: str, roles: Sequence[str]) -> list[RankedIntent]:
    """Return the intents with enough weight, the strongest first.

    An intent for any class counts less if the node has a more specific role.
    """
    has_specific_role = bool(roles) and roles[0] != "class"
    rows: list[tuple[float, int, RankedIntent]] = []
    for intent in intents:
        weight: float = intent.weight(text)
        if has_specific_role and roles[0] not in intent.anchors:
            weight *= _GENERAL_CLASS_FACTOR
        if weight >= MIN_WEIGHT:
            positions = [intent.anchors.index(role) for role in roles if role in intent.anchors]
            rows.append((-weight, min(positions, default=0), RankedIntent(intent, weight)))
    rows.sort(key=lambda row: row[:2])
    return [ranked for _, _, ranked in rows]


def roles_of(node: Node, alias: str = "") -> tuple[str, ...]:
    """Return the roles in which a node can be asked about, the most specific first."""
    if alias == "route_resource":
        return ("resource_routes", "route")
    if node.kind in CLASS_KINDS or node.key.startswith("class:"):
        return tuple(dict.fromkeys((node.kind, "class")))
    return (node.kind,)


def resource_actions(words: Iterable[str]) -> frozenset[str]:
    """Return the resource actions that the verbs of a question mean: `renames` is an update."""
    stems = {stem(word) for word in words}
    verbs_by_action = _lexicon()["verbs"]
    return frozenset(
        action
        for action, verbs in verbs_by_action.items()
        if stems.intersection(map(stem, verbs))
    )


@cache
def _lexicon() -> dict[str, Any]:
    """Return the content of intents.json."""
    lexicon: dict[str, Any] = json.loads(
        files(__package__).joinpath("intents.json").read_text(encoding="utf-8")
    )
    return lexicon
