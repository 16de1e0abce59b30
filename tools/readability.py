"""Measure how readable a package is: its prose, its names, the density of its code, its structure.

    python tools/readability.py src/ragstone [--worst 10]

The figures are rates and counts; `docs/architecture.md` compares them with other libraries. They show where to look.
They do not show whether a text is clear, so improve the text and not the figure.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

BANNED_WORDS: Final = (
    "told",
    "tell of",
    "tells of",
    "said of",
    "whoever",
    "nobody",
    "somebody",
    "so many",
    "so long as",
    "hang together",
    "hangs together",
    "level with",
    "beside",
    "stand",
    "stands",
    "meanwhile",
    "any more",
    "of its own",
    "asked for",
    "given out",
    "brought in",
    "taken in",
    "laid into",
    "at home",
)
"""Words of an earlier style that made texts vague. Name the thing, and use `if` for conditions."""
VAGUE_NAMES: Final = frozenset(
    "one told said given made found known wanted asked shown met whole kept left".split()
)
"""Names that say nothing about the value of a variable."""
MAX_COMPLEXITY: Final = 10
MAX_METHODS: Final = 20

_BANNED: Final = re.compile(rf"\b({'|'.join(BANNED_WORDS)})\b", re.IGNORECASE)
_DIRECTIVES: Final = ("#!", "# noqa", "# type:", "# fmt")
"""Comments for tools, which are no prose."""
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BRANCHES: Final = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.IfExp,
    ast.Assert,
    ast.match_case,
)

BANNED: Final = "banned words per 1,000 words of prose"
WHAT: Final = "'what' per 1,000 words of prose"
IF: Final = "'if' per 1,000 words of prose"
VAGUE: Final = "vague variable names per 1,000 lines"
DENSITY: Final = "syntax nodes per line of code"
CONDITIONALS: Final = "conditional expressions per 1,000 lines"
NESTED: Final = "nested conditional expressions"
LONG_COMPREHENSIONS: Final = "comprehensions with two fors or two ifs"
LOCAL_IMPORTS: Final = "imports inside functions"
REPEATED_TYPES: Final = "type names defined more than once"
COMPLEX: Final = "functions of complexity over 10"
LARGE: Final = "classes with more than 20 methods"
DEPTH: Final = "deepest inheritance inside the tree"
TOP_LEVEL: Final = "modules and packages at the top level"


def _is_import(node: ast.AST) -> bool:
    """Return whether a node imports a module that it names, by a statement or by `import_module("name")`."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if not isinstance(node, ast.Call) or _last_name(node.func) != "import_module":
        return False
    return bool(node.args) and isinstance(node.args[0], ast.Constant)


def banned_words(text: str) -> list[str]:
    """Return the banned words of a text, in lower case, in the order of the text."""
    return [match.group().lower() for match in _BANNED.finditer(text)]


@dataclass
class Measurement:
    """Counts of one package, file by file."""

    counts: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[tuple[float, str]]] = field(default_factory=dict)
    """For each figure, the places that make it large: a weight and a file with a line."""
    types: dict[str, list[str]] = field(default_factory=dict)
    """The files that define each public class."""
    bases: dict[str, list[str]] = field(default_factory=dict)
    top_level: int = 0

    def add_file(self, name: str, text: str) -> None:
        """Count one Python file."""
        tree = ast.parse(text, filename=name)
        self._add_prose(name, prose(text, tree))
        self._add_size(name, tree)
        for node in ast.walk(tree):
            self._add_node(name, node)

    def figures(self) -> dict[str, float]:
        """Return every figure by name."""
        words = max(self.counts["words"], 1) / 1000
        lines = max(self.counts["lines"], 1)
        return {
            BANNED: round(self.counts[BANNED] / words, 1),
            WHAT: round(self.counts[WHAT] / words, 1),
            IF: round(self.counts[IF] / words, 1),
            VAGUE: round(self.counts[VAGUE] / lines * 1000, 1),
            DENSITY: round(self.counts["nodes"] / lines, 2),
            CONDITIONALS: round(self.counts[CONDITIONALS] / lines * 1000, 1),
            NESTED: self.counts[NESTED],
            LONG_COMPREHENSIONS: self.counts[LONG_COMPREHENSIONS],
            LOCAL_IMPORTS: self.counts[LOCAL_IMPORTS],
            REPEATED_TYPES: len(self.repeated_types()),
            COMPLEX: self.counts[COMPLEX],
            LARGE: self.counts[LARGE],
            DEPTH: max((depth for depth, _ in self.depths()), default=0),
            TOP_LEVEL: self.top_level,
        }

    def repeated_types(self) -> dict[str, list[str]]:
        """Return the public classes that several files define, with the files."""
        return {name: files for name, files in self.types.items() if len(files) > 1}

    def depths(self) -> list[tuple[int, str]]:
        """Return how many classes of the tree each class inherits from in a row, errors left out."""
        return [(self._depth(name, ()), name) for name in self.bases if "Error" not in name]

    def _depth(self, name: str, seen: tuple[str, ...]) -> int:
        seen = (*seen, name)
        inner = [base for base in self.bases[name] if base in self.bases and base not in seen]
        return 1 + max((self._depth(base, seen) for base in inner), default=0)

    def _add_prose(self, name: str, text: str) -> None:
        self.counts["words"] += len(text.split())
        self.counts[WHAT] += len(re.findall(r"\bwhat\b", text, re.IGNORECASE))
        self.counts[IF] += len(re.findall(r"\bif\b", text, re.IGNORECASE))
        banned = banned_words(text)
        self.counts[BANNED] += len(banned)
        if banned:
            self._add_place(BANNED, len(banned), f"{name} {' '.join(banned)}")

    def _add_size(self, name: str, tree: ast.Module) -> None:
        lines = set()
        nodes = 0
        for node in ast.walk(tree):
            if isinstance(node, (ast.stmt, ast.expr)):
                lines.add(node.lineno)
                nodes += 1
            elif isinstance(node, ast.comprehension):
                nodes += 1
        self.counts["lines"] += len(lines)
        self.counts["nodes"] += nodes
        if lines:
            self._add_place(DENSITY, round(nodes / len(lines), 1), name)

    def _add_node(self, name: str, node: ast.AST) -> None:
        if isinstance(node, ast.IfExp):
            self.counts[CONDITIONALS] += 1
            if any(isinstance(child, ast.IfExp) for child in ast.iter_child_nodes(node)):
                self._add_occurrence(NESTED, 1, f"{name}:{node.lineno}")
        elif isinstance(node, _COMPREHENSIONS):
            is_long = any(len(part.ifs) > 1 for part in node.generators)
            if is_long or len(node.generators) > 1:
                self._add_occurrence(LONG_COMPREHENSIONS, 1, f"{name}:{node.lineno}")
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                self._add_variable(name, node.id, node.lineno)
        elif isinstance(node, ast.arg):
            self._add_variable(name, node.arg, node.lineno)
        elif isinstance(node, _FUNCTIONS):
            self._add_function(name, node)
        elif isinstance(node, ast.ClassDef):
            self._add_class(name, node)

    def _add_variable(self, name: str, variable: str, line: int) -> None:
        if variable in VAGUE_NAMES:
            self._add_occurrence(VAGUE, 1, f"{name}:{line} {variable}")

    def _add_function(self, name: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        place = f"{name}:{node.lineno} {node.name}"
        for inner in ast.walk(node):
            if _is_import(inner):
                self._add_occurrence(LOCAL_IMPORTS, 1, place)
        score = complexity(node)
        if score > MAX_COMPLEXITY:
            self._add_occurrence(COMPLEX, score, place)

    def _add_class(self, name: str, node: ast.ClassDef) -> None:
        if not node.name.startswith("_"):
            self.types.setdefault(node.name, []).append(name)
        self.bases[node.name] = [_last_name(base) for base in node.bases]
        methods = sum(isinstance(child, _FUNCTIONS) for child in node.body)
        if methods > MAX_METHODS:
            self._add_occurrence(LARGE, methods, f"{name}:{node.lineno} {node.name}")

    def _add_occurrence(self, figure: str, weight: float, place: str) -> None:
        self.counts[figure] += 1
        self._add_place(figure, weight, place)

    def _add_place(self, figure: str, weight: float, place: str) -> None:
        self.places.setdefault(figure, []).append((weight, place))


def measure(package: Path) -> Measurement:
    """Return the measurement of a package's folder."""
    measurement = Measurement()
    for path in sorted(package.rglob("*.py")):
        measurement.add_file(path.relative_to(package).as_posix(), path.read_text("utf-8"))
    measurement.top_level = sum(1 for path in package.iterdir() if _is_module(path))
    return measurement


def prose(text: str, tree: ast.Module) -> str:
    """Return the docstrings, the string statements and the comments of a file.

    Equal texts count once. A docstring of several lines counts twice, with its indentation and without: that is how the
    figures of other libraries were counted.
    """
    texts = [*_docstrings(tree), *_string_statements(tree), *_comments(text)]
    return "\n".join(dict.fromkeys(texts))


def complexity(function: ast.AST) -> int:
    """Return the cyclomatic complexity of a function, without the functions and classes inside of it.

    Each further operand of `and` and `or` counts, and so do the loops and conditions of comprehensions.
    """
    total = 1
    for node in _own_nodes(function):
        if isinstance(node, _BRANCHES):
            total += 1
        elif isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            total += 1 + len(node.ifs)
    return total


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            yield child
            yield from _own_nodes(child)


def _docstrings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *_FUNCTIONS)):
            yield ast.get_docstring(node) or ""


def _string_statements(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                yield node.value.value


def _comments(text: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith(_DIRECTIVES):
            yield token.string.lstrip("# ")


def _last_name(base: ast.expr) -> str:
    """Return the last name of a base class: `Model` of `orm.Model`."""
    if isinstance(base, ast.Name):
        return base.id
    return base.attr if isinstance(base, ast.Attribute) else ""


def _is_module(path: Path) -> bool:
    is_code = path.suffix == ".py" or (path / "__init__.py").exists()
    return is_code and not path.name.startswith("__")


def report(measurement: Measurement, worst: int) -> Iterable[str]:
    """Yield the lines of a report: each figure, and the places that add most to it."""
    for name, figure in measurement.figures().items():
        yield f"{figure:>8g}  {name}"
        places = sorted(measurement.places.get(name, ()), reverse=True)
        for weight, place in places[:worst]:
            yield f"            {weight:g}  {place}"
    for name, files in measurement.repeated_types().items():
        if worst:
            yield f"repeated type {name}: {', '.join(files)}"


def main() -> None:
    """Print the figures of a package."""
    parser = argparse.ArgumentParser(description="Measure how readable a package is.")
    parser.add_argument("package", type=Path, help="the folder of the package")
    parser.add_argument("--worst", type=int, default=0, help="places to list for each figure")
    options = parser.parse_args()
    if not options.package.is_dir():
        sys.exit(f"no such folder: {options.package}")
    for line in report(measure(options.package), options.worst):
        print(line)


if __name__ == "__main__":
    main()
