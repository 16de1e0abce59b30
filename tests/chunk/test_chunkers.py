"""The chunker is chosen by file type and settings."""

from __future__ import annotations

import pytest

from ragstone.chunk.chunkers import chunker_for, needs_symbols
from ragstone.chunk.sizes import NAMES, describe_recipe
from ragstone.errors import InputError
from ragstone.types import Document


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (Document("a.py", "", kind="code", language="python"), "definitions/4/300"),
        (Document("bin/tool", "", kind="code", language="python"), "definitions/4/300"),
        (Document("A.PYI", ""), "definitions/4/300"),
        (Document("a.md", "", kind="readme", language="markdown"), "markdown/2/160/0"),
        (Document("notes.MD", ""), "markdown/2/160/0"),
        (Document("a.rs", "", kind="code", language="rust"), "definitions/4/300"),
        (Document("a.pl", "", kind="code", language="perl"), "lines/3/300/50"),
        (Document("a.toml", "", kind="config", language="toml"), "keys/2/300"),
        (Document("a.json", "", kind="data", language="json"), "keys/2/300"),
        (Document("package.json", "", kind="package", language="json"), "keys/2/300"),
        (Document("config/app.php", "", kind="config", language="php"), "keys/2/300"),
        (Document("app.php", "", kind="code", language="php"), "definitions/4/300"),
        (Document("Package.swift", "", kind="package", language="swift"), "lines/3/300/50"),
        (Document("api.yaml", "", kind="openapi", language="yaml"), "openapi/1/300"),
        (Document("a.jsonl", "", kind="data", language="jsonl"), "lines/3/300/50"),
        (Document("a.csv", "", kind="data", language="csv"), "rows/1/300"),
        (Document("a.xlsx", "", kind="data", language="xlsx"), "rows/1/300"),
        (Document("a.html", "", kind="doc", language="html"), "markdown/2/160/0"),
        (Document("a.docx", "", kind="doc", language="docx"), "markdown/2/160/0"),
        (Document("a.pptx", "", kind="doc", language="pptx"), "marked/2/160/0"),
        (Document("a.epub", "", kind="doc", language="epub"), "marked/2/160/0"),
        (Document("a.ipynb", "", kind="notebook", language="python"), "markdown/2/160/0"),
        (Document("docs/adr/1.md", "", kind="adr", language="markdown"), "markdown/2/160/0"),
        (Document("a.txt", "", kind="text", language="text"), "prose/3/160/0"),
        (Document("note:1", ""), "prose/3/160/0"),
    ],
)
def test_the_type_of_a_document_decides(document: Document, expected: str) -> None:
    assert chunker_for(document).recipe == expected


@pytest.mark.parametrize("name", NAMES)
def test_every_name_cuts_any_document(name: str) -> None:
    (chunk,) = chunker_for(Document("a.py", "x = 1"), name=name).chunk(
        Document("a.py", "x = 1")
    )
    assert chunk.text == "x = 1"


def test_sizes_are_taken_over() -> None:
    document = Document("a.txt", "")
    assert chunker_for(document, size=500, overlap=50).recipe == "prose/3/500/50"
    assert chunker_for(document, name="chars", size=100).recipe == "chars/1/100/20"
    assert chunker_for(document, name="tokens").recipe == "tokens/2/512/64"
    assert chunker_for(Document("a.py", ""), size=500, overlap=50).recipe == "definitions/4/500"


def test_the_same_settings_share_one_chunker() -> None:
    assert chunker_for(Document("a.txt", "one")) is chunker_for(Document("b.txt", "two"))


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError) as refused:
        chunker_for(Document("a", ""), name="semantic")
    assert all(name in refused.value.hint for name in NAMES)
    with pytest.raises(InputError):
        describe_recipe("semantic")


def test_an_overlap_for_code_alone_is_refused() -> None:
    with pytest.raises(InputError):
        chunker_for(Document("a.py", ""), name="code", overlap=10)
    with pytest.raises(InputError):
        chunker_for(Document("a.txt", ""), size=100, overlap=100)


def test_the_recipe_of_settings_changes_with_any_of_them() -> None:
    recipes = [
        describe_recipe(),
        describe_recipe("code"),
        describe_recipe("prose"),
        describe_recipe("auto", 300),
        describe_recipe("auto", 300, 20),
    ]
    assert len(set(recipes)) == len(recipes)
    for uri, language in (
        ("a.md", ""),
        ("a.csv", "csv"),
        ("a.pptx", "pptx"),
        ("a.toml", "toml"),
    ):
        assert (
            chunker_for(Document(uri, "", kind="config", language=language)).recipe
            in describe_recipe()
        )


@pytest.mark.parametrize(
    ("document", "name", "expected"),
    [
        (Document("a.go", "", kind="code", language="go"), "auto", True),
        (Document("a.go", "", kind="code", language="go"), "code", True),
        (Document("a.go", "", kind="code", language="go"), "prose", False),
        (Document("a.py", "", kind="code", language="python"), "auto", True),
        (Document("a.pl", "", kind="code", language="perl"), "auto", False),
        (Document("a.md", "", kind="readme", language="markdown"), "auto", False),
    ],
)
def test_symbols_are_needed_if_the_chunker_cuts_by_them(
    document: Document, name: str, expected: bool
) -> None:
    assert needs_symbols(document, name) is expected
