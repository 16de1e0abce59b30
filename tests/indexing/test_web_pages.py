"""Pages in a collection: stored under their address, asked about again, never silently gone."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.errors import AccessError, ConfigError, InputError, ReadError
from ragstone.types import StoredDocument
from tests.support.local_site import Answer, Request, Site, redirect, reply, serving

GUIDE = "# Guide\n\nThe quokka guards the gate.\n"


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(
        Site(routes={"/guide.md": reply(GUIDE, type="text/markdown", etag='"1"')})
    ) as served:
        yield served


@pytest.fixture
def reader(folder: Path, site: Site) -> Iterator[Engine]:
    """Give an engine that may visit the site."""
    settings = {
        "rag.embedding_provider": "fake",
        "web.allow": [f"{site.host}:{site.port}"],
        "web.seconds": 5,
    }
    with Engine.open(folder, config=settings) as opened:
        yield opened


def by_etag(text: str, etag: str) -> Answer:
    """Return a route that says 304 to whoever knows the page."""

    def answer(connection: socket.socket, request: Request) -> None:
        is_known = request.headers.get("if-none-match") == etag
        connection.sendall(
            reply(status="304 Not Modified")
            if is_known
            else reply(text, type="text/markdown", etag=etag)
        )

    return answer


def stored(engine: Engine) -> dict[str, StoredDocument]:
    return {document.uri: document for document in engine.sources() if document.source == "web"}


def test_a_page_is_found_and_cited_by_its_address(reader: Engine, site: Site) -> None:
    report = reader.external.add_page(f"{site.origin}/guide.md#gate")
    uri = f"{site.origin}/guide.md"
    assert (report.documents, report.per_document[0].uri, report.embedded) == (1, uri, 1)
    hit = reader.search("quokka")[0]
    assert (hit.source_doc_id, hit.title, hit.language, hit.text) == (
        uri,
        "Guide",
        "markdown",
        GUIDE.strip(),
    )
    about = stored(reader)[uri].metadata
    assert (about["url"], about["etag"], about["content_type"]) == (uri, '"1"', "text/markdown")
    assert str(about["fetched_at"]).endswith("+00:00")


def test_a_sync_of_the_folder_does_not_change_pages(reader: Engine, site: Site) -> None:
    reader.sync()
    reader.external.add_page(f"{site.origin}/guide.md")
    assert reader.sync(full=True).removed == 0
    assert reader.admin.refresh() is None
    assert list(stored(reader)) == [f"{site.origin}/guide.md"]


def test_a_redirected_page_is_stored_where_it_was_found(reader: Engine, site: Site) -> None:
    site.routes["/latest"] = redirect("/guide.md")
    reader.external.add_page(f"{site.origin}/latest")
    assert stored(reader)[f"{site.origin}/guide.md"].metadata["url"] == f"{site.origin}/latest"
    site.routes |= {
        "/latest": redirect("/new.md"),
        "/new.md": reply("# New\n\nA numbat.", type="text/markdown"),
    }
    report = reader.external.add_page(f"{site.origin}/latest")
    assert list(stored(reader)) == [f"{site.origin}/new.md"]
    assert [remark.reason for remark in report.remarks] == [f"moved to {site.origin}/new.md"]


def test_pages_of_all_types_are_read_as_files_of_that_type_are(
    reader: Engine, site: Site
) -> None:
    site.routes |= {
        "/page": reply(
            "<html><body><p>wombat burrow</p></body></html>", type="text/html; charset=utf-8"
        ),
        "/old": reply(
            "caf\xe9 echidna".encode("latin-1"), type="text/plain; charset=iso-8859-1"
        ),
        "/data": reply('{"animal": "bilby"}', type="application/json"),
    }
    for path, word in (("/page", "wombat"), ("/old", "café echidna"), ("/data", "bilby")):
        reader.external.add_page(site.origin + path)
        assert reader.search(word, mode="words")[0].source_doc_id == site.origin + path
    assert stored(reader)[f"{site.origin}/old"].title == f"{site.host}:{site.port}/old"


def test_a_page_that_cannot_be_added_leaves_nothing(reader: Engine, site: Site) -> None:
    site.routes |= {
        "/empty": reply(" \n"),
        "/picture": reply(b"\x89PNG", type="image/png"),
        "/binary": reply(bytes(range(256)) * 20),
        "/robots.txt": reply("User-agent: *\nDisallow: /private"),
    }
    for path in ("/empty", "/picture", "/binary", "/missing"):
        with pytest.raises(ReadError):
            reader.external.add_page(site.origin + path)
    with pytest.raises(AccessError, match="asks programs not to"):
        reader.external.add_page(f"{site.origin}/private")
    with pytest.raises(AccessError, match="not public"):
        reader.external.add_page("http://127.0.0.1/")
    with pytest.raises(InputError):
        reader.external.add_page("guide.md")
    assert reader.is_empty()


def test_a_page_that_has_not_changed_is_not_touched(reader: Engine, site: Site) -> None:
    site.routes["/guide.md"] = by_etag(GUIDE, '"1"')
    site.routes["/plain"] = reply("A page without validators, about a dingo.")
    reader.external.add_page(f"{site.origin}/guide.md")
    reader.external.add_page(f"{site.origin}/plain")
    before, generation = stored(reader), reader.status().generation
    report = reader.external.recheck_pages()
    assert (report.found, report.unchanged, report.indexed, report.ok) == (2, 2, 0, True)
    assert stored(reader) == before
    assert reader.status().generation == generation
    assert (
        site.requests[-2].headers.get(
            "if-none-match", site.requests[-1].headers.get("if-none-match")
        )
        == '"1"'
    )


def test_a_page_that_has_changed_is_replaced(reader: Engine, site: Site) -> None:
    reader.external.add_page(f"{site.origin}/guide.md", collection="web")
    site.routes["/guide.md"] = reply(
        "# Guide\n\nNow a potoroo guards it.", type="text/markdown", etag='"2"'
    )
    report = reader.external.recheck_pages()
    assert (report.found, report.indexed, report.unchanged, report.embedded) == (1, 1, 0, 1)
    assert reader.search("quokka", mode="words") == []
    assert reader.search("potoroo", mode="words")[0].collection == "web"
    assert stored(reader)[f"{site.origin}/guide.md"].metadata["etag"] == '"2"'


def test_a_page_whose_stored_text_is_damaged_is_replaced(reader: Engine, site: Site) -> None:
    reader.external.add_page(f"{site.origin}/guide.md")
    with reader.workspace.components.store._database.writing() as db:  # type: ignore[attr-defined]  # the store in a file has it
        db.execute("UPDATE texts SET body = x'ff00'")
    site.routes["/guide.md"] = reply(
        "# Guide\n\nNow a potoroo guards it.", type="text/markdown", etag='"2"'
    )
    report = reader.external.recheck_pages()
    assert (report.found, report.indexed, report.ok) == (1, 1, True)
    assert reader.search("potoroo", mode="words")


def test_new_validators_of_the_same_text_are_remembered(reader: Engine, site: Site) -> None:
    reader.external.add_page(f"{site.origin}/guide.md")
    site.routes["/guide.md"] = by_etag(GUIDE, '"2"')
    assert reader.external.recheck_pages().unchanged == 1
    assert stored(reader)[f"{site.origin}/guide.md"].metadata["etag"] == '"2"'
    generation = reader.status().generation
    assert reader.external.recheck_pages().unchanged == 1
    assert reader.status().generation == generation


@pytest.mark.parametrize("status", ["404 Not Found", "410 Gone"])
def test_a_page_that_is_gone_is_removed_with_a_remark(
    reader: Engine, site: Site, status: str
) -> None:
    reader.external.add_page(f"{site.origin}/guide.md")
    site.routes["/guide.md"] = reply(status=status)
    report = reader.external.recheck_pages()
    assert (report.found, report.removed, report.ok) == (0, 1, True)
    assert report.remarks[0].uri == f"{site.origin}/guide.md"
    assert status[:3] in report.remarks[0].reason
    assert reader.search("quokka", mode="words") == []


def test_an_unreachable_page_stays_and_is_reported(reader: Engine, site: Site) -> None:
    reader.external.add_page(f"{site.origin}/guide.md")
    troubles = {
        "500": reply(status="500 Oops"),
        "401": reply(status="401 Log in"),
        "HTTP": b"garbage\r\n\r\n",
        "no reader": reply(b"x", type="image/png"),
        "no text": reply("", type="text/markdown"),
        "for now": redirect("/login"),
        "not public": redirect("http://10.0.0.1/"),
    }
    site.routes["/login"] = reply("Please log in.")
    for reason, trouble in troubles.items():
        site.routes["/guide.md"] = trouble
        report = reader.external.recheck_pages()
        assert (report.found, len(report.failed), report.removed, report.ok) == (
            1,
            1,
            0,
            False,
        ), reason
        assert reason in report.failed[0].reason
    assert reader.search("quokka", mode="words")


def test_a_page_that_moved_for_good_is_followed(reader: Engine, site: Site) -> None:
    reader.external.add_page(f"{site.origin}/guide.md")
    site.routes["/guide.md"] = redirect("/moved.md", "301 Moved Permanently")
    site.routes["/moved.md"] = reply("# Moved\n\nThe quokka moved house.", type="text/markdown")
    report = reader.external.recheck_pages()
    assert (report.found, report.indexed, report.removed, report.ok) == (1, 1, 1, True)
    assert report.remarks[-1].reason == f"moved to {site.origin}/moved.md"
    assert list(stored(reader)) == [f"{site.origin}/moved.md"]


def test_one_bad_page_does_not_stop_the_others(reader: Engine, site: Site) -> None:
    site.routes |= {f"/{at}.md": reply(f"# Page {at}", type="text/markdown") for at in range(5)}
    for at in range(5):
        reader.external.add_page(f"{site.origin}/{at}.md")
    site.routes["/1.md"] = reply(status="500 Oops")
    site.routes["/3.md"] = b""
    report = reader.external.recheck_pages()
    assert (report.found, report.unchanged, len(report.failed), report.closes) == (
        5,
        3,
        2,
        True,
    )


def test_another_chunking_fetches_and_cuts_again(
    reader: Engine, site: Site, folder: Path
) -> None:
    text = "# Guide\n\n" + "".join(
        f"Sentence number {at} of a longer page.\n\n" for at in range(60)
    )
    site.routes["/guide.md"] = by_etag(text, '"1"')
    reader.external.add_page(f"{site.origin}/guide.md")
    allow = {
        "web.allow": [f"{site.host}:{site.port}"],
        "rag.embedding_provider": "fake",
        "rag.chunk_size": 30,
    }
    with Engine.open(folder, config=allow) as smaller:
        before = stored(smaller)[f"{site.origin}/guide.md"].chunks
        assert smaller.external.recheck_pages().indexed == 1
        assert stored(smaller)[f"{site.origin}/guide.md"].chunks > before
        assert smaller.external.recheck_pages().unchanged == 1


def test_fetching_can_be_switched_off_and_no_project_file_can_switch_it_on(
    folder: Path, site: Site
) -> None:
    with (
        Engine.open(folder, config={"web.enabled": False}) as off,
        pytest.raises(AccessError, match="web.enabled"),
    ):
        off.external.add_page(f"{site.origin}/guide.md")
    for line in ('allow = ["127.0.0.1:80"]', "enabled = true"):
        (folder / "ragstone.toml").write_text(f"[web]\n{line}\n", encoding="utf-8")
        with pytest.raises(ConfigError, match="came with a clone"):
            Engine.open(folder)
    assert site.requests == []


def test_an_engine_that_is_switched_off_fetches_nothing(folder: Path, site: Site) -> None:
    with Engine.open(folder, config={"rag.enabled": False}) as off:
        assert off.external.add_page(f"{site.origin}/guide.md").documents == 0
        assert off.external.recheck_pages().found == 0
        assert off.external.capture("git").found == 0
    assert site.requests == []
    assert not (folder / ".ragstone").exists()
