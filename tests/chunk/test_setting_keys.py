"""Structured text is cut at its keys in every format."""

from __future__ import annotations

import json

import pytest

from ragstone.chunk.openapi import OpenApiChunker
from ragstone.chunk.setting_keys import KeyChunker
from ragstone.types import Chunk, Document


def cut(text: str, language: str, size: int = 300, uri: str = "") -> list[Chunk]:
    return KeyChunker(size=size).chunk(
        Document(uri or f"a.{language}", text, kind="data", language=language)
    )


def told(chunks: list[Chunk]) -> list[tuple[str, str]]:
    return [(chunk.symbol, chunk.header) for chunk in chunks]


def lines(chunks: list[Chunk]) -> list[tuple[int, int]]:
    return [(chunk.span.line_start, chunk.span.line_end) for chunk in chunks]


PACKAGE = json.dumps(
    {"name": "x", "scripts": {f"run{at}": "do the thing" for at in range(9)}, "private": True},
    indent=2,
)


def test_json_is_cut_at_its_keys_with_exact_lines() -> None:
    chunks = cut(PACKAGE, "json", 50)
    assert told(chunks) == [
        ("name scripts.run0 scripts.run1", ""),
        ("scripts.run2 scripts.run3 scripts.run4 scripts.run5", "scripts"),
        ("scripts.run6 scripts.run7 scripts.run8 private", ""),
    ]
    assert lines(chunks) == [(1, 5), (6, 9), (10, 15)]
    assert told(cut(PACKAGE, "json")) == [("name scripts private", "")]


def test_json_on_one_line_is_cut_between_elements() -> None:
    text = json.dumps([{"id": at, "text": "some words here"} for at in range(20)])
    chunks = cut(text, "json", 40)
    assert all(chunk.text.startswith(("[{", "{")) for chunk in chunks) and len(chunks) > 5
    assert chunks[0].symbol.split()[0] == "0" and chunks[-1].symbol.split()[-1] == "19"


def test_json_with_comments_and_trailing_commas_still_has_keys() -> None:
    text = '{\n  // why\n  "a": "//no", /* so\n */ "b": [1, 2,],\n}'
    (chunk,) = cut(text, "json")
    assert chunk.symbol == "a b" and chunk.text == text


def test_a_key_of_signs_that_no_store_holds_is_shown_without_them() -> None:
    assert told(cut('{"a\\ud800\\u0000 b": {"\\n": 1}}', "json")) == [("a_b", "")]


@pytest.mark.parametrize(
    "text", ['{"a": 1', "{'a': 1}", "{} {}", "12", '"words"', "", "[" * 5_000]
)
def test_json_without_an_object_is_cut_by_lines(text: str) -> None:
    assert [chunk.symbol for chunk in cut(text, "json", 10_000)] == ([""] if text else [])


def test_yaml_is_cut_by_indentation_and_comments_go_with_the_next_key() -> None:
    text = (
        "# top\nname: x\nservices:\n  # the web\n  web:\n    image: nginx\n    ports:\n    - 80\n    - 443\n  db:\n"
        "    image: pg\n    env: |\n      key: not a key\n      other: neither\nlist:\n- a: 1\n  b: 2\n- a: 3\n"
    )
    assert told(cut(text, "yaml")) == [("name services list", "")]
    small = cut(text, "yaml", 20)
    assert told(small) == [
        ("name services.web.image", ""),
        ("services.web.ports services.db.image", "services"),
        ("services.db.env", "services > db"),
        ("list.0 list.1", "list"),
    ]
    assert lines(small) == [(1, 6), (7, 11), (12, 14), (15, 18)]


@pytest.mark.parametrize("text", ["{{ template }}\n", "just words\n", "\tkey: 1\n", "&a *b\n"])
def test_text_without_keys_is_cut_by_lines(text: str) -> None:
    assert [chunk.symbol for chunk in cut(text, "yaml")] == [""]


def test_documents_in_one_yaml_file_are_separate() -> None:
    chunks = cut(
        "kind: A\nname: first one here\n---\nkind: B\nname: second one here\n", "yaml", 12
    )
    assert told(chunks) == [("kind name", ""), ("kind name", "")]


TOML = (
    'title = "x"\n\n[project]\nname = "p"\ndeps = [\n  "a[x]>1",\n  [1, "]"],\n]\n\n# about\n[tool.ruff]\nline = 3\n'
    'text = """\n[no.section]\nno = 1\n"""\n[[bin]]\n"quoted key" = {a = 1}\n'
)


def test_toml_is_cut_by_sections_then_keys() -> None:
    assert told(cut(TOML, "toml")) == [("title project tool.ruff bin", "")]
    small = [one for chunk in cut(TOML, "toml", 12) for one in chunk.symbol.split()]
    assert list(dict.fromkeys(small)) == [
        "title", "project.name", "project.deps", "tool.ruff.line", "tool.ruff.text", "bin",
    ]  # fmt: skip


def test_a_comment_goes_with_the_section_below_it() -> None:
    for size in (12, 20, 40):
        chunk = next(
            chunk for chunk in cut(TOML, "toml", size) if "tool.ruff.line" in chunk.symbol
        )
        assert "# about\n[tool.ruff]\nline = 3" in chunk.text


def test_settings_files_are_cut_at_their_keys() -> None:
    text = "# database\nDB_HOST=localhost\nDB_PORT=5432\n\n; mail\nexport MAIL_FROM=me\n"
    assert told(cut(text, "dotenv")) == [("DB_HOST DB_PORT MAIL_FROM", "")]
    ini = "[server]\nhost = a\nport: 1\n[log]\nlevel = debug\n"
    assert told(cut(ini, "ini", 10)) == [
        ("server.host server.port", "server"),
        ("log.level", "log"),
    ]


def test_keys_of_a_php_file_carry_its_name() -> None:
    text = (
        "<?php\n\nreturn [\n\n    /*\n    | Name\n    */\n\n    'name' => env('APP_NAME', 'x'),\n\n    // zone\n"
        "    'zone' => 'UTC',\n    'driver' => [\n        'file' => 'a',\n        'store' => 'b',\n    ],\n];\n"
    )
    assert told(cut(text, "php", uri="config/app.php")) == [
        ("app.name app.zone app.driver", "")
    ]
    small = cut(text, "php", 20, uri="config/app.php")
    assert [name for chunk in small for name in chunk.symbol.split()][-2:] == [
        "app.driver.file",
        "app.driver.store",
    ]


# ── endpoints ─────────────────────────────────────────────────────────────────────────────────────

API = (
    "openapi: 3.0.0\ninfo:\n  title: Pets\npaths:\n  /users/{id}:\n    parameters:\n      - name: id\n    get:\n"
    "      summary: Get a user\n    post:\n      summary: Make one\n  /pets:\n    get:\n      summary: List\n  /ref:\n"
    "    $ref: other.yaml\ncomponents:\n  schemas:\n    Pet:\n      type: object\n"
)


def endpoints(text: str, language: str, size: int = 300) -> list[Chunk]:
    return OpenApiChunker(size=size).chunk(
        Document(f"api.{language}", text, kind="openapi", language=language)
    )


def test_an_api_has_a_chunk_per_endpoint_at_its_lines() -> None:
    chunks = endpoints(API, "yaml")
    assert told(chunks) == [
        ("openapi info", ""),
        ("GET /users/{id}", "GET /users/{id}"),
        ("POST /users/{id}", "POST /users/{id}"),
        ("GET /pets", "GET /pets"),
        ("/ref", "/ref"),
        ("components", ""),
    ]
    assert lines(chunks) == [(1, 3), (4, 9), (10, 11), (12, 14), (15, 16), (17, 20)]


def test_an_api_in_json_is_cut_alike() -> None:
    api = {
        "swagger": "2.0",
        "paths": {"/a": {"get": {"summary": "x"}, "delete": {"summary": "y"}}},
        "definitions": {},
    }
    assert [chunk.symbol for chunk in endpoints(json.dumps(api), "json")] == [
        "swagger",
        "GET /a",
        "DELETE /a",
        "definitions",
    ]


def test_a_long_endpoint_is_parted_under_one_name() -> None:
    long = "paths:\n  /a:\n    get:\n" + "".join(
        f"      key{at}: some words about it\n" for at in range(40)
    )
    chunks = endpoints(long, "yaml", 60)
    assert len(chunks) > 3 and {chunk.symbol for chunk in chunks} == {"GET /a"}


def test_an_api_that_cannot_be_parsed_is_cut_by_lines() -> None:
    assert [chunk.symbol for chunk in endpoints('{"openapi": "3.0.0", ', "json")] == [""]


@pytest.mark.parametrize(
    ("uri", "language", "text", "keys"),
    [
        (
            "config/mail.php",
            "php",
            "<?php\n\nreturn [\n    // who sends\n    'from' => 'a@b.c',\n    'driver' => env('MAIL', 'smtp'),\n];\n",
            ["mail.from", "mail.driver"],
        ),
        (
            ".env.example",
            "dotenv",
            "# name\nAPP_NAME=x\nAPP_DEBUG=true\n",
            ["APP_NAME", "APP_DEBUG"],
        ),
        ("a.toml", "toml", 'name = "x"\n\n[upload]\nlimit = 3\n', ["name", "upload"]),
        ("a.yaml", "yaml", "name: x\non:\n  push: {}\n", ["name", "on"]),
        ("a.json", "json", '{"name": "x", "files": ["a", "b"]}', ["name", "files"]),
    ],
)
def test_a_configuration_file_has_a_chunk_for_each_top_level_key(
    uri: str, language: str, text: str, keys: list[str]
) -> None:
    document = Document(uri, text, kind="config", language=language)
    chunks = KeyChunker().chunk(document)
    assert [chunk.symbol for chunk in chunks] == keys
    for chunk in chunks:
        assert text[chunk.span.start : chunk.span.end] == chunk.text
    covered = "".join(chunk.text for chunk in chunks)
    assert "".join(covered.split()) == "".join(text.split())
    data = KeyChunker().chunk(Document(uri, text, kind="data", language=language))
    assert len(data) == 1
