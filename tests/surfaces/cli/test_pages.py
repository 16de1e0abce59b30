"""Web pages: added by url, fetched again, failures."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.local_site import Site, reply, serving

Command = Callable[..., Any]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    page = reply("# Guide\n\nThe quokka guards the gate.\n", type="text/markdown", etag='"1"')
    with serving(Site(routes={"/guide": page})) as site:
        monkeypatch.setenv("RAGSTONE_WEB_ALLOW", f"{site.host}:{site.port}")
        yield site


def test_a_page_is_added_together_with_files(quick: Command, site: Site) -> None:
    ran = quick("add", "README.md", f"{site.origin}/guide#top", "--json")
    assert (ran.code, ran.json["success"], ran.json["documents"]) == (0, True, 2)
    assert [document["uri"] for document in ran.json["per_document"]] == [
        "README.md",
        f"{site.origin}/guide",
    ]
    found = quick("search", "quokka", "--json").json["results"][0]
    assert (found["path"], found["title"]) == (f"{site.origin}/guide", "Guide")
    assert quick("remove", f"{site.origin}/guide").code == 0


def test_stored_pages_are_fetched_again(quick: Command, site: Site) -> None:
    assert quick("add", f"{site.origin}/guide").out == f"{site.origin}/guide: 1 chunk\n"
    assert quick("sync", "--web").out.startswith("1 found = 0 indexed + 1 unchanged")
    site.routes["/guide"] = reply(status="500 Oops")
    ran = quick("sync", "--web", "--json")
    assert (ran.code, ran.json["failed"][0]["uri"]) == (3, f"{site.origin}/guide")
    site.routes["/guide"] = reply(status="410 Gone")
    ran = quick("sync", "--web")
    assert (ran.code, "1 removed" in ran.out, "410 Gone" in ran.err) == (0, True, True)
    assert quick("sources", "--json").json["documents"] == []
    assert quick("sync", "--web", "docs").code == 2


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("http://127.0.0.1/x", 10, "not public"),
        ("http://169.254.169.254/latest", 10, "metadata"),
        ("http://localhost:22/", 10, "port 22"),
        ("http://0x7f.1/", 2, "odd spelling"),
        ("file:///etc/passwd", 2, "only http and https"),
        ("https://user@example.org/", 2, "user name"),
        ("ORIGIN/missing", 7, "404 Not Found"),
        ("README.md ORIGIN/missing", 3, "404 Not Found"),
        ("README.md ORIGIN/guide http://127.1/", 2, "odd spelling"),
        ("ORIGIN/guide --name x", 2, "--name"),
        ("ORIGIN/guide --metadata a=b", 2, "--metadata"),
    ],
)
def test_a_page_that_cannot_be_added_has_its_exit_code(
    quick: Command, site: Site, arguments: str, code: int, message: str
) -> None:
    ran = quick("add", *shlex.split(arguments.replace("ORIGIN", site.origin)))
    assert ran.code == code, ran.err
    assert message in ran.err
    if code == 2:
        assert site.requests == []


def test_a_search_over_pages_does_not_index_the_folder(
    quick: Command, site: Site, project: Path
) -> None:
    quick("add", f"{site.origin}/guide")
    ran = quick("search", "quokka", "--json")
    assert ran.json["results"]
    assert len(quick("sources", "--json").json["documents"]) == 1
