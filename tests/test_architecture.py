"""Rules about the source tree that linters do not check."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "ragstone"
PLUGIN = ROOT / "src" / "ragstone_code"
TESTS = ROOT / "tests"
MODULES = sorted(PACKAGE.rglob("*.py"))
PYTHON_FILES = [
    *MODULES,
    *sorted(PLUGIN.rglob("*.py")),
    *sorted(TESTS.rglob("*.py")),
    *sorted((ROOT / "tools").rglob("*.py")),
]

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MIN_UNDERSCORES = 3
"""In the name of a test: a sentence has at least three words after `test`."""
MIN_REASON_WORDS = 3
MAX_PRIVATE_READS = 74
"""Private attributes of our objects that tests read. Lower it when one is gone; never raise it."""
TEXT_SUFFIXES = {
    "",
    ".cfg",
    ".css",
    ".html",
    ".js",
    ".json",
    ".md",
    ".py",
    ".scm",
    ".sql",
    ".toml",
    ".txt",
    ".yaml",
    ".yml",
}
LOCK_FILES = {"Pipfile.lock", "poetry.lock", "uv.lock"}
MEANINGLESS_NAMES = {
    "base",
    "common",
    "core",
    "helper",
    "helpers",
    "manager",
    "misc",
    "service",
    "services",
    "util",
    "utils",
}
OWN_PACKAGES = {"ragstone", "ragstone_code"}
BROUGHT_ALONG = {
    "PIL": "rapidocr",
    "anyio": "mcp",
    "cv2": "rapidocr",
    "httpx": "chromadb",
    "huggingface_hub": "sentence-transformers",
    "loguru": "fastembed",
    "mcp_types": "mcp",
    "pydantic": "fastapi",
    "starlette": "fastapi",
    "transformers": "sentence-transformers",
}
"""Packages that a declared one is made of or needs in its own interface, and that one."""
PACKAGES_WITHOUT_TESTS = {"__init__", "__main__", "protocols", "testing"}
FORBIDDEN_CALLS = {"breakpoint", "eval", "exec", "input", "print"}
UNSAFE_IMPORTS = {"marshal", "pickle", "shelve", "torch"}
SURFACE_IMPORTS = {"click", "fastapi", "jinja2", "mcp", "starlette", "uvicorn", "zmq"}

# Each word is written in two parts, so that this file does not contain it.
UNFINISHED_WORDS = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")
UNFINISHED = re.compile(r"\b(" + "|".join(UNFINISHED_WORDS) + r")\b")
ENVIRONMENT = re.compile(
    r"\bos\.(environb?|getenvb?|putenv|unsetenv)\b|from os import .*\b(environ|getenv)"
)
SHELL = re.compile(r"shell\s*=\s*True|os\.(system|popen)\(")
UNSAFE_YAML = re.compile(
    r"yaml\.(load|load_all|unsafe_load|full_load)\b|(?<!Safe)Loader\b(?!=)"
)
NOQA = re.compile(r"#\s*noqa\b(?P<codes>:\s*[A-Z]+[0-9]+(?:,\s*[A-Z]+[0-9]+)*)?(?P<reason>.*)")
PLACEHOLDER_USER = r"(?!(?:you|me|name|someone)\b)"
HOME_FOLDER = re.compile(
    rf"/(?:home|Users)/{PLACEHOLDER_USER}[a-z][\w-]*/|[A-Z]:\\+Users\\++{PLACEHOLDER_USER}",
    re.IGNORECASE,
)


def relative(path: Path) -> str:
    """Return a path for a message, relative to the project."""
    return path.relative_to(ROOT).as_posix()


def package_of(module: Path) -> str:
    """Return the package that a module belongs to: the first name below `ragstone`."""
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(read(path), filename=str(path))


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function of a file, also those inside classes and functions."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def imports_of(module: Path) -> set[str]:
    """Return the top-level names of all packages that a module imports."""
    names: set[str] = set()
    for node in ast.walk(parse(module)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def normalise(name: str) -> str:
    """Return the name of a distribution in the form that all its spellings share."""
    return re.sub(r"[-_.]+", "-", name).lower()


def forbidden_calls(module: Path) -> Iterator[ast.Call]:
    """Yield the calls of forbidden functions; a surface may print."""
    allowed = {"print"} if package_of(module) == "surfaces" else set()
    for node in ast.walk(parse(module)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id in FORBIDDEN_CALLS - allowed:
            yield node


@cache
def committed_files() -> tuple[Path, ...]:
    """Return every text file that is, or would be, committed."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode == 0:
        paths = [ROOT / name for name in listing.stdout.split("\0") if name]
    else:  # an unpacked source archive
        paths = []
        for folder in ("src", "tests", "docs", "tools"):
            paths += (ROOT / folder).rglob("*")
    files = [path for path in paths if path.is_file() and path.suffix in TEXT_SUFFIXES]
    return tuple(path for path in files if path.name != "LICENSE")


def numbered_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield every line of a file after its place: `src/a.py:12`."""
    for number, line in enumerate(read(path).splitlines(), start=1):
        yield f"{relative(path)}:{number}", line


# ── sizes ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_rules_find_modules_to_check() -> None:
    assert len(MODULES) > 20


def test_no_file_is_too_long_to_read() -> None:
    lengths = {relative(path): len(read(path).splitlines()) for path in PYTHON_FILES}
    too_long = {name: length for name, length in lengths.items() if length > MAX_FILE_LINES}
    assert not too_long


def test_no_function_is_longer_than_a_page() -> None:
    too_long = []
    for path in PYTHON_FILES:
        for function in functions_of(path):
            length = (function.end_lineno or function.lineno) - function.lineno + 1
            if length > MAX_FUNCTION_LINES:
                too_long.append(f"{relative(path)}:{function.lineno} {function.name}: {length}")
    assert not too_long


def test_every_module_has_a_docstring() -> None:
    without = [relative(module) for module in MODULES if not ast.get_docstring(parse(module))]
    assert not without


# ── responsibilities ──────────────────────────────────────────────────────────────────────────────


def test_imports_point_one_way() -> None:
    program = "from importlinter.cli import lint_imports_command as run; run()"
    command = [sys.executable, "-c", program, "--no-cache"]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_only_the_store_uses_sql() -> None:
    users = [module for module in MODULES if "sqlite3" in imports_of(module)]
    assert {package_of(module) for module in users} == {"store"}


def test_only_config_reads_the_environment() -> None:
    readers = [module for module in MODULES if ENVIRONMENT.search(read(module))]
    assert {package_of(module) for module in readers} == {"config"}


def test_only_surfaces_print() -> None:
    wrong = []
    for module in MODULES:
        wrong += [f"{relative(module)}:{call.lineno}" for call in forbidden_calls(module)]
    assert not wrong


def test_no_module_imports_a_package_that_runs_foreign_data() -> None:
    assert not [relative(module) for module in MODULES if imports_of(module) & UNSAFE_IMPORTS]


def test_yaml_is_read_as_plain_data_and_in_one_module() -> None:
    yaml_file = PACKAGE / "config" / "yaml_file.py"
    assert [module for module in MODULES if "yaml" in imports_of(module)] == [yaml_file]
    assert not UNSAFE_YAML.search(read(yaml_file))


def test_no_command_runs_in_a_shell() -> None:
    assert not [relative(module) for module in MODULES if SHELL.search(read(module))]


def test_only_surfaces_import_terminal_and_server_packages() -> None:
    users = [module for module in MODULES if imports_of(module) & SURFACE_IMPORTS]
    assert {package_of(module) for module in users} == {"surfaces"}


# ── names and notes ───────────────────────────────────────────────────────────────────────────────


def test_every_imported_package_is_declared() -> None:
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    declared = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        declared += extra
    names = {normalise(re.split(r"[\[<>=,; ]", line)[0]) for line in declared}
    assert set(BROUGHT_ALONG.values()) <= names
    distributions = packages_distributions()
    undeclared = set()
    for path in (*MODULES, *sorted(PLUGIN.rglob("*.py"))):
        foreign = imports_of(path) - OWN_PACKAGES - sys.stdlib_module_names
        for module in foreign - BROUGHT_ALONG.keys():
            providers = {normalise(name) for name in distributions.get(module, [module])}
            if not providers & names:
                undeclared.add(f"{relative(path)}: {module}")
    assert not undeclared


def test_no_module_has_a_meaningless_name() -> None:
    wrong = []
    for module in MODULES:
        names = module.relative_to(PACKAGE).with_suffix("").parts
        if MEANINGLESS_NAMES.intersection(names):
            wrong.append(relative(module))
    assert not wrong


def test_no_file_contains_a_note_about_unfinished_work() -> None:
    wrong = []
    for path in committed_files():
        if not path.is_relative_to(TESTS):
            wrong += [place for place, line in numbered_lines(path) if UNFINISHED.search(line)]
    assert not wrong


def test_every_suppressed_warning_gives_its_code_and_a_reason() -> None:
    wrong = []
    for module in MODULES:
        for place, line in numbered_lines(module):
            noqa = NOQA.search(line)
            if noqa is None:
                continue
            has_reason = len(noqa["reason"].split()) >= MIN_REASON_WORDS
            if not noqa["codes"] or not has_reason:
                wrong.append(place)
    assert not wrong


def test_no_file_names_a_folder_of_a_machine() -> None:
    folders = (ROOT.as_posix(), Path.home().as_posix())
    own_folders = [f"{folder}/" for folder in folders if len(folder) > 4]
    wrong = []
    for path in committed_files():
        text = read(path)
        if HOME_FOLDER.search(text) or any(folder in text for folder in own_folders):
            wrong.append(relative(path))
    assert not wrong


def test_no_lock_file_with_host_names_is_committed() -> None:
    assert not {path.name for path in committed_files()} & LOCK_FILES


# ── tests ─────────────────────────────────────────────────────────────────────────────────────────


def test_every_package_has_tests() -> None:
    packages = {package_of(module) for module in MODULES} - PACKAGES_WITHOUT_TESTS
    tested = {path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py")}
    tested |= {path.parent.name for path in TESTS.glob("*/test_*.py")}
    assert not packages - tested


def test_names_of_tests_are_sentences() -> None:
    wrong = []
    for path in TESTS.rglob("test_*.py"):
        for function in functions_of(path):
            is_test = function.name.startswith("test_")
            if is_test and function.name.count("_") < MIN_UNDERSCORES:
                wrong.append(f"{relative(path)}:{function.lineno} {function.name}")
    assert not wrong


def test_tests_read_few_private_attributes() -> None:
    places = []
    for path in TESTS.rglob("*.py"):
        for node in ast.walk(parse(path)):
            if not isinstance(node, ast.Attribute) or not re.match(
                r"_[a-z]", node.attr, re.IGNORECASE
            ):
                continue
            owner = ast.unparse(node.value)
            if owner not in ("self", "cls", "os", "shutil"):
                places.append(f"{relative(path)}:{node.lineno} {owner}.{node.attr}")
    assert len(places) <= MAX_PRIVATE_READS, places
