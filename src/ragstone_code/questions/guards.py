"""Decides whether a route lets everybody pass: by the names of its guards, and by what their code answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from ragstone.types import Node
from ragstone_code.questions.graph_query import (
    GraphQuery,
    join_names,
    place_text,
    plain_name,
    string_list,
)

_AUTHENTICATING_GUARD: Final = re.compile(
    r"(?<![a-z])auth(?!or(?:s|_|$))|authenti|authed|login|logged|sign(?:ed)?_?in|token|jwt|sanctum|"
    r"current_?(?:active_?)?(?:super)?user|admin|superuser|staff|permission|api_?key|secret|password|^can$"
)
"""Names of guards that let only known users pass."""
_OTHER_GUARD: Final = re.compile(r"csrf|guest|redirectif|optional|cookie")
"""Names that look like authentication and are none."""
_KNOWN_GUARD: Final = re.compile(
    r"throttle|rate_?limit|bindings?|cache|cors|session|verified|signed|locale|language|log|gzip|compress|header|"
    r"csrf|guest|redirectif|optional|cookie|precognit|trim|convert|maintenance|size|host|proxies|substitute"
)
"""Names of guards that say that they check something else than the user."""
_SUSPICIOUS_NAME: Final = re.compile(
    r"auth|user|guest|denied|forbid|permi|token|login|session|credential|secret|signature|password|api_?key|"
    r"\bgate\b|exception$|error$|^can$"
)
"""Names in the code of a guard that may check the user."""
_FRAMEWORKS: Final = (
    "Illuminate\\",
    "Laravel\\",
    "django.",
    "rest_framework.",
    "starlette.",
    "fastapi.",
)
_MAX_DEPTH: Final = 4
_MAX_CODE: Final = 200


@dataclass(slots=True)
class GuardList:
    """The guards of a route, each with what is known of it."""

    names: list[str]
    """The guards with the members of their groups."""
    authenticating: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """Guards of the project that nothing is known of."""
    called: dict[str, set[str]] = field(default_factory=dict)
    """Guard -> the names of what its code calls."""
    rejections: dict[str, str] = field(default_factory=dict)
    """Guard or handler -> what its code answers and where: `401 (app/auth.py:4)`."""

    @property
    def is_guarded(self) -> bool | None:
        """Return whether only known users pass; None if that is not known."""
        if self.authenticating:
            return True
        return None if self.unknown else False

    def remark(self) -> str:
        """Return the end of an answer: what guards answer, and which guards nothing is known of."""
        texts = [f" {name} answers {answer}." for name, answer in self.rejections.items()]
        if self.unknown and not self.authenticating:
            verb = "lets" if len(self.unknown) == 1 else "let"
            names = join_names(self.unknown, 4)
            texts.append(f" Whether {names} {verb} only known users pass is not known.")
        return "".join(texts)


def read_guards(query: GraphQuery) -> GuardList:
    """Return the guards of the route of a query."""
    route = query.node
    excluded = set(string_list(route.attributes.get("excluded")))
    names = [
        *string_list(route.attributes.get("middleware")),
        *string_list(route.attributes.get("controller_middleware")),
    ]
    nodes: dict[str, Node] = {}
    guards: dict[str, None] = {}
    for _ in range(_MAX_DEPTH):
        names = [name for name in names if name not in excluded and name not in guards]
        guards.update(dict.fromkeys(names))
        groups = query.nodes(f"middleware:{name.partition(':')[0]}" for name in names)
        nodes |= groups
        names = _members_of(groups.values())
    linked = query.links_from([route.key], "GUARDED_BY")
    nodes |= query.nodes(link.target for link in linked)
    return _classify(query, GuardList(list(guards)), nodes)


def _members_of(middleware: Iterable[Node]) -> list[str]:
    """Return the members of groups, and the class of each named middleware."""
    members: list[str] = []
    for node in middleware:
        members += string_list(node.attributes.get("group"))
        class_of_name = node.attributes.get("class")
        if isinstance(class_of_name, str):
            members.append(class_of_name)
    return members


def _classify(query: GraphQuery, guards: GuardList, nodes: dict[str, Node]) -> GuardList:
    """Add what is known of each guard, and of the code that serves the route."""
    by_name: dict[str, Node] = {}
    for node in nodes.values():
        by_name.setdefault(node.name, node)
        by_name.setdefault(plain_name(node.key), node)
    for name in guards.names:
        middleware = by_name.get(name.partition(":")[0])
        keys = [f"class:{name}", *([middleware.key] if middleware else [])]
        code = _read_code(query, keys)
        guards.called[name] = code.names
        if code.rejection:
            guards.rejections[name] = code.rejection
        if code.rejection or _has_authenticating_name(name):
            guards.authenticating.append(name)
        elif not _is_known(name, middleware, code):
            guards.unknown.append(name)
    _add_handler(query, guards)
    return guards


def _add_handler(query: GraphQuery, guards: GuardList) -> None:
    """Add the code that serves the route, if it turns requests away itself: not all of them, perhaps."""
    handlers = query.links_from([query.node.key], "HANDLED_BY")
    keys = [link.target for link in handlers]
    name = str(query.node.attributes.get("action") or "its code")
    for node in query.nodes(keys).values():
        rejection = _rejection(node)
        if rejection:
            guards.rejections[name] = rejection
            guards.unknown.append(name)
    checks = query.links_from([query.node.key, *keys], "AUTHORIZED_BY")
    if checks and name not in guards.unknown:
        guards.unknown.append(name)


def _has_authenticating_name(guard: str) -> bool:
    """Return whether the name of a guard says that it lets only known users pass."""
    name = guard.partition(":")[0].rpartition("\\")[2].lower()
    return bool(_AUTHENTICATING_GUARD.search(name)) and not _OTHER_GUARD.search(name)


def _is_known(guard: str, middleware: Node | None, code: _GuardCode) -> bool:
    """Return whether it is known that a guard does not check the user."""
    if guard.startswith(_FRAMEWORKS) or _KNOWN_GUARD.search(guard.rpartition("\\")[2].lower()):
        return True
    if code.is_read:
        return not any(_SUSPICIOUS_NAME.search(name) for name in code.names)
    if middleware is None:
        return False
    # a group, or the short name of a class: their members are in the list too
    return bool(middleware.attributes.get("group") or middleware.attributes.get("class"))


@dataclass(slots=True)
class _GuardCode:
    """The code behind a guard."""

    is_read: bool = False
    """Whether it is code of the project."""
    rejection: str = ""
    """With which status it answers, and where."""
    names: set[str] = field(default_factory=set)
    """The names of everything it calls."""

    def add(self, node: Node, *, is_guard: bool) -> None:
        """Add a function or a class that the guard runs, or the node of the guard itself."""
        self.is_read = self.is_read or node.key.startswith(("method:", "function:"))
        self.rejection = self.rejection or _rejection(node)
        if not is_guard:
            self.names.add(node.name.lower())


def _read_code(query: GraphQuery, keys: list[str]) -> _GuardCode:
    """Return what the code of a guard calls, directly and by other code of the project."""
    code = _GuardCode()
    guard_keys = set(keys)
    seen: set[str] = set()
    for _ in range(_MAX_DEPTH):
        nodes = _with_methods(query, keys)
        for node in nodes:
            code.add(node, is_guard=node.key in guard_keys)
        seen.update(keys)
        sources = sorted({node.key for node in nodes})
        rows = query.store.graph.unresolved(query.scope, sources=sources)
        code.names.update(row.name.lower() for row in rows if row.kind in ("CALLS", "call"))
        links = query.links_from(sources, "HANDLED_BY", "CALLS", "GUARDED_BY")
        keys = sorted({link.target for link in links} - seen)
        if not keys:
            break
    return code


def _with_methods(query: GraphQuery, keys: list[str]) -> list[Node]:
    """Return the nodes with these keys, and the methods of classes among them."""
    nodes = list(query.nodes(keys).values())
    for node in list(nodes):
        if node.key.startswith("class:"):
            nodes += query.methods_of(node)
    return nodes[:_MAX_CODE]


def _rejection(node: Node) -> str:
    """Return with which status a function answers, and where; empty if with none."""
    statuses = node.attributes.get("rejects")
    if not isinstance(statuses, list) or not statuses:
        return ""
    return f"{' or '.join(map(str, statuses))}{place_text(node)}"


def has_name(guard: str, asked: Iterable[str]) -> bool:
    """Return whether a guard has an asked name: with or without parameters, namespace or owner."""
    name = guard.partition(":")[0].lower()
    names = {guard.lower(), name, *re.split(r"[\\.]", name)}
    asked_names = [word.lower().lstrip("\\").removesuffix("()") for word in asked]
    return not names.isdisjoint(asked_names)
