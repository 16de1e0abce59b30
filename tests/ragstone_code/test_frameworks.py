from __future__ import annotations

import pytest

from ragstone_code import project_files, python
from ragstone_code.frameworks.adapters import ADAPTERS, frameworks
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.laravel import adapter as laravel_adapter
from ragstone_code.laravel.adapter import Laravel
from ragstone_code.program_tree import Module
from tests.ragstone_code.small_world import TextFiles


def test_every_adapter_exists_once_and_has_a_name() -> None:
    adapters = frameworks()
    assert len(adapters) == len(ADAPTERS)
    assert len({adapter.name for adapter in adapters}) == len(adapters)
    assert "laravel" in {adapter.name for adapter in adapters}


def test_a_module_is_parsed_once_for_all_frameworks(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def lower(text: str, uri: str) -> Module:
        parsed.append(uri)
        return python.lower(text, uri)

    monkeypatch.setitem(project_files.LOWERERS, "python", lower)
    files = TextFiles(
        {"app.py": "import flask\nimport sqlalchemy\napp = flask.Flask('shop')\n"}
    )
    used = [adapter for adapter in frameworks() if adapter.detects(files)]
    for adapter in used:
        adapter.read(files)
    assert [adapter.name for adapter in used] == ["flask", "sqlalchemy"]
    assert parsed == ["app.py"]


def test_a_failed_pass_of_a_builder_is_a_remark_and_a_traceback_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def read() -> None:
        raise AttributeError("the evaluator has a bug")

    builder = GraphBuilder("flask")
    builder.run_pass("urls", read)
    (remark,) = builder.build().remarks
    assert remark == "urls: not read to the end (AttributeError: the evaluator has a bug)"
    assert "in read" in caplog.text
    assert 'raise AttributeError("the evaluator has a bug")' in caplog.text


def test_a_failed_pass_of_laravel_is_a_remark_and_a_traceback_in_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*arguments: object) -> None:
        raise AttributeError("the evaluator has a bug")

    monkeypatch.setattr(laravel_adapter, "read_schedule", read)
    text = '{"require": {"laravel/framework": "^12.0"}}'
    graph = Laravel().read(TextFiles({"composer.json": text}))
    assert any(
        "schedule could not be read: AttributeError" in remark for remark in graph.remarks
    )
    assert 'raise AttributeError("the evaluator has a bug")' in caplog.text
