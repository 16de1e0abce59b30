"""Answers about recorded runs: the runs that changed a node, and the changes of a run."""

from __future__ import annotations

from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.types import GraphAnswer, Json, Node, Scope
from ragstone_code.questions.graph_query import (
    MAX_NAMED,
    AnswerPart,
    GraphQuery,
    join_names,
    last_nodes,
    place_of,
    places_of_links,
    places_of_nodes,
    plain_name,
)
from ragstone_code.questions.intents import all_intents
from ragstone_code.questions.mentions import Mention
from ragstone_code.questions.named_nodes import LinkedNames, overlap

_RECORDED_RUNS: Final = "the recorded runs"
_MAX_RUNS: Final = 1000


def find_changes(query: GraphQuery) -> AnswerPart:
    """Return the recorded runs that changed a node or its file."""
    node = query.node
    keys = [node.key]
    if node.uri:
        keys.append(f"file:{node.uri}")
    links = query.links_to(keys, "CHANGED")
    changes = query.nodes(link.source for link in links)
    facts: dict[str, Json] = {"changes": [plain_name(key) for key in changes]}
    name = plain_name(node.key)
    if not changes:
        sentence = f"No recorded run changed {name}; looked in {_RECORDED_RUNS}."
        return AnswerPart(
            facts, sentence, place_of(node), negative=True, looked_in=[_RECORDED_RUNS]
        )
    texts = [
        f"run {change.attributes.get('run_id')} (“{change.doc or change.name}”)"
        for change in changes.values()
    ]
    sentence = f"{name} was changed in {join_names(texts, MAX_NAMED)}."
    return AnswerPart(
        facts,
        sentence,
        [*places_of_links(links), *place_of(node)],
        list(changes.values()),
    )


def find_changes_of_run(query: GraphQuery) -> AnswerPart:
    """Return the changes of a recorded run; only those of the other nodes in the question, if there are any."""
    run = query.node
    walked = query.walk()
    changes = last_nodes(walked)
    named_files = {other.uri for other in query.other_nodes()}
    named = [change for change in changes if change.attributes.get("path") in named_files]
    changes = named or changes
    paths: list[Json] = [change.attributes.get("path") for change in changes]
    run_id = run.attributes.get("run_id")
    facts: dict[str, Json] = {"run": run_id, "summary": run.name, "changes": paths}
    texts = [_change_text(change) for change in changes]
    changed = f"it {join_names(texts, MAX_NAMED)}" if texts else "it recorded no changed file"
    sentence = f"Run {run_id} (“{run.name}”): {changed}."
    return AnswerPart(
        facts,
        sentence,
        [*places_of_nodes(changes), *place_of(run)],
        [*changes, run],
        walked,
    )


def find_unknown_run(
    store: DocumentReader, scope: Scope, linked: LinkedNames, text: str
) -> GraphAnswer | None:
    """Return the answer that a named run was not recorded; None if the question names no such run.

    `text` is the question in lower case without its names.
    """
    intent = all_intents()["run_changes"]
    if not intent.weight(text):
        return None
    known = [anchor.mention for anchor in linked.anchors]
    for mention in linked.mentions:
        if _is_run_id(mention) and not any(overlap(mention, other) for other in known):
            recorded = store.graph.nodes(scope, kinds=("run_summary",), limit=_MAX_RUNS)
            ids = [str(node.attributes.get("run_id")) for node in recorded]
            names = join_names(ids, MAX_NAMED) or "none"
            sentence = f"There is no run {mention.text}; {_RECORDED_RUNS}: {names}."
            return GraphAnswer(
                intent.name,
                sentence,
                dict(intent.none),
                negative=True,
                looked_in=("every run",),
            )
    return None


def _is_run_id(mention: Mention) -> bool:
    """Return whether a mention is certainly the id of a run: `run-9`, or `9` after the word `run`."""
    return mention.cue == "run" and any(sign.isdigit() for sign in mention.text)


def _change_text(change: Node) -> str:
    """Return the file of a change with its action and its summary: `modified app/Song.php (“adds a title”)`."""
    return (
        f"{change.attributes.get('action')} {change.attributes.get('path')} (“{change.name}”)"
    )
