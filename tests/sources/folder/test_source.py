from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.errors import InputError, ReadError
from ragstone.protocols import Source
from ragstone.sources.folder.selection import FileLimits
from ragstone.sources.folder.source import MISSING, OWN_REASON, FolderSource
from ragstone.types import Item, Skip, Stamp

Plant = Callable[..., Path]
Scan = Callable[..., tuple[list[str], dict[str, str]]]
LIMITS = FileLimits(1_000_000, 50_000)


def test_it_is_a_source_whose_items_load(plant: Plant) -> None:
    source: Source = FolderSource(plant({"b/c.txt": "two", "a.txt": "one"}), limits=LIMITS)
    items = [entry for entry in source.scan() if isinstance(entry, Item)]
    assert [(item.uri, source.load(item).data) for item in items] == [
        ("a.txt", b"one"),
        ("b/c.txt", b"two"),
    ]
    assert items[0].size == 3


def test_nested_ignore_files_and_negations_are_honoured(
    way: str, plant: Plant, scan: Scan
) -> None:
    plant(
        {
            ".gitignore": "*.log\nbuild/\n!keep.log\n",
            "a.log": "x",
            "keep.log": "x",
            "build/out.txt": "x",
            "sub/.gitignore": "!a.log\n/local.txt\n",
            "sub/a.log": "x",
            "sub/local.txt": "x",
            "sub/deep/local.txt": "x",
        }
    )
    items, skipped = scan()
    assert items == [
        "keep.log",
        "sub/a.log",
        "sub/deep/local.txt",
    ]
    assert skipped == {}


def test_our_own_ignore_files_leave_out_more_and_bring_nothing_back(
    way: str, plant: Plant, scan: Scan
) -> None:
    plant(
        {
            ".gitignore": "secret.md\n",
            ".ragstoneignore": "old/\n*.gen.md\n!secret.md\n",
            "secret.md": "x",
            "a.gen.md": "x",
            "old/b.md": "x",
            "new/.ragstoneignore": "c.md\n!d.gen.md\n",
            "new/c.md": "x",
            "new/d.gen.md": "x",
            "c.md": "x",
        }
    )
    assert scan() == (
        ["c.md", "new/d.gen.md"],
        {},
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".env", "secret file"),
        (".env.production", "secret file"),
        ("ID_RSA", "secret file"),
        ("deploy/server.pem", "secret file"),
        (".npmrc", "secret file"),
        (".dev.vars", "secret file"),
        ("home/id_ed25519_sk", "secret file"),
        ("ragstone.toml", "settings of Ragstone"),
        ("package-lock.json", "generated file"),
        ("web/app.min.js", "generated file"),
        ("web/app.js.map", "generated file"),
        ("Cargo.lock", "generated file"),
    ],
)
def test_secret_and_generated_files_are_skipped_with_a_reason(
    way: str, plant: Plant, scan: Scan, name: str, reason: str
) -> None:
    plant({name: "x", "a.md": "x"})
    assert scan() == (["a.md"], {name: reason})


def test_examples_of_secret_files_are_read_and_secret_ones_on_demand(
    plant: Plant, scan: Scan
) -> None:
    plant({".env.example": "x", ".env.prod.example": "x", ".env": "x", ".ssh/config": "x"})
    assert scan() == (
        [".env.example", ".env.prod.example"],
        {".env": "secret file", ".ssh/": "folder of secrets"},
    )
    assert scan(secret_files=True) == (
        [".env", ".env.example", ".env.prod.example", ".ssh/config"],
        {},
    )


def test_a_large_file_is_skipped_with_its_size(way: str, plant: Plant, scan: Scan) -> None:
    plant({"big.txt": "x" * 300_000, "fits.txt": "x" * 1000, "small.txt": "x" * 1001})
    items, skipped = scan(limits=FileLimits(1000, 10))
    assert items == ["fits.txt"]
    assert skipped["big.txt"] == "too large: 0.3 MB (sources.max_file_bytes: 1,000 bytes)"
    assert (
        skipped["small.txt"] == "too large: 1,001 bytes (sources.max_file_bytes: 1,000 bytes)"
    )


def test_documents_have_another_limit_than_text_files(plant: Plant, scan: Scan) -> None:
    plant(
        {
            "a.PDF": "x" * 2000,
            "big.pdf": "x" * 2001,
            "a.md": "x" * 2000,
            "pdf": "x" * 1001,
            ".pdf": "x",
        }
    )
    items, skipped = scan(limits=FileLimits(1000, 10, 2000, {"pdf"}))
    assert items == [".pdf", "a.PDF"]
    assert skipped == {
        "a.md": "too large: 2,000 bytes (sources.max_file_bytes: 1,000 bytes)",
        "big.pdf": "too large: 2,001 bytes (sources.max_document_bytes: 2,000 bytes)",
        "pdf": "too large: 1,001 bytes (sources.max_file_bytes: 1,000 bytes)",
    }


def test_a_document_is_opened_up_to_its_own_limit(plant: Plant) -> None:
    folder = plant({"a.pdf": "x" * 2000, "a.md": "x" * 500})
    source = FolderSource(folder, limits=FileLimits(1000, 10, 3000, {"pdf"}))
    items = {item.uri: item for item in source.scan() if isinstance(item, Item)}
    (folder / "a.pdf").write_text("x" * 3000)
    assert len(source.load(items["a.pdf"]).data) == 3000
    (folder / "a.md").write_text("x" * 3000)
    with pytest.raises(ReadError, match="too large"):
        source.load(items["a.md"])


def test_files_without_a_reader_are_skipped_with_a_reason(plant: Plant, scan: Scan) -> None:
    plant({"a.png": "x", "a.md": "x"})
    reasons = scan(refuse=lambda uri: "unsupported type .png" if uri.endswith(".png") else None)
    assert reasons == (["a.md"], {"a.png": "unsupported type .png"})


def test_environments_and_caches_are_skipped_as_one_entry(
    way: str, plant: Plant, scan: Scan
) -> None:
    plant(
        {
            "env/pyvenv.cfg": "x",
            "env/lib/a.py": "x",
            "target/CACHEDIR.TAG": "x",
            "target/b.rs": "x",
            "pkg/node_modules/c/d.js": "x",
            "pkg/d.js": "x",
        }
    )
    items, skipped = scan()
    assert items == ["pkg/d.js"]
    assert skipped == {
        "env/": "virtual environment",
        "target/": "cache folder",
        "pkg/node_modules/": "installed packages",
    }


def test_too_many_files_are_refused_with_the_way_out(way: str, plant: Plant) -> None:
    folder = plant({f"{number}.txt": "x" for number in range(6)})
    with pytest.raises(InputError, match="more than 5 files") as refused:
        list(FolderSource(folder, limits=FileLimits(100, 5)).scan())
    assert "--yes" in refused.value.hint and "max_files" in refused.value.hint
    assert len(list(FolderSource(folder, limits=FileLimits(100, 6)).scan())) == 6


def test_counting_stops_one_beyond_the_limit(way: str, plant: Plant) -> None:
    source = FolderSource(
        plant({f"d{number}/{number}.txt": "x" for number in range(20)}),
        limits=FileLimits(100, 5),
    )
    assert source.count(3) == 4
    assert source.count(19) == 20
    assert source.count(100) == 20


def test_a_root_that_is_no_folder_is_one_clear_sentence(folder: Path, plant: Plant) -> None:
    plant({"a.txt": "x"})
    for root, words in (
        (folder / "nowhere", "is not there"),
        (folder / "a.txt", "is not a folder"),
    ):
        with pytest.raises(InputError, match=words):
            list(FolderSource(root, limits=LIMITS).scan())


def test_an_empty_folder_holds_nothing(way: str, scan: Scan) -> None:
    assert scan() == ([], {})


def test_the_home_folder_is_never_listed_wherever_it_is(
    way: str, plant: Plant, scan: Scan
) -> None:
    folder = plant(
        {
            ".ragstone/ragstone.db": "x",
            "sub/.ragstone/ragstone.db": "x",
            "index/data.txt": "x",
            "a.md": "x",
        }
    )
    assert scan(home=folder / "index") == (["a.md"], {})


def test_our_database_is_never_opened_under_any_name(
    way: str, plant: Plant, scan: Scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = plant(
        {
            ".ragstone/ragstone.db": "x",
            ".ragstone/ragstone.db-wal": "y",
            ".ragstone/other": "z",
            "a.md": "a",
        }
    )
    home = folder / ".ragstone"
    for number, name in enumerate(("ragstone.db", "ragstone.db-wal", "other")):
        os.link(home / name, folder / f"copy{number}.md")
    options: dict[str, Any] = {"home": home, "databases": [home / "ragstone.db"]}
    assert scan(**options) == (
        ["a.md"],
        {f"copy{number}.md": OWN_REASON for number in range(3)},
    )

    opened: list[str] = []
    plain = os.open

    def watched_open(path: str | Path, *rest: Any, **more: Any) -> int:
        opened.append(str(path))
        return plain(path, *rest, **more)

    monkeypatch.setattr(os, "open", watched_open)
    source = FolderSource(folder, limits=LIMITS, **options)
    for number in range(2):
        with pytest.raises(ReadError, match="never opened"):
            source.load(Item(f"copy{number}.md", Stamp(1, 1, 1, 1)))
    with pytest.raises(ReadError, match="never opened"):
        source.load(Item(".ragstone/ragstone.db", Stamp(1, 1, 1, 1)))
    assert not [path for path in opened if "copy" in path or "ragstone.db" in path]


def test_a_side_file_that_appears_after_the_scan_is_not_opened_either(plant: Plant) -> None:
    folder = plant({".ragstone/ragstone.db": "x", "a.md": "a"})
    source = FolderSource(folder, limits=LIMITS, databases=[folder / ".ragstone/ragstone.db"])
    [item] = [entry for entry in source.scan() if isinstance(entry, Item)]
    (folder / "a.md").unlink()
    (folder / "a.md").write_text("wal")
    os.link(folder / "a.md", folder / ".ragstone/ragstone.db-wal")
    with pytest.raises(ReadError, match="never opened"):
        source.load(item)


@pytest.mark.parametrize("side", ["", "-wal", "-shm", "-journal", ".lock"])
def test_no_file_of_the_index_is_opened_nor_the_side_files_of_its_database(
    plant: Plant, side: str
) -> None:
    folder = plant({"a.md": "a"})
    database = folder / ".ragstone/ragstone.db"
    source = FolderSource(folder, limits=LIMITS, databases=[database])
    [item] = [entry for entry in source.scan() if isinstance(entry, Item)]
    database.parent.mkdir()
    os.link(folder / "a.md", f"{database}{side}")
    with pytest.raises(ReadError, match="never opened"):
        source.load(item)
    looked_at = source._database_files()
    assert len(looked_at) == len(set(looked_at)) == 5  # each once for every file that is read


def test_deleted_files_differ_from_files_out_of_sight(plant: Plant) -> None:
    folder = plant({"a.md": "x", "docs/b.md": "x"})
    everything = FolderSource(folder, limits=LIMITS)
    assert all(isinstance(entry, Item) for entry in everything.scan())
    assert everything.covers("deleted.md") and everything.covers("docs/deleted.md")
    narrow = FolderSource(folder, limits=LIMITS, only=["docs"])
    assert [entry.uri for entry in narrow.scan()] == ["docs/b.md"]
    assert narrow.covers("docs/deleted.md") and not narrow.covers("deleted.md")
    source = FolderSource(folder, limits=LIMITS, only=["deleted.md"])
    assert list(source.scan()) == [Skip("deleted.md", MISSING)]
    assert source.covers("deleted.md") and not source.covers("a.md")


def test_a_fresh_file_has_no_stamp_to_trust_and_an_old_one_has(plant: Plant) -> None:
    folder = plant({"a.md": "x"})
    source = FolderSource(folder, limits=LIMITS)
    [item] = [entry for entry in source.scan() if isinstance(entry, Item)]
    assert (source.load(item).data, source.load(item).stamp) == (b"x", None)
    aged = FolderSource(Path(os.__file__).parent, limits=LIMITS, include=["os.py"], git=False)
    [aged_item] = [entry for entry in aged.scan() if isinstance(entry, Item)]
    assert aged.load(aged_item).stamp == aged_item.stamp


def test_skips_carry_uris_and_reasons_people_can_read(way: str, plant: Plant) -> None:
    folder = plant({".env": "x", "big.txt": "x" * 50, "node_modules/a.js": "x"})
    entries = list(FolderSource(folder, limits=FileLimits(10, 10)).scan())
    assert all(
        isinstance(entry, Skip) and entry.reason and "/" not in entry.uri[:-1]
        for entry in entries
    )
    assert len(entries) == 3
