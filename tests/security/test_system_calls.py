"""The process that reads documents may use only the system calls of its list."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.read.confined_reader import ConfinedReader
from ragstone.read.python_command import build_command

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
sys.path.extend(sys.argv[1:])
import ragstone.read.confined_main as confined_main
from ragstone.read.file_formats import Format
names = ("refused", "arguments", "threads")
confined_main.FORMATS = tuple(
    Format(name, (name,), f"tests.security.native_readers:{name}") for name in names
)
confined_main.main()
"""
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine not in ("x86_64", "aarch64"),
    reason="the list is for these machines",
)


@pytest.fixture
def reader() -> Iterator[ConfinedReader]:
    usual = build_command("ragstone.read.confined_main")
    confined = ConfinedReader([*usual[:5], PROGRAM, *usual[6:], str(ROOT)])
    yield confined
    confined.close()


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text("a secret")
    os.utime(path, (1, 1))
    return path


def test_every_call_outside_the_list_is_refused(reader: ConfinedReader, secret: Path) -> None:
    before = secret.stat()
    through = json.loads(reader.read("refused", bytes(secret), "a").text)
    assert through == {}
    assert secret.stat() == before


def test_a_listed_call_with_harmful_arguments_is_refused(
    reader: ConfinedReader, secret: Path
) -> None:
    assert reader.read("arguments", bytes(secret), "a").text == ""
    assert [path.name for path in secret.parent.iterdir()] == ["secret.txt"]


def test_threads_of_python_and_onnxruntime_run(reader: ConfinedReader) -> None:
    assert reader.read("threads", b"", "a").text == "[0, 1, 2, 3] True 256.0"
