"""A question for the place where a name is defined has the definition first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragstone import Engine
from ragstone.retrieval.ranking.fusion import asked_definition

CLASSES = """class ServiceTransport(Transport):
    \"\"\"A transport class: where a service is defined, the transport class asks for it.\"\"\"

    def ask(self): ...


class Transport:
    \"\"\"Sends packets.\"\"\"

    def send(self): ...
"""
GUIDE = """# Transport

Where is the timeout of a transport defined? The class of the transport has a file of settings.

## Class methods

Class methods of a transport are defined once. The definition of a class is in its file.
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("transport")
    (folder / "net.py").write_text(f"{CLASSES}\n\n{'# filler of the file' * 40}\n", "utf-8")
    for number in range(12):
        guide = folder / f"transport-{number}.md"
        guide.write_text(f"{GUIDE}\nTransport number {number}.\n", "utf-8")
        code = f"def retry_{number}(transport):\n    return transport.send({number}, retry)\n"
        (folder / f"use{number}.py").write_text(code, "utf-8")
    (folder / "again.py").write_text("def retry(call):\n    return call() or call()\n", "utf-8")
    with Engine.open(folder) as opened:
        opened.sync()
        yield opened


@pytest.mark.parametrize(
    ("query", "path", "symbol"),
    [
        ("where is Transport defined", "net.py", "Transport"),
        ("class Transport", "net.py", "Transport"),
        ("Where is the Transport class implemented?", "net.py", "Transport"),
        ("show me the definition of ServiceTransport", "net.py", "ServiceTransport"),
        ("def retry", "again.py", "retry"),
        ("where is retry defined?", "again.py", "retry"),
        ("retry", "again.py", "retry"),
    ],
)
def test_the_definition_is_the_first_hit(
    engine: Engine, query: str, path: str, symbol: str
) -> None:
    explanation = engine.explain(query, 3)
    assert explanation.query == query
    assert explanation.hits[0].source_doc_id == path
    assert symbol in explanation.hits[0].symbol.split()


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("class Transport", "Transport"),
        ("def retry", "retry"),
        ("where is Transport.send defined?", "Transport.send"),
        ("where's the method open_session implemented", "open_session"),
        ("definition of std::vector", "std::vector"),
        ("HostKeys definition", "HostKeys"),
        ("the definition of the class HostKeys", "HostKeys"),
        ("class methods", ""),
        ("function definition", ""),
        ("definition of done", ""),
        ("function pointers", ""),
        ("type hints", ""),
        ("where is the office", ""),
        ("where are the limits of uploads defined", ""),
        ("where is the limit of uploads defined", ""),
        ("Transport", "Transport"),
        ("", ""),
    ],
)
def test_only_a_question_for_one_name_is_a_question_for_its_definition(
    query: str, name: str
) -> None:
    assert asked_definition(query) == name
