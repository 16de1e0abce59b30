"""Recipes match the chunkers, and reading one loads no chunker."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ragstone.chunk.chunkers import _get_chunker
from ragstone.chunk.sizes import MIXED, NAMES, OVERLAPS, describe_recipe, format_recipe
from ragstone.errors import InputError


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [None, 40, 700])
@pytest.mark.parametrize("overlap", [None, 0, 7])
def test_a_recipe_lists_the_recipes_of_the_chunkers(
    name: str, size: int | None, overlap: int | None
) -> None:
    chosen = MIXED.get(name, (name,))
    made = [_get_chunker(each, size, overlap if each in OVERLAPS else None) for each in chosen]
    assert describe_recipe(name, size, overlap) == f"{name}:" + ",".join(
        chunker.recipe for chunker in made
    )


def test_the_recipes_of_the_default_settings_stay_the_same() -> None:
    # Another one would cut every file of every index anew.
    assert describe_recipe() == (
        "auto:definitions/4/300,markdown/2/160/0,marked/2/160/0,rows/1/300,keys/2/300,openapi/1/300,"
        "lines/3/300/50,prose/3/160/0"
    )
    assert describe_recipe("chars") == "chars:chars/1/1000/200"
    assert describe_recipe("sentences", 100) == "sentences:sentences/2/100/20"
    assert format_recipe("definitions", 9) == "definitions/4/9"


@pytest.mark.parametrize(("size", "overlap"), [(0, None), (-3, None), (10, 10), (10, -1)])
def test_invalid_sizes_have_no_recipe(size: int, overlap: int | None) -> None:
    with pytest.raises(InputError):
        describe_recipe("prose", size, overlap)


def test_a_recipe_loads_no_chunker() -> None:
    code = (
        "import sys; from ragstone.indexing.collection_writer import ChunkingConfig; ChunkingConfig().recipe; "
        "print(*sorted(name for name in sys.modules if name.startswith('ragstone.chunk.')))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert told.split() == ["ragstone.chunk.packing", "ragstone.chunk.sizes"]
