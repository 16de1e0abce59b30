"""Words and names: one name per thing, no vague words, and figures of readability that may only get better."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path

import pytest
import readability

import ragstone
from ragstone import protocols

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
GLOSSARY = ROOT / "docs" / "glossary.md"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```.*?^```\s*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")

LIMITS = {
    "ragstone": {
        readability.BANNED: 0.4,
        readability.WHAT: 0.4,
        readability.VAGUE: 0.8,
        readability.DENSITY: 4.8,
        readability.CONDITIONALS: 10.5,
        readability.NESTED: 0,
        readability.LONG_COMPREHENSIONS: 2,
        readability.LOCAL_IMPORTS: 23,
        readability.COMPLEX: 6,
        readability.LARGE: 3,
        readability.DEPTH: 3,
        readability.TOP_LEVEL: 21,
    },
    "ragstone_code": {
        readability.BANNED: 0.5,
        readability.WHAT: 1.0,
        readability.VAGUE: 2.0,
        readability.DENSITY: 4.8,
        readability.CONDITIONALS: 12.0,
        readability.NESTED: 0,
        readability.LONG_COMPREHENSIONS: 2,
        readability.LOCAL_IMPORTS: 0,
        readability.COMPLEX: 24,
        readability.LARGE: 0,
        readability.DEPTH: 3,
        readability.TOP_LEVEL: 17,
    },
}
"""The largest value of each figure. Lower a limit when the code gets better; never raise one to make a change fit."""
MIN_IF = 4.0
"""Sentences that state their conditions with `if`, per 1,000 words."""
REPEATED_TYPES = {
    "RagstoneRetriever": "one for LangChain and one for LlamaIndex: users of each expect this name",
}
"""Public class names of `ragstone` that two modules define, with both meanings. Remove rows; add none."""
MAX_BANNED_PER_PAGE = 2.0
"""Banned words per 1,000 words of a page; one is always allowed, for the rare sentence that needs it."""


@cache
def measured(package: str) -> readability.Measurement:
    return readability.measure(SRC / package)


def rows(section: str) -> list[str]:
    """Return the first column of the table in a section of the glossary."""
    text = (
        GLOSSARY.read_text(encoding="utf-8")
        .partition(f"## {section}\n")[2]
        .partition("\n## ")[0]
    )
    return re.findall(r"^\| `?([^`|]+?)`? \|", text, re.MULTILINE)[1:]


def prose(page: Path) -> str:
    """Return the text of a page without code."""
    return CODE.sub("", FENCE.sub("", page.read_text(encoding="utf-8")))


# ── names ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_glossary_lists_every_public_type() -> None:
    values = {name: getattr(ragstone, name) for name in ragstone.__all__}
    public = {name for name, value in values.items() if inspect.isclass(value)}
    assert set(rows("Public types")) == public


def test_the_glossary_lists_every_protocol() -> None:
    values = {name: getattr(protocols, name) for name in protocols.__all__}
    public = {name for name, value in values.items() if inspect.isclass(value)}
    assert set(rows("Protocols")) == public - {"Matrix"}


def test_no_word_of_the_glossary_is_listed_twice() -> None:
    words = [*rows("Words"), *rows("Verbs")]
    names = [part.strip() for word in words for part in word.split(",")]
    assert len(names) > 40
    assert len(names) == len(set(names))


def test_no_two_public_classes_have_the_same_name() -> None:
    repeated = measured("ragstone").repeated_types()
    unexplained = {
        name: files for name, files in repeated.items() if name not in REPEATED_TYPES
    }
    assert not unexplained


def test_every_allowed_repetition_still_exists() -> None:
    assert REPEATED_TYPES.keys() <= measured("ragstone").repeated_types().keys()


def test_the_plug_in_repeats_no_class_name() -> None:
    assert measured("ragstone_code").repeated_types() == {}


# ── words ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_avoids_banned_words(page: Path) -> None:
    # The help texts of all commands are in docs/reference/cli.md, which another test compares with the code.
    text = prose(page)
    banned = readability.banned_words(text)
    allowed = max(1, round(len(text.split()) / 1000 * MAX_BANNED_PER_PAGE))
    assert len(banned) <= allowed, banned


# ── figures ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("package", LIMITS)
def test_the_figures_of_a_package_stay_within_their_limits(package: str) -> None:
    figures = measured(package).figures()
    too_high = {
        name: f"{figures[name]} > {limit}"
        for name, limit in LIMITS[package].items()
        if figures[name] > limit
    }
    assert not too_high, f"see: python tools/readability.py src/{package} --worst 10"


@pytest.mark.parametrize("package", LIMITS)
def test_conditions_are_written_with_if(package: str) -> None:
    assert measured(package).figures()[readability.IF] >= MIN_IF


SAMPLE = '''
"""Tells of what is told."""

import os


class Plain:
    """A class, if needed."""

    def choose(self, one, other):
        # so long as nobody asks
        import json

        os = import_module("os")
        return json if one and other else (os if other else None)


class Inner(Plain):
    pairs = [(a, b) for a in range(3) for b in range(3)]
'''


def test_the_measurement_counts_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "sample.py").write_text(SAMPLE)
    (tmp_path / "copy.py").write_text('class Plain:\n    """The same name."""\n')
    measurement = readability.measure(tmp_path)
    figures = measurement.figures()
    assert measurement.counts[readability.BANNED] == 4
    assert measurement.counts[readability.WHAT] == 1
    assert measurement.counts[readability.VAGUE] == 1
    assert measurement.counts[readability.CONDITIONALS] == 2
    assert figures[readability.NESTED] == 1
    assert figures[readability.LONG_COMPREHENSIONS] == 1
    assert figures[readability.LOCAL_IMPORTS] == 2
    assert figures[readability.DEPTH] == 2
    assert figures[readability.TOP_LEVEL] == 2
    assert measurement.repeated_types() == {"Plain": ["copy.py", "sample.py"]}


def test_complexity_counts_branches_and_conditions_of_one_function() -> None:
    tree = ast.parse(
        "def f(a, b):\n"
        "    if a and b:\n"
        "        return [x for x in a if x]\n"
        "    def inner():\n"
        "        return 1 if a else 2\n"
    )
    assert readability.complexity(tree.body[0]) == 5
