"""An index that lost rows gets them from the store, without an embedding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.protocols import IndexedText, VectorIndex
from ragstone.vectors.exact import ExactIndex
from ragstone.vectors.file_index import FileIndex
from ragstone.vectors.space_index import SpaceIndex
from ragstone.vectors.turbo import index as turbo
from ragstone.vectors.turbo.index import TurboIndex
from tests.support.index_answers import (
    answers,
    document_texts,
    fill,
    open_with,
    record_embedded,
)
from tests.support.spaces import DIMENSION, World

MakeIndex = Callable[[World, str], VectorIndex]


def make_turbo(world: World, stamp: str) -> VectorIndex:
    folder = world.folder / "half"
    return TurboIndex(folder, DIMENSION, rows=world.rows, codec=world.codec, stamp=stamp)


def make_file(world: World, stamp: str) -> VectorIndex:
    return FileIndex(
        world.folder,
        "half",
        world.codec,
        rows=world.rows.data,
        texts=lambda ids: [
            IndexedText(row_id, "default", str(row_id), "a.md", 1, 1, "text") for row_id in ids
        ],
    )


def delete_files(folder: Path, *, half: bool) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    assert files
    for path in files[:: 2 if half else 1]:
        path.unlink()


def delete_lines(folder: Path) -> None:
    (path,) = folder.glob("*.vectors.jsonl")
    header, *lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(header + b"".join(lines[::2]))


@pytest.mark.parametrize(
    ("provider", "damage"),
    [
        ("turbo", lambda folder: delete_files(folder, half=False)),
        ("turbo", lambda folder: delete_files(folder, half=True)),
        ("file", lambda folder: delete_files(folder, half=False)),
        ("file", delete_lines),
    ],
    ids=["turbo", "half of turbo", "file", "half of file"],
)
def test_deleted_files_are_made_again_without_an_embedding(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    damage: Callable[[Path], None],
) -> None:
    monkeypatch.setattr(turbo, "TAIL", 16)
    with open_with(tmp_path, provider) as engine:
        fill(engine)
        expected = answers(engine, 30)
        (info,) = engine.status().spaces
    (folder,) = (tmp_path / f".ragstone-{provider}" / "vectors").glob(f"{info.id}-*")
    damage(folder)
    embedded = record_embedded(monkeypatch)
    with open_with(tmp_path, provider) as engine:
        assert answers(engine, 30) == expected
        assert engine.status().spaces[0].coverage == 1.0
    assert not document_texts(embedded)


@pytest.mark.parametrize("part", ["all", "half"])
@pytest.mark.parametrize(
    "make",
    [lambda world, stamp: ExactIndex(DIMENSION), make_file, make_turbo],
    ids=["memory", "file", "turbo"],
)
def test_rows_that_an_open_index_lost_are_added_before_the_next_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: MakeIndex, part: str
) -> None:
    monkeypatch.setattr(turbo, "TAIL", 16)
    world = World(tmp_path)
    opened: list[VectorIndex] = []

    def open_index(stamp: str) -> VectorIndex:
        opened.append(make(world, stamp))
        return opened[-1]

    with world.store:
        world.put(0, 90)
        index = SpaceIndex(world.info, world.rows, open_index)
        expected = [index.search(vector, 7) for vector in world.vectors[:40]]
        index.flush()
        ids = world.rows.ids_after(0)
        lost = ids[:: 2 if part == "half" else 1]
        assert opened[0].delete(lost) == len(lost)
        assert [index.search(vector, 7) for vector in world.vectors[:40]] == expected
        assert opened[0].count() == 90
        assert len(opened) == 1
        index.close()
        world.index.close()
