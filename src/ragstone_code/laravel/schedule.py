"""What runs by the clock: the kernel's `schedule`, `Schedule::…` in route files, `withSchedule`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ragstone.code import tree
from ragstone.types import Graph, Json, Link, Node
from ragstone_code.laravel.app import App
from ragstone_code.laravel.code_bodies import CodeBody, LocatedCall
from ragstone_code.laravel.kinds import COMMANDS
from ragstone_code.laravel.syntax import (
    SyntaxNode,
    argument_at,
    array_entries,
    call_chain,
    called_name,
    class_of,
    short_text,
    text_of,
)

SCHEDULE: Final = "illuminate\\console\\scheduling\\schedule"
FACADE: Final = "illuminate\\support\\facades\\schedule"
ARTISAN: Final = "illuminate\\support\\facades\\artisan"
DESCRIBING: Final = frozenset(("purpose", "describe", "setDescription", "setAliases", "setHidden", "call", "queue"))
"""What a command written in place is told that is no time, and what the facade does besides."""
TASKS: Final = frozenset(("command", "job", "call", "exec"))
NOT_WHEN: Final = frozenset(
    ("name", "description", "withoutOverlapping", "onOneServer", "runInBackground", "evenInMaintenanceMode",
     "environments", "user", "before", "after", "then", "onSuccess", "onFailure", "sendOutputTo", "appendOutputTo",
     "emailOutputTo", "group", "pingBefore", "thenPing", "storeOutput", "emailOutputOnFailure", "pingOnSuccess",
     "pingOnFailure")
)  # fmt: skip
"""Calls on a task that do not say when it runs."""


def scheduled(app: App, sites: Iterable[LocatedCall], commands: dict[str, str]) -> Graph:
    """Return the tasks, when they run and what they run; `commands` are classes by the name they are called by."""
    nodes: dict[str, Node] = {}
    links: list[Link] = []
    for scope, task, rest, depends in _tasks(app, sites):
        node = _node(scope, task, rest)
        while node.key in nodes:
            node = _numbered(node, len(nodes))
        nodes[node.key] = node
        target = _target(app, scope, task, commands)
        if target:
            kind = "DISPATCHES" if called_name(task) == "job" else "RUNS"
            links.append(Link(kind, node.key, target, scope.uri, task.line, "declared", depends))
    return Graph(nodes=tuple(nodes.values()), links=tuple(links))


def _tasks(app: App, sites: Iterable[LocatedCall]) -> Iterator[tuple[CodeBody, tree.Call, tuple[tree.Call, ...], bool]]:
    """Yield each task once, with the calls around it: those of the whole chain it stands in."""
    inner: set[int] = set()
    for site in sites:
        root, calls = call_chain(site.call)
        if id(site.call) in inner or not (_is_schedule(app, site.body, root) or _is_timed(root, calls)):
            continue
        inner.update(id(one) for one in calls)
        place = next((at for at, one in enumerate(calls) if called_name(one) in TASKS), None)
        if place is not None:
            yield site.body, calls[place], (*calls[:place], *calls[place + 1 :]), site.conditional


def _is_schedule(app: App, scope: CodeBody, root: SyntaxNode) -> bool:
    """Return whether a chain begins with the schedule: the facade, one of the application's own, a typed variable."""
    if isinstance(root, tree.ClassName):
        return root.name.lower() in (FACADE, SCHEDULE) or root.name.rpartition("\\")[2] == "Schedule"
    if isinstance(root, tree.Variable):
        types = scope.variable_types.get(root.name.lstrip("$"), ())
        kernel = scope.function is not None and scope.function.name == "schedule"
        return (kernel and root.name.lstrip("$") == "schedule") or any(name.lower() == SCHEDULE for name in types)
    return app.field_type(scope.owner, root).lower() == SCHEDULE


def _is_timed(root: SyntaxNode, calls: Sequence[tree.Call]) -> bool:
    """Return whether it is a command written in place, `Artisan::command(…)`, with a time to run at after it."""
    named = isinstance(root, tree.ClassName) and root.name.lower() in (ARTISAN, "artisan")
    return named and any(called_name(one) not in NOT_WHEN | TASKS | DESCRIBING for one in calls)


def _node(scope: CodeBody, task: tree.Call, rest: tuple[tree.Call, ...]) -> Node:
    """Return a task as a node."""
    what, first = called_name(task), argument_at(task, 0)
    label = _label(scope, first)
    when = [_said(one) for one in rest if called_name(one) not in NOT_WHEN | DESCRIBING]
    if not when:  # an application's own schedule may take the frequency as an argument
        more = [argument.value for argument in task.arguments[1:]]
        when = [" ".join(filter(None, map(short_text, more)))] if more and isinstance(more[0], tree.Literal) else []
    named = next(
        (
            text
            for one in rest
            if called_name(one) in ("name", "description") and (text := text_of(argument_at(one, 0)))
        ),
        "",
    )
    attributes: dict[str, Json] = {"what": what, "runs": label, "when": [one for one in when if one], "title": named}
    name = f"{what} {label or named}".strip()
    return Node(
        f"schedule:{name}", "schedule", name, scope.uri, task.line, language="php", framework="laravel",
        attributes=attributes,
    )  # fmt: skip


def _label(scope: CodeBody, first: SyntaxNode | None) -> str:
    """Return what runs, in words: a command with its arguments, a class with those that are written out."""
    if isinstance(first, tree.New):
        given_to = ", ".join(filter(None, (short_text(argument.value, scope.owner) for argument in first.arguments)))
        name = class_of(first, scope.owner)
        return f"{name}({given_to})" if given_to else name
    if isinstance(first, tree.Collected):
        return "@".join(filter(None, (text_of(entry.value, scope.owner) for entry in array_entries(first))))
    return (text_of(first, scope.owner) or next(iter(scope.classes_of(first)), "")) if first is not None else ""


def _said(call: tree.Call) -> str:
    """Return a call of the chain as it is written: `dailyAt 02:00`."""
    return " ".join(
        filter(None, (called_name(call), ", ".join(short_text(argument.value) for argument in call.arguments)))
    )


def _numbered(node: Node, number: int) -> Node:
    """Return a task that is not the first of its name."""
    return Node(
        f"{node.key}#{number}", node.kind, node.name, node.uri, node.line, language=node.language,
        framework=node.framework, attributes=node.attributes,
    )  # fmt: skip


def _target(app: App, scope: CodeBody, task: tree.Call, commands: dict[str, str]) -> str:
    """Return the key of the class that runs, nothing where it is not the application's own."""
    first = argument_at(task, 0)
    classes = (
        [one for one in (class_of(first, scope.owner), *scope.classes_of(first)) if one] if first is not None else []
    )
    if classes:
        own = app.declared_name(classes[0])
        known = app.find_class(own)
        return f"class:{own}" if known or called_name(task) == "job" or app.is_a(own, COMMANDS) else ""
    words = (text_of(first) or "").split() if first is not None else []
    name = commands.get(words[0], "") if words else ""
    return f"class:{name}" if name else ""
