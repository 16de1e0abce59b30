"""A guard that can be walked round guards nothing: in these rooms only `safe_open` opens files."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ragstone

PACKAGE = Path(ragstone.__file__).parent
MODULES = sorted(path for room in ("sources", "read") for path in (PACKAGE / room).rglob("*.py"))
OPENING = {"open", "fdopen", "read_text", "read_bytes", "copyfile", "copy", "copy2", "mmap"}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_module_opens_a_file_by_itself(module: Path) -> None:
    calls = [node.func for node in ast.walk(ast.parse(module.read_text("utf-8"))) if isinstance(node, ast.Call)]
    names = {call.id if isinstance(call, ast.Name) else getattr(call, "attr", "") for call in calls}
    found = names & OPENING
    assert found == ({"open"} if module.name == "safe_open.py" else set())
