"""Collections in a project, and projects in an index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., Any]


def names(quick: Command, *flags: str) -> list[str]:
    return [
        collection["name"]
        for collection in quick("collections", "list", "--json", *flags).json["collections"]
    ]


def test_collections_are_created_filled_listed_and_dropped(quick: Command) -> None:
    ran = quick("collections", "create", "code", "--description", "all the code", "--chunker", "tokens",
                "--chunk-size", "40", "--chunk-overlap", "2")  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.out.startswith("Collection code created.")
    assert quick("sync", "src", "--collection", "code").code == 0
    quick("sync", "docs")
    assert names(quick) == ["code", "default"]
    listed = quick("collections", "list", "--json").json["collections"][0]
    assert (listed["documents"], listed["description"]) == (2, "all the code")
    assert listed["settings"] == {"chunker": "tokens", "chunk_size": 40, "chunk_overlap": 2}
    shown = quick("collections", "list").out
    assert shown.startswith("code     2 documents")
    assert "all the code; chunker tokens, chunk size 40" in shown
    assert (
        quick("collections", "drop", "code").out
        == "Collection code dropped, and 2 documents with it.\n"
    )
    assert names(quick) == ["default"]
    assert [document["uri"] for document in quick("sources", "--json").json["documents"]] == [
        "docs/storage.md"
    ]


def test_every_collections_command_prints_json(quick: Command) -> None:
    created = quick("collections", "create", "notes", "--json").json
    assert (
        created["success"],
        created["collection"]["name"],
        created["collection"]["documents"],
    ) == (True, "notes", 0)
    dropped = quick("collections", "drop", "notes", "--json").json
    assert dropped == {"success": True, "collection": "notes", "documents": 0}


def test_a_duplicate_or_unknown_collection_is_refused(quick: Command, project: Path) -> None:
    assert quick("collections", "drop", "nope").code == 4
    assert quick("collections", "list").out.startswith("No collections yet")
    assert not (project / ".ragstone").exists()
    assert quick("collections", "create", "notes").code == 0
    again = quick("collections", "create", "notes")
    assert (again.code, "already" in again.err) == (6, True), again.err
    assert quick("collections", "drop", "nope", "--json").json["error"]["code"] == "not_found"
    assert quick("collections", "create", "odd", "--chunk-size", "0").code == 2
    assert (
        quick(
            "collections", "create", "odd", "--chunk-size", "10", "--chunk-overlap", "10"
        ).code
        == 2
    )
    assert names(quick) == ["notes"]


def test_projects_in_one_index_do_not_see_each_other(quick: Command) -> None:
    assert quick("add", "README.md", "--project", "one").code == 0
    assert quick("add", "docs/storage.md", "--project", "two").code == 0
    for project, uri in (("one", "README.md"), ("two", "docs/storage.md")):
        assert [
            document["uri"]
            for document in quick("sources", "--json", "--project", project).json["documents"]
        ] == [uri]
        found = quick(
            "search", "upload write", "--mode", "words", "--json", "--project", project
        ).json["results"]
        assert {hit["path"] for hit in found} == {uri}
        state = quick("status", "--json", "--project", project).json
        assert (state["project"], state["documents"]) == (project, 1)
    assert quick("sources", "--json").json["documents"] == []
    assert quick("collections", "list", "--json").json["collections"] == []
    assert quick("remove", "README.md", "--project", "two").code == 4
    assert quick("sync", "--project", "three", "--json").json["indexed"] == 4
    assert names(quick, "--project", "three") == ["default"]


def test_sources_show_the_collection_if_there_are_several(quick: Command) -> None:
    quick("sync", "docs")
    assert quick("sources").out.split() == ["docs/storage.md", "doc", "1", "chunk"]
    quick("sync", "src", "--collection", "stones")
    rows = [line.split()[:3] for line in quick("sources").out.splitlines()]
    assert [row[2] for row in rows] == ["default", "stones", "stones"]
    assert "stones" not in quick("sources", "--collection", "stones").out


def test_collections_and_model_list_by_default(quick: Command) -> None:
    quick("collections", "create", "notes")
    for group in ("collections", "model"):
        for flags in ((), ("--json",)):
            bare = quick(group, *flags)
            assert (bare.code, bare.out) == (0, quick(group, "list", *flags).out), bare.err
    assert quick("collections", "--json").json["collections"][0]["name"] == "notes"


def test_common_options_work_before_the_command_name(quick: Command, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "granite.md").write_text("Granite is harder than marble.\n", encoding="utf-8")
    found = quick(
        "-C", str(other), "--project", "one", "--json", "search", "granite", "--mode", "words"
    )
    assert [hit["path"] for hit in found.json["results"]] == ["granite.md"], found.err
    assert (
        quick("--folder", str(other), "status", "--json", "--project", "one").json["documents"]
        == 1
    )
    assert (
        quick("--project", "two", "status", "--json", "-C", str(other)).json["documents"] == 0
    )
    assert (
        quick(
            "--project", "two", "status", "--json", "-C", str(other), "--project", "one"
        ).json["documents"]
        == 1
    )
    listed = quick("collections", "-C", str(other), "--project", "one", "list", "--json").json[
        "collections"
    ]
    assert [one["name"] for one in listed] == ["default"]
    assert quick("--project", "one", "status", "--json").json["documents"] == 0, (
        "nothing is kept for the next run"
    )
