"""Questions about the guards of all routes, and about guards whose name does not say that they authenticate."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragstone import Engine
from ragstone.types import GraphAnswer

FILES = {
    "app/__init__.py": "",
    "app/auth.py": (
        "from fastapi import Header, HTTPException\n"
        "from app.other import decide\n"
        "\n\n"
        "def require_user(key: str = Header()):\n"
        "    if not key:\n"
        "        raise HTTPException(401)\n"
        "\n\n"
        "def require_owner(key: str = Header()):\n"
        "    require_user(key)\n"
        "\n\n"
        "def get_store():\n"
        "    yield open('store')\n"
        "\n\n"
        "def inspect(key: str = Header()):\n"
        "    decide.check_user(key)\n"
    ),
    "app/main.py": (
        "from fastapi import APIRouter, Depends, FastAPI\n"
        "from app.auth import get_store, inspect, require_owner, require_user\n"
        "\n"
        "router = APIRouter()\n"
        "app = FastAPI()\n"
        "\n\n"
        "@router.post('/pay')\n"
        "def pay_invoice():\n"
        "    return load()\n"
        "\n\n"
        "@app.get('/health')\n"
        "def health():\n"
        "    return {}\n"
        "\n\n"
        "@app.get('/stock', dependencies=[Depends(get_store)])\n"
        "def stock():\n"
        "    return {}\n"
        "\n\n"
        "@app.get('/odd', dependencies=[Depends(inspect)])\n"
        "def odd():\n"
        "    return {}\n"
        "\n\n"
        "@app.delete('/invoices', dependencies=[Depends(require_owner)])\n"
        "def purge_invoices():\n"
        "    return load()\n"
        "\n\n"
        "def load():\n"
        "    return {}\n"
        "\n\n"
        "app.include_router(router, dependencies=[Depends(require_user)])\n"
    ),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("api")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    with Engine.open(folder, config={"rag.embedding_provider": "fake"}) as opened:
        opened.sync(embed=False)
        yield opened


def ask(engine: Engine, question: str) -> GraphAnswer:
    answer = engine.retrieve(question, 0).answer
    assert answer is not None, question
    return answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("is pay_invoice guarded", "yes"),
        ("is pay_invoice public", "no"),
        ("is purge_invoices guarded", "yes"),
        ("is purge_invoices guarded by require_user", "yes"),
        ("is pay_invoice behind require_user", "yes"),
        ("is GET /stock guarded", "no"),
        ("is GET /stock public", "yes"),
        ("is GET /health guarded", "no"),
    ],
)
def test_the_code_of_a_guard_says_whether_it_authenticates(
    engine: Engine, question: str, answer: str
) -> None:
    assert ask(engine, question).facts.get("answer") == answer


def test_the_reason_for_yes_is_in_the_sentence(engine: Engine) -> None:
    said = ask(engine, "is pay_invoice guarded").said
    assert "require_user answers 401 (app/auth.py:5)" in said


@pytest.mark.parametrize("question", ["is GET /odd guarded", "is GET /odd public"])
def test_a_guard_whose_code_is_not_clear_gets_neither_yes_nor_no(
    engine: Engine, question: str
) -> None:
    answer = ask(engine, question)
    assert "answer" not in answer.facts
    assert answer.said.endswith("Whether inspect lets only known users pass is not known.")


@pytest.mark.parametrize(
    ("question", "routes"),
    [
        ("which routes are not guarded", ["GET health (health)", "GET stock (stock)"]),
        ("which routes are public?", ["GET health (health)", "GET stock (stock)"]),
        ("which routes are guarded", ["DELETE invoices (purge_invoices)", "POST pay (pay_invoice)"]),
        ("which routes have no middleware", ["GET health (health)"]),
    ],
)  # fmt: skip
def test_routes_are_listed_by_their_guards(
    engine: Engine, question: str, routes: list[str]
) -> None:
    facts = ask(engine, question).facts
    listed = facts["routes"]
    assert isinstance(listed, list)
    assert sorted(map(str, listed)) == routes


def test_a_guard_that_is_not_clear_is_named_in_a_list(engine: Engine) -> None:
    answer = ask(engine, "which routes are not guarded")
    assert "Of 1 it is not known, because of inspect: GET odd (odd)." in answer.said


def test_routes_without_a_named_middleware_are_listed(engine: Engine) -> None:
    said = ask(engine, "which routes do not pass require_user").said
    assert "4 of 5 routes do not pass" in said
    assert "POST pay" not in said


def test_all_routes_are_listed(engine: Engine) -> None:
    assert ask(engine, "which routes are there").said.startswith("5 routes are known: ")


def test_a_path_that_no_route_has_is_unknown(engine: Engine) -> None:
    answer = ask(engine, "what guards /ghost")
    assert answer.negative
    assert answer.said.startswith("There is no route /ghost")


@pytest.mark.parametrize(
    "question", ["what guards login", "which routes are guarded by a captcha"]
)
def test_a_route_without_a_word_of_the_question_is_no_answer(
    engine: Engine, question: str
) -> None:
    assert engine.retrieve(question, 0).answer is None


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("where is load defined", "app.main.load is defined in app/main.py:33."),
        ("what calls load()", "app.main.load is called from app.main.pay_invoice"),
        ("who calls pay_invoice", "The framework calls app.main.pay_invoice for POST pay"),
    ],
)
def test_a_route_is_no_answer_about_a_function(
    engine: Engine, question: str, said: str
) -> None:
    assert ask(engine, question).said.startswith(said)


def test_a_function_that_is_also_a_guard_is_one_thing(engine: Engine) -> None:
    impact = engine.graph.impact("require_user")
    assert engine.graph.node("require_user").kind == "function"
    assert "route" in dict(impact.groups)
