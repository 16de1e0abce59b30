"""Names and calls that the design documents use."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from ragstone import (
    Candidate,
    Engine,
    InputError,
    NotFound,
    RAGContextSelector,
    ReadError,
    TurboQuantizer,
    extract_text,
)


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Engine]:
    """Return an engine with one note."""
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.add(
            "Uploads give up after three attempts.", uri="notes/a", metadata={"team": "web"}
        )
        yield engine


def test_a_text_is_added_with_its_name_and_metadata(notes: Engine) -> None:
    hit = notes.search("attempts", filters={"meta.team": "web"})[0]
    assert (hit.text, hit.source_doc_id) == ("Uploads give up after three attempts.", "notes/a")


def test_a_hit_has_the_names_that_document_bases_use(notes: Engine) -> None:
    hit = notes.search("attempts")[0]
    assert hit.content == hit.text
    assert hit.source_file == hit.metadata["path"] == "notes/a"
    assert hit.metadata["chunk_index"] == hit.chunk_index == 0
    assert hit.type == hit.kind
    assert (hit.path, hit.lines, hit.page) == ("notes/a", (1, 1), None)
    assert hit.distance == pytest.approx(1 - hit.score)


class ChatSelector:
    """A caller's own selection, which ends only after the search has begun."""

    def __init__(self) -> None:
        self.search_has_begun = threading.Event()

    def select_context(
        self, task_description: str, project_id: str | None, max_tokens: int
    ) -> list[Candidate | str]:
        assert self.search_has_begun.wait(20), "the search did not run in parallel"
        return [Candidate(f"{task_description}: {project_id}, {max_tokens}", "chat", 0.9), "b"]


def test_a_selector_runs_beside_the_callers_own_and_merges_both(notes: Engine) -> None:
    base = ChatSelector()
    notes.events.subscribe(lambda _: base.search_has_begun.set(), ["rag_search_started"])
    selector = RAGContextSelector(base, notes)
    context = selector.select_context("uploads give up", "default", 400)
    assert [cited.uri for cited in context.cited][:2] == ["chat", "notes/a"]
    assert "uploads give up: default, 400" in context.text
    assert context.tokens <= context.budget == 400
    with pytest.raises(NotFound, match="no project 'other'"):
        selector.select_context("uploads", "other", 400)
    with pytest.raises(InputError, match="a function cannot select context"):
        RAGContextSelector(lambda: [])  # type: ignore[arg-type]


class FixedSelector:
    """A caller's own selection that always returns the same."""

    def __init__(self, selected: object) -> None:
        self.selected = selected

    def select_context(
        self, task_description: str, project_id: str | None, max_tokens: int
    ) -> Sequence[Candidate | str]:
        return cast("Sequence[Candidate | str]", self.selected)


@pytest.mark.parametrize(
    "selected", ["retries wait", Candidate("retries wait", "context 1"), ("retries wait",)]
)
def test_a_selector_may_return_one_text(notes: Engine, selected: object) -> None:
    context = RAGContextSelector(FixedSelector(selected), notes).select_context("retries")
    assert "context 1" in {cited.uri for cited in context.cited}
    assert "retries wait" in context.text


@pytest.mark.parametrize("selected", [{"text": "retries"}, 5, [5], [None]])
def test_a_selector_that_returns_something_else_is_refused(
    notes: Engine, selected: object
) -> None:
    with pytest.raises(InputError, match="select_context returned a"):
        RAGContextSelector(FixedSelector(selected), notes).select_context("retries")


class BrokenSelector:
    """A caller's own selection that fails."""

    def select_context(
        self, task_description: str, project_id: str | None, max_tokens: int
    ) -> str:
        raise ConnectionError("the caller's service is down")


def test_an_exception_of_the_callers_selector_is_raised_unchanged(notes: Engine) -> None:
    selector = RAGContextSelector(BrokenSelector(), notes)
    with pytest.raises(ConnectionError, match="the caller's service is down"):
        selector.select_context("retries wait")
    assert notes.context("uploads give up").cited


def test_a_selector_without_an_engine_opens_the_current_folder(
    notes: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    base = ChatSelector()
    base.search_has_begun.set()
    (tmp_path / "ragstone.toml").write_text('[rag]\nembedding_provider = "fake"\n')
    monkeypatch.chdir(tmp_path)
    context = RAGContextSelector(base).select_context("uploads attempts")
    assert {"chat", "notes/a"} <= {cited.uri for cited in context.cited}


@pytest.mark.parametrize("sign", ["\n", "\x1b", "\u2028", "\u202e", "\u2066"])
def test_names_with_signs_that_forge_a_line_are_refused(notes: Engine, sign: str) -> None:
    with pytest.raises(InputError, match="control characters"):
        notes.admin.create_collection(f"a{sign}b")
    with pytest.raises(InputError, match="control characters"):
        Engine.open(project=f"a{sign}b")


def test_names_of_any_script_are_allowed(notes: Engine) -> None:
    for name in ("книги", "किताब\u200dें", "كتب"):
        assert notes.admin.create_collection(name).name == name


def test_compress_results_is_another_name_of_compress(notes: Engine) -> None:
    text = "Nothing here.\n\n" * 3 + "Retries wait longer each time. Colours are nice."
    notes.add(text, uri="notes/b")
    compressed = notes.search("retries wait", compress_results=True)[0]
    assert compressed.text == notes.search("retries wait", compress=True)[0].text
    assert compressed.text != notes.search("retries wait")[0].text


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("text",), {}, "a text needs a uri"),
        (([],), {"uri": "x"}, "uri and metadata go with a text"),
        (("text",), {"uri": "x", "metadata": {"a": object()}}, "cannot be stored"),
        (("text",), {"uri": " "}, "needs a uri"),
    ],
)
def test_wrong_calls_of_add_say_what_is_wrong(
    notes: Engine, arguments: tuple[object], options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        notes.add(*arguments, **options)  # type: ignore[arg-type]
    assert [source.uri for source in notes.sources()] == ["notes/a"]


def test_a_collection_becomes_a_text_and_comes_back(notes: Engine, tmp_path: Path) -> None:
    text = notes.admin.to_base64()
    assert text.isascii()
    other = tmp_path / "other"
    other.mkdir()
    with Engine.open(other, config={"rag.embedding_provider": "fake"}) as engine:
        report = engine.admin.from_base64(text, collection="copy")
        assert (report.documents, report.pending) == (1, 0)
        assert (
            engine.search("attempts", mode="vectors", collection="copy")[0].metadata["team"]
            == "web"
        )


@pytest.mark.parametrize("text", ["", "no base64!", "QUJD", None])
def test_a_text_without_a_collection_is_refused(notes: Engine, text: str) -> None:
    with pytest.raises(InputError, match="text"):
        notes.admin.from_base64(text)


def test_codebooks_are_serialized_by_the_class() -> None:
    vectors = np.random.default_rng(7).normal(size=(3, 64)).astype(np.float32)
    codebook = TurboQuantizer(bits=4, outlier_ratio=0.05).compress(vectors)
    data = TurboQuantizer.serialize(codebook)
    assert TurboQuantizer.serialize(TurboQuantizer.deserialize(data)) == data


def test_the_text_of_a_file_is_extracted(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<h1>Title</h1><p>Body.</p>")
    assert "Body." in extract_text(tmp_path / "a.html")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(ReadError, match="is a picture"):
        extract_text(tmp_path / "b.png")


def test_a_change_of_a_run_may_be_called_updated(notes: Engine) -> None:
    notes.record_run(
        "r1", "Changed retries.", [{"path": "a.py", "action": "updated", "summary": "longer"}]
    )
    assert notes.search("longer", filters={"kind": "file_change"})
