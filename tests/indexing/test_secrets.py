"""No secret reaches the database, a derived index or a report."""

from __future__ import annotations

from collections import deque
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from bench.planted import left, planted
from ragstone import Document, Engine
from ragstone.errors import ConfigError
from ragstone.indexing.collection_writer import ChunkingConfig
from ragstone.indexing.prepare import ItemPreparer, Outcome
from ragstone.indexing.worker import BatchWorker
from ragstone.sources.folder.selection import FileLimits
from ragstone.sources.folder.source import FolderSource
from ragstone.sources.secrets.redaction import redact
from ragstone.types import Item
from tests.support.written import everything

GITHUB = "ghp_" + "aB3dE5fG7h" * 3 + "K9mN2p"
PASSWORD = "Tr0ub4dor&3x"
FAKE = {"rag.embedding_provider": "fake"}
OFF = {**FAKE, "sources.secrets": "off"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(
        f'"""Notes."""\n\nTOKEN = "{GITHUB}"\n\n\ndef after() -> int:\n    return 1\n'
    )
    (tmp_path / "b.md").write_text("# Nothing\n\nsecret here\n")
    return tmp_path


def test_none_of_a_thousand_planted_secrets_is_in_the_bytes_of_an_index(tmp_path: Path) -> None:
    detected = []
    for number, (suffix, sample) in enumerate(planted(1000)):
        path = tmp_path / f"part{number // 100}" / f"file{number:04}{suffix}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(sample.text, encoding="utf-8")
        if not left(sample, redact(sample.text, uri=path.name)[0]):
            detected.append(sample)
    assert len(detected) >= 950
    with Engine.open(tmp_path, config=FAKE) as engine:
        report = engine.sync()
        assert (report.indexed, report.failed) == (1000, ())
        engine.search("retry settings")
        while_open = everything(engine.home)
        exported = "\n".join(engine.admin.export()).encode()
    stored_bytes = (
        while_open + everything(tmp_path / ".ragstone") + exported + repr(report).encode()
    )
    folded = stored_bytes.lower()
    for sample in detected:
        for line in sample.secret.split("\n"):
            if len(line) >= 8 and not line.startswith("-----"):
                assert line.encode() not in stored_bytes, sample.kind
                assert line.lower().encode() not in folded, sample.kind
    assert b"[SECRET:github-token]" in stored_bytes
    assert sum(len(remark.reason) > 0 for remark in report.remarks) >= 950


def test_a_sync_reports_redacted_secrets_and_cites_the_right_line(folder: Path) -> None:
    with Engine.open(folder, config=FAKE) as engine:
        heard: list[object] = []
        engine.events.subscribe(heard.append)
        report = engine.sync()
        assert [(remark.uri, remark.reason) for remark in report.remarks] == [
            ("a.py", "1 secret taken out: github-token (line 3)")
        ]
        assert report.ok
        assert engine.admin.text("a.py") == (folder / "a.py").read_text().replace(
            GITHUB, "[SECRET:github-token]"
        )
        hit = engine.search("after", top_k=1, mode="words", merge=False)[0]
        assert (hit.source_doc_id, hit.span.line_end) == ("a.py", 7)
        assert engine.sync().unchanged == 2
        assert GITHUB not in repr((heard, report))


def test_the_worker_redacts_the_same_secrets(folder: Path) -> None:
    preparer = ItemPreparer(
        FolderSource(folder, limits=FileLimits(50_000, 100), git=False), ChunkingConfig()
    )
    items = [entry for entry in preparer.source.scan() if isinstance(entry, Item)]
    outcomes: list[Outcome] = []
    with closing(BatchWorker(preparer, deque(items))) as worker:
        while not worker.is_finished:
            outcomes += [
                outcome for _, outcome in worker.take_batch(wait=True) or () if outcome
            ]
    by_worker = [_without_stamp(outcome) for outcome in outcomes]
    by_preparer = [_without_stamp(preparer.prepare_item(item)) for item in items]
    assert sorted(by_worker, key=lambda outcome: outcome.uri) == by_preparer
    assert GITHUB not in repr(outcomes)


def _without_stamp(outcome: Outcome) -> Outcome:
    """Return an outcome without its stamp: a file that was written just now has none yet."""
    assert outcome.prepared is not None
    return replace(outcome, stamp=None, prepared=replace(outcome.prepared, stamp=None))


def test_added_and_imported_documents_are_redacted_too(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    note = Document(
        "notes/a",
        f"the token {GITHUB}",
        title="A",
        metadata={"password": PASSWORD},
        beside=GITHUB,
    )
    with Engine.open(folder, config=OFF) as engine:
        engine.add(note)
        lines = list(engine.admin.export())
    assert any(GITHUB in line for line in lines)
    clean = tmp_path_factory.mktemp("clean")
    with Engine.open(clean, config=FAKE) as engine:
        taken = engine.admin.load(lines)
        added = engine.add(
            Document("notes/b", note.text, metadata=note.metadata, beside=note.beside)
        )
        again = engine.add(
            Document("notes/b", note.text, metadata=note.metadata, beside=note.beside)
        )
    expected = (
        "3 secrets taken out: github-token (line 1), github-token (beside), password (metadata)"
    )
    assert [(remark.uri, remark.reason) for remark in taken.remarks] == [("notes/a", expected)]
    assert [(remark.uri, remark.reason) for remark in added.remarks] == [("notes/b", expected)]
    assert (again.chunks_added, again.chunks_skipped) == (0, 1)
    assert not {GITHUB.encode(), PASSWORD.encode()} & {
        s for s in (GITHUB.encode(), PASSWORD.encode()) if s in everything(clean)
    }


def test_if_redaction_is_off_every_report_warns(folder: Path) -> None:
    with Engine.open(folder, config=OFF) as engine:
        for report in (engine.sync(), engine.sync(), engine.add(Document("x", PASSWORD))):
            [warning] = report.remarks
            assert warning.uri == "."
            assert "secrets are not looked for" in warning.reason
        assert GITHUB in (engine.admin.text("a.py") or "")


def test_switching_redaction_reads_every_file_again(folder: Path) -> None:
    with Engine.open(folder, config=OFF) as engine:
        assert engine.sync().indexed == 2
    with Engine.open(folder, config=FAKE) as engine:
        assert engine.sync().indexed == 2
        assert GITHUB not in (engine.admin.text("a.py") or "")
        assert engine.sync().unchanged == 2
        engine.admin.compact(secure=True)
    assert GITHUB.encode() not in everything(folder / ".ragstone")


def test_other_rules_mean_another_recipe() -> None:
    assert ChunkingConfig().recipe != ChunkingConfig(redact_secrets=False).recipe
    assert ChunkingConfig(redact_secrets=False).recipe.endswith(";secrets/off")


def test_an_unknown_redaction_setting_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match='"redact", "off"'):
        Engine.open(folder, config={"sources.secrets": "mask"})
