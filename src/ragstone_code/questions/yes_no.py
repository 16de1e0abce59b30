"""Questions that are answered by yes or no: is a route behind a guard, has a model an observer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from ragstone.types import GraphAnswer, Node
from ragstone_code.questions.anchors import Anchor
from ragstone_code.questions.graph_query import GraphQuery, plain_name, string_list

_YES_NO: Final = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|has|have|must|should|will|may)\b"
)
_PUBLIC: Final = re.compile(
    r"\bpublic(?:ly)?\b|\banonymous\w*\b|\bguests?\b|\bunauthenticated\b|\bopen to\b|"
    r"\bwithout (?:a |an |any )?(?:log|sign|auth|token|password|account)\w*"
)
"""Words that ask whether a route has no guard."""
_AUTHENTICATION: Final = re.compile(
    r"\bauth(?:entica\w*)?\b|\blog(?:ged)?[ -]?in\b|\blogins?\b|\bsign(?:ed)?[ -]?in\b|"
    r"\btokens?\b|\baccount\b|\b(?:guard|protect|secur|restrict)\w*"
)
"""Words that ask for authentication in general."""
_AUTHENTICATING_GUARD: Final = re.compile(
    r"(?<![a-z])auth(?!or(?:s|_|$))|authenti|authed|login|logged|sign(?:ed)?_?in|token|jwt|sanctum|"
    r"current_?(?:active_?)?(?:super)?user|admin|superuser|staff|permission|api_?key|secret|password|^can$"
)
"""Names of guards that let only known users pass."""
_OTHER_GUARD: Final = re.compile(r"csrf|guest|redirectif|optional|cookie")
"""Names that look like authentication and are none."""
_ROLES: Final = re.compile(r"\b(super ?users?|admin\w*|staff|owners?|moderators?)\b")
_EXISTENCE_INTENTS: Final = frozenset(
    "route_request route_models_tables route_resource model_policy model_relations model_observer event_listeners"
    " listener_events event_dispatch job_dispatch table_migrations callers callees subclasses schedule"
    " table_columns policy_model observer_model users tests".split()
)
_MAX_GROUP_DEPTH: Final = 4


def is_yes_no(question: str) -> bool:
    """Return whether a question starts with a verb, so that its answer is yes or no."""
    return bool(_YES_NO.match(question.strip().lower()))


def add_yes_no(answer: GraphAnswer, query: GraphQuery) -> GraphAnswer:
    """Return the answer with yes or no in front; unchanged if the graph does not decide."""
    if answer.intent == "route_middleware":
        is_yes = _is_guarded(answer, query)
    elif answer.intent == "tests" and answer.negative:
        return answer  # a test can reach the code through other code
    elif answer.intent in _EXISTENCE_INTENTS:
        is_yes = _has_asked_thing(answer, query)
    elif answer.intent == "route_action":
        is_yes = bool(answer.facts.get("registered"))
    else:
        return answer
    word = "yes" if is_yes else "no"
    return replace(
        answer,
        said=f"{word.capitalize()}: {answer.said}",
        facts={**answer.facts, "answer": word},
    )


# ── guards of routes ──────────────────────────────────────────────────────────────────────────────


def _is_guarded(answer: GraphAnswer, query: GraphQuery) -> bool:
    """Return whether a route passes the guard that the question names, or any that authenticates."""
    guards = _guard_names(answer, query)
    named = _named_guards(query)
    if named:
        return any(_has_name(guard, named) for guard in guards)
    role = _ROLES.search(query.text)
    if role:
        stem = role[1].replace(" ", "").rstrip("s")[:9]
        return any(stem in guard.lower().replace("_", "") for guard in guards)
    authenticates = any(_authenticates(guard) for guard in guards)
    if _PUBLIC.search(query.text):
        return not authenticates
    if _AUTHENTICATION.search(query.text):
        return authenticates
    return bool(guards)


def _guard_names(answer: GraphAnswer, query: GraphQuery) -> list[str]:
    """Return the middleware of a route with the members of groups; excluded middleware is left out."""
    excluded = set(string_list(answer.facts.get("excluded")))
    names = [
        *string_list(answer.facts.get("middleware")),
        *string_list(answer.facts.get("controller_middleware")),
    ]
    guards: dict[str, None] = {}
    for _ in range(_MAX_GROUP_DEPTH):
        names = [name for name in names if name not in excluded and name not in guards]
        guards.update(dict.fromkeys(names))
        groups = query.nodes(f"middleware:{name.partition(':')[0]}" for name in names)
        names = _members_of(groups.values())
    return list(guards)


def _members_of(middleware: Iterable[Node]) -> list[str]:
    """Return the members of groups, and the class of each named middleware."""
    members: list[str] = []
    for node in middleware:
        members += string_list(node.attributes.get("group"))
        class_of_name = node.attributes.get("class")
        if isinstance(class_of_name, str):
            members.append(class_of_name)
    return members


def _named_guards(query: GraphQuery) -> list[str]:
    """Return the guards that the question names, apart from the route itself."""
    names = [name for name in query.other_names() if "/" not in name]
    names += [plain_name(node.key) for node in query.other_nodes() if node.kind == "middleware"]
    return list(dict.fromkeys(names))


def _has_name(guard: str, asked: Iterable[str]) -> bool:
    """Return whether a guard has an asked name: with or without parameters, namespace or owner."""
    name = guard.partition(":")[0].lower()
    names = {guard.lower(), name, *re.split(r"[\\.]", name)}
    asked_names = [word.lower().lstrip("\\").removesuffix("()") for word in asked]
    return not names.isdisjoint(asked_names)


def _authenticates(guard: str) -> bool:
    """Return whether the name of a guard says that it lets only known users pass."""
    name = guard.partition(":")[0].rpartition("\\")[2].lower()
    return bool(_AUTHENTICATING_GUARD.search(name)) and not _OTHER_GUARD.search(name)


# ── everything else ───────────────────────────────────────────────────────────────────────────────


def _has_asked_thing(answer: GraphAnswer, query: GraphQuery) -> bool:
    """Return whether the answer has the other thing that the question names; if it names none, anything."""
    if answer.negative:
        return False
    text = json.dumps(dict(answer.facts)).lower().replace("\\\\", "\\")
    names = [_known_name(name, query.others) for name in query.other_names()]
    return all(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)


def _known_name(name: str, anchors: Iterable[Anchor]) -> str:
    """Return the name of the node that a written name refers to, or the name as it is written."""
    for anchor in anchors:
        if anchor.mention.text == name:
            key_name = plain_name(anchor.node.key)
            is_column = anchor.node.kind == "column"
            return (key_name.rpartition(".")[2] if is_column else key_name).lower()
    return name.lower()
