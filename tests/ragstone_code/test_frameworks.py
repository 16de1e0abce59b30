from __future__ import annotations

import pytest

from ragstone_code import project_files, python
from ragstone_code.frameworks.adapters import ADAPTERS, frameworks
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
