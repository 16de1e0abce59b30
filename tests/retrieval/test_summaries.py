"""A text that Ragstone wrote about a node of the code graph is never shown as the text of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Document, Engine, Hit
from ragstone.errors import InputError
from ragstone.surfaces.client.decoding import read_hit
from ragstone.surfaces.present.hits import hit_json
from ragstone.surfaces.tools import ALL_TOOLS
from ragstone.types import Metadata
from tests.support.bookshop import written

QUERY = "books loans auth"
REMARK = re.compile(r":\d+ \(\w+, summary by Ragstone\)$")
TOOLS = {tool.name: tool for tool in ALL_TOOLS}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = written(tmp_path_factory.mktemp("shop"))
    config = {"rag.embedding_provider": "fake", "search.watch": "off"}
    with Engine.open(folder, config=config) as opened:
        opened.sync()
        yield opened


def lines_of(engine: Engine, hit: Hit) -> str:
    """Return the lines of the file that a hit cites."""
    text = (engine.folder / hit.path).read_text(encoding="utf-8")
    return "\n".join(text.split("\n")[hit.lines[0] - 1 : hit.lines[1]])


@pytest.mark.parametrize("compress", [False, True])
def test_a_hit_is_on_the_lines_that_it_cites_or_says_that_it_is_a_summary(
    engine: Engine, compress: bool
) -> None:
    hits = engine.search(QUERY, 50, mode="words", compress=compress)
    assert {hit.is_summary for hit in hits} == {True, False}
    for hit in hits:
        assert hit_json(hit).get("summary", False) is hit.is_summary
        if hit.is_summary:
            assert REMARK.search(hit.citation)
        elif not hit.slices:
            assert hit.text in lines_of(engine, hit)


def test_a_summary_is_on_the_file_and_the_lines_that_it_is_about(engine: Engine) -> None:
    for hit in engine.search(QUERY, 50, mode="words"):
        if not hit.is_summary:
            continue
        assert hit.doc_id.startswith("graph:") and hit.source_doc_id.startswith("graph:")
        assert hit.path == hit.source_file == hit.metadata["path"] == hit.metadata["file"]
        assert lines_of(engine, hit) == hit.metadata["source"]
        data = hit_json(hit)
        assert (data["path"], tuple(data["lines"])) == (hit.path, hit.lines)
        read = read_hit(json.loads(json.dumps(data)))
        assert read.is_summary
        assert (read.path, read.lines, read.citation) == (hit.path, hit.lines, hit.citation)
    cited = [piece for piece in engine.context(QUERY, 2000).cited if piece.is_summary]
    assert cited
    for piece in cited:
        assert piece.citation.startswith(f"{piece.path}:{piece.lines[0]} (")
        assert piece.uri.startswith("graph:")


def test_a_context_names_the_file_that_a_summary_is_about(engine: Engine) -> None:
    for format in ("block", "documents"):
        context = engine.context("which table has the books", 400, format=format)
        assert any(piece.is_summary for piece in context.cited)
        assert "(summary)" in context.text and "graph:" not in context.text


def test_words_for_finding_are_in_the_header_and_not_in_the_text(engine: Engine) -> None:
    hits = engine.search("stores, holds, keeps", 5, mode="words", filters={"kind": "table"})
    assert hits
    for hit in hits:
        assert "holds" in hit.header and "holds" not in hit.text
    (route,) = engine.search("create submit", 1, mode="words", filters={"kind": "route"})
    assert "submit" in route.header and "submit" not in route.text


def test_a_context_says_it_also_of_a_summary_that_was_cut(engine: Engine) -> None:
    for budget in range(120, 900, 60):
        for passage in engine.context(QUERY, budget).cited:
            is_of_graph = passage.uri.startswith("graph:")
            assert passage.is_summary is is_of_graph
            assert bool(REMARK.search(passage.citation)) is is_of_graph


def test_a_tool_gives_the_line_of_the_file_and_the_remark(engine: Engine) -> None:
    answer = TOOLS["rag_search"](engine, {"query": QUERY, "kind": "table"})
    results = answer.data["results"]
    assert results
    for result in results:
        line = int(result["citation"].rpartition(":")[2].split()[0])
        assert result["summary"] is True
        first, last = result["lines"]
        assert first == line <= last
        assert (engine.folder / result["path"]).is_file()
        assert result["citation"] in answer.text


@pytest.mark.parametrize("uri", ["graph:route/GET login", "memory:team/turn:0001"])
def test_no_document_can_pose_as_a_summary_or_as_a_conversation(
    tmp_path: Path, uri: str
) -> None:
    (tmp_path / "a.txt").write_text("The quagga sleeps.\n", encoding="utf-8")
    metadata: Metadata = {"file": "SECURITY.md", "line": 3, "key": "route:GET login"}
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        with pytest.raises(InputError, match="are reserved"):
            engine.add(Document(uri, "The quagga sleeps.", metadata=metadata))
        with pytest.raises(InputError, match="are reserved"):
            engine.external.add_files(tmp_path / "a.txt", uri=uri, metadata=metadata)
        assert all("SECURITY" not in hit.citation for hit in engine.search("quagga"))


SHOP_API = """from fastapi import FastAPI

app = FastAPI()


@app.delete("/users/{user_id}")
def delete_user(user_id: int):
    return purge(user_id)


def purge(user_id):
    raise KeyError(user_id)
"""


def test_the_file_with_the_exact_name_comes_before_a_summary(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(SHOP_API, encoding="utf-8")
    with Engine.open(tmp_path) as engine:
        engine.sync()
        hits = engine.search("purge")
    assert [hit.is_summary for hit in hits] == [False, True]
