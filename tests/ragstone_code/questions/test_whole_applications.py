"""Questions over small applications, from their files to the answer: habits of real applications."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.types import Retrieval
from tests.ragstone_code.projects import unpacked

NO_NAMES = frozenset(
    "StallWasBurnt SweepFloors stalls.archive close-stalls stalls:teleport stall_keys Fountain".split()
)
Ask = Callable[[str], Retrieval]


@contextmanager
def opened(name: str, folder: Path) -> Iterator[Ask]:
    """Yield a function that asks questions about one of the applications in `apps`."""
    tree = unpacked(name, folder / "app")
    config = {"store.path": str(folder / "index"), "rag.embedding_provider": "fake"}
    with Engine.open(tree, config=config) as engine:
        engine.sync(embed=False)
        yield lambda question: engine.retrieve(question, 0)


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    with opened("market", tmp_path_factory.mktemp("market")) as ask:
        yield ask


def said(retrieval: Retrieval) -> str:
    """Return the sentence of an answer; empty if there is no answer."""
    return retrieval.answer.said if retrieval.answer else ""


def list_of(value: object) -> list[object]:
    """Return a value of a JSON object that is a list."""
    assert isinstance(value, list)
    return value


def test_classes_are_seen_if_composer_also_loads_their_folder_for_development(
    market: Ask,
) -> None:
    assert "StallObserver" in said(market("Which observer watches the Stall model?"))
    assert "StallRequest" in said(market("Which form request validates stalls.update?"))


def test_the_policy_of_a_route_is_found_through_an_inherited_constant(market: Ask) -> None:
    answer = market("Which policy ability does stalls.update check?").answer
    assert answer is not None
    assert answer.facts["policy"] == "App\\Policies\\StallPolicy"
    assert answer.facts["abilities"] == ["change"]
    assert answer.facts["decided_by"] == ["App\\Policies\\BasePolicy::change"]
    assert ("app/Policies/BasePolicy.php", 7) in answer.evidence


def test_the_abilities_of_a_policy_include_those_of_its_parents_with_their_places(
    market: Ask,
) -> None:
    answer = market(
        "Which policy protects the Stall model, and which abilities does it have?"
    ).answer
    assert answer is not None
    assert answer.facts["abilities"] == ["view", "change"]
    assert ("app/Policies/BasePolicy.php", 7) in answer.evidence


def test_a_policy_can_be_registered_for_a_class_of_the_framework(market: Ask) -> None:
    assert "NoticePolicy" in said(market("Which policy protects DatabaseNotification?"))


def test_a_route_that_checks_no_policy_says_so(market: Ask) -> None:
    answer = market("Which policy does stalls.index check?").answer
    assert answer is not None
    assert answer.negative
    assert "StallController.php:9" in answer.said


def test_a_job_that_its_own_factory_creates_is_dispatched(market: Ask) -> None:
    answer = market("Who dispatches CountVisitors?").answer
    assert answer is not None
    assert "app/Http/Controllers/StallController.php:16" in str(answer.facts["dispatched_from"])


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("When does the command stalls:close run?", "daily at 21:15 (routes/console.php:3)"),
        ("How often is backup:clean scheduled?", "hourly"),
        ("At what time does the job CountVisitors run?", "every five minutes"),
    ],
)
def test_a_task_has_its_time(market: Ask, question: str, words: str) -> None:
    assert words in said(market(question))


def test_tasks_are_listed_by_their_frequency(market: Ask) -> None:
    answer = market("Which commands are scheduled hourly?").answer
    assert answer is not None
    tasks = list_of(answer.facts["tasks"])
    assert [task["runs"] for task in tasks if isinstance(task, dict)] == ["backup:clean"]
    every = market("Which tasks are scheduled?").answer
    assert every is not None
    assert len(every.evidence) == 3


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is stalls.update protected by auth?", "yes"),
        ("Does a visitor have to be logged in for PUT stalls/{stall}?", "yes"),
        ("Is the route stalls.index protected by authentication?", "no"),
        ("Is stalls.index public?", "yes"),
        ("Does GET ping pass the web middleware?", "no"),
        ("Does the Stall model have an observer?", "yes"),
        ("Does the Keeper model have an observer?", "no"),
        ("Is the Stall model observed by StallObserver?", "yes"),
        ("Is there a policy for the Keeper model?", "no"),
        ("Is stalls.update validated by StallRequest?", "yes"),
        ("Is stalls.update validated by KeeperRequest?", "no"),
        ("Does the stalls table have a column `keeper_id`?", "yes"),
        ("Does the stalls table have a column `colour`?", "no"),
    ],
)
def test_a_question_for_yes_or_no_gets_yes_or_no(
    market: Ask, question: str, answer: str
) -> None:
    graph_answer = market(question).answer
    assert graph_answer is not None
    assert graph_answer.facts["answer"] == answer
    assert graph_answer.said.lower().startswith(f"{answer}: ")


def test_a_column_of_a_named_table_selects_its_migration(market: Ask) -> None:
    answer = market("Which migration introduced the keeper_id column of stalls?").answer
    assert answer is not None
    assert answer.facts["migrations"] == ["2024_02_01_000000_add_keeper_to_stalls"]


def test_excluded_middleware_is_not_said_to_be_passed(market: Ask) -> None:
    sentence = said(market("Which middleware does GET ping pass?"))
    assert "passes no middleware" in sentence
    assert "Taken out of it: web" in sentence


def test_a_question_about_the_web_interface_leaves_api_routes_out(market: Ask) -> None:
    question = "Which api code handles changing a stall {}?"
    assert "(stalls.update)" in said(market(question.format("in the web interface")))
    assert "(api.stalls.update)" in said(market(question.format("")))


def test_a_route_is_found_by_its_name_without_the_names_of_its_groups(market: Ask) -> None:
    answer = market("Which code serves the route fees.pay?").answer
    assert answer is not None
    assert answer.facts["name"] == "shop::fees.pay"


@pytest.mark.parametrize(
    "question",
    [
        "Which listeners handle StallWasBurnt?",
        "Who dispatches the job SweepFloors?",
        "What guards the route stalls.archive?",
        "What guards the route close-stalls?",
        "When does stalls:teleport run?",
        "Which columns does the table stall_keys have?",
        "Which policy guards the model Fountain?",
    ],
)
def test_a_name_that_does_not_exist_is_said_to_be_unknown(market: Ask, question: str) -> None:
    name = next(word for word in question.rstrip("?").split() if word in NO_NAMES)
    retrieval = market(question)
    if retrieval.answer is None:
        assert any(name in str(unknown) for unknown in list_of(retrieval.debug["unknown"]))
    else:
        assert retrieval.answer.negative
        assert name in retrieval.answer.said
        assert "Perhaps" not in retrieval.answer.said


def test_a_product_name_that_is_part_of_a_file_name_is_no_unknown_name(market: Ask) -> None:
    retrieval = market("Which code handles the CloseStalls or CountVisitor feature?")
    assert retrieval.debug["unknown"] == []


def test_classes_that_were_not_read_are_no_reason_for_the_answer_none(tmp_path: Path) -> None:
    tree = tmp_path / "app"
    files = {
        "composer.json": '{"require": {"laravel/framework": "^11.0"},'
        ' "autoload": {"psr-4": {"App\\\\": "storage/code/"}}}',
        "storage/code/Stall.php": "<?php\nnamespace App;\n"
        "class Stall extends \\Illuminate\\Database\\Eloquent\\Model\n{\n}\n",
    }
    for path, text in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text, "utf-8")
    config = {"store.path": str(tmp_path / "index"), "rag.embedding_provider": "fake"}
    with Engine.open(tree, config=config) as engine:
        engine.sync(embed=False)
        retrieval = engine.retrieve("Which policy protects the Stall class?", 0)
        remarks = engine.graph.unknowns()
    assert retrieval.answer is None
    assert any(
        "no class was found in storage/code/" in str(note)
        for note in list_of(retrieval.debug["notes"])
    )
    assert any("no class was found in storage/code/" in remark for remark in remarks)
