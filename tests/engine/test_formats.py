"""Files of many formats through the whole way: synced, found, cited, filtered by kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.types import Skip
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

FILES: dict[str, bytes] = {
    "plan.docx": docx(
        paragraph("Plan", "Heading1") + paragraph("The aardvark budget is approved.")
    ),
    "deck.pptx": pptx(
        {
            "a": slide(shape(["Intro"], "title")),
            "b": slide(shape(["Bandicoot results"], "title")),
        },
        ["a", "b"],
    ),
    "book.xlsx": xlsx({"Costs": row(1, "Animal", "Sum") + row(12, "capybara", "77")}),
    "novel.epub": epub(
        {"x": "<html><body><p>A dingo crossed.</p></body></html>"}, ["x"], {"x": "The River"}
    ),
    "page.html": b"<title>T</title><nav>menu</nav><h1>Top</h1><p>Words.</p><h2>Echidna</h2><p>Feed the echidna.</p>",
    "study.ipynb": notebook(
        [
            {"cell_type": "markdown", "source": "# S"},
            {"cell_type": "code", "source": "flamingo = 1"},
        ]
    ),
    "rows.csv": b"animal,legs\ngecko,4\nheron,2\n",
    "conf.toml": b"[server]\niguana_port = 1\n",
    "api.yaml": b"openapi: 3.0.0\npaths:\n  /jackals:\n    get:\n      summary: List jackals\n",
    "docs/adr/0001-kiwi.md": b"# Kiwi\n\nStatus: Accepted\n\nWe chose the kiwi.\n",
    "docs/KNOWN_BUGS.md": b"# Known bugs\n\nThe lemur leaks.\n",
    ".cursor/rules/style.mdc": b"---\ndescription: d\n---\nNever feed the marmot.\n",
    ".claude/notes.md": b"# Notes\n\nThe narwhal rule.\n",
    "AGENTS.md": b"# Agents\n\nAsk the ocelot.\n",
    "package.json": b'{"name": "pangolin"}',
    ".env.example": b"QUOKKA_URL=x\n",
    "broken.docx": b"PK\x03\x04 nothing",
}


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("formats")
    for name, data in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    engine = Engine.open(folder, config={"rag.embedding_provider": "fake"})
    report = engine.sync()
    assert [skip.uri for skip in report.failed] == ["broken.docx"]
    assert report.closes and report.indexed == len(FILES) - 1
    return engine


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("aardvark", "plan.docx section Plan, text lines 1-3"),
        ("bandicoot", "deck.pptx slide 2"),
        ("capybara", "book.xlsx sheet Costs row 1"),
        ("dingo", "novel.epub chapter The River, text lines 1-3"),
        ("echidna", "page.html section Top, text lines 1-7"),
        ("flamingo", "study.ipynb cell 1"),
        ("heron", "rows.csv:1-3"),
        ("iguana_port", "conf.toml:1-2"),
        ("jackals", "api.yaml:2-5"),
    ],
)
def test_a_hit_is_cited_as_a_person_would_look_for_it(
    synced: Engine, query: str, place: str
) -> None:
    hit = synced.search(query, mode="words")[0]
    assert hit.citation == place and query.casefold() in hit.text.casefold()


@pytest.mark.parametrize(
    ("kind", "uri"),
    [
        ("adr", "docs/adr/0001-kiwi.md"),
        ("known_bug", "docs/KNOWN_BUGS.md"),
        ("cursor_rule", ".cursor/rules/style.mdc"),
        ("claude_rule", ".claude/notes.md"),
        ("agent_rule", "AGENTS.md"),
        ("package", "package.json"),
        ("openapi", "api.yaml"),
        ("notebook", "study.ipynb"),
    ],
)
def test_every_kind_can_be_filtered_by(synced: Engine, kind: str, uri: str) -> None:
    assert [document.uri for document in synced.sources(filters={"kind": kind})] == [uri]


def test_a_decision_is_found_by_its_status(synced: Engine) -> None:
    assert [
        hit.source_doc_id
        for hit in synced.search("kiwi", filters={"kind": "adr", "status": "accepted"})
    ] == ["docs/adr/0001-kiwi.md"]
    assert (
        synced.search("kiwi", filters={"kind": "adr", "status": "rejected"}, mode="words") == []
    )


def test_an_endpoint_is_a_hit_with_its_name(synced: Engine) -> None:
    assert synced.search("list jackals", mode="words")[0].symbol == "GET /jackals"


def test_files_in_folders_that_begin_with_a_dot_are_there(synced: Engine) -> None:
    uris = {document.uri for document in synced.sources()}
    assert {".cursor/rules/style.mdc", ".claude/notes.md", ".env.example"} <= uris


def test_a_document_may_be_larger_than_a_text(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f"<p>A wombat.</p><!--{'x' * 5_000_000}-->")
    (tmp_path / "page.txt").write_text("x" * 5_000_001)
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        report = engine.sync()
        assert report.skipped == (
            Skip("page.txt", "too large: 5.0 MB (sources.max_file_bytes: 5.0 MB)"),
        )
        assert [hit.text for hit in engine.search("wombat")] == ["A wombat."]
    with Engine.open(tmp_path, config={"sources.max_document_bytes": 4_000_000}) as engine:
        reasons = {skip.uri: skip.reason for skip in engine.sync(embed=False).skipped}
        assert reasons["page.html"] == "too large: 5.0 MB (sources.max_document_bytes: 4.0 MB)"
