"""The guide to the MCP server describes the tools and their results as they are."""

from __future__ import annotations

import re
from pathlib import Path

from ragstone import Engine
from ragstone.surfaces.tools import ALL_TOOLS, RAG_SEARCH
from tests.read.pdf_files import lines, pdf

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "mcp.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| (?P<names>`rag_[^|]+|`get_[^|]+) \| (?P<arguments>[^|]+) \|", re.MULTILINE
)


def test_the_guide_lists_every_tool_with_its_arguments() -> None:
    listed: dict[str, tuple[set[str], bool]] = {}
    for row in ROW.finditer(GUIDE):
        arguments = set(re.findall(r"`(\w+)`", row["arguments"]))
        for name in re.findall(r"`(\w+)`", row["names"]):
            listed[name] = (arguments, "…" in row["arguments"])
    assert listed.keys() == {tool.name for tool in ALL_TOOLS}
    for tool in ALL_TOOLS:
        arguments, is_shortened = listed[tool.name]
        if tool.accepts_more:
            continue
        properties = set(tool.properties)
        assert arguments == properties or (is_shortened and arguments < properties), tool.name


def test_the_guide_names_the_fields_of_a_result(tmp_path: Path) -> None:
    (tmp_path / "report.pdf").write_bytes(pdf([lines("The gondola leaks.")]))
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.sync()
        (result,) = RAG_SEARCH(engine, {"query": "gondola leaks"}).data["results"]
    sentence = GUIDE.partition("`results[i]` of the structured content has ")[2].partition(
        " If"
    )[0]
    assert set(re.findall(r"`([a-z_]+)`", sentence)) == set(result)
