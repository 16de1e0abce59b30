"""The read path: lists, fusion and what becomes of them, over a real store."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from ragstone import Document, Engine
from ragstone.errors import ProviderError
from ragstone.indexing.embedders import EmbedderPool
from ragstone.indexing.events import Event
from ragstone.types import Request, Scope, Scored
from ragstone.vectors.space_index import SpaceIndex

if TYPE_CHECKING:
    from ragstone.types import Hit, Matrix

FAKE = {"rag.embedding_provider": "fake"}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path, config=FAKE) as opened:
        opened.add(
            [
                Document(uri=f"n{n:03}", text=f"harbour report {n}", metadata={"n": n})
                for n in range(60)
            ]
            + [Document(uri="odd", text="The gondola crosses the lagoon.")]
        )
        yield opened


def with_cores(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Let a search see so many cores."""
    monkeypatch.setattr("ragstone.retrieval.candidates.cores", lambda: count)


def test_removed_text_is_in_no_list_before_any_compaction(engine: Engine) -> None:
    assert engine.search("gondola lagoon", mode="vectors")[0].source_doc_id == "odd"
    engine.remove("odd")
    for mode in ("words", "vectors", "hybrid"):
        assert "odd" not in {
            hit.source_doc_id for hit in engine.search("gondola lagoon", top_k=100, mode=mode)
        }


def test_nearly_everything_removed_still_leaves_the_rest_to_be_found_by_meaning(
    engine: Engine,
) -> None:
    for n in range(60):
        engine.remove(f"n{n:03}")
    assert [
        hit.source_doc_id for hit in engine.search("harbour lagoon", top_k=5, mode="vectors")
    ] == ["odd"]


def test_removed_text_does_not_displace_remaining_hits(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add([Document(uri=f"near{n}", text=f"gondola lagoon {n}") for n in range(35)])
        engine.add(
            [
                Document(uri=f"far{n}", text=f"gondola at market stall {n}, sold today")
                for n in range(25)
            ]
        )
        for n in range(35):
            engine.remove(f"near{n}")
        hits = engine.search("gondola lagoon", top_k=20, mode="vectors", merge=False)
    assert len({hit.source_doc_id for hit in hits}) == 20


@pytest.mark.parametrize("mode", ["words", "hybrid"])
def test_copies_do_not_displace_other_hits(
    tmp_path: Path, mode: Literal["words", "hybrid"]
) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add(
            [
                Document(uri=f"package{n}/LICENSE", text="gondola lagoon licence")
                for n in range(60)
            ]
        )
        engine.add(
            [
                Document(uri=f"note{n}", text=f"note {n}: a gondola was seen today")
                for n in range(20)
            ]
        )
        explanation = engine.explain("gondola lagoon licence", top_k=10, mode=mode)
    assert len(explanation.hits) == 10
    assert [hit.source_doc_id.split("/")[-1] for hit in explanation.hits].count("LICENSE") == 1
    assert len(explanation.notes) == len(set(explanation.notes))


def test_a_copy_in_another_layout_is_left_out(
    tmp_path: Path,
) -> None:
    code = "\n\n\n".join(
        f"def lagoon_{n}():\n    return 'gondola lagoon ferry {n}'" for n in range(40)
    )
    texts = [
        "The gondola and the ferry cross the lagoon.",
        "the GONDOLA  and the ferry\ncross the lagoon.",
    ]
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add([Document(uri="big.py", text=code, kind="code", language="python")])
        engine.add([Document(uri=f"{n}.md", text=text) for n, text in enumerate(texts)])
        explanation = engine.explain("gondola lagoon ferry", top_k=5)
    uris = [hit.source_doc_id for hit in explanation.hits]
    assert len({"0.md", "1.md"} & set(uris)) == 1
    assert any(dropped.reason == "same text as a hit above" for dropped in explanation.dropped)


@pytest.mark.parametrize("core_count", [1, 2])
def test_an_embedding_error_is_a_note_of_an_answer_by_words(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, core_count: int
) -> None:
    reading: list[bool] = []
    search_words = type(engine.workspace.components.store).search_words

    def slow(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - whatever a store is asked
        reading.append(True)
        time.sleep(0.05)
        rows = search_words(*arguments, **named)
        reading.pop()
        return rows

    def no_vector(*_: object) -> None:
        time.sleep(0.01)
        raise ProviderError("the service does not answer")

    with_cores(monkeypatch, core_count)
    monkeypatch.setattr(type(engine.workspace.components.store), "search_words", slow)
    monkeypatch.setattr(EmbedderPool, "query_vector", no_vector)
    explanation = engine.explain("harbour")
    assert explanation.hits and not reading
    assert any("does not answer" in note for note in explanation.notes)


def test_a_search_reads_one_moment_by_words_and_by_meaning(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_cores(monkeypatch, 2)
    query_vector, search_words = (
        EmbedderPool.query_vector,
        type(engine.workspace.components.store).search_words,
    )
    written, before = threading.Event(), engine.explain("lighthouse", fresh=False)
    engine.workspace.searcher._answers.clear()

    def writes(*arguments: Any) -> Any:  # noqa: ANN401 - whatever an embedder is asked
        with Engine.open(engine.settings.base, config=FAKE) as other:
            other.add([Document(uri="new", text="The lighthouse.")], embed=False)
        written.set()
        return query_vector(*arguments)

    def waits(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - whatever a store is asked
        assert written.wait(10)
        return search_words(*arguments, **named)

    with monkeypatch.context() as slow:
        slow.setattr(EmbedderPool, "query_vector", writes)
        slow.setattr(type(engine.workspace.components.store), "search_words", waits)
        explanation = engine.explain("lighthouse", fresh=False)
    assert (explanation.candidates, explanation.hits) == (before.candidates, before.hits)
    assert engine.search("lighthouse", fresh=False)[0].source_doc_id == "new"


@pytest.mark.parametrize(
    ("query", "options", "limit"),
    [
        ("harbour", {}, 50),
        ("harbour", {"top_k": 40}, 80),  # neighbours and copies need places
        ("harbour", {"fusion": "rrf"}, 50),
        ("harbour", {"mode": "vectors"}, 50),
        ("harbour", {"candidates": 20}, 10),
    ],
)
def test_the_vector_list_is_as_long_as_the_hits_require(
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    query: str,
    options: dict[str, Any],
    limit: int,
) -> None:
    limits: list[int] = []
    search = SpaceIndex.search

    def spy(index: SpaceIndex, vector: Matrix, k: int, **options: Any) -> list[Scored]:
        limits.append(k)
        return search(index, vector, k, **options)

    monkeypatch.setattr(SpaceIndex, "search", spy)
    request = {"top_k": 5, "candidates": 100, **options}
    engine.workspace.searcher.run(Request(query, Scope(engine.project), **request))
    assert limits == [limit]


def test_a_narrow_filter_is_exact_in_every_mode(engine: Engine) -> None:
    for mode in ("words", "vectors", "hybrid"):
        hits = engine.search(
            "harbour report", top_k=10, mode=mode, filters={"n": {"in": [3, 44]}}
        )
        assert {hit.source_doc_id for hit in hits} == {"n003", "n044"}


def test_text_without_a_vector_is_found_by_words_with_a_note(
    engine: Engine,
) -> None:
    engine.add(
        [Document(uri=f"late{n}", text=f"zeppelin number {n}") for n in range(20)], embed=False
    )
    explained = engine.explain("zeppelin")
    assert explained.hits[0].source_doc_id.startswith("late")
    assert 0 < explained.coverage["fake"] < 1
    assert any("cover" in note for note in explained.notes)


def test_a_search_by_vectors_without_vectors_has_a_note(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add(Document(uri="a", text="zeppelin"), embed=False)
        explained = engine.explain("zeppelin", mode="vectors")
        assert explained.hits == ()
        assert any("no vectors yet" in note for note in explained.notes)
        assert engine.search("zeppelin")


def test_scores_fall_from_hit_to_hit_and_stay_between_zero_and_one(engine: Engine) -> None:
    scores = [hit.score for hit in engine.search("harbour report 7", top_k=20)]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)


def test_an_unrelated_query_scores_lower_than_an_answered_one(engine: Engine) -> None:
    good = engine.search("gondola crosses the lagoon")[0].score
    bad = max(
        (hit.score for hit in engine.search("quantum chromodynamics lagrangian")), default=0.0
    )
    assert bad < good / 2


def test_an_answer_is_cached_until_the_index_changes(engine: Engine) -> None:
    first = engine.explain("gondola").hits[0]
    assert engine.explain("gondola").hits[0] is first
    engine.add(Document(uri="new", text="another gondola"))
    assert engine.explain("gondola").hits[0] is not first


def test_another_engine_on_the_same_folder_sees_new_documents(engine: Engine) -> None:
    with Engine.open(engine.folder, config=FAKE) as other:
        assert other.search("zeppelin", mode="words") == []
        engine.add(Document(uri="new", text="a zeppelin"))
        assert other.search("zeppelin", mode="words")[0].source_doc_id == "new"
        assert other.search("zeppelin", mode="vectors")[0].source_doc_id == "new"


def test_an_index_whose_files_were_damaged_or_lost_answers_the_same(engine: Engine) -> None:
    before = [hit.doc_id for hit in engine.search("harbour report 7", mode="vectors")]
    engine.close()
    files = [path for path in (engine.home / "vectors").rglob("*") if path.is_file()]
    assert files
    for path in files:
        path.write_bytes(b"damaged" * 100)
    with Engine.open(engine.folder, config=FAKE) as damaged:
        hits = damaged.search("harbour report 7", mode="vectors")
        assert [hit.doc_id for hit in hits] == before
    for path in files:
        path.unlink(missing_ok=True)
    with Engine.open(engine.folder, config=FAKE) as without_files:
        hits = without_files.search("harbour report 7", mode="vectors")
        assert [hit.doc_id for hit in hits] == before


def test_compact_storage_answers_too(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config=FAKE | {"embed.storage": "compact"}) as engine:
        engine.add(
            [
                Document(uri="a", text="the gondola crosses the lagoon"),
                Document(uri="b", text="harbour report"),
            ]
        )
        assert engine.status().spaces[0].storage == "compact"
        assert engine.search("gondola lagoon", mode="vectors")[0].source_doc_id == "a"


def test_a_search_emits_events_at_its_start_and_its_end(engine: Engine) -> None:
    events: list[Event] = []
    engine.events.subscribe(events.append)
    hits = engine.search("gondola")
    assert [event.name for event in events] == ["rag_search_started", "rag_search_completed"]
    assert events[1].data["ids"] == [hit.doc_id for hit in hits]


def test_without_hybrid_only_vectors_are_searched(engine: Engine) -> None:
    explained = engine.explain("gondola", hybrid=False)
    assert set(explained.weights) == {"fake"}


def test_top_k_changes_neither_order_nor_lines_nor_scores_of_the_first_ten_hits(
    tmp_path: Path,
) -> None:
    for number in range(40):
        functions = [
            f"def retry_{number}_{part}(delay):\n    '''Wait {'longer ' * part}before a retry.'''\n    return delay * {part}\n"
            for part in range(1 + number % 5)
        ]
        (tmp_path / f"queue{number}.py").write_text("\n\n".join(functions))
        sections = [
            f"## Step {part}\n\nA retry {'waits and ' * part}has a delay of {part} seconds.\n"
            for part in range(1 + number % 7)
        ]
        (tmp_path / f"guide{number}.md").write_text("\n".join(sections))
    with Engine.open(tmp_path) as engine:
        engine.sync(embed=False)
        ten = _shown(engine.search("how long is the delay of a retry", top_k=10))
        for top_k in range(1, 10):
            fewer = _shown(engine.search("how long is the delay of a retry", top_k=top_k))
            assert fewer == ten[:top_k]


def _shown(hits: list[Hit]) -> list[tuple[str, float]]:
    return [(hit.citation, round(hit.score, 6)) for hit in hits]
