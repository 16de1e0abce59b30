"""Questions about plain Python beside a framework: who raises, uses, calls, defines and tests something."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.errors import NotFound
from ragstone.types import Retrieval

FILES = {
    "shop/pyproject.toml": '[project]\nname = "shop"\n',
    "shop/src/shop/__init__.py": "",
    "shop/src/shop/retry.py": "def with_retry(operation):\n    return operation()\n",
    "shop/src/shop/payments.py": (
        "from shop.retry import with_retry\n"
        "\n"
        "\n"
        "class Declined(Exception):\n"
        "    pass\n"
        "\n"
        "\n"
        "class Closed(Exception):\n"
        "    pass\n"
        "\n"
        "\n"
        "class Unused(Exception):\n"
        "    pass\n"
        "\n"
        "\n"
        "class Gateway:\n"
        "    def charge(self, cents: int) -> str:\n"
        "        if cents < 0:\n"
        "            raise Declined('too little')\n"
        "        if cents == 0:\n"
        "            raise Closed\n"
        "        return with_retry(str)\n"
        "\n"
        "    def refund(self, error: Exception) -> None:\n"
        "        with_retry(str)\n"
        "        raise error\n"
    ),
    "shop/src/shop/main.py": (
        "from fastapi import FastAPI\n"
        "\n"
        "from shop.payments import Gateway\n"
        "from shop.retry import with_retry\n"
        "\n"
        "app = FastAPI()\n"
        "\n"
        "\n"
        "@app.post('/orders')\n"
        "def create_order() -> str:\n"
        "    return Gateway().charge(5)\n"
        "\n"
        "\n"
        "def order_later() -> str:\n"
        "    return create_order()\n"
    ),
    "shop/tests/test_retry.py": (
        "from shop.retry import with_retry\n"
        "\n"
        "\n"
        "def test_an_operation_is_done() -> None:\n"
        "    assert with_retry(str) == ''\n"
    ),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("shop")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    with Engine.open(folder, config={"rag.embedding_provider": "fake"}) as opened:
        opened.sync(embed=False)
        yield opened


def ask(engine: Engine, question: str) -> Retrieval:
    return engine.retrieve(question, 0)


def said(engine: Engine, question: str) -> str:
    answer = ask(engine, question).answer
    return answer.said if answer else ""


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("what raises Declined", "Declined is raised in shop.src.shop.payments.Gateway.charge (shop/src/shop/payments.py:19)"),
        ("where is Closed raised?", "Closed is raised in shop.src.shop.payments.Gateway.charge (shop/src/shop/payments.py:21)"),
        ("who throws Unused", "No code creates shop.src.shop.payments.Unused; looked in all calls"),
        ("who uses Gateway", "Gateway is used by shop.src.shop.main.create_order (shop/src/shop/main.py:11)"),
        ("what instantiates Gateway?", "Gateway is used by shop.src.shop.main.create_order"),
        ("what uses Unused", "No code calls or extends shop.src.shop.payments.Unused"),
        ("what imports shop.retry", "shop/src/shop/retry.py is used by"),
        ("what depends on shop.payments", "shop/src/shop/payments.py is used by shop.src.shop.main.create_order"),
        ("what depends on shop/src/shop/payments.py", "shop/src/shop/payments.py is used by"),
        ("what uses payments.py", "shop/src/shop/payments.py is used by"),
        ("what depends on with_retry", "with_retry is called from"),
        ("what calls shop.payments.Gateway.charge", "Gateway.charge is called from shop.src.shop.main.create_order"),
        ("where is with_retry defined", "with_retry is defined in shop/src/shop/retry.py:1."),
        ("which file defines Gateway", "Gateway is defined in shop/src/shop/payments.py:16."),
        ("which tests cover with_retry", "with_retry is called in tests by shop.tests.test_retry.test_an_operation_is_done"),
        ("which code serves create_order", "POST orders (create_order) is served by"),
        ("what does create_order call", "create_order calls shop.src.shop.payments.Gateway ("),
        ("who calls create_order", "create_order is called from shop.src.shop.main.order_later"),
        ("where is create_order defined", "create_order is defined in shop/src/shop/main.py:10."),
        ("where is Gateway implemented", "Gateway is defined in shop/src/shop/payments.py:16."),
        ("where is the implementation of with_retry?", "with_retry is defined in shop/src/shop/retry.py:1."),
    ],
)  # fmt: skip
def test_the_verb_of_a_question_is_answered(engine: Engine, question: str, part: str) -> None:
    assert part in said(engine, question)


def test_the_classes_that_extend_a_class_are_no_place_of_its_implementation(
    engine: Engine,
) -> None:
    assert "extended" not in said(engine, "where is Gateway implemented")
    assert "extended" in said(engine, "which classes implement Gateway")


def test_an_unknown_name_near_a_known_one_gets_a_suggestion(engine: Engine) -> None:
    notes = ask(engine, "what calls create_ordre").debug["notes"]
    assert "Did you mean: what calls create_order?" in str(notes)


def test_many_callers_are_counted_in_the_sentence_and_listed_as_places(tmp_path: Path) -> None:
    callers = "\n\n".join(
        f"def caller_{number}():\n    write_target()\n" for number in range(20)
    )
    (tmp_path / "many.py").write_text(
        f"def write_target():\n    pass\n\n\n{callers}", encoding="utf-8"
    )
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as many:
        many.sync(embed=False)
        answer = ask(many, "what calls write_target").answer
    assert answer is not None
    assert answer.said.endswith(" and 12 more.")
    assert len(answer.evidence) == 21


def test_the_tests_of_a_function_are_no_other_callers(engine: Engine) -> None:
    assert "Gateway" not in said(engine, "which tests cover with_retry")


def test_the_callees_of_a_function_are_not_its_callers(engine: Engine) -> None:
    assert "is called from" not in said(engine, "what does Gateway.charge call")


def test_a_raised_variable_is_no_creation(engine: Engine) -> None:
    assert "payments.py:26" not in said(engine, "what creates Declined")
    unresolved = engine.graph.explain(engine.graph.node("Gateway.refund")).unresolved
    assert [row.name for row in unresolved] == []


def test_yes_is_only_said_to_what_was_asked(engine: Engine) -> None:
    assert said(engine, "is with_retry tested?").startswith("Yes: ")
    untested = ask(engine, "is Gateway.charge tested?").answer
    assert untested is not None
    assert untested.said.startswith(
        "No test calls shop.src.shop.payments.Gateway.charge itself"
    )
    assert "answer" not in untested.facts
    assert not said(engine, "is Gateway.charge beautiful?").startswith("Yes")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("create_order", "function:shop.src.shop.main.create_order"),
        ("shop.payments.Gateway.charge", "method:shop.src.shop.payments.Gateway.charge"),
        ("shop.payments.Gateway", "class:shop.src.shop.payments.Gateway"),
        ("shop.retry.with_retry", "function:shop.src.shop.retry.with_retry"),
        ("shop.retry", "file:shop/src/shop/retry.py"),
        ("shop/retry.py", "file:shop/src/shop/retry.py"),
    ],
)
def test_a_name_is_found_as_code_imports_it(engine: Engine, name: str, key: str) -> None:
    assert engine.graph.node(name).key == key


def test_the_end_of_a_name_begins_at_a_dot(engine: Engine) -> None:
    for name in ("hop.retry.with_retry", "ayments.Gateway", "etry.with_retry", "etry.py"):
        with pytest.raises(NotFound):
            engine.graph.node(name)


def test_the_impact_of_a_served_function_names_its_route(engine: Engine) -> None:
    impact = engine.graph.impact("create_order")
    assert [kind for kind, _ in impact.groups][:1] == ["route"]
