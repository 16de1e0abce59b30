"""Questions about the routes of a small Python program: by URL, behind calls, in examples, beside plain code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.errors import InputError, NotFound

FILES = {
    "shop/__init__.py": "",
    "shop/retry.py": (
        "def with_retry(text):\n"
        "    def send():\n"
        "        return text\n"
        "    return send()\n"
        "\n"
        "\n"
        "def backoff_seconds(attempt):\n"
        "    return 2**attempt\n"
    ),
    "shop/mail.py": "class Mailer:\n    def send(self, text):\n        return text\n",
    "shop/session.py": (
        "class SessionStore:\n"
        '    """Keeps the session of a visitor."""\n'
        "\n"
        "    def save_session(self, session, response):\n"
        '        """Save the session: write its cookie to the response."""\n'
        "        response.set_cookie('session', session.dumps())\n"
        "\n"
        "    def open_session(self, request):\n"
        '        """Open the session of a request."""\n'
        "        return request.cookies.get('session')\n"
    ),
    "shop/app.py": (
        "from fastapi import Depends, FastAPI\n"
        "\n"
        "from shop.retry import backoff_seconds\n"
        "\n"
        "app = FastAPI()\n"
        "\n"
        "\n"
        "def require_key():\n"
        "    pass\n"
        "\n"
        "\n"
        "def find_item(item_id):\n"
        "    return wait(item_id)\n"
        "\n"
        "\n"
        "def wait(item_id):\n"
        "    return backoff_seconds(item_id)\n"
        "\n"
        "\n"
        "@app.get('/items/{item_id}', dependencies=[Depends(require_key)])\n"
        "def read_item(item_id: int):\n"
        "    return find_item(item_id)\n"
    ),
    "examples/blog/app.py": (
        "from fastapi import FastAPI\n"
        "app = FastAPI()\n"
        "@app.post('/posts', name='blog.create')\n"
        "def create(): ...\n"
    ),
}
ITEM = "GET items/{item_id}"


def opened(tree: Path, files: dict[str, str]) -> Engine:
    for path, text in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text, encoding="utf-8")
    return Engine.open(tree, config={"rag.embedding_provider": "fake"})


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with opened(tmp_path_factory.mktemp("program"), FILES) as engine:
        engine.sync()
        yield engine


def said(engine: Engine, question: str) -> str:
    answer = engine.retrieve(question).answer
    assert answer is not None
    return answer.said


def notes(engine: Engine, question: str) -> str:
    return str(engine.retrieve(question).debug["notes"])


@pytest.mark.parametrize(
    "question",
    [
        "how does a session get saved",
        "how is the session cookie written to the response",
        "what happens when a session is missing",
    ],
)
def test_a_question_that_shares_no_word_with_a_route_keeps_the_order_of_the_search(
    engine: Engine, question: str
) -> None:
    hits = engine.search(question, 2)
    retrieval = engine.retrieve(question, 2)
    assert retrieval.answer is None
    assert retrieval.chunks[0].source_doc_id == hits[0].source_doc_id == "shop/session.py"


@pytest.mark.parametrize("url", ["/items/5", "GET /items/5", "/items/<id>", "/items/{id}"])
def test_a_url_with_a_value_means_the_route_with_a_parameter(engine: Engine, url: str) -> None:
    assert f"{ITEM} (read_item) passes require_key" in said(engine, f"what guards {url}")


def test_a_url_that_no_route_matches_is_denied(engine: Engine) -> None:
    assert "no route /items/5/parts" in said(engine, "what guards /items/5/parts")


@pytest.mark.parametrize(
    "name",
    ["GET /items/{item_id}", "GET items/<int:id>", "get /items/<id>", "/items/{id}"],
)
def test_a_route_is_found_by_its_method_and_path(engine: Engine, name: str) -> None:
    assert engine.graph.node(name).key == f"route:{ITEM}"


def test_a_route_is_not_found_by_another_method(engine: Engine) -> None:
    with pytest.raises(NotFound):
        engine.graph.node("POST /items/{item_id}")


def test_a_word_means_a_function_and_methods_alike(engine: Engine) -> None:
    with pytest.raises(InputError, match="stands for 2 things") as raised:
        engine.graph.node("send")
    assert "method:shop.mail.Mailer.send" in str(raised.value.hint)


def test_the_impact_of_a_file_has_the_routes_that_it_serves(engine: Engine) -> None:
    groups = dict(engine.graph.impact("shop/app.py").groups)
    assert [affected.key for affected in groups["route"]] == [f"route:{ITEM}"]


@pytest.mark.parametrize(
    ("question", "way"),
    [
        ("which route calls find_item", "shop.app.read_item → shop.app.find_item"),
        (
            "which route ends up calling backoff_seconds",
            "shop.app.find_item → shop.app.wait → shop.retry.backoff_seconds",
        ),
    ],
)
def test_a_route_is_named_that_reaches_a_function_by_calls(
    engine: Engine, question: str, way: str
) -> None:
    answer = said(engine, question)
    assert f"is reached by {ITEM}" in answer and way in answer


def test_a_single_route_is_listed_in_the_singular(engine: Engine) -> None:
    assert said(engine, "list all routes").startswith(f"1 route is known: {ITEM}")


@pytest.mark.parametrize("question", ["list all routes", "what guards blog.create"])
def test_an_answer_names_the_examples_that_are_left_out(engine: Engine, question: str) -> None:
    assert "examples/blog: the routes" in notes(engine, question)


def test_an_answer_about_a_known_route_is_silent_about_examples(engine: Engine) -> None:
    assert "examples/blog" not in notes(engine, "what guards /items/5")


def test_a_copy_of_the_framework_makes_the_answer_none_uncertain(tmp_path: Path) -> None:
    files = {**FILES, "src/fastapi/__init__.py": "class FastAPI:\n    pass\n"}
    with opened(tmp_path, files) as engine:
        engine.sync()
        assert ITEM in said(engine, "what guards /items/5")
        retrieval = engine.retrieve("what guards POST /ghosts")
        assert retrieval.answer is None
        assert "src/fastapi is a copy of the framework" in str(retrieval.debug["notes"])
