"""Questions about the places that raise an exception of the project or of another package."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragstone import Engine
from ragstone.types import GraphAnswer

FILES = {
    "store.py": (
        "import json\n"
        "\n\n"
        "class Full(Exception):\n"
        "    pass\n"
        "\n\n"
        "def put(count: int) -> None:\n"
        "    if count < 0:\n"
        "        raise ValueError('negative')\n"
        "    if count == 0:\n"
        "        raise ValueError\n"
        "    if count > 9:\n"
        "        raise Full('ten')\n"
        "    raise json.JSONDecodeError('no', '', 0)\n"
        "\n\n"
        "def later() -> None:\n"
        "    error = KeyError('x')\n"
        "    raise error\n"
        "\n\n"
        "def prepare() -> Full:\n"
        "    return Full('later')\n"
    ),
    "other.py": "def get() -> None:\n    raise ValueError('other')\n",
    "a.php": "<?php\nfunction load() {\n    throw new \\RuntimeException('x');\n}\n",
    "a.ts": "export function load() {\n    throw new RangeError('x');\n}\n",
    "A.java": "class A {\n    void load() {\n        throw new IllegalStateException();\n    }\n}\n",
    "A.cs": "class B {\n    void Load() {\n        throw new TimeoutException();\n    }\n}\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("exceptions")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    with Engine.open(folder, config={"rag.embedding_provider": "fake"}) as opened:
        opened.sync(embed=False)
        yield opened


def ask(engine: Engine, question: str) -> GraphAnswer:
    answer = engine.retrieve(question, 0).answer
    assert answer is not None, question
    return answer


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("what raises ValueError", ["other.py:2", "store.py:10", "store.py:12"]),
        ("where is ValueError raised", ["other.py:2", "store.py:10", "store.py:12"]),
        ("what in store.py raises ValueError", ["store.py:10", "store.py:12"]),
        ("what raises JSONDecodeError", ["store.py:15"]),
        ("what raises json.JSONDecodeError", ["store.py:15"]),
        ("what throws RuntimeException", ["a.php:3"]),
        ("what throws RangeError", ["a.ts:2"]),
        ("what throws IllegalStateException", ["A.java:3"]),
        ("what throws TimeoutException", ["A.cs:3"]),
    ],
)
def test_an_exception_of_another_package_has_the_places_that_raise_it(
    engine: Engine, question: str, places: list[str]
) -> None:
    retrieval = engine.retrieve(question, 0)
    assert retrieval.answer is not None
    assert retrieval.answer.facts["dispatched_from"] == places
    assert " is raised in " in retrieval.answer.said
    assert not retrieval.unknown


def test_a_variable_that_is_raised_raises_no_known_exception(engine: Engine) -> None:
    retrieval = engine.retrieve("what raises KeyError", 0)
    assert retrieval.answer is None
    assert retrieval.unknown == ("KeyError",)


def test_an_exception_is_created_where_it_is_not_raised(engine: Engine) -> None:
    assert ask(engine, "what raises Full").said == (
        "store.Full is raised in store.put (store.py:14); it is created in store.prepare (store.py:24)."
    )
