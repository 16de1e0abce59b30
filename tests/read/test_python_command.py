"""A worker process imports nothing from the folder that is indexed."""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.indexing.collection_writer import ChunkingConfig
from ragstone.indexing.prepare import ItemPreparer, Outcome
from ragstone.indexing.worker import BatchWorker
from ragstone.read import python_command
from ragstone.sources.folder.selection import FileLimits
from ragstone.sources.folder.source import FolderSource
from ragstone.types import Item
from tests.read.pdf_files import lines, pdf

ROOT = Path(__file__).resolve().parents[2]
READS = """
import sys
from ragstone.read.choose_reader import reader_for
from tests.read.pdf_files import lines, pdf
print(reader_for("a.pdf").read(pdf([lines("A line.")]), "a.pdf").text)
"""


@pytest.mark.parametrize(
    "planted",
    [["pypdfium2"], ["yaml"], ["pypdfium2", "selectolax", "yaml", "charset_normalizer"]],
)
def test_a_package_in_the_current_folder_is_never_imported(
    tmp_path: Path, planted: list[str]
) -> None:
    for name in planted:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("open('trace', 'w').close()\n")
    program = f"import sys; sys.path[1:1] = {[str(ROOT), str(ROOT / 'src')]}" + READS
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert not (tmp_path / "trace").exists()
    # Where all are hidden by foreign ones, none is found, and the error says so.
    assert ("A line." in ran.stdout) is (len(planted) == 1)
    assert ("not installed" in ran.stderr) is (len(planted) > 1)


def test_the_folders_of_the_packages_that_readers_need_come_last() -> None:
    told = python_command.build_command("ragstone.read.confined_main")
    assert told[1:4] == ["-I", "-S", "-B"]
    folders = told[told.index("-c") + 2 :]
    assert folders[0] == str(Path(python_command.__file__).parents[2])
    assert any((Path(folder) / "pypdfium2").is_dir() for folder in folders)


@pytest.mark.parametrize(
    ("place", "passed_on"), [(None, False), ("bytecode", False), (str(ROOT / "bytecode"), True)]
)
def test_an_absolute_byte_code_folder_is_passed_on(
    monkeypatch: pytest.MonkeyPatch, place: str | None, passed_on: bool
) -> None:
    # One that is told from the current folder on would be looked for in the folder being read.
    monkeypatch.setattr(sys, "pycache_prefix", place)
    told = python_command.build_command("ragstone.indexing.worker_main")
    assert (told[4:6] == ["-X", f"pycache_prefix={place}"]) is passed_on
    assert ("-X" in told) is passed_on


def test_a_frozen_program_has_no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    assert python_command.find_python() == sys.executable
    for name in ("/opt/app/server", "", None):
        monkeypatch.setattr(sys, "executable", name)
        assert python_command.find_python() is None


def timeless(outcome: Outcome | None) -> Outcome | None:
    """Return an outcome without its stamp, which a file has only some time after it was written."""
    if outcome is None:
        return None
    ready = replace(outcome.prepared, stamp=None) if outcome.prepared else None
    return replace(outcome, stamp=None, prepared=ready)


def test_the_worker_reads_documents_like_this_process(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.pdf").write_bytes(
            pdf([lines(f"Paper {number}."), lines("Its second page.")])
        )
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    (tmp_path / "unnamed").write_bytes(pdf([lines("A PDF by its first bytes.")]))
    preparer = ItemPreparer(
        FolderSource(tmp_path, limits=FileLimits(10**6, 100), git=False), ChunkingConfig()
    )
    items = [one for one in preparer.source.scan() if isinstance(one, Item)]
    work = deque(items)
    found: list[tuple[Item, Outcome | None]] = []
    with closing(BatchWorker(preparer, work)) as worker:
        while not worker.is_finished:
            found += worker.take_batch(wait=True) or ()
    assert not work
    here = {item.uri: preparer.prepare_item(item) for item in items}
    assert {item.uri: timeless(outcome) for item, outcome in found} == {
        uri: timeless(one) for uri, one in here.items()
    }
    assert [preparer.prepare_item(item).verdict for item in items].count("ready") == 6
