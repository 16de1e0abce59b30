"""The confined process of a program: it ends with the program, and a forked copy starts its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.read.pdf_files import lines, pdf
from tests.support.processes import is_gone

ROOT = Path(__file__).resolve().parents[2]
READS = """
import sys, time
from ragstone.read.confined_reader import CONFINED_READER
from ragstone.read.choose_reader import reader_for
reader_for("a.pdf").read(open(sys.argv[1], "rb").read(), "a.pdf")
print(CONFINED_READER.pid, flush=True)
if sys.argv[2] == "wait":
    time.sleep(600)
"""


@pytest.mark.skipif(os.name != "posix", reason="processes are killed in the POSIX way")
@pytest.mark.parametrize("how", ["leave", "wait"], ids=["ends", "is killed"])
def test_no_process_remains_when_the_program(tmp_path: Path, how: str) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf([lines("A line.")]))
    with subprocess.Popen(
        [sys.executable, "-c", READS, str(tmp_path / "a.pdf"), how],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT / "src")},
    ) as program:
        assert program.stdout is not None
        pid = int(program.stdout.readline())
        if how == "wait":
            program.kill()
        program.wait(30)
    assert is_gone(pid)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked there")
def test_a_forked_program_starts_its_own_process(tmp_path: Path) -> None:
    program = tmp_path / "forks.py"
    program.write_text(FORKS)
    ran = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": f"{ROOT}:{ROOT}/src"},
    )
    assert ran.stdout.split() == ["copy", "True", "original", "True"], ran.stderr


FORKS = """
import os
from ragstone.read.confined_reader import CONFINED_READER
from ragstone.read.choose_reader import reader_for
from tests.read.pdf_files import lines, pdf
def read(word):
    return reader_for("a.pdf").read(pdf([lines(word)]), "a.pdf").text == word
read("before")
before = CONFINED_READER.pid
copy = os.fork()
if copy == 0:
    print("copy", read("copied") and CONFINED_READER.pid != before, flush=True)
    os._exit(0)
os.waitpid(copy, 0)
print("original", read("after") and CONFINED_READER.pid == before, flush=True)
"""
