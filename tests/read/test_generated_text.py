"""Text that a program wrote for programs is recognised by its content."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.read.plain import PlainReader

PROSE = "The gondola is rowed by one man, and the ferry takes cars over the wide river. "
KEY = base64.b64encode(hashlib.sha512(b"key").digest() * 4).decode()
INDEX = (
    "Search.setIndex(" + json.dumps({f"term{n}": [n, n + 1, n + 2] for n in range(200)}) + ")"
)
MINIFIED = "".join(f"function f{n}(a,b){{return a[{n}]?b(a):c({n},b)}};" for n in range(99))
HASHES = "\n".join(hashlib.sha256(str(n).encode()).hexdigest() + f"  file{n}" for n in range(9))
CODE = "def retry(call):\n    return call() or call()\n" * 20


def kind_of(name: str, text: str) -> str:
    return PlainReader().read(text.encode(), name).kind


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("docs/searchindex.js", INDEX),
        ("app.js", MINIFIED),
        ("data.json", json.dumps([{"id": n, "at": [n, n]} for n in range(200)])),
        ("key.pub", f"ssh-rsa {KEY} user@example"),
        ("cert.txt", "\n".join(KEY[n : n + 64] for n in range(0, len(KEY), 64))),
        (
            ".buildinfo",
            f"# Sphinx build info version 1\nconfig: {'60512c03cfd3e2b78c5d53ac6da3bc32'}\n",
        ),
        ("SHA256SUMS", HASHES),
    ],
)
def test_minified_code_keys_and_hashes_are_generated(name: str, text: str) -> None:
    assert kind_of(name, text) == "generated"


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("long.md", PROSE * 50, "doc"),
        ("long.txt", PROSE * 50, "doc"),
        ("turns.jsonl", json.dumps({"text": PROSE * 20}), "data"),
        ("retry.py", CODE, "code"),
        ("prime.py", f"PRIME = '{KEY}'\n{CODE}", "code"),
        ("links.md", "- https://example.org/some/project/issues/1234\n" * 20, "doc"),
        ("names.txt", "test_a_very_long_name_of_a_function_that_says_all\n" * 20, "doc"),
        ("data.json", '{"name": "gondola"}', "config"),
    ],
)
def test_text_that_people_write_is_not_generated(name: str, text: str, kind: str) -> None:
    assert kind_of(name, text) == kind


def test_a_generated_file_comes_after_text_and_code(tmp_path: Path) -> None:
    names = [f"gondola{n}" for n in range(60)]
    (tmp_path / "searchindex.js").write_text(
        "Search.setIndex(" + json.dumps({name: [1, 2, 3] for name in names}) + ")", "utf-8"
    )
    (tmp_path / "boats.md").write_text(
        f"# Boats\n\n{PROSE * 4}The boat gondola7 is green.", "utf-8"
    )
    with Engine.open(tmp_path) as engine:
        engine.sync()
        hits = engine.search("gondola7")
        asked = engine.search("gondola7", filters={"kind": "generated"})
    assert hits[0].source_doc_id == "boats.md"
    assert {hit.source_doc_id for hit in hits} == {"boats.md", "searchindex.js"}
    assert {hit.source_doc_id for hit in asked} == {"searchindex.js"}
