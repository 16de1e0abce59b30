"""Answers about scheduled tasks: when a command or a job runs, and which tasks run how often."""

from __future__ import annotations

import re
from typing import Final

from ragstone.types import GraphAnswer, Json, Node
from ragstone_code.questions.graph_query import (
    AnswerPart,
    GraphQuery,
    class_name,
    folders_of,
    join_names,
    place_text,
    places_of_nodes,
    string_list,
)

_FREQUENCIES: Final = re.compile(
    r"\b(?:hourly|daily|nightly|weekly|monthly|quarterly|yearly|"
    r"every (?:\w+ )?(?:minute|hour|day|night|week|month|weekday)s?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b"
)
"""Words of a question that select tasks by their frequency."""
_SAME_FREQUENCY: Final = {
    "every hour": "hourly",
    "every day": "daily",
    "nightly": "daily",
    "every night": "daily",
    "every week": "weekly",
    "every month": "monthly",
}


def find_schedule(query: GraphQuery) -> AnswerPart:
    """Return when a task, a command or a job runs; or that it is not scheduled."""
    tasks = _tasks_of(query)
    if not tasks:
        looked_in = sorted({node.uri for node in query.nodes_of_kind("schedule")})
        searched = join_names(looked_in, 4) or "the console kernel and the route files: no task"
        sentence = f"{query.anchor.mention.text} is not scheduled; looked in {searched}."
        return query.negative_part(
            {"tasks": [], "when": []}, sentence, looked_in or folders_of([query.node])
        )
    return _tasks_part(query.anchor.mention.text, tasks)


def _tasks_of(query: GraphQuery) -> list[Node]:
    """Return the tasks with the asked name, or the tasks that run the asked class."""
    named = [node for node in query.anchor.nodes if node.kind == "schedule"]
    if named:
        return named
    keys = [node.key for node in query.anchor.nodes]
    links = query.links_to(keys, "RUNS", "DISPATCHES")
    nodes = query.nodes(link.source for link in links)
    return [node for node in nodes.values() if node.kind == "schedule"]


def _tasks_part(name: str, tasks: list[Node]) -> AnswerPart:
    """Return tasks of one name with their times as an answer."""
    times = [_time_text(task) for task in tasks]
    when: list[Json] = [*dict.fromkeys(times)]
    sentence = f"{name} runs {join_names([f'{_time_text(task)}{place_text(task)}' for task in tasks], 20)}."
    facts: dict[str, Json] = {"when": when, "tasks": [_task_row(task) for task in tasks]}
    return AnswerPart(
        facts,
        sentence,
        places_of_nodes(tasks),
        tasks,
    )


def _task_row(task: Node) -> dict[str, Json]:
    """Return the facts of a task."""
    attributes = task.attributes
    return {
        "runs": attributes.get("runs"),
        "when": attributes.get("frequency") or attributes.get("when"),
        "conditional": bool(attributes.get("conditional")),
    }


def _time_text(task: Node) -> str:
    """Return the time of a task in words."""
    times = string_list(task.attributes.get("frequency"))
    text = ", ".join(times) or "at a time that is not written down"
    return f"{text}, under a condition" if task.attributes.get("conditional") else text


def answer_schedule_list(tasks: list[Node], text: str) -> GraphAnswer | None:
    """Return all scheduled tasks, or those with the frequency that a question names; None if there is no task."""
    if not tasks:
        return None
    frequency, chosen = _select_tasks(tasks, text)
    subject = f"Scheduled {frequency}".strip()
    if not chosen:
        files = sorted({task.uri for task in tasks})
        sentence = f"{subject}: nothing; looked in {join_names(files, 4)}."
        return GraphAnswer(
            "schedule", sentence, {"tasks": []}, negative=True, looked_in=tuple(files)
        )
    texts = [f"{_task_name(task)} ({_time_text(task)}; {task.place})" for task in chosen]
    return GraphAnswer(
        "schedule",
        f"{subject}: {join_names(texts, 40)}.",
        {"tasks": [_task_row(task) for task in chosen]},
        nodes=tuple(chosen),
        evidence=tuple(dict.fromkeys(places_of_nodes(chosen))),
    )


def _select_tasks(tasks: list[Node], text: str) -> tuple[str, list[Node]]:
    """Return the frequency that a question names, and the tasks that have it; all tasks if it names none."""
    match = _FREQUENCIES.search(text)
    if match is None:
        return "", tasks
    word = _SAME_FREQUENCY.get(match[0], match[0])
    return match[0], [task for task in tasks if word in _time_text(task).lower()]


def _task_name(task: Node) -> str:
    """Return what a task runs, without the namespace of a class."""
    runs = str(task.attributes.get("runs") or task.name)
    return class_name(f"class:{runs}").rpartition("\\")[2] if "\\" in runs else runs
