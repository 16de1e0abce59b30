"""Starting up is cheap: commands import only the modules that they need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

HEAVY_PACKAGES = {
    "fastapi",
    "httpx2",
    "mcp",
    "numpy",
    "onnxruntime",
    "pydantic",
    "pypdfium2",
    "selectolax",
    "sqlite3",
    "tantivy",
    "tomlkit",
    "tree_sitter",
    "watchfiles",
    "yaml",
}
NOT_FOR_A_WORD_SEARCH = {
    "ragstone.chunk.chunkers",
    "ragstone.config.agents_yaml",
    "ragstone.engine.agents",
    "ragstone.engine.external_documents",
    "ragstone.engine.graph",
    "ragstone.engine.memory",
    "ragstone.engine.prompts",
    "ragstone.engine.transfer",
    "ragstone.indexing.export",
    "ragstone.indexing.graph",
    "ragstone.indexing.prepare",
    "ragstone.indexing.watcher",
    "ragstone.indexing.worker",
    "ragstone.memory.conversations",
    "ragstone.memory.turns",
    "ragstone.read.encoding",
    "ragstone.read.choose_reader",
    "ragstone.retrieval.ask.chat",
    "ragstone.retrieval.code.request",
    "ragstone.retrieval.context.builder",
    "ragstone.retrieval.context.selection",
    "ragstone.sources.secrets.redaction",
    "ragstone.types.matrices",
    "numpy",
    "onnxruntime",
    "statistics",
    "subprocess",
    "tantivy",
    "tree_sitter",
}
"""Two modules that take a few milliseconds are not in this list: the SQL of the graph is a part of every store,
and the settings are TOML."""
WORD_SEARCH = """
import sys
from ragstone.sources import files
from ragstone.surfaces.cli.app import run
files.RACY_NS = 0  # a file's stamp is trusted at once
code = run(["search", "river", "--mode", "words", "--json"])
sys.stderr.write("|" + " ".join(sys.modules))
sys.exit(code)
"""


def run_python(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder and return its output."""
    command = [sys.executable, *arguments]
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr[-2000:]
    return finished


def imported_by(*arguments: str) -> set[str]:
    """Return the modules that a run of Python imports."""
    report = run_python("-X", "importtime", *arguments).stderr
    lines = [line for line in report.splitlines() if "|" in line]
    return {line.rpartition("|")[2].strip() for line in lines}


@pytest.mark.parametrize("arguments", [("-c", "import ragstone"), ("-m", "ragstone", "--help")])
def test_starting_up_imports_no_heavy_package(arguments: tuple[str, ...]) -> None:
    modules = imported_by(*arguments)
    packages = {module.partition(".")[0] for module in modules}
    assert "ragstone" in packages
    assert packages & HEAVY_PACKAGES == set()


def test_help_does_not_import_the_engine() -> None:
    assert "Usage: ragstone" in run_python("-m", "ragstone", "--help").stdout
    assert "ragstone.engine" not in imported_by("-m", "ragstone", "--help")


def test_a_search_by_words_imports_only_modules_that_it_needs(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("the river crosses the valley\n", encoding="utf-8")
    run_python("-P", "-c", WORD_SEARCH, folder=tmp_path)  # indexes the folder
    searched = run_python("-P", "-c", WORD_SEARCH, folder=tmp_path)
    assert "valley" in searched.stdout
    modules = set(searched.stderr.rpartition("|")[2].split())
    assert "ragstone.engine" in modules
    assert modules & NOT_FOR_A_WORD_SEARCH == set()
