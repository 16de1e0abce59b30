"""Hostile texts: no page runs a script of a document, and no page sends a request to another place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

from ragstone import Document
from ragstone.surfaces.web.addresses import collection_path, document_path
from ragstone.surfaces.web.pages.collections import PAGE_SIZE
from tests.support.browser import open_page
from tests.support.running_server import RunningServer, running_server
from tests.surfaces.web.payloads import COUNT, PAYLOADS, batches

COLLECTION = "hostile"
ALL = "all.md"
"""A document with all payloads as lines and as metadata."""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Serve an index with every payload as path, title, text and metadata, in a project with such a name."""
    folder: Path = tmp_path_factory.mktemp("hostile")
    with running_server(folder, project=PAYLOADS[0]) as server:
        engine = server.state.engines.own
        engine.admin.create_collection(COLLECTION, PAYLOADS[1])
        engine.add(
            [
                Document(
                    uri_of(number),
                    f"# {payload}\n\n{payload}\n",
                    kind="doc",
                    title=payload,
                    metadata={"note": payload, "tags": [payload]},
                )
                for number, payload in enumerate(PAYLOADS)
            ],
            collection=COLLECTION,
            embed=False,
        )
        everything = Document(
            ALL,
            "\n\n".join(PAYLOADS),
            kind="doc",
            title=PAYLOADS[2],
            metadata={
                f"{payload} {number}": payload for number, payload in enumerate(PAYLOADS)
            },
        )
        engine.add(everything, collection=COLLECTION, embed=False)
        engine.add("x", uri=PAYLOADS[2], embed=False)
        for text in batches(30):
            engine.remember("hostile", "user", text)
            engine.search(text)
        yield server


def uri_of(number: int) -> str:
    """Return the uri of the document of one payload."""
    return f"{number:03d}/{PAYLOADS[number]}.md"


def addresses() -> dict[str, list[str]]:
    """Return the addresses of each page that show payloads. A new page adds its own here."""
    pages = range(2, COUNT // PAGE_SIZE + 2)
    lists = [collection_path(COLLECTION, page=str(number)) for number in pages]
    some = [document_path(COLLECTION, uri_of(number)) for number in range(0, COUNT, 50)]
    return {
        "home": ["/"],
        "search": [f"/search?q={quote(text)}&top_k=50" for text in batches(60)],
        "graph": [f"/graph?node={quote(text[:1500])}" for text in batches(20)],
        "collections": ["/collections"],
        "collection": [collection_path(COLLECTION), *lists],
        "filter": [collection_path(COLLECTION, q=text[:500]) for text in batches(60)],
        "documents": [document_path(COLLECTION, ALL), *some],
        "memory": ["/memory", f"/memory/hostile?limit=1000&q={quote(batches(20)[0])}"],
        "events": ["/events"],
        "settings": ["/settings", f"/settings?q={quote(PAYLOADS[3][:150])}"],
        "no such page": [f"/{quote(text, safe='')}" for text in batches(60)],
    }


@pytest.mark.parametrize("name", addresses())
def test_no_payload_runs_and_nothing_leaves(
    browser: Browser, hostile: RunningServer, name: str
) -> None:
    with open_page(browser, hostile.url) as (page, record):
        for address in addresses()[name]:
            page.goto(address, wait_until="load")
            assert page.evaluate("window.ranPayloads") == [], address[:200]
            record.console_errors = [
                error for error in record.console_errors if "status of 404" not in error
            ]
            assert not record.problems(), address[:200]
