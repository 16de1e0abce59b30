"""From a question to what the graph says: names are linked, what is asked is read, paths are walked, and it is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.types import CONFIDENCES, Confidence, GraphAnswer, Json, Node, Scope
from ragstone_code.questions import happenings, models, routes, tables
from ragstone_code.questions.asking import Asked, Part
from ragstone_code.questions.intents import Wanted, asked, asked_of, intents, roles
from ragstone_code.questions.link import Anchor, Linked, link
from ragstone_code.questions.mentions import Mention, without

_BUILDERS: Final[Mapping[str, Callable[[Asked], Part]]] = {
    "route_action": routes.action,
    "route_middleware": routes.middleware,
    "route_request": routes.request,
    "route_models_tables": routes.models,
    "route_binding": routes.binding,
    "route_resource": routes.resource,
    "route_expansion": routes.expansion,
    "routes_of_method": routes.of_methods,
    "middleware_routes": routes.of_methods,
    "model_routes": routes.of_methods,
    "request_routes": routes.of_methods,
    "model_policy": models.policy,
    "policy_model": models.of_policy,
    "model_table": models.table,
    "model_relations": models.relations,
    "model_observer": models.observer,
    "observer_model": models.of_policy,
    "table_models": models.of_policy,
    "table_migrations": tables.migrations,
    "table_columns": tables.columns,
    "migration_tables": tables.of_migration,
    "event_listeners": happenings.listeners,
    "listener_events": happenings.events,
    "event_dispatch": happenings.dispatched,
    "job_dispatch": happenings.dispatched,
    "middleware_class": happenings.middleware_class,
    "callers": happenings.callers,
    "callees": happenings.callees,
    "subclasses": happenings.subclasses,
    "configured": happenings.configured,
    "history": happenings.changes,
}
_TOGETHER: Final = 3
"""How many things one question may ask at once."""


@dataclass(frozen=True, slots=True)
class Read:
    """A question as it was understood: the names in it, and what it asks."""

    question: str
    linked: Linked
    text: str
    """The question in lower case without its names."""

    @property
    def intent(self) -> str:
        """Return what it asks for where nothing it names is known."""
        wanted = asked(self.text)
        return wanted[0].intent.name if wanted else ""


def read(store: DocumentReader, scope: Scope, question: str) -> Read:
    """Return a question with its names linked."""
    linked = link(store, scope, question)
    return Read(question, linked, without(question, (one for one in linked.mentions if _taken_out(one, linked))))


def answer(store: DocumentReader, scope: Scope, understood: Read, given: Sequence[Anchor] = ()) -> GraphAnswer | None:
    """Return what the graph says, or None where the question names nothing that is known or should be.

    `given` are anchors that a caller names beside the question; they come before those it mentions.
    """
    anchors = [*given, *understood.linked.anchors]
    chosen = _chosen(understood.text, anchors, first=bool(given))
    if chosen is None:
        return _unknown(understood)
    anchor, wanted = chosen
    others = tuple(one for one in anchors if one is not anchor)
    parts: list[tuple[str, Part]] = []
    for name in _names(wanted):
        about = Asked(store, scope, understood.text, anchor, intents()[name], others)
        parts.append((name, _BUILDERS[name](about)))
    return _said(parts, anchor)


def about(store: DocumentReader, scope: Scope, understood: Read, node: Node) -> GraphAnswer | None:
    """Return what the graph says to a question about a node that a search found."""
    anchor = Anchor(Mention(node.name, -1, (node.name,)), "found", (node,))
    wanted = asked_of(understood.text, roles(node))
    if not wanted:
        return None
    asked_about = Asked(store, scope, understood.text, anchor, wanted[0].intent)
    return _said([(wanted[0].intent.name, _BUILDERS[wanted[0].intent.name](asked_about))], anchor)


def _taken_out(mention: Mention, linked: Linked) -> bool:
    """Return whether a name says nothing of what is asked: what is no identifier and names nothing is a plain word."""
    if any(anchor.mention == mention for anchor in linked.anchors):
        return True
    written = any(mark in mention.text for mark in ("/", "\\", "::", "_", "."))
    return written and not mention.text.lower().startswith("route::")  # how a route is registered is no name


def _chosen(text: str, anchors: Sequence[Anchor], *, first: bool) -> tuple[Anchor, list[Wanted]] | None:
    """Return the name a question is about and what it asks of it: the name that its words fit best."""
    candidates: list[tuple[tuple[bool, float, bool, int, int], Anchor, list[Wanted]]] = []
    for position, anchor in enumerate(anchors):
        own = roles(anchor.node, anchor.alias)
        wanted = asked_of(text, own)
        if wanted:
            best = wanted[0]
            place = min((best.intent.anchors.index(role) for role in own if role in best.intent.anchors), default=9)
            candidates.append(
                ((first and position > 0, -best.weight, anchor.mention.plain, place, position), anchor, wanted)
            )
    if not candidates:
        return None
    _, anchor, wanted = min(candidates, key=lambda one: one[0])
    return anchor, wanted


def _names(wanted: Sequence[Wanted]) -> list[str]:
    """Return what is told: the weightiest intents, and what always goes with them."""
    chosen = [one.intent for one in wanted[:_TOGETHER]]
    return list(dict.fromkeys([*(one.name for one in chosen), *(name for one in chosen for name in one.along)]))


def _said(parts: Sequence[tuple[str, Part]], anchor: Anchor) -> GraphAnswer:
    """Return the parts as one answer; the first part's facts are not overwritten."""
    name, first = parts[0]
    facts: dict[str, Json] = {}
    for _, part in reversed(parts):
        facts |= part.facts
    said = " ".join(dict.fromkeys(part.said for _, part in parts))
    if len(anchor.nodes) > 1 and anchor.alias != "route_resource":
        also = ", ".join(node.key.partition(":")[2] for node in anchor.nodes[1:5])
        said += f" (“{anchor.mention.text}” could also be {also}.)"
    walked = tuple(path for _, part in parts for path in part.walked)
    return GraphAnswer(
        intent=name,
        said=said,
        facts=facts,
        nodes=tuple({node.key: node for _, part in parts for node in part.nodes}.values()),
        paths=walked,
        evidence=tuple(dict.fromkeys(place for _, part in parts for place in part.evidence)),
        confidence=_weakest(path.confidence for path in walked),
        negative=first.negative,
        looked_in=tuple(one for one in first.looked_in if one),
    )


def _weakest(confidences: Iterable[Confidence]) -> Confidence:
    return max(confidences, key=CONFIDENCES.index, default="declared")


def _unknown(understood: Read) -> GraphAnswer | None:
    """Return that something is not there which the question says is: a route, a table, a class."""
    if not understood.linked.unknown:
        return None
    mention = understood.linked.unknown[0]
    wanted = [one.intent for one in asked(understood.text) if _fits(one, mention)]
    if not wanted:
        return None
    what = "route" if mention.methods else mention.cue
    said = f"There is no {what} {mention.text}; looked at every {what} of the graph."
    return GraphAnswer(wanted[0].name, said, dict(wanted[0].none), negative=True, looked_in=(f"every {what}",))


def _fits(wanted: Wanted, mention: Mention) -> bool:
    what = "route" if mention.methods or mention.cue in ("endpoint", "uri", "url") else mention.cue
    return what in wanted.intent.anchors or "class" in wanted.intent.anchors
