"""Questions that are answered by yes or no: is a route behind a guard, has a model an observer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from ragstone.types import GraphAnswer
from ragstone_code.questions.graph_query import GraphQuery, join_names, plain_name
from ragstone_code.questions.guards import GuardList, has_name, read_guards
from ragstone_code.questions.named_nodes import Anchor

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
_EXISTENCE: Final = re.compile(r"\b(?:exist|regist|defin|serv|handl|there\b|route\b)")
_ROLES: Final = re.compile(r"\b(super ?users?|admin\w*|staff|owners?|moderators?)\b")
_EXISTENCE_INTENTS: Final = frozenset(
    "route_request route_models_tables route_resource model_policy model_relations model_observer event_listeners"
    " listener_events event_dispatch job_dispatch table_migrations callers callees subclasses schedule"
    " table_columns policy_model observer_model users tests overrides".split()
)


def is_yes_no(question: str) -> bool:
    """Return whether a question starts with a verb, so that its answer is yes or no."""
    return bool(_YES_NO.match(question.strip().lower()))


def add_yes_no(answer: GraphAnswer, query: GraphQuery) -> GraphAnswer:
    """Return the answer with yes or no in front; unchanged if the graph does not decide."""
    is_yes: bool | None
    if answer.intent == "route_middleware":
        is_yes, remark = _is_guarded(query)
        answer = replace(answer, said=f"{answer.said}{remark}")
    elif answer.intent == "tests" and answer.negative:
        return answer  # a test can reach the code through other code
    elif answer.intent in _EXISTENCE_INTENTS:
        is_yes = _has_asked_thing(answer, query)
    elif answer.intent == "route_action" and _EXISTENCE.search(query.text):
        is_yes = bool(answer.facts.get("registered"))
    else:
        return answer
    if is_yes is None:
        return answer
    word = "yes" if is_yes else "no"
    return replace(
        answer,
        said=f"{word.capitalize()}: {answer.said}",
        facts={**answer.facts, "answer": word},
    )


def _is_guarded(query: GraphQuery) -> tuple[bool | None, str]:
    """Return whether a route passes the guard that is asked for, and a sentence about the reason.

    The first value is None if the code of a guard does not say whether it checks the user.
    """
    guards = read_guards(query)
    asked = _named_guards(query)
    if asked:
        return _passes_named_guard(guards, asked)
    role = _ROLES.search(query.text)
    if role:
        stem = role[1].replace(" ", "").rstrip("s")[:9]
        has_role = any(stem in guard.lower().replace("_", "") for guard in guards.names)
        is_admitted: bool | None = has_role
        if not has_role and (guards.unknown or guards.rejections):
            is_admitted = None
        return is_admitted, guards.remark()
    is_public_asked = bool(_PUBLIC.search(query.text))
    if not is_public_asked and not _AUTHENTICATION.search(query.text):
        return bool(guards.names), ""
    is_guarded = guards.is_guarded
    if is_guarded is not None and is_public_asked:
        is_guarded = not is_guarded
    return is_guarded, guards.remark()


def _passes_named_guard(guards: GuardList, asked: Iterable[str]) -> tuple[bool | None, str]:
    """Return whether a route passes a guard with an asked name, or one whose code calls it."""
    names = list(asked)
    if any(has_name(guard, names) for guard in guards.names):
        return True, ""
    wanted = {re.split(r"[\\.]", name)[-1].lower().removesuffix("()") for name in names}
    callers = [guard for guard, called in guards.called.items() if called & wanted]
    if callers:
        return True, f" The code of {join_names(callers)} calls it."
    return False, ""


def _named_guards(query: GraphQuery) -> list[str]:
    """Return the guards that the question names, apart from the route itself."""
    names = [name for name in query.other_names() if "/" not in name]
    names += [plain_name(node.key) for node in query.other_nodes() if node.kind == "middleware"]
    return list(dict.fromkeys(names))


def _has_asked_thing(answer: GraphAnswer, query: GraphQuery) -> bool | None:
    """Return whether the answer has the other thing that the question names; if it names none, anything.

    None if a call whose target is not known may be the one that is asked for.
    """
    if answer.negative:
        return False
    is_undecided = bool(answer.facts.get("unresolved"))
    if is_undecided and not any(answer.facts.get(name) for name in query.intent.none):
        return None
    text = json.dumps(dict(answer.facts)).lower().replace("\\\\", "\\")
    names = [_known_name(name, query.others) for name in query.other_names()]
    has_all = all(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)
    return None if is_undecided and not has_all else has_all


def _known_name(name: str, anchors: Iterable[Anchor]) -> str:
    """Return the name of the node that a written name refers to, or the name as it is written."""
    for anchor in anchors:
        if anchor.mention.name == name:
            key_name = plain_name(anchor.node.key)
            is_column = anchor.node.kind == "column"
            return (key_name.rpartition(".")[2] if is_column else key_name).lower()
    return name.lower()
