"""Questions about code whose names are plain words, and about calls whose target is not certain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.types import GraphAnswer

FILES = {
    "line/__init__.py": "",
    "line/errors.py": (
        "class Failure(Exception):\n"
        "    def __init__(self, code: int) -> None:\n"
        "        self.code = code\n"
        "\n\n"
        "class SmallFailure(Failure):\n"
        "    pass\n"
        "\n\n"
        "class Unseen(Exception):\n"
        "    def __init__(self) -> None:\n"
        "        pass\n"
    ),
    "line/client.py": (
        "from line.errors import Failure, SmallFailure\n"
        "\n\n"
        "class Policy:\n"
        "    def decide(self) -> None:\n"
        "        pass\n"
        "\n\n"
        "class Strict(Policy):\n"
        "    def decide(self) -> None:\n"
        "        raise Failure(1)\n"
        "\n\n"
        "class Lenient(Policy):\n"
        "    def decide(self) -> None:\n"
        "        raise SmallFailure(2)\n"
        "\n\n"
        "class Client:\n"
        "    def __init__(self) -> None:\n"
        "        self._policy = Strict()\n"
        "\n"
        "    def use(self, policy) -> None:\n"
        "        self._policy = policy\n"
        "\n"
        "    def connect(self, host: str, port: int = 1) -> bool:\n"
        "        self._policy.decide()\n"
        "        pause()\n"
        "        return True\n"
        "\n\n"
        "class Proxy:\n"
        "    def connect(self) -> None:\n"
        "        Client().connect('here')\n"
        "\n\n"
        "def pause() -> None:\n"
        "    style()\n"
        "\n\n"
        "def style() -> None:\n"
        "    import socket\n"
        "    opened = socket.socket()\n"
        "    opened.connect(('here', 1))\n"
    ),
    "line/kites.py": (
        "class Kite:\n"
        "    def fly_high(self) -> None:\n"
        "        pass\n"
        "\n\n"
        "def two(k) -> None:\n"
        "    k.fly_high()\n"
        "    k.fly_high()\n"
        "\n\n"
        "def nine(k) -> None:\n" + "    k.fly_high()\n" * 9 + "\n\n"
        "def checked(function):\n"
        "    return function\n"
        "\n\n"
        "@checked\n"
        "def land() -> None:\n"
        "    pass\n"
    ),
    "tests/test_client.py": (
        "def test_a_runner_connects(runner) -> None:\n    runner.connect('here')\n"
    ),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("line")
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
    ("question", "part"),
    [
        ("what calls pause", "pause is called from line.client.Client.connect"),
        ("what calls pause()", "pause is called from line.client.Client.connect"),
        ("what calls the function style?", "style is called from line.client.pause"),
        ("callers of style", "style is called from line.client.pause"),
        ("is style called by pause", "Yes: line.client.style is called from line.client.pause"),
        ("where is style defined", "style is defined in line/client.py:41."),
        ("where's style defined", "style is defined in line/client.py:41."),
        ("where is style", "style is defined in line/client.py:41."),
        ("where is the style function", "style is defined in line/client.py:41."),
        ("what does pause call", "line.client.pause calls line.client.style"),
        ("does pause call style", "Yes: line.client.pause"),
        ("which functions call style", "style is called from line.client.pause"),
        ("where is connect defined", "connect is defined in 2 places: line.client."),
        ("where is the connect method of Client defined", "line.client.Client.connect is defined in"),
        ("where is Client's connect method defined", "line.client.Client.connect is defined in"),
        ("where is the decide method of Strict", "line.client.Strict.decide is defined in"),
        ("what are the parameters of Client.connect", "def connect(self, host: str, port: int = 1)"),
        ("what does Client.connect return", "-> bool (line/client.py:26)"),
        ("what overrides decide", "line.client.Policy.decide is overridden by line.client.Lenient.decide"),
        ("which methods does Client have", "declares __init__ (line 20), connect (line 26) and use (line 23)"),
        ("what does Strict inherit from", "line.client.Strict extends line.client.Policy"),
        ("what is the base class of Failure", "in this project; it is declared as `class Failure(Exception)`."),
        ("which classes extend Policy", "line.client.Policy is extended, implemented or used by"),
        ("how does Proxy.connect reach style", "which calls line.client.pause"),
        ("what does pause do", "line.client.pause is defined in line/client.py:37."),
    ],
)  # fmt: skip
def test_a_plain_word_is_a_name_if_the_wording_asks_for_code(
    engine: Engine, question: str, part: str
) -> None:
    assert part in ask(engine, question).said


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("what raises Failure", ["line/client.py:11"]),
        ("where is SmallFailure raised", ["line/client.py:16"]),
        ("who throws Unseen", []),
    ],
)
def test_an_exception_with_a_constructor_is_raised_where_it_is_created(
    engine: Engine, question: str, places: list[str]
) -> None:
    answer = ask(engine, question)
    assert answer.facts["dispatched_from"] == places
    assert answer.negative == (not places)


def test_a_call_without_a_written_type_is_listed_with_its_place(engine: Engine) -> None:
    answer = ask(engine, "what calls decide")
    assert "any of the 3 decide" in answer.said
    assert "1 call of that name has no written receiver type (line/client.py:27)" in answer.said
    assert ("line/client.py", 27) in answer.evidence
    assert not answer.negative


def test_every_line_of_calls_without_a_written_type_is_counted(engine: Engine) -> None:
    answer = ask(engine, "what calls fly_high")
    places = [("line/kites.py", line) for line in (7, 8, *range(12, 21))]
    assert (
        "11 calls of that name have no written receiver type (line/kites.py:7," in answer.said
    )
    assert "line/kites.py:17 and 3 more)" in answer.said
    assert answer.facts["unresolved"] == [f"{uri}:{line}" for uri, line in places]
    assert set(places) <= set(answer.evidence)


def test_a_decorator_without_brackets_is_a_call_and_a_use(engine: Engine) -> None:
    answer = ask(engine, "what calls checked")
    assert answer.facts["called_from"] == ["line/kites.py:27"]
    assert not answer.negative
    assert {each.node.key for each in engine.graph.related("checked")} >= {"file:line/kites.py"}
    assert engine.graph.impact("checked").total


def test_a_possible_call_without_a_written_type_is_listed_with_its_place(
    engine: Engine,
) -> None:
    answer = ask(engine, "does two call fly_high")
    assert (
        "2 calls of that name have no written receiver type (line/kites.py:7 and" in answer.said
    )
    assert answer.facts["unresolved"] == ["line/kites.py:7", "line/kites.py:8"]
    assert ("line/kites.py", 8) in answer.evidence
    assert "unresolved" not in ask(engine, "does land call fly_high").facts


def test_a_test_that_may_call_something_is_listed_and_not_denied(engine: Engine) -> None:
    answer = ask(engine, "which tests cover connect")
    assert "(tests/test_client.py:2)" in answer.said
    assert not answer.negative
    assert "answer" not in ask(engine, "is Client.connect tested").facts


def test_a_call_of_another_library_is_no_possible_call(engine: Engine) -> None:
    unresolved = ask(engine, "what calls Client.connect").facts["unresolved"]
    assert unresolved == ["tests/test_client.py:2"]


def test_calls_without_a_target_are_named_beside_the_called_functions(engine: Engine) -> None:
    said = ask(engine, "what does Client.connect call").said
    assert "The target of other calls is not known: self._policy.decide (line 27)." in said


def test_a_method_that_a_class_does_not_have_is_no_question_about_the_class(
    engine: Engine,
) -> None:
    answer = ask(engine, "where is the pay method of Client defined")
    assert answer.negative
    assert answer.said.startswith("There is no method Client.pay")


COMMON_NAMES = ("helper", "method", "function", "code", "test", "one")


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return a project whose functions are named like words of questions."""
    folder = tmp_path_factory.mktemp("common")
    functions = [f"def {name}() -> None:\n    pass\n" for name in COMMON_NAMES]
    calls = "".join(f"    {name}()\n" for name in COMMON_NAMES)
    text = "\n\n".join([*functions, f"def caller() -> None:\n{calls}"])
    (folder / "words.py").write_text(text, encoding="utf-8")
    with Engine.open(folder, config={"rag.embedding_provider": "fake"}) as opened:
        opened.sync(embed=False)
        yield opened


@pytest.mark.parametrize("name", COMMON_NAMES)
def test_a_common_word_is_a_name_if_code_has_exactly_this_name(
    common: Engine, name: str
) -> None:
    assert f"words.{name} is called from words.caller" in ask(common, f"what calls {name}").said
    assert f"words.{name} is defined in" in ask(common, f"where is {name} defined").said


@pytest.mark.parametrize("name", COMMON_NAMES)
def test_a_common_word_is_no_unknown_name(engine: Engine, name: str) -> None:
    assert not engine.retrieve(f"what calls {name}", 0).unknown
    assert not engine.retrieve(f"where is the {name} method of Client", 0).unknown


def test_a_misspelt_class_alone_gets_a_suggestion(engine: Engine) -> None:
    retrieval = engine.retrieve("SmalFailure", 0)
    assert retrieval.unknown == ("SmalFailure",)
    assert "Did you mean: SmallFailure?" in str(retrieval.debug["notes"])
    assert "Did you mean" not in str(engine.retrieve("OrderPaid", 0).debug["notes"])


def test_an_unknown_path_is_called_a_route(engine: Engine) -> None:
    assert engine.retrieve("what serves /auth/login", 0).unknown == ("route /auth/login",)


def test_a_name_that_no_code_has_is_unknown(engine: Engine) -> None:
    retrieval = engine.retrieve("what calls frobnicate", 0)
    assert retrieval.answer is None
    assert retrieval.debug["unknown"] == ["frobnicate"]


def test_a_question_for_routes_says_that_none_is_known(engine: Engine) -> None:
    retrieval = engine.retrieve("what guards login", 0)
    assert retrieval.answer is None
    assert "none is known here" in str(retrieval.debug["notes"])
    assert ask(engine, "which routes are there").said == "No routes are known here."


def test_a_name_of_too_many_things_asks_for_its_class(tmp_path: Path) -> None:
    classes = [f"class C{number}:\n    def run(self):\n        pass\n" for number in range(20)]
    (tmp_path / "many.py").write_text("\n\n".join(classes), encoding="utf-8")
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as many:
        many.sync(embed=False)
        answer = ask(many, "what calls run")
    assert "“run” stands for 20 things" in answer.said
    assert "Name the class or module too." in answer.said


def test_an_exception_of_php_is_raised_by_its_class_name(tmp_path: Path) -> None:
    (tmp_path / "a.php").write_text(
        "<?php\nclass Missing extends Exception {}\n"
        "function load($path) {\n    throw_unless($path, Missing::class);\n}\n",
        encoding="utf-8",
    )
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as project:
        project.sync(embed=False)
        assert ask(project, "what raises Missing").facts["dispatched_from"] == ["a.php:4"]
