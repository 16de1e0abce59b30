"""Answers about events, listeners and jobs: who listens, and from where they are sent."""

from __future__ import annotations

from typing import Final

from ragstone.types import Json, Link
from ragstone_code.questions.graph_query import (
    ALL_CALLS,
    AnswerPart,
    GraphQuery,
    class_name,
    folders_of,
    join_names,
    link_place_text,
    place_of,
    place_text,
    places_of_links,
    places_of_nodes,
    plain_name,
    unique,
)
from ragstone_code.questions.usage import find_creations

_SENT_KINDS: Final = frozenset({"event", "job", "notification", "mail"})
"""Kinds of classes that a framework sends; any other class is sent where it is created."""


def find_listeners(query: GraphQuery) -> AnswerPart:
    """Return the listeners of an event."""
    event = query.node
    name = plain_name(event.key)
    links = query.links_to([event.key], "LISTENS")
    listeners = list(dict.fromkeys(class_name(link.source) for link in links))
    facts: dict[str, Json] = {"listeners": list(listeners), "how": _registration_kind(links)}
    if not listeners:
        looked_in = _registration_places(query)
        searched = join_names(looked_in, 5) or "all files"
        sentence = f"Nothing listens to {name}; looked in {searched}."
        return query.negative_part(facts, sentence, looked_in)
    classes = query.nodes(f"class:{listener}" for listener in listeners)
    texts: list[str] = []
    for listener in listeners:
        node = classes.get(f"class:{listener}")
        place = place_text(node) if node else ""
        texts.append(f"{listener}{place}")
    registration = link_place_text(links[0])
    sentence = f"{name} is handled by {join_names(texts, 30)} ({registration})."
    handlers = query.nodes(_handler_key(link) for link in links)
    evidence = [
        *places_of_links(links),
        *places_of_nodes(classes.values()),
        *places_of_nodes(handlers.values()),
        *place_of(event),
    ]
    return AnswerPart(
        facts,
        sentence,
        evidence,
        [*classes.values(), event],
    )


def _handler_key(link: Link) -> str:
    """Return the key of the method that handles an event."""
    method = link.attributes.get("method") or "handle"
    return f"method:{class_name(link.source)}::{method}"


def find_heard_events(query: GraphQuery) -> AnswerPart:
    """Return the events that a listener or a subscriber listens to."""
    listener = query.node
    name = class_name(listener.key)
    methods = [method.key for method in query.methods_of(listener)]
    links = query.links_from([listener.key, *methods], "LISTENS")
    events = list(dict.fromkeys(plain_name(link.target) for link in links))
    facts: dict[str, Json] = {
        "subscribes": list(events),
        "events": list(events),
        "how": _registration_kind(links),
    }
    if not events:
        looked_in = unique([*_registration_places(query), listener.uri])
        searched = join_names(looked_in, 5) or "all files"
        sentence = f"{name} listens to no event; looked in {searched}."
        return query.negative_part(facts, sentence, looked_in)
    event_names = join_names(events, 30)
    registration = link_place_text(links[0])
    sentence = f"{name}{place_text(listener)} hears {event_names} ({registration})."
    nodes = query.nodes(link.target for link in links)
    evidence = [*places_of_links(links), *place_of(listener)]
    return AnswerPart(
        facts,
        sentence,
        evidence,
        [listener, *nodes.values()],
    )


def find_dispatches(query: GraphQuery) -> AnswerPart:
    """Return the places from which an event is fired or a job is dispatched.

    A class that no framework knows, such as an exception, is sent where it is created.
    """
    message = query.node
    links = query.links_to([message.key], "FIRES", "DISPATCHES")
    places = places_of_links(links)
    facts: dict[str, Json] = {"dispatched_from": [f"{uri}:{line}" for uri, line in places]}
    is_event = message.kind == "event" or query.intent.name == "event_dispatch"
    verb = "fired" if is_event else "dispatched"
    name = plain_name(message.key)
    if not places and message.kind not in _SENT_KINDS:
        return find_creations(query)
    if not places:
        sentence = f"{name} is {verb} nowhere that is written down; looked in {ALL_CALLS}."
        return query.negative_part(facts, sentence, [ALL_CALLS])
    senders = dict.fromkeys(
        f"{plain_name(link.source)} ({link_place_text(link)})" for link in links
    )
    sentence = f"{name} is {verb} from {join_names(list(senders), 30)}."
    nodes = query.nodes(link.source for link in links)
    return AnswerPart(
        facts,
        sentence,
        [*places, *place_of(message)],
        [*nodes.values(), message],
    )


def _registration_places(query: GraphQuery) -> list[str]:
    """Return the files and folders in which listeners are registered: event providers and listener folders."""
    providers = [node.uri for node in query.nodes_of_kind("provider") if "Event" in node.name]
    return unique([*providers, *folders_of(query.nodes_of_kind("listener"))])


def _registration_kind(links: list[Link]) -> Json:
    """Return how the first listener is registered; None if there is no listener."""
    if not links:
        return None
    return str(links[0].attributes.get("how") or "") or None
