"""What the linters cannot see: the shape of the house."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "ragstone"
TESTS = ROOT / "tests"

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
HEAVY = (
    *(
        "numpy",
        "pydantic",
        "fastapi",
        "mcp",
        "onnxruntime",
        "tantivy",
        "rich",
        "tomlkit",
        "sqlite3",
    ),
    *("pypdfium2", "selectolax", "yaml", "watchfiles", "httpx2"),
)
NAMELESS = {
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "core",
    "manager",
    "service",
    "services",
    "misc",
    "base",
}
UNFINISHED = re.compile(
    r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")) + r")\b"
)
FORBIDDEN_CALLS = {"eval", "exec", "print", "input", "breakpoint"}
FORBIDDEN_IMPORTS = {"pickle", "marshal", "shelve", "torch"}
TEXT = {
    ".py",
    ".md",
    ".toml",
    ".cfg",
    ".txt",
    ".json",
    ".yml",
    ".yaml",
    ".sql",
    ".scm",
    ".css",
    ".js",
    ".html",
    "",
}

MODULES = sorted(SRC.rglob("*.py"))
PYTHON = [*MODULES, *sorted(TESTS.rglob("*.py")), *sorted((ROOT / "tools").rglob("*.py"))]


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def room(path: Path) -> str:
    """Return the room a module belongs to: the folder or the file right under the package."""
    return path.relative_to(SRC).parts[0].removesuffix(".py")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the full name of everything a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def project_files() -> tuple[Path, ...]:
    """Return every text file that is, or would be, committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        found = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:  # an unpacked source archive
        found = [
            path for top in ("src", "tests", "docs", "tools") for path in (ROOT / top).rglob("*")
        ]
    return tuple(
        path for path in found if path.is_file() and path.suffix in TEXT and path.name != "LICENSE"
    )


# ── sizes ─────────────────────────────────────────────────────────────────────────────────────────


def test_there_are_modules_to_look_at() -> None:
    assert len(MODULES) > 20


def test_no_file_is_longer_than_a_person_can_hold() -> None:
    lengths = {short(path): len(path.read_text(encoding="utf-8").splitlines()) for path in PYTHON}
    too_long = {name: length for name, length in lengths.items() if length > MAX_FILE_LINES}
    assert not too_long, f"over {MAX_FILE_LINES} lines: {too_long}"


def test_no_function_is_longer_than_a_page() -> None:
    too_long = [
        f"{short(path)}:{node.lineno} {node.name} has {length} lines"
        for path in PYTHON
        for node in ast.walk(parsed(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > MAX_FUNCTION_LINES
    ]
    assert not too_long


def test_every_module_says_what_it_is() -> None:
    assert [short(path) for path in MODULES if not ast.get_docstring(parsed(path))] == []


# ── who may do what ───────────────────────────────────────────────────────────────────────────────


def test_imports_point_one_way() -> None:
    checked = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command as run; run()",
            "--no-cache",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_only_the_store_speaks_sql() -> None:
    wrong = {
        short(path)
        for path in MODULES
        if room(path) != "store"
        and any(name.split(".")[0] == "sqlite3" for name in imported(parsed(path)))
    }
    assert not wrong


def test_only_config_reads_the_environment() -> None:
    reading = re.compile(
        r"\bos\.(environb?|getenvb?|putenv|unsetenv)\b|from os import .*\b(environ|getenv)"
    )
    wrong = [
        short(path)
        for path in MODULES
        if room(path) != "config" and reading.search(path.read_text("utf-8"))
    ]
    assert not wrong


def test_only_surfaces_print() -> None:
    wrong = [
        f"{short(path)}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in FORBIDDEN_CALLS
        and not (room(path) == "surfaces" and node.func.id == "print")
    ]
    assert not wrong


def test_nothing_that_can_run_foreign_data_is_imported() -> None:
    wrong = [
        f"{short(path)}: {name}"
        for path in MODULES
        for name in imported(parsed(path))
        if name.split(".")[0] in FORBIDDEN_IMPORTS
    ]
    assert not wrong


def test_yaml_is_parsed_into_plain_data_and_in_one_place() -> None:
    wrong = [
        short(path)
        for path in MODULES
        if any(name.split(".")[0] == "yaml" for name in imported(parsed(path)))
        and path.name != "yaml_file.py"
    ]
    assert not wrong
    text = (SRC / "config" / "yaml_file.py").read_text("utf-8")
    assert not re.search(
        r"yaml\.(load|load_all|unsafe_load|full_load)\b|(?<!Safe)Loader\b(?!=)", text
    )


def test_no_command_goes_through_a_shell() -> None:
    shell = re.compile(r"shell\s*=\s*True|os\.(system|popen)\(")
    assert [short(path) for path in MODULES if shell.search(path.read_text("utf-8"))] == []


def test_only_surfaces_know_terminals_and_servers() -> None:
    theirs = {"click", "rich", "fastapi", "uvicorn", "starlette", "mcp", "zmq", "jinja2"}
    wrong = [
        f"{short(path)}: {name}"
        for path in MODULES
        for name in imported(parsed(path))
        if room(path) != "surfaces" and name.split(".")[0] in theirs
    ]
    assert not wrong


# ── names and traces ──────────────────────────────────────────────────────────────────────────────


def test_nothing_is_named_after_nothing() -> None:
    wrong = [
        short(path)
        for path in MODULES
        if NAMELESS & set(path.relative_to(SRC).with_suffix("").parts)
    ]
    assert not wrong


def test_nothing_is_left_unfinished() -> None:
    wrong = [
        f"{short(path)}:{number}"
        for path in project_files()
        if not path.is_relative_to(TESTS)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if UNFINISHED.search(line)
    ]
    assert not wrong


def test_every_exception_to_a_rule_gives_its_reason() -> None:
    excused = re.compile(
        r"#\s*noqa\b(?P<codes>:\s*[A-Z]+[0-9]+(?:,\s*[A-Z]+[0-9]+)*)?(?P<reason>.*)"
    )
    wrong = [
        f"{short(path)}:{number} {line.strip()}"
        for path in MODULES
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if (found := excused.search(line))
        and (not found["codes"] or len(found["reason"].split()) < 3)
    ]
    assert not wrong


def test_no_file_names_a_machine() -> None:
    stand_in = r"(?!(?:you|me|name|someone)\b)"
    somebody = re.compile(
        rf"/(?:home|Users)/{stand_in}[a-z][\w-]*/|[A-Z]:\\+Users\\++{stand_in}", re.IGNORECASE
    )
    here = [f"{place}/" for place in (ROOT.as_posix(), Path.home().as_posix()) if len(place) > 4]
    wrong = [
        short(path)
        for path in project_files()
        if somebody.search(text := path.read_text("utf-8")) or any(place in text for place in here)
    ]
    assert not wrong


def test_no_lock_file_that_names_hosts_is_kept() -> None:
    assert not {path.name for path in project_files()} & {"uv.lock", "poetry.lock", "Pipfile.lock"}


# ── tests mirror the house ────────────────────────────────────────────────────────────────────────


def test_every_room_has_its_tests() -> None:
    rooms = {room(path) for path in MODULES} - {"__init__", "__main__", "protocols", "testing"}
    found = {path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py")}
    found |= {path.parent.name for path in TESTS.glob("*/test_*.py")}
    assert not rooms - found, f"rooms without tests: {sorted(rooms - found)}"


def test_test_names_are_sentences() -> None:
    wrong = [
        f"{short(path)}:{node.lineno} {node.name}"
        for path in TESTS.rglob("test_*.py")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and node.name.count("_") < 3
    ]
    assert not wrong


# ── what starting up costs ────────────────────────────────────────────────────────────────────────


def loaded_by(*arguments: str) -> set[str]:
    """Return the top-level packages that a Python run imports."""
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return {
        line.rpartition("|")[2].strip().partition(".")[0]
        for line in ran.stderr.splitlines()
        if "|" in line
    }


@pytest.mark.parametrize("arguments", [("-c", "import ragstone"), ("-m", "ragstone", "--help")])
def test_starting_up_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    loaded = loaded_by(*arguments)
    assert "ragstone" in loaded
    assert not loaded & set(HEAVY)


def test_the_command_reaches_help_without_the_engine() -> None:
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "ragstone", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Usage: ragstone" in ran.stdout
    assert "ragstone.engine" not in ran.stderr


ONLY_FOR_OTHERS = (
    *(
        "ragstone.memory.conversations",
        "ragstone.memory.turns",
        "ragstone.retrieval.context.builder",
        "ragstone.retrieval.ask.chat",
    ),
    *(
        "ragstone.indexing.graph",
        "ragstone.store.graph",
        "ragstone.indexing.export",
        "ragstone.indexing.watcher",
    ),
    *(
        "ragstone.chunk.chunkers",
        "ragstone.read.encoding",
        "ragstone.sources.secrets.redaction",
        "ragstone.indexing.worker",
    ),
    *(
        "ragstone.indexing.external",
        "ragstone.retrieval.context.selection",
        "ragstone.config.agents",
        "ragstone.retrieval.code.request",
    ),
    "ragstone.types.matrices",
    *("statistics", "tomllib", "subprocess", "numpy", "onnxruntime", "tantivy"),
)
SEARCHES = """
import sys
from ragstone.sources import safe_open
from ragstone.surfaces.cli.app import run
safe_open.RACY_NS = 0  # a file's stamp is trusted at once
code = run(["search", "river", "--mode", "words", "--json"])
sys.stderr.write("|" + " ".join(sys.modules))
sys.exit(code)
"""


def test_a_search_by_words_in_an_indexed_folder_loads_nothing_that_only_others_need(
    tmp_path: Path,
) -> None:
    (tmp_path / "note.txt").write_text("the river crosses the valley\n", encoding="utf-8")
    for _ in range(2):  # the first one indexes
        ran = subprocess.run(
            [sys.executable, "-P", "-c", SEARCHES],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0 and "valley" in ran.stdout, ran.stderr[-2000:]
    loaded = set(ran.stderr.rpartition("|")[2].split())
    assert "ragstone.engine" in loaded
    assert loaded & set(ONLY_FOR_OTHERS) == set()
