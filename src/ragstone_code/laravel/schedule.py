"""Scheduled tasks: the kernel's `schedule`, `Schedule::…` in route files, and `withSchedule`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ragstone.types import Alias, Graph, Json, Link, Node
from ragstone_code import program_tree
from ragstone_code.laravel.app import App
from ragstone_code.laravel.class_kinds import COMMANDS
from ragstone_code.laravel.code_bodies import CodeBody, LocatedCall
from ragstone_code.laravel.frequencies import frequency_text
from ragstone_code.laravel.syntax import (
    SyntaxNode,
    argument_at,
    array_entries,
    call_chain,
    called_name,
    class_of,
    short_text,
    text_of,
    walk,
)

SCHEDULE_CLASS: Final = "illuminate\\console\\scheduling\\schedule"
SCHEDULE_FACADE: Final = "illuminate\\support\\facades\\schedule"
ARTISAN_FACADE: Final = "illuminate\\support\\facades\\artisan"
TASK_CALLS: Final = frozenset(("command", "job", "call", "exec"))
DESCRIBING_CALLS: Final = frozenset(
    ("purpose", "describe", "setDescription", "setAliases", "setHidden", "call", "queue")
)
"""Calls on `Artisan` and on a closure command that set no time."""
OPTION_CALLS: Final = frozenset(
    (
        "name",
        "description",
        "withoutOverlapping",
        "onOneServer",
        "runInBackground",
        "evenInMaintenanceMode",
        "environments",
        "user",
        "before",
        "after",
        "then",
        "onSuccess",
        "onFailure",
        "sendOutputTo",
        "appendOutputTo",
        "emailOutputTo",
        "group",
        "pingBefore",
        "thenPing",
        "storeOutput",
        "emailOutputOnFailure",
        "pingOnSuccess",
        "pingOnFailure",
    )
)
"""Calls on a task that do not set when it runs."""


@dataclass(frozen=True, slots=True)
class ScheduledTask:
    """The call that defines a task, and the other calls of its chain."""

    body: CodeBody
    call: program_tree.Call
    options: tuple[program_tree.Call, ...]
    conditional: bool

    @property
    def kind(self) -> str:
        """Return `command`, `job`, `call` or `exec`."""
        return called_name(self.call)


def read_schedule(app: App, calls: Iterable[LocatedCall], commands: dict[str, str]) -> Graph:
    """Return the tasks, their times and what they run; `commands` maps the name of a command to its class."""
    nodes: dict[str, Node] = {}
    links: list[Link] = []
    for task in _find_tasks(app, calls):
        node = _task_node(task)
        while node.key in nodes:
            node = replace(node, key=f"{node.key}#{len(nodes)}")
        nodes[node.key] = node
        target = _target_key(app, task, commands)
        if target:
            kind = "DISPATCHES" if task.kind == "job" else "RUNS"
            line = task.call.line
            links.append(
                Link(
                    kind,
                    node.key,
                    target,
                    task.body.uri,
                    line,
                    "declared",
                    task.conditional,
                )
            )
    return Graph(
        nodes=tuple(nodes.values()),
        links=tuple(links),
        aliases=tuple(_task_aliases(nodes.values())),
    )


def _task_aliases(nodes: Iterable[Node]) -> Iterator[Alias]:
    """Yield the names of tasks: the command without its arguments, and the title."""
    for node in nodes:
        command = (
            str(node.attributes["runs"]).split()[:1]
            if node.attributes["what"] == "command"
            else []
        )
        for name in dict.fromkeys((*command, str(node.attributes["title"]))):
            if name:
                yield Alias(name, node.key, "schedule", node.uri)


def _find_tasks(app: App, calls: Iterable[LocatedCall]) -> Iterator[ScheduledTask]:
    """Yield each task once, from the outermost call of its chain."""
    inner_calls: set[int] = set()
    for located in calls:
        if id(located.call) in inner_calls:
            continue
        start, chain = call_chain(located.call)
        if not _is_schedule(app, located.body, start) and not _is_timed_command(start, chain):
            continue
        inner_calls.update(id(call) for call in chain)
        for position, call in enumerate(chain):
            if called_name(call) in TASK_CALLS:
                options = (*chain[:position], *chain[position + 1 :])
                yield ScheduledTask(located.body, call, options, located.conditional)
                break


def _is_schedule(app: App, body: CodeBody, start: SyntaxNode) -> bool:
    """Return whether a chain starts with the schedule: a facade, an own `Schedule` class, or a typed variable."""
    if isinstance(start, program_tree.ClassName):
        is_framework = start.name.lower() in (SCHEDULE_FACADE, SCHEDULE_CLASS)
        return is_framework or start.name.rpartition("\\")[2] == "Schedule"
    if isinstance(start, program_tree.Variable):
        variable = start.name.lstrip("$")
        in_kernel = body.function is not None and body.function.name == "schedule"
        if in_kernel and variable == "schedule":
            return True
        types = body.variable_types.get(variable, ())
        return any(name.lower() == SCHEDULE_CLASS for name in types)
    return app.field_type(body.owner, start).lower() == SCHEDULE_CLASS


def _is_timed_command(start: SyntaxNode, chain: Sequence[program_tree.Call]) -> bool:
    """Return whether a chain is `Artisan::command(…)` with a time after it."""
    if not isinstance(start, program_tree.ClassName) or start.name.lower() not in (
        ARTISAN_FACADE,
        "artisan",
    ):
        return False
    untimed = OPTION_CALLS | TASK_CALLS | DESCRIBING_CALLS
    return any(called_name(call) not in untimed for call in chain)


def _task_node(task: ScheduledTask) -> Node:
    """Return a task as a node."""
    label = _task_label(task.body, argument_at(task.call, 0))
    title = _task_title(task)
    attributes: dict[str, Json] = {
        "what": task.kind,
        "runs": label,
        "when": _task_times(task),
        "frequency": _task_frequency(task),
        "conditional": task.conditional,
        "title": title,
    }
    name = f"{task.kind} {label or title}".strip()
    return Node(
        f"schedule:{name}",
        "schedule",
        name,
        task.body.uri,
        task.call.line,
        language="php",
        framework="laravel",
        attributes=attributes,
    )


def _task_title(task: ScheduledTask) -> str:
    """Return the name or description that is set for a task."""
    for option in task.options:
        if called_name(option) in ("name", "description"):
            title = text_of(argument_at(option, 0))
            if title:
                return title
    return ""


def _task_times(task: ScheduledTask) -> list[str]:
    """Return the calls that set when a task runs, as text."""
    untimed = OPTION_CALLS | DESCRIBING_CALLS
    times = [_call_text(call) for call in task.options if called_name(call) not in untimed]
    if not times:  # an application's own schedule can take the frequency as an argument
        arguments = [argument.value for argument in task.call.arguments[1:]]
        if arguments and isinstance(arguments[0], program_tree.Literal):
            times = [" ".join(filter(None, map(short_text, arguments)))]
    return [time for time in times if time]


def _task_frequency(task: ScheduledTask) -> list[Json]:
    """Return when a task runs, in words."""
    untimed = OPTION_CALLS | DESCRIBING_CALLS
    calls = [call for call in task.options if called_name(call) not in untimed]
    texts: list[Json] = []
    for call in calls:
        arguments = [_argument_text(task.body, argument.value) for argument in call.arguments]
        texts.append(frequency_text(called_name(call), [text for text in arguments if text]))
    return texts or [*_task_times(task)]


def _argument_text(body: CodeBody, value: SyntaxNode) -> str:
    """Return an argument as text: a literal, a list, a setting, or the value that a variable gets."""
    if isinstance(value, program_tree.Variable):
        return _variable_text(body, value)
    if isinstance(value, program_tree.Collected):
        return ", ".join(short_text(entry.value, body.owner) for entry in value.entries)
    if isinstance(value, program_tree.Call) and called_name(value) in ("config", "env"):
        return f"{called_name(value)}({short_text(argument_at(value, 0))})"
    if isinstance(value, program_tree.Closure):
        return ""
    return short_text(value, body.owner)


def _variable_text(body: CodeBody, variable: program_tree.Variable) -> str:
    """Return the value that a body assigns to a variable; the variable itself if the value is not simple."""
    for node, _ in walk(body.statements):
        if not isinstance(node, program_tree.Assigned) or not isinstance(
            node.target, program_tree.Variable
        ):
            continue
        is_simple = not isinstance(node.value, program_tree.Variable)
        if node.target.name == variable.name and is_simple:
            return _argument_text(body, node.value) or f"${variable.name.lstrip('$')}"
    return f"${variable.name.lstrip('$')}"


def _call_text(call: program_tree.Call) -> str:
    """Return a call as text: `dailyAt 02:00`."""
    arguments = ", ".join(short_text(argument.value) for argument in call.arguments)
    return " ".join(filter(None, (called_name(call), arguments)))


def _task_label(body: CodeBody, runs: SyntaxNode | None) -> str:
    """Return what a task runs, as text: a command with arguments, or a class with its written arguments."""
    if runs is None:
        return ""
    if isinstance(runs, program_tree.New):
        name = class_of(runs, body.owner)
        texts = (short_text(argument.value, body.owner) for argument in runs.arguments)
        arguments = ", ".join(filter(None, texts))
        return f"{name}({arguments})" if arguments else name
    if isinstance(runs, program_tree.Collected):
        parts = (text_of(entry.value, body.owner) for entry in array_entries(runs))
        return "@".join(filter(None, parts))
    return text_of(runs, body.owner) or next(iter(body.classes_of(runs)), "")


def _target_key(app: App, task: ScheduledTask, commands: dict[str, str]) -> str:
    """Return the key of the class that a task runs; empty if it is not the application's own."""
    runs = argument_at(task.call, 0)
    if runs is None:
        return ""
    class_name = class_of(runs, task.body.owner) or next(iter(task.body.classes_of(runs)), "")
    if class_name:
        declared = app.declared_name(class_name)
        is_own = app.find_class(declared) is not None
        if is_own or task.kind == "job" or app.is_a(declared, COMMANDS):
            return f"class:{declared}"
        return ""
    words = (text_of(runs) or "").split()
    command_class = commands.get(words[0], "") if words else ""
    return f"class:{command_class}" if command_class else ""
