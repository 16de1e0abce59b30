"""Static evaluation runs in a confined process, and a file that breaks the process costs its own facts only."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.indexing.graph.frameworks import FrameworkReader
from ragstone.indexing.graph.updater import GraphUpdater
from ragstone.read.python_command import build_command
from ragstone.types import Document, GraphReport, Scope
from tests.indexing.graph.tiny import documents, reader_of
from tests.support.internals import index_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.add(documents(), embed=False)
        yield engine


def update(engine: Engine, reader: FrameworkReader) -> GraphReport:
    try:
        return GraphUpdater(index_of(engine), reader).update("default")
    finally:
        reader.close()


def routes(engine: Engine) -> int:
    graph = engine.workspace.components.store.graph
    return len(graph.nodes(Scope("default"), kinds=["route"]))


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel refuses on Linux only")
def test_an_evaluation_that_is_taken_over_reaches_nothing(
    engine: Engine, tmp_path: Path
) -> None:
    secret = tmp_path / "outside.bin"
    secret.write_text("a secret")
    engine.add(Document("secret.txt", str(secret)), embed=False)
    target = "tests.security.nosy_framework:nosy"
    command = build_command("ragstone.indexing.graph.framework_main", (), (target,))
    report = update(engine, FrameworkReader((target,), command=[*command, str(ROOT)]))
    (process,) = report.remarks
    assert process.startswith("process ") and process != f"process {os.getpid()}"
    assert secret.read_text() == "a secret"


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ("CRASH", "the process that does it crashed"),
        ("HANG", "it takes too long"),
        ("FILL", "it takes too much memory"),
    ],
)
def test_a_file_that_breaks_the_process_is_left_out_and_named(
    engine: Engine, order: str, reason: str
) -> None:
    engine.add(Document("bad.toml", order), embed=False)
    report = update(engine, reader_of("careless", seconds=10))
    assert report.remarks == (f"bad.toml: left out of the evaluation: {reason}",)
    assert report.frameworks == ("tiny",)
    assert routes(engine) == 2


def test_the_file_that_is_evaluated_is_blamed_and_not_the_one_that_was_read_last(
    engine: Engine,
) -> None:
    for name in ("outer.toml", "inner.toml"):
        engine.add(Document(name, "a = 1"), embed=False)
    report = update(engine, reader_of("includer"))
    assert [remark.partition(":")[0] for remark in report.remarks] == ["outer.toml"]
    assert routes(engine) == 2


def test_many_such_files_cost_the_framework_and_what_it_gave_before_stays(
    engine: Engine,
) -> None:
    update(engine, reader_of("tiny"))
    for number in range(5):
        engine.add(Document(f"bad{number}.toml", "CRASH"), embed=False)
    report = update(engine, reader_of("careless"))
    assert len(report.notes) == 1
    assert len(report.remarks) == 4
    assert routes(engine) == 2


def test_a_graph_with_a_place_outside_the_project_is_refused(engine: Engine) -> None:
    report = update(engine, reader_of("liar"))
    assert report.frameworks == ()
    assert routes(engine) == 0
    assert any("crashed" in remark for remark in report.remarks)


def test_a_framework_of_the_package_is_read_in_that_process(tmp_path: Path) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "app.py").write_text(
        "from flask import Flask\napp = Flask(__name__)\n"
        "@app.route('/songs')\ndef songs():\n    return 'la'\n"
    )
    reader = FrameworkReader()
    with Engine.open(folder, config={"rag.embedding_provider": "fake"}) as engine:
        engine.add(Document("app.py", (folder / "app.py").read_text()), embed=False)
        report = GraphUpdater(index_of(engine), reader).update("default")
        assert report.frameworks == ("flask",)
        assert routes(engine) == 2  # `/songs`, and the static files of every application
        assert reader.pid not in (None, os.getpid())
    reader.close()
