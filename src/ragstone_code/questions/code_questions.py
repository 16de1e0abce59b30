"""The question engine: answers questions about code from the graph. Ragstone finds it by entry point."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.types import CodeAnswer, CodeGuess, GraphAnswer, Hit, Scope
from ragstone_code.questions.answer import (
    ParsedQuestion,
    answer_about_node,
    answer_question,
    parse_question,
)
from ragstone_code.questions.candidates import kinds_of, rank_candidates, shares_word
from ragstone_code.questions.graph_query import string_list
from ragstone_code.questions.intents import RankedIntent, rank_intents
from ragstone_code.questions.mentions import CLASS_ALIASES, ROUTE_ALIASES, Mention
from ragstone_code.questions.named_nodes import Anchor, is_path, link_mentions
from ragstone_code.questions.outside_exceptions import find_raises_of_outside_exception
from ragstone_code.questions.runs import find_unknown_run
from ragstone_code.questions.subject_walks import walk_from_subjects
from ragstone_code.questions.undefined_tables import (
    describe_undefined_table,
    find_undefined_table,
    undefined_table,
)
from ragstone_code.questions.unknown_names import suggest_question, unknown_names
from ragstone_code.questions.unread_modules import notes_of_examples, without_uncertain_none

_HINTED: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "route_name": ("route", ROUTE_ALIASES),
    "controller_class": ("controller", CLASS_ALIASES),
    "table_name": ("table", frozenset({"table", "former_table"})),
}
"""Option name -> the noun used in sentences, and the kinds of alias that the name may be."""
_MAX_GUESSES: Final = 3
"""Nodes that are asked if the question names nothing: the first is likely, the third sometimes."""
_MAX_ANCHOR_NODES: Final = 3
_SEARCHED_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "table": ("table",),
    "column": ("column",),
    "config": ("config",),
    "route": ("route", "api_endpoint"),
    "endpoint": ("route", "api_endpoint"),
    "uri": ("route", "api_endpoint"),
    "url": ("route", "api_endpoint"),
    "run": ("run_summary",),
}
"""Node kinds that a negative answer claims to have searched; any other noun means files of code."""

_GENERAL_KINDS: Final = frozenset({"class", "method", "function", "file"})
"""Kinds that every project has."""
UNREAD_CLASSES_KEY: Final = "registry:classes"
"""The node that lists folders of an application in which no class was found."""
_CLASS_INTENTS: Final = frozenset(
    "route_request route_models_tables route_resource model_policy policy_model model_relations model_observer"
    " observer_model event_listeners listener_events event_dispatch job_dispatch".split()
)
"""Intents whose answer "none" is only right if the classes of the application were read."""


class CodeQuestions:
    """Reads a question, links its names to nodes, and answers from the graph."""

    hints = tuple(_HINTED)

    def answer(
        self, store: DocumentReader, scope: Scope, question: str, hints: Mapping[str, str]
    ) -> CodeAnswer:
        """Return the graph's answer with the nodes it is about, or the reason why there is none."""
        parsed = parse_question(store, scope, question)
        anchors, missing = self._hinted_anchors(store, scope, question, hints)
        subjects = [anchor.node for anchor in anchors]
        subjects += [
            undefined_table(mention.text) for mention in missing if mention.cue == "table"
        ]
        code_answer = self._answer_question(store, scope, parsed, (anchors, missing))
        code_answer = without_uncertain_none(store, scope, code_answer)
        return replace(
            code_answer,
            walked=walk_from_subjects(store, scope, subjects),
            notes=(*code_answer.notes, *notes_of_examples(store, scope, code_answer)),
        )

    def _answer_question(
        self,
        store: DocumentReader,
        scope: Scope,
        parsed: ParsedQuestion,
        hinted: tuple[list[Anchor], list[Mention]],
    ) -> CodeAnswer:
        """Return the graph's answer about the hinted nodes, or about those that the question names."""
        anchors, missing = hinted
        mentions = (*missing, *parsed.linked.unknown)
        unknown = [_describe_name(mention) for mention in mentions]
        answer = _answer_without_node(store, scope, parsed)
        if answer is None:
            answer = answer_question(store, scope, parsed, anchors)
        keys = _anchor_keys((*anchors, *parsed.linked.anchors))
        if not keys:
            table = find_undefined_table(store, scope, (*mentions, *parsed.linked.mentions))
            if table is not None:
                answer = describe_undefined_table(store, scope, table, parsed.intent)
                keys = (table.node.key,)
        if answer is None and missing:
            answer = _absent_answer(missing[0], parsed.intent)
        if answer is None:
            return _unanswered(store, scope, parsed, unknown)
        if not _has_searched_nodes(store, scope, answer):
            noun = answer.looked_in[0].removeprefix("every ")
            note = f"no {noun} at all is known here"
            return CodeAnswer(
                None,
                parsed.intent,
                unknown=tuple(unknown),
                notes=(note,),
            )
        unread = _unread_folders(store, scope, answer)
        if unread:
            note = f"no class was found in {', '.join(unread)}, so that there is none is not certain"
            return CodeAnswer(
                None,
                parsed.intent,
                unknown=tuple(unknown),
                notes=(note,),
            )
        return CodeAnswer(
            answer,
            answer.intent,
            keys,
            tuple(unknown),
        )

    def kinds(
        self,
        store: DocumentReader,
        scope: Scope,
        question: str,
    ) -> list[tuple[str, ...]]:
        """Return the node kinds that a question without names can be about, the most likely group first.

        The groups are separate, because descriptions of many routes would hide the description of one table.
        """
        parsed = parse_question(store, scope, question)
        intents = self._guessable_intents(store, scope, parsed)
        if not intents:
            return []
        strongest = [intent for intent in intents if intent.weight == intents[0].weight]
        first = kinds_of(strongest)
        others = tuple(kind for kind in kinds_of(intents) if kind not in first)
        return [kinds for kinds in (first, others) if kinds]

    def guess(
        self, store: DocumentReader, scope: Scope, question: str, hits: Iterable[Sequence[Hit]]
    ) -> list[CodeGuess]:
        """Return answers about the nodes that the hits lead to, the most likely first.

        A guess is only `is_shown` if the question has a word of its node: similar texts alone prove nothing.
        """
        hits = [list(hit_list) for hit_list in hits]
        parsed = parse_question(store, scope, question)
        intents = self._guessable_intents(store, scope, parsed)
        if not intents:
            return []
        ranked = rank_candidates(store, scope, question, hits=hits, intents=intents)
        descriptions = {hit.metadata.get("key"): hit.text for hit in chain.from_iterable(hits)}
        guesses: list[CodeGuess] = []
        for node, share in ranked[: 2 * _MAX_GUESSES]:
            answer = answer_about_node(store, scope, parsed, node)
            if answer is not None and len(guesses) < _MAX_GUESSES:
                hedged = replace(answer, confidence="heuristic", said=f"Perhaps: {answer.said}")
                description = descriptions.get(node.key, "")
                is_shown = shares_word(node, parsed.text, intents, description)
                guesses.append(CodeGuess(node.key, round(share, 4), hedged, is_shown))
        return guesses

    def _hinted_anchors(
        self, store: DocumentReader, scope: Scope, question: str, hints: Mapping[str, str]
    ) -> tuple[list[Anchor], list[Mention]]:
        """Return the nodes that the hints name, and the hints that name no node."""
        anchors: list[Anchor] = []
        missing: list[Mention] = []
        for option, name in hints.items():
            noun, kinds = _HINTED[option]
            mention = Mention(
                name,
                -1,
                (name.lstrip("\\"),),
                kinds,
                cue=noun,
            )
            linked = link_mentions(store, scope, question, [mention])
            anchors += linked.anchors
            if not linked.anchors:
                missing.append(mention)
        return anchors, missing

    def _guessable_intents(
        self,
        store: DocumentReader,
        scope: Scope,
        parsed: ParsedQuestion,
    ) -> list[RankedIntent]:
        """Return what the question asks; nothing if it names something that no node has, or asks about plain code.

        A search cannot guess which function is meant, and a route is no answer to a question about a function.
        """
        if not parsed.question.strip() or unknown_names(store, scope, parsed):
            return []
        intents = rank_intents(parsed.text)
        strongest = [intent for intent in intents if intent.weight == intents[0].weight]
        return intents if kinds_of(strongest) else []


def _answer_without_node(
    store: DocumentReader, scope: Scope, parsed: ParsedQuestion
) -> GraphAnswer | None:
    """Return the answer about a thing that no node is: an exception of another package, a run that was not recorded."""
    answer = find_raises_of_outside_exception(store, scope, parsed.linked, parsed.text)
    return answer or find_unknown_run(store, scope, parsed.linked, parsed.text)


def _unanswered(
    store: DocumentReader, scope: Scope, parsed: ParsedQuestion, unknown: Sequence[str]
) -> CodeAnswer:
    """Return the reasons why there is no answer: names that nothing has, or kinds of which nothing is known."""
    names = unknown_names(store, scope, parsed)
    notes = _missing_kinds(store, scope, parsed)
    suggestion = suggest_question(store, scope, parsed.question, names)
    if suggestion:
        notes = (*notes, f"Did you mean: {suggestion}?")
    return CodeAnswer(None, parsed.intent, unknown=(*unknown, *names), notes=notes)


def _describe_name(mention: Mention) -> str:
    """Return a name with the kind of thing that the question says it is: `table orders`, `route /login`."""
    noun = "route" if is_path(mention) else mention.cue
    return f"{noun} {mention.name}".strip()


def _missing_kinds(
    store: DocumentReader, scope: Scope, parsed: ParsedQuestion
) -> tuple[str, ...]:
    """Return a note, if a question can only be about things of which none is known, such as routes."""
    intents = rank_intents(parsed.text)
    kinds: dict[str, None] = {}
    for ranked in intents:
        if ranked.weight == intents[0].weight:
            kinds.update(dict.fromkeys(ranked.intent.anchors))
    if not kinds or any(kind in _GENERAL_KINDS for kind in kinds):
        return ()
    if store.graph.nodes(scope, kinds=[*kinds, *_SEARCHED_KINDS["route"]], limit=1):
        return ()
    nouns = [kind.replace("_", " ") for kind in kinds if kind != "resource_routes"]
    return (f"the question is about a {' or a '.join(nouns)}, and none is known here",)


def _anchor_keys(anchors: Iterable[Anchor]) -> tuple[str, ...]:
    """Return the keys of the likeliest nodes of each name."""
    return tuple(node.key for anchor in anchors for node in anchor.nodes[:_MAX_ANCHOR_NODES])


def _has_searched_nodes(store: DocumentReader, scope: Scope, answer: GraphAnswer) -> bool:
    """Return whether a negative answer is based on any node at all."""
    if not answer.negative or answer.nodes or not answer.looked_in:
        return True
    noun = answer.looked_in[0].removeprefix("every ")
    kinds = _SEARCHED_KINDS.get(noun, ("file",))
    return bool(store.graph.nodes(scope, kinds=kinds, limit=1))


def _unread_folders(store: DocumentReader, scope: Scope, answer: GraphAnswer) -> list[str]:
    """Return the folders without a readable class, if a negative answer depends on classes."""
    if not answer.negative or answer.intent not in _CLASS_INTENTS:
        return []
    folders: list[str] = []
    for node in store.graph.nodes(scope, keys=[UNREAD_CLASSES_KEY], limit=1):
        folders += string_list(node.attributes.get("folders"))
    return folders


def _absent_answer(mention: Mention, intent: str) -> GraphAnswer:
    """Return the answer that a hinted name does not exist."""
    sentence = (
        f"There is no {mention.cue} {mention.text}; looked at every {mention.cue} of the graph."
    )
    return GraphAnswer(
        intent,
        sentence,
        {},
        negative=True,
        looked_in=(f"every {mention.cue}",),
    )
