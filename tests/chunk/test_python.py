"""Python files are cut by their definitions."""

from __future__ import annotations

import ast

import pytest

from ragstone.chunk.lines import UNPARSED_KIND
from ragstone.indexing.collection_writer import ChunkingConfig
from ragstone.indexing.prepare import prepare_document
from ragstone.types import Chunk, Document


def body(count: int, indentation: str = "    ") -> str:
    return "".join(
        f"{indentation}value_{number} = compute(value, {number})\n" for number in range(count)
    )


MODULE = f'''"""What this module is for."""

import os
import sys

LIMIT = 10
NAMES: list[str] = ["a", "b"]


# Why the first one exists.
# It has two lines of comment.
@decorated
@twice(over=True)
def first(value):
    """Return the first."""
{body(20)}    return value


async def second(value):
{body(20)}    return value


class Big(Base, metaclass=Meta):
    """What a big one is.

    It takes a few sentences to say that, because it does more than one thing, and each of them has its own reason.
    """

    attribute = 1

    def __init__(self, value):
{body(18, "        ")}
    # Why this one.
    @property
    def shown(self):
{body(18, "        ")}        return self

    class Inner:
        x = 1


class Small:
    def one(self): ...
    def two(self): ...
'''


def cut(text: str, size: int = 300) -> list[Chunk]:
    document = Document("m.py", text, kind="code", language="python")
    prepared, _ = prepare_document(document, ChunkingConfig(size=size))
    return list(prepared.chunks)


def by_symbol(text: str) -> dict[str, Chunk]:
    return {name: chunk for chunk in cut(text) for name in chunk.symbol.split()}


def test_a_definition_is_a_chunk_with_its_decorators_comments_and_docstring() -> None:
    chunk = by_symbol(MODULE)["first"]
    assert chunk.text.startswith(
        "# Why the first one exists.\n# It has two lines of comment.\n@decorated\n@twice"
    )
    assert '"""Return the first."""' in chunk.text
    assert chunk.text.endswith("    return value")
    assert (chunk.symbol, chunk.header, chunk.kind) == ("first", "", "code")


def test_imports_and_constants_are_a_chunk_that_lists_its_names() -> None:
    chunk = by_symbol(MODULE)["LIMIT"]
    assert chunk == by_symbol(MODULE)["NAMES"]
    assert chunk.text.startswith('"""What this module is for."""')


def test_a_big_class_gives_a_header_and_its_methods_under_its_signature() -> None:
    found = by_symbol(MODULE)
    assert found["Big"].text.startswith("class Big(Base, metaclass=Meta):")
    assert found["Big"].text.endswith("attribute = 1")
    assert found["Big.shown"].text.startswith(
        "    # Why this one.\n    @property\n    def shown(self):"
    )
    assert found["Big.shown"].header == "class Big(Base, metaclass=Meta)"
    assert "Big.Inner" in found


def test_a_class_that_fits_is_one_chunk_that_names_its_methods() -> None:
    chunk = by_symbol(MODULE)["Small"]
    assert chunk.symbol.split() == ["Small", "Small.one", "Small.two"]
    assert chunk.header == ""


def test_a_function_above_the_size_is_split_and_every_part_names_it() -> None:
    text = (
        "class Big:\n    def long(\n        self,\n        value: int,  # what\n    ) -> int:\n"
        + body(120, "        ")
    )
    header, *chunks = cut(text)
    assert header.text == "class Big:"
    assert len(chunks) > 4
    assert all("Big.long" in chunk.symbol for chunk in chunks)
    assert chunks[0].header == "class Big"
    assert {chunk.header for chunk in chunks[1:]} == {
        "class Big > def long( self, value: int, ) -> int"
    }


def test_small_neighbours_share_a_chunk() -> None:
    chunks = cut(
        "".join(f"def f{number}():\n    return {number}\n\n\n" for number in range(30)),
        size=100,
    )
    assert 1 < len(chunks) < 10
    assert " ".join(chunk.symbol for chunk in chunks).split() == [
        f"f{number}" for number in range(30)
    ]


def test_every_chunk_of_a_parted_run_of_constants_names_its_own() -> None:
    text = "".join(
        f"CONSTANT_{number} = compute({number}, [1, 2, 3])\n" for number in range(60)
    )
    chunks = cut(text)
    assert len(chunks) > 2
    for chunk in chunks:
        assert chunk.symbol.split() == [line.split()[0] for line in chunk.text.splitlines()]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "start", ["", "\ufeff", "# -*- coding: latin-1 -*-\n", "\x0c\n", "# 字é👍\n"]
)
def test_line_ends_marks_and_other_scripts_do_not_move_the_cuts(
    ending: str, start: str
) -> None:
    text = (start + MODULE.replace("compute", "rechne_é字")).replace("\n", ending)
    found = by_symbol(text)
    assert found["second"].text.startswith("async def second")
    assert found["second"].text.endswith("    return value")
    assert found["Big.shown"].text.lstrip().startswith("# Why this one.")


@pytest.mark.parametrize(
    "text",
    ["((( nothing of ::: this\n" * 30, "x = " + "(" * 5000, "\ud800 = 1\n"],
    ids=["syntax", "nested", "surrogate"],
)
def test_a_file_that_cannot_be_parsed_is_cut_by_lines_with_a_remark(text: str) -> None:
    prepared, _ = prepare_document(
        Document("m.py", text, kind="code", language="python"), ChunkingConfig()
    )
    assert {chunk.kind for chunk in prepared.chunks} == {UNPARSED_KIND}
    assert "could be parsed" in prepared.document.remarks[0]


def test_a_very_long_expression_is_cut_without_a_remark() -> None:
    text = "a" + ".a" * 100_000
    prepared, _ = prepare_document(
        Document("m.py", text, kind="code", language="python"), ChunkingConfig()
    )
    assert {chunk.kind for chunk in prepared.chunks} == {"code"}
    assert prepared.document.remarks == ()


def test_a_document_without_a_language_is_recognised_by_its_suffix() -> None:
    prepared, _ = prepare_document(Document("m.py", MODULE), ChunkingConfig())
    assert "Big.shown" in " ".join(chunk.symbol for chunk in prepared.chunks).split()


def test_editing_one_function_changes_only_its_chunk() -> None:
    functions = [
        f"def task_{number}(value):\n{body(18)}    return value\n" for number in range(20)
    ]
    before = {chunk.text for chunk in cut("\n\n".join(functions))}
    functions[7] = functions[7].replace("return value", "return value + 1  # changed")
    after = {chunk.text for chunk in cut("\n\n".join(functions))}
    assert len(before) == len(after) == 20
    (changed,) = after - before
    assert "# changed" in changed and "task_7" in changed


def test_every_definition_of_a_real_module_is_found_by_its_name() -> None:
    text = ast.parse.__globals__["__file__"]
    with open(text, encoding="utf-8") as file:
        source = file.read()
    names = {
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    assert names <= set(by_symbol(source))
