"""The path of a retrieval: link and answer from the graph, search, guess where nothing is named, tell as one list."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Final

from ragstone.protocols import Store
from ragstone.retrieval.code import candidates as guess
from ragstone.retrieval.code.chunks import GRAPH, Chunks, hit_of, sureness
from ragstone.retrieval.code.request import RUNS, Wish
from ragstone.types import (
    Condition,
    Explanation,
    Filter,
    GraphAnswer,
    Hit,
    Json,
    Node,
    Request,
    Retrieval,
)
from ragstone_code.questions import answer as questions
from ragstone_code.questions.intents import Wanted, asked
from ragstone_code.questions.link import Anchor, resolve
from ragstone_code.questions.mentions import CLASSES, ROUTES, Mention

Search = Callable[[Request], Explanation]

_NAMED: Final = {
    "route": ROUTES,
    "controller": CLASSES,
    "table": frozenset({"table", "former_table"}),
}
_GUESSES: Final = 3
"""How many nodes that were only found are asked: the first is likely, the third now and then."""
_WIDE: Final = 3
"""How many times more hits are searched for than are shown: some are of the wrong kind, others lead to nodes."""
_CLEARLY: Final = 1.5
"""How many times the second guess's share the first one's is, for it to be given most of the places."""
_PATH: Final = "path"
_FULL: Final = re.compile(r"\w\\\w|(?<!Route)::\w")
"""A class with its namespace, or a method with its class: nobody means something else by it."""
_LAST_TABLE: Final = re.compile(r"\btable\s+([A-Za-z]\w*)\W*$")
"""A plain word at the end of a question, behind `table`: it can only be the name of one."""
_DEEP: Final = 400
"""How many hits are looked through for pieces that hold nodes of a kind: no filter of documents can find them."""
_GIVES: Final = {"table": ("table",), "column": ("column",), "config": ("config",), "route": ("route", "api_endpoint")}
"""Kinds of nodes among which a name was looked for; a name of any other sort was, if there is a file of code."""


@dataclass(slots=True)
class Retriever:
    """Retrieves over one store; `search` is the way a request is answered, proof of freshness included."""

    store: Store
    search: Search
    request: Request
    """How to search: mode, fusion and candidates; query, scope and top_k are those of the wish."""
    level: Callable[[], object]
    """Brings the graph level with what a search may have brought in."""

    def run(self, wish: Wish) -> Retrieval:
        """Return the chunks for a wish, what the graph says, and how it came about."""
        begun = time.perf_counter()
        told = self._narrowed(wish)
        self.level()
        found = _Found(wish, Chunks(self.store, wish.scope), told)
        understood = questions.read(self.store, wish.scope, wish.query)
        given, missing = self._given(wish)
        found.unknown += [f"{one.cue or 'name'} {one.text}" for one in (*missing, *understood.linked.unknown)]
        answer = questions.answer(self.store, wish.scope, understood, given)
        if answer is None and missing:
            answer = _absent(missing[0], understood)
        if answer is not None and not self._looked(wish, answer):
            found.notes.append(f"no {answer.looked_in[0].removeprefix('every ')} at all is known here")
            answer = None
        elif answer is not None:
            found.take(answer)
            found.anchors += [node.key for anchor in (*given, *understood.linked.anchors) for node in anchor.nodes[:3]]
            found.strategy = "graph+hybrid" if found.hits else "graph"
        else:
            answer = self._guessed(wish, understood, found)
        found.unknown += self._no_kinds(wish)
        chunks = self._chosen(wish, found)
        return Retrieval(wish.query, chunks, answer, _debug(found, answer, understood, chunks, begun))

    def _searched(self, wish: Wish, **narrowed: object) -> Explanation:
        wide = max(wish.top_k * _WIDE, 30)
        base = replace(self.request, query=wish.query, scope=wish.scope, top_k=wide, merge=False, min_score=None)
        return self.search(replace(base, **narrowed))  # type: ignore[arg-type]  # fields of a request, by name

    def _narrowed(self, wish: Wish) -> Explanation:
        """Return what is found of what may be shown: neither runs nor other kinds take the places of what may be."""
        if wish.source_types is None:
            return self._searched(wish, filter=None if wish.include_run_summaries else _WITHOUT_RUNS)
        kinds = [kind for kind in wish.source_types if wish.include_run_summaries or kind not in RUNS]
        told = self._searched(wish, filter=_of_kinds(kinds))
        if not self.store.nodes(wish.scope, kinds=kinds, limit=1):
            return told
        most = max(_DEEP, wish.top_k, self.request.candidates)
        deep = self._searched(wish, filter=_NOT_PROSE, top_k=most, candidates=most)
        passing, known = self._passing(wish), {hit.doc_id for hit in told.hits}
        others = [hit for hit in deep.hits if hit.doc_id not in known and passing(hit)]
        hits = sorted((*told.hits, *others), key=lambda hit: -hit.score)
        return replace(told, hits=tuple(hits), candidates=told.candidates + len(others))

    def _no_kinds(self, wish: Wish) -> list[str]:
        """Return the kinds that are asked for and that no document and no node has."""
        asked_for = wish.source_types or ()
        return [f"kind {kind}" for kind in asked_for if not self._has_kind(wish, kind)]

    def _has_kind(self, wish: Wish, kind: str) -> bool:
        documents = self.store.documents(wish.scope, filter=_of_kinds((kind,)), limit=1)
        return bool(documents or self.store.nodes(wish.scope, kinds=(kind,), limit=1))

    def _looked(self, wish: Wish, answer: GraphAnswer) -> bool:
        """Return whether there was anything to look at, where an answer says that a name is nothing's."""
        if not answer.negative or answer.nodes or not answer.looked_in:
            return True
        what = answer.looked_in[0].removeprefix("every ")
        kinds = _GIVES.get("route" if what in ("endpoint", "uri", "url") else what, ("file",))
        return bool(self.store.nodes(wish.scope, kinds=kinds, limit=1))

    def _given(self, wish: Wish) -> tuple[list[Anchor], list[Mention]]:
        """Return the anchors that the options name, and what they name that is not there."""
        named = [Mention(name, -1, (name.lstrip("\\"),), _NAMED[what], cue=what) for what, name in wish.named.items()]
        anchors: list[Anchor] = []
        missing: list[Mention] = []
        for mention in named:
            linked = resolve(self.store, wish.scope, wish.query, [mention])
            anchors += linked.anchors
            missing += [] if linked.anchors else [mention]
        return anchors, missing

    # ── a question that names nothing ─────────────────────────────────────────────────────────────

    def _guessed(self, wish: Wish, understood: questions.Read, found: _Found) -> GraphAnswer | None:
        """Return the graph's answer about the likeliest of the nodes that search finds; its evidence is taken in."""
        wanted = asked(understood.text)
        strange = _strange(understood)
        found.unknown += strange
        if not wanted or strange or not wish.query.strip():
            return None
        prose = self._prose(wish, wanted)
        hits = [*(one.hits for one in prose), found.told.hits]
        ranked = guess.candidates(self.store, wish.scope, wish.query, hits=hits, wanted=wanted)
        answers: list[GraphAnswer] = []
        for node, share in ranked[: 2 * _GUESSES]:
            told = questions.about(self.store, wish.scope, understood, node)
            if told is not None and len(answers) < _GUESSES:
                found.anchors.append(node.key)
                found.shares[node.key] = round(share, 4)
                answers.append(replace(told, confidence="heuristic", said=f"Perhaps: {told.said}"))
        if not answers:
            return None
        found.strategy = "hybrid+graph"
        found.spread(answers, prose[0].hits)
        return answers[0]

    def _prose(self, wish: Wish, wanted: Sequence[Wanted]) -> list[Explanation]:
        """Return what is found of prose about nodes: of those that what is asked most is asked of, then of others.

        There are many routes: what they say of a table would keep the table itself from being found.
        """
        first = guess.kinds_of([one for one in wanted if one.weight == wanted[0].weight])
        others = tuple(kind for kind in guess.kinds_of(wanted) if kind not in first)
        return [self._searched(wish, filter=_of_kinds(kinds)) for kinds in (first, others) if kinds]

    # ── the list ──────────────────────────────────────────────────────────────────────────────────

    def _chosen(self, wish: Wish, found: _Found) -> tuple[Hit, ...]:
        """Return the chunks that are shown: what must be there has its places, evidence comes first."""
        if wish.top_k == 0:
            return ()
        passing = self._passing(wish)
        must = self._must(wish, found)
        shown: dict[str, Hit] = {}
        evidence = [hit for hit in found.hits if passing(hit)]
        rest = [hit for hit in found.told.hits if hit.score >= wish.min_score and passing(hit)]
        found.skipped += len(found.told.hits) - len(rest)
        kept = {hit.doc_id for hit in must}
        for hit in (*evidence, *rest):
            room = wish.top_k - len(kept - shown.keys())
            if hit.doc_id in shown or (len(shown) >= room and hit.doc_id not in kept):
                continue
            shown[hit.doc_id] = hit
        for hit in must:
            shown.setdefault(hit.doc_id, hit)
        return tuple(shown.values())[: wish.top_k]

    def _must(self, wish: Wish, found: _Found) -> list[Hit]:
        """Return the best chunk of each path that must be there; its first one where the search knows none."""
        chosen: list[Hit] = []
        for path in wish.must_include_paths:
            hits = [hit for hit in (*found.hits, *found.told.hits) if _below(hit.source_doc_id, path)]
            if not hits:
                hits = list(self._searched(wish, filter=_of_path(path), top_k=1).hits)
            if not hits:
                hits = [hit_of(row, 0.0, _PATH) for row in found.chunks.of(path)[:1]]
            if hits:
                best = max(hits, key=lambda hit: hit.score)
                chosen.append(best if best.label else replace(best, label=_PATH))
            else:
                found.unknown.append(f"path {path}")
        return chosen

    def _passing(self, wish: Wish) -> Callable[[Hit], bool]:
        """Return the test of what may be shown: kinds of documents or of nodes, and whether runs are told."""
        lines: dict[str, list[int]] = {}

        def passes(hit: Hit) -> bool:
            if not wish.include_run_summaries and hit.kind in RUNS:
                return False
            if wish.source_types is None or hit.kind in wish.source_types:
                return True
            uri = hit.source_doc_id
            if uri not in lines:
                inside = self.store.nodes(wish.scope, uris=[uri], kinds=wish.source_types, limit=5000)
                lines[uri] = [node.line for node in inside]
            return any(hit.span.line_start <= line <= hit.span.line_end for line in lines[uri])

        return passes


@dataclass(slots=True)
class _Found:
    """What a retrieval has come upon so far."""

    wish: Wish
    chunks: Chunks
    told: Explanation
    hits: list[Hit] = field(default_factory=list)
    """Chunks behind what the graph says."""
    anchors: list[str] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    strategy: str = "hybrid"
    skipped: int = 0

    def take(self, answer: GraphAnswer, most: int | None = None) -> None:
        """Add the chunks that hold an answer's evidence, then the prose about its nodes."""
        self.hits += self._evidence(answer)[:most]

    def spread(self, answers: Sequence[GraphAnswer], prose: Sequence[Hit]) -> None:
        """Add the evidence of guesses, the first guess's most; and between them what was found by words."""
        lists = [self._evidence(one) for one in answers]
        shares = [*self.shares.values(), 0.0]
        clear = shares[0] >= _CLEARLY * shares[1]
        room = max(1, self.wish.top_k * 3 // 4 if clear else self.wish.top_k // 2)
        self.hits += lists[0][:room]
        following = [[replace(hit, label=hit.label or GRAPH) for hit in prose[:2]], *(one[:3] for one in lists[1:])]
        self.hits += [hit for one in following for hit in one]
        self.hits += lists[0][room:]

    def _evidence(self, answer: GraphAnswer) -> list[Hit]:
        score = sureness(answer.confidence)
        rows = [self.chunks.at(place) for place in answer.evidence]
        rows += [self.chunks.prose(node) for node in _told_of(answer.nodes)]
        found = {f"{row.uri}__chunk_{row.chunk.order}": row for row in rows if row is not None}
        return [hit_of(row, score, GRAPH) for row in found.values()]


def _told_of(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes whose prose says more than their code: one or two are enough."""
    return [node for node in nodes if node.kind in ("route", "table", "model", "event")][:2]


def _of_kinds(kinds: Sequence[str]) -> Filter:
    return Filter((Condition("kind", "in", tuple(kinds)),))


_WITHOUT_RUNS: Final = Filter((Condition("kind", "ne", tuple(sorted(RUNS))),))
_NOT_PROSE: Final = Filter((Condition("language", "ne", "text"),))


def _of_path(path: str) -> Filter:
    return Filter((Condition("path", "glob", (path, f"{path}/**")),))


def _below(uri: str, path: str) -> bool:
    return uri == path or uri.startswith(f"{path}/") or fnmatchcase(uri, path)


def _strange(understood: questions.Read) -> list[str]:
    """Return the full names in a question that are nothing's: it is not about what else search may find."""
    known = [anchor.mention.text for anchor in understood.linked.anchors]
    full = [one.text for one in understood.linked.mentions if _FULL.search(one.text) and not one.plain]
    full += [f"table {found[1]}"] if (found := _LAST_TABLE.search(understood.question)) and not known else []
    return [name for name in full if not any(name in text or text in name for text in known)]


def _absent(mention: Mention, understood: questions.Read) -> GraphAnswer:
    """Return that what an option names is not there."""
    said = f"There is no {mention.cue} {mention.text}; looked at every {mention.cue} of the graph."
    return GraphAnswer(understood.intent, said, {}, negative=True, looked_in=(f"every {mention.cue}",))


def _debug(
    found: _Found, answer: GraphAnswer | None, understood: questions.Read, chunks: Sequence[Hit], begun: float
) -> dict[str, Json]:
    conditional = [
        f"{link.kind} {link.uri}:{link.line}"
        for path in (answer.paths if answer else ())
        for link in path.links
        if link.conditional
    ]
    anchors: list[Json] = list(dict.fromkeys(found.anchors))
    return {
        "strategy": found.strategy,
        "latency_ms": round((time.perf_counter() - begun) * 1000, 2),
        "total_candidates": found.told.candidates + len(found.hits),
        "scores": {hit.doc_id: round(hit.score, 4) for hit in chunks},
        "labels": {hit.doc_id: hit.label for hit in chunks if hit.label},
        "anchors": anchors,
        "shares": dict(found.shares),
        "intent": answer.intent if answer else understood.intent,
        "skipped": found.skipped,
        "unknown": list(dict.fromkeys(found.unknown)),
        "conditional": list(dict.fromkeys(conditional)),
        "notes": [*found.told.notes, *found.notes],
    }
