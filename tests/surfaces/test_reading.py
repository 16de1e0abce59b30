"""`rag_read` reads back every citation that a search prints, with its page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone import Document, Engine
from ragstone.surfaces.tools import ALL_TOOLS
from ragstone.surfaces.tools.tool import ToolAnswer
from ragstone.text.tokens import at_most
from tests.read.office_files import (
    docx,
    epub,
    notebook,
    paragraph,
    pptx,
    row,
    shape,
    slide,
    xlsx,
)
from tests.read.pdf_files import lines, pdf

TOOLS = {tool.name: tool for tool in ALL_TOOLS}
SHEET = "".join(row(number, f"gondola {number}", "late " * 20) for number in range(1, 60))
FILES = {
    "docs/my manual.pdf": pdf(
        [lines("The ferry is late."), lines("The gondola leaks."), lines("The gondola sank.")]
    ),
    "labelled.pdf": pdf(
        [lines("The cover of the gondola."), lines("The gondola begins.")],
        labels="0<</S/r>> 1<</S/D>>",
    ),
    "deck.pptx": pptx(
        {"a": slide(shape(["A gondola"], "title")), "b": slide(shape(["Two gondolas"]))},
        ["b", "a"],
    ),
    "book.xlsx": xlsx({"Costs of 2026": SHEET}),
    "plan.docx": docx(
        paragraph("Costs and time", "Heading1") + paragraph("The gondola is dear.")
    ),
    "novel.epub": epub(
        {"one": "<html><body><h1>The River</h1><p>A gondola drifts.</p></body></html>"},
        ["one"],
        {"one": "The River"},
    ),
    "study.ipynb": notebook([{"cell_type": "markdown", "source": "The gondola in cells."}]),
    "page.html": b"<html><body><h1>Set it up</h1><p>Tie the gondola.</p></body></html>",
    "notes.md": b"# Notes\n\nThe gondola is black.\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("formats")
    for name, data in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    with Engine.open(folder, config={"rag.embedding_provider": "fake"}) as engine:
        engine.sync()
        yield engine


def call(engine: Engine, name: str, /, **arguments: Any) -> ToolAnswer:
    return TOOLS[name](engine, arguments)


def test_every_citation_of_a_search_is_read_back_with_its_passage_and_page(
    engine: Engine,
) -> None:
    found = call(engine, "rag_search", query="gondola", top_k=50, max_tokens=8000)
    results = found.data["results"]
    assert {result["path"] for result in results} == set(FILES)
    for result in results:
        answer = call(engine, "rag_read", path=result["citation"], max_tokens=8000)
        assert not answer.failed, answer.text
        (read,) = answer.data["results"]
        assert read["path"] == result["path"]
        assert read.get("page") == result.get("page")
        assert read["text"].splitlines()[0] == result["text"].splitlines()[0]
        assert result["text"].strip() in read["text"]
        if "page" in result:
            assert read["citation"] == result["citation"]
            place = result["citation"].partition(", text line")[0]
            assert answer.text.startswith(f"{place} (lines ")


def test_lines_of_a_pdf_come_with_their_page(engine: Engine) -> None:
    pages = call(engine, "rag_read", path="docs/my manual.pdf").data["results"]
    (line,) = [page["lines"][0] for page in pages if "sank" in page["text"]]
    answer = call(engine, "rag_read", path=f"docs/my manual.pdf:{line}")
    assert answer.data["results"][0]["citation"] == "docs/my manual.pdf p.3"
    assert answer.data["results"][0]["page"] == 3


def test_lines_of_several_pages_name_the_page_of_each(engine: Engine) -> None:
    answer = call(engine, "rag_read", path="docs/my manual.pdf")
    pages = answer.data["results"]
    assert [page["citation"] for page in pages] == [
        f"docs/my manual.pdf p.{number}" for number in (1, 2, 3)
    ]
    assert [page["page"] for page in pages] == [1, 2, 3]
    assert [page["text"].strip() for page in pages] == [
        "The ferry is late.",
        "The gondola leaks.",
        "The gondola sank.",
    ]
    last = pages[-1]["lines"][1]
    assert answer.text.startswith(f"docs/my manual.pdf:1-{last} (of {last} lines)")
    heading = answer.text.index("--- docs/my manual.pdf p.2 (lines ")
    assert answer.text.index("late") < heading < answer.text.index("leaks")
    assert answer.text.count("\n--- docs/my manual.pdf p.") == 3
    from_second = call(
        engine, "rag_read", path="docs/my manual.pdf", first_line=pages[1]["lines"][0]
    )
    assert [page["page"] for page in from_second.data["results"]] == [2, 3]


@pytest.mark.parametrize("name", ["deck.pptx", "book.xlsx", "plan.docx", "study.ipynb"])
def test_pages_read_together_are_the_text_of_the_pages_alone(engine: Engine, name: str) -> None:
    whole = call(engine, "rag_read", path=name, max_tokens=8000).data
    for page in whole["results"]:
        alone = call(engine, "rag_read", path=page["citation"], max_tokens=8000)
        (result,) = alone.data["results"]
        assert page["text"].startswith(result["text"])
    assert whole["results"][0]["lines"][0] == 1
    assert whole["results"][-1]["lines"][1] == whole["total_lines"]


def test_pages_that_do_not_fit_are_read_from_the_next_line(tmp_path: Path) -> None:
    pages = [
        lines(*(f"Gondola {page}, trip {trip}." for trip in range(12))) for page in range(9)
    ]
    (tmp_path / "log.pdf").write_bytes(pdf(pages))
    seen: list[str] = []
    first = 1
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.sync()
        while first:
            answer = call(engine, "rag_read", path="log.pdf", first_line=first, max_tokens=600)
            assert at_most(answer.text) <= 600
            assert at_most(json.dumps(answer.data)) <= 600
            seen += [page["text"] for page in answer.data["results"]]
            first = answer.data.get("next_line", 0)
    assert len(seen) == 9
    assert "".join(seen).count("trip") == 9 * 12


def test_lines_in_the_wrong_order_are_named(engine: Engine) -> None:
    answer = call(engine, "rag_read", path="notes.md", first_line=3, last_line=2)
    assert answer.failed
    assert answer.text == "last_line is 2, before first_line 3 (leave one of them out)"


def test_a_page_is_read_by_its_label_or_its_number_in_the_file(engine: Engine) -> None:
    for place in ("p.1", "p.1 (page 2 of 2)", "p.2"):
        answer = call(engine, "rag_read", path=f"labelled.pdf {place}")
        assert answer.data["results"][0]["text"].strip() == "The gondola begins."


def test_a_page_that_does_not_exist_gets_the_pages_that_do(engine: Engine) -> None:
    answer = call(engine, "rag_read", path="docs/my manual.pdf p.9")
    assert answer.failed
    assert "docs/my manual.pdf has no p.9" in answer.text
    assert "it has p.1, p.2, p.3" in answer.text


def test_a_citation_of_several_slices_is_read_from_the_first_to_the_last(
    tmp_path: Path,
) -> None:
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.add(Document("a.md", "".join(f"Line {n}.\n" for n in range(1, 10))))
        answer = call(engine, "rag_read", path="a.md:2,4-5")
    assert answer.data["results"][0]["lines"] == [2, 5]


def test_a_context_without_room_says_so_in_its_text(tmp_path: Path) -> None:
    text = "The gondola crosses the lagoon at nine with forty passengers and a dog. " * 20
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.add(Document("boats.md", text))
        answer = call(engine, "rag_context", task="gondola lagoon", token_budget=100)
    assert "a budget of 100 tokens is too small; " in answer.text
    assert "Nothing was found" not in answer.text


def test_a_file_that_is_skipped_says_why_it_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PLACE=quarry\n")
    (tmp_path / "note.md").write_text("The gondola is black.\n")
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.sync()
        answer = call(engine, "rag_read", path=".env")
        assert answer.failed and "the file is skipped: secret file" in answer.text
        filtered = call(engine, "rag_search", query="gondola", path="docs/nope.md")
    assert "no document matches the filter path=docs/nope.md" in filtered.text


def test_a_longer_list_of_results_never_has_fewer_of_them(tmp_path: Path) -> None:
    words = "The client sends a request and waits for the gondola. " * 12
    paragraphs = "\n\n".join(f"## Part {n}\n\n{n} {words}" for n in range(12))
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.add([Document(f"{n}.md", paragraphs, kind="doc") for n in range(3)])
        engine.add([Document(f"short{n}.md", f"The client {n} waits.") for n in range(9)])
        counts = []
        for top_k in (1, 3, 5, 10, 20, 50):
            answer = call(engine, "rag_search", query="client", top_k=top_k)
            counts.append(len(answer.data["results"]))
    assert counts == sorted(counts)
    assert counts[2] == 5
