"""The nodes that the names in a question refer to, found through the stored aliases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from ragstone.code.method_names import (
    code_named,
    last_part,
    methods_of_class,
    nodes_imported_as,
)
from ragstone.protocols import DocumentReader
from ragstone.text import query_terms, terms
from ragstone.types import Alias, Node, Scope
from ragstone_code.questions.code_slots import CODE_NOUNS, CodeWord
from ragstone_code.questions.mentions import Mention, find_mentions
from ragstone_code.questions.uris import normalise_uri

_MAX_ROUTES: Final = 20_000
_ALIAS_ORDER: Final = (
    "route_name",
    "uri",
    "table",
    "class",
    "short_class",
    "method",
    "short_method",
    "event",
    "middleware",
    "route_resource",
    "command",
    "schedule",
    "config",
    "column",
    "migration",
    "former_table",
)
"""The most likely kind of alias first, for a name that has several kinds."""
_CUED_ALIASES: Final = {
    "table": ("table",),
    "resource": ("route_resource",),
    "resources": ("route_resource",),
    "event": ("event",),
    "apiresource": ("route_resource",),
    "middleware": ("middleware",),
    "route": ("route_name", "uri"),
    "endpoint": ("route_name", "uri"),
    "uri": ("uri",),
    "url": ("uri",),
    "config": ("config",),
    "column": ("column",),
}
"""The kinds of alias that the word next to a name asks for: `users` after `table` is a table."""
_FUNCTION_ALIASES: Final = frozenset({"function", "short_function", "method", "short_method"})
_CLASS_ALIASES: Final = frozenset({"class", "short_class"})
_WORDS_OF_QUESTIONS: Final = frozenset(
    terms(
        "code file files module modules test tests tested cover covers covered call calls called use uses used user"
        " define defines defined declared implemented located create creates created raise raises raised throw throws"
        " override overrides reach reaches return returns parameter parameters find show list all"
    )
) | frozenset(CODE_NOUNS)
"""Words that ask for something; they do not choose between two names that are equal."""
_DOTTED: Final = re.compile(r"[\w-]+(?:[.:]+[\w-]+)+")
"""The name of a route without the names of the groups around it."""
_PATH: Final = re.compile(r"/[^\s.]*")
_TEST_FOLDER: Final = re.compile(r"(^|/)tests?(/|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A name in a question and the nodes it can refer to."""

    mention: Mention
    alias: str
    """The kind of alias that matched."""
    nodes: tuple[Node, ...]

    @property
    def node(self) -> Node:
        """Return the most likely node."""
        return self.nodes[0]


@dataclass(frozen=True, slots=True)
class LinkedNames:
    """The names of a question."""

    anchors: tuple[Anchor, ...]
    """The names that match nodes."""
    alternatives: tuple[Anchor, ...]
    """The same names as names of other kinds, such as the function that a route is named after."""
    unknown: tuple[Mention, ...]
    """The names that clearly are names but match no node."""
    mentions: tuple[Mention, ...]


def link_names(store: DocumentReader, scope: Scope, question: str) -> LinkedNames:
    """Return the nodes that the names of a question refer to, in the order of the question."""
    return link_mentions(store, scope, question, find_mentions(question))


def link_mentions(
    store: DocumentReader, scope: Scope, question: str, mentions: Sequence[Mention]
) -> LinkedNames:
    """Return the nodes that mentions refer to; other words of the question choose between equal names."""
    aliases = _matching_aliases(store, scope, mentions)
    nodes = _aliased_nodes(store, scope, aliases)
    words = frozenset(query_terms(question))
    anchors: list[Anchor] = []
    alternatives: list[Anchor] = []
    unknown: list[Mention] = []
    for mention, groups in zip(mentions, aliases, strict=True):
        own_aliases, *other_groups = groups or [[]]
        kind, candidates = _candidates(store, scope, mention, own_aliases, nodes)
        if candidates:
            anchors.append(_create_anchor(mention, kind, candidates, words))
            for group in other_groups:
                others = _nodes_of_mention(mention, group, nodes)
                if others:
                    alternatives.append(_create_anchor(mention, group[0].kind, others, words))
        elif _is_certain_name(mention):
            unknown.append(mention)
    anchors = [anchor for anchor in anchors if not _is_inside(anchor, unknown)]
    return LinkedNames(
        tuple(_without_overlaps(anchors)),
        tuple(alternatives),
        tuple(unknown),
        tuple(mentions),
    )


def _candidates(
    store: DocumentReader,
    scope: Scope,
    mention: Mention,
    aliases: Sequence[Alias],
    nodes: Mapping[str, Node],
) -> tuple[str, list[Node]]:
    """Return the nodes that a mention can refer to, and the kind of name that it is."""
    if mention.code:
        return "method", _nodes_of_code(store, scope, mention.code)
    kind = aliases[0].kind if aliases else "uri"
    candidates = _nodes_of_mention(mention, aliases, nodes)
    candidates = candidates or _unaliased_routes(store, scope, mention)
    named = _nodes_of_word(store, scope, mention)
    if named and (not candidates or _is_function_alias(kind, mention)):
        by_key = {node.key: node for node in (*candidates, *named)}
        return "method", list(by_key.values())
    if not candidates and not mention.plain and not mention.cue:
        candidates = nodes_imported_as(store.graph, scope, mention.text)
    return kind, candidates


def _is_function_alias(kind: str, mention: Mention) -> bool:
    """Return whether other code can have the name too: methods of other classes, which have no alias."""
    return kind in _FUNCTION_ALIASES or (kind in _CLASS_ALIASES and mention.text[0].islower())


def _nodes_of_word(store: DocumentReader, scope: Scope, mention: Mention) -> list[Node]:
    """Return the code that a word names, if it is written like an identifier."""
    if not _is_word_of_code(mention):
        return []
    return code_named(store.graph, scope, mention.text)


def _nodes_of_code(store: DocumentReader, scope: Scope, word: CodeWord) -> list[Node]:
    """Return the code with a name; of a class, if the question puts one beside it."""
    if word.owner:
        nodes = methods_of_class(store.graph, scope, word.owner, word.name)
    else:
        nodes = code_named(store.graph, scope, word.name)
    if word.is_common:
        return [node for node in nodes if last_part(node.name) == word.name]
    return nodes


def _nodes_of_mention(
    mention: Mention, aliases: Iterable[Alias], nodes: Mapping[str, Node]
) -> list[Node]:
    """Return the nodes that aliases of a mention refer to; only routes with the right method, if it has one."""
    candidates = [nodes[alias.key] for alias in aliases if alias.key in nodes]
    if mention.methods:
        return [node for node in candidates if _has_method(node, mention.methods)]
    return candidates


def _create_anchor(
    mention: Mention, kind: str, candidates: list[Node], words: frozenset[str]
) -> Anchor:
    """Return the anchor of a mention; all routes of a resource belong to it."""
    if kind in _FUNCTION_ALIASES:
        words -= _WORDS_OF_QUESTIONS
    if kind != "route_resource":
        candidates = _most_similar(candidates, words, mention)
    return Anchor(mention, kind, tuple(candidates))


def _is_certain_name(mention: Mention) -> bool:
    """Return whether a mention can only be a name, so that a missing node is worth an answer."""
    if mention.plain or (mention.code and mention.code.is_common):
        return False
    return bool(mention.cue or mention.methods or mention.code) or is_path(mention)


def is_path(mention: Mention) -> bool:
    """Return whether a mention is written like the path of a route: `/ghost`, not like that of a file."""
    return bool(_PATH.fullmatch(mention.text))


def _is_word_of_code(mention: Mention) -> bool:
    """Return whether a mention is one word that is written like an identifier."""
    return not mention.plain and not mention.kinds and mention.text.isidentifier()


def _is_uri(mention: Mention) -> bool:
    """Return whether a mention is the URI of a route."""
    if mention.methods or is_path(mention):
        return True
    return mention.cue in ("route", "endpoint") and "/" in mention.text


def _matching_aliases(
    store: DocumentReader, scope: Scope, mentions: Sequence[Mention]
) -> list[list[list[Alias]]]:
    """Return the aliases of each mention, grouped by kind."""
    forms: list[str] = []
    for mention in mentions:
        forms += mention.forms
    by_name: dict[str, list[Alias]] = {}
    for alias in store.graph.find_aliases(scope, list(dict.fromkeys(forms))):
        by_name.setdefault(alias.name.lower(), []).append(alias)
    return [_alias_groups(mention, by_name) for mention in mentions]


def _alias_groups(mention: Mention, by_name: dict[str, list[Alias]]) -> list[list[Alias]]:
    """Return the aliases of the first form that has any: a group of each kind, the most likely kind first."""
    for form in mention.forms:
        aliases = by_name.get(form.lower(), [])
        if mention.kinds:
            aliases = [alias for alias in aliases if alias.kind in mention.kinds]
        if not aliases:
            continue
        kinds = sorted(
            {alias.kind for alias in aliases}, key=lambda kind: _alias_rank(kind, mention)
        )
        bare_kinds = dict.fromkeys(kind.removeprefix("short_") for kind in kinds)
        return [_aliases_of_kind(aliases, kind, form) for kind in bare_kinds]
    return []


def _aliases_of_kind(aliases: Iterable[Alias], kind: str, form: str) -> list[Alias]:
    """Return the full and short names of one kind; only those with exactly this spelling, if there are any."""
    same_kind = [alias for alias in aliases if alias.kind.removeprefix("short_") == kind]
    exact = [alias for alias in same_kind if alias.name == form]
    return exact or same_kind


def _alias_rank(kind: str, mention: Mention) -> tuple[bool, int]:
    """Return the sort key of a kind of alias: first the kinds that the word next to the name asks for."""
    is_uncued = kind not in _CUED_ALIASES.get(mention.cue, ())
    position = _ALIAS_ORDER.index(kind) if kind in _ALIAS_ORDER else len(_ALIAS_ORDER)
    return is_uncued, position


def _aliased_nodes(
    store: DocumentReader, scope: Scope, aliases: Iterable[Sequence[Sequence[Alias]]]
) -> dict[str, Node]:
    """Return the nodes that aliases refer to, by key."""
    keys: dict[str, None] = {}
    for group in chain.from_iterable(aliases):
        keys.update((alias.key, None) for alias in group)
    if not keys:
        return {}
    nodes = store.graph.nodes(
        scope,
        keys=list(keys),
        limit=len(keys),
    )
    return {node.key: node for node in nodes}


def _has_method(node: Node, methods: Sequence[str]) -> bool:
    """Return whether a route answers one of these HTTP methods, or any if there are none."""
    own_methods = node.attributes.get("methods")
    if not methods or not isinstance(own_methods, list) or "ANY" in methods:
        return True
    requested = {"GET" if method == "HEAD" else method for method in methods}
    return not requested.isdisjoint(str(method) for method in own_methods)


def _routes_by_uri(store: DocumentReader, scope: Scope, mention: Mention) -> list[Node]:
    """Return the routes whose URI matches a URI with parameter values, or ends with it; fewest parameters win."""
    uri = mention.forms[0]
    all_routes = store.graph.nodes(scope, kinds=("route",), limit=_MAX_ROUTES)
    routes = [node for node in all_routes if _has_method(node, mention.methods)]
    matching = [node for node in routes if re.fullmatch(_uri_pattern(_route_uri(node)), uri)]
    if not matching and "/" in uri:
        matching = [
            node for node in routes if normalise_uri(_route_uri(node)).endswith(f"/{uri}")
        ]
    fewest = min((_route_uri(node).count("{") for node in matching), default=0)
    return [node for node in matching if _route_uri(node).count("{") == fewest]


def _unaliased_routes(store: DocumentReader, scope: Scope, mention: Mention) -> list[Node]:
    """Return the routes that a name without an alias can mean: by URI, or by the end of their names."""
    if _is_uri(mention):
        return _routes_by_uri(store, scope, mention)
    if mention.plain or mention.cue not in ("", "route") or not _DOTTED.fullmatch(mention.text):
        return []
    ending = re.compile(rf".*[.:]{re.escape(mention.text)}", re.IGNORECASE)
    routes = store.graph.nodes(scope, kinds=("route",), limit=_MAX_ROUTES)
    return [node for node in routes if ending.fullmatch(str(node.attributes.get("name")))]


def _route_uri(route: Node) -> str:
    """Return the URI of a route."""
    return str(route.attributes.get("uri", ""))


def _uri_pattern(uri: str) -> str:
    """Return the regular expression for the URIs that a route's URI matches."""
    pieces = re.split(r"(/?\{[^}]*\})", uri)
    return "".join(
        _parameter_pattern(piece) if piece.endswith("}") else re.escape(piece)
        for piece in pieces
    )


def _parameter_pattern(parameter: str) -> str:
    """Return the regular expression for one parameter, with its slash if it has one."""
    slash = "/" if parameter.startswith("/") else ""
    return f"(?:{slash}[^/]+)?" if parameter.endswith("?}") else f"{slash}[^/]+"


def _most_similar(nodes: Sequence[Node], words: frozenset[str], mention: Mention) -> list[Node]:
    """Return the nodes that share most words with the question, the most likely first."""
    if len(nodes) == 1:
        return list(nodes)
    other_words = words - frozenset(terms(mention.text))
    shared = {
        node.key: len(other_words.intersection(terms(f"{node.key} {node.uri}")))
        for node in nodes
    }
    most = max(shared.values())
    best = [node for node in nodes if shared[node.key] == most]
    return sorted(best, key=lambda node: (_unlikeliness(node), len(node.key), node.key))


def _unlikeliness(node: Node) -> tuple[bool, bool, bool, bool]:
    """Return a sort key that puts dropped tables, nodes without a file, tests and plain symbols last."""
    is_dropped = bool(node.attributes.get("dropped"))
    is_test = bool(_TEST_FOLDER.search(node.uri))
    return is_dropped, not node.uri, is_test, not node.framework


def _without_overlaps(anchors: Sequence[Anchor]) -> list[Anchor]:
    """Return the anchors without those inside a longer one and without repeated nodes.

    The routes of a resource and a class of the same name are both kept, because the intent chooses between them.
    """
    selected: list[Anchor] = []
    longest_first = sorted(
        anchors, key=lambda anchor: (anchor.mention.plain, -len(anchor.mention.text))
    )
    for anchor in longest_first:
        if not any(_conflicts(anchor, other) for other in selected):
            selected.append(anchor)
    return sorted(selected, key=lambda anchor: anchor.mention.at)


def _is_inside(anchor: Anchor, unknown: Iterable[Mention]) -> bool:
    """Return whether an anchor is only the class of a method that does not exist."""
    return any(mention.code and overlap(anchor.mention, mention) for mention in unknown)


def _conflicts(anchor: Anchor, other: Anchor) -> bool:
    """Return whether an anchor adds nothing to another one."""
    if anchor.nodes == other.nodes:
        return True
    same_type = (anchor.alias == "route_resource") == (other.alias == "route_resource")
    return same_type and overlap(anchor.mention, other.mention)


def overlap(first: Mention, second: Mention) -> bool:
    """Return whether two mentions share characters of the question."""
    return first.at < second.at + len(second.text) and second.at < first.at + len(first.text)
