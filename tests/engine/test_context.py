"""Remember, recall, context and inject through an engine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ragstone import Context, Document, Engine, Event, InputError, inject
from ragstone.embed.minilm import MiniLM
from ragstone.engine.prompts import RAG_OFF
from ragstone.retrieval.context.selection import Candidate
from ragstone.retrieval.ranking.confidence import UNRELATED_TEXTS
from ragstone.types import ContextFormat, Role

FAKE = {"rag.embedding_provider": "fake"}
GONDOLA = Document("gondola.md", "The gondola crosses the lagoon at nine. It is black by law.")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path, config=FAKE) as opened:
        yield opened


def test_a_turn_is_remembered_listed_recalled_and_forgotten(engine: Engine) -> None:
    assert engine.remember("s", "user", "The ferry leaves at nine.") == 0
    assert (
        engine.remember(
            "s", "assistant", "Noted.", speaker="Ada", at=1.0, metadata={"run": "7"}
        )
        == 1
    )
    assert [turn.content for turn in engine.turns("s")] == [
        "The ferry leaves at nine.",
        "Noted.",
    ]
    assert (engine.turns("s")[1].speaker, engine.turns("s")[1].metadata) == (
        "Ada",
        {"run": "7"},
    )
    assert engine.recall("s", "when does the ferry leave")[0].turn.index == 0
    assert [session.name for session in engine.memory.sessions()] == ["s"]
    assert engine.memory.forget("s", turn=0) == 1
    assert engine.memory.forget("s") == 1
    assert engine.turns("s") == []


def test_memory_survives_a_restart(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config=FAKE) as first:
        first.remember("s", "user", "The ferry leaves at nine.")
    with Engine.open(tmp_path, config=FAKE) as next_engine:
        assert next_engine.remember("s", "user", "Or at ten.") == 1
    with Engine.open(tmp_path, config=FAKE) as second:
        assert [turn.index for turn in second.turns("s")] == [0, 1]
        assert second.recall("s", "ferry")[0].turn.content == "The ferry leaves at nine."


def test_recall_after_a_restart_embeds_the_question_and_no_stored_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, list[str]]] = []
    embed = MiniLM.embed

    def counted(
        self: MiniLM, texts: Sequence[str], role: Role = "document", **more: Any
    ) -> Any:  # noqa: ANN401 - as is
        calls.append((role, list(texts)))
        return embed(self, texts, role, **more)

    monkeypatch.setattr(MiniLM, "embed", counted)
    with Engine.open(tmp_path) as first:
        for turn in (
            "The ferry leaves at nine.",
            "Lunch is at noon.",
            "The quay lies in the north.",
        ):
            first.remember("s", "user", turn)
    assert sum(len(texts) for role, texts in calls if role == "document") == 3
    calls.clear()
    with Engine.open(tmp_path) as second:
        recalled = second.recall("s", "when does the boat depart")
    assert recalled[0].turn.content == "The ferry leaves at nine."
    queries = [texts for role, texts in calls if role == "query"]
    assert queries == [["when does the boat depart"]]
    embedded = {text for role, texts in calls if role == "document" for text in texts}
    assert embedded <= set(UNRELATED_TEXTS)


@pytest.mark.parametrize(
    "bad",
    [
        ("", "user", "x"),
        ("s", "", "x"),
        ("s", "user", " "),
        ("s" * 201, "user", "x"),
        ("s", "user", 5),
    ],
)
def test_an_invalid_turn_is_refused(engine: Engine, bad: tuple[str, str, str]) -> None:
    with pytest.raises(InputError):
        engine.remember(*bad)


def test_a_context_cites_its_pieces(engine: Engine) -> None:
    engine.add(GONDOLA)
    context = engine.context("when does the gondola cross", 300)
    assert context.text.startswith("[RETRIEVED CONTEXT]")
    assert [cited.citation for cited in context.cited] == ["gondola.md:1"]
    assert context.tokens <= 300


def test_a_session_is_not_shown_a_piece_twice(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add(GONDOLA)
        assert engine.context("gondola", session="a").cited
    with Engine.open(tmp_path, config=FAKE) as engine:
        again = engine.context("gondola", session="a")
        assert (again.cited, again.sent_before) == ((), ("gondola.md:1",))
        assert engine.context("gondola", session="b").cited


def test_a_callers_own_tokenizer_holds_the_budget(engine: Engine) -> None:
    engine.add(GONDOLA)
    context = engine.context("gondola", 400, count=len)
    assert len(context.text) <= 400
    assert context.tokens == len(context.text)


def test_a_run_without_retrieval_says_so(engine: Engine) -> None:
    seen: list[Event] = []
    engine.events.subscribe(seen.append, ["ai_context_loaded"])
    engine.add(GONDOLA)
    context = engine.context("gondola", rag_enabled=False)
    assert (context.text, context.cited) == (RAG_OFF, ())
    assert [event.data["rag"] for event in seen] == [False]
    engine.context("gondola")
    assert seen[-1].data["ids"] == ["gondola.md__chunk_0"]


@pytest.mark.parametrize("budget", [0, -1, True, 1.5, "many"])
def test_an_invalid_budget_is_refused(engine: Engine, budget: int) -> None:
    with pytest.raises(InputError, match="budget is"):
        engine.context("x", budget)


def test_inject_adds_context_after_the_prompt(engine: Engine) -> None:
    engine.add(GONDOLA)
    prompt = inject("# Task\n", "when does the gondola cross the lagoon", engine)
    assert prompt.startswith("# Task\n\n[RETRIEVED CONTEXT]\n")
    assert "at nine" in prompt


def test_inject_returns_the_prompt_unchanged_if_nothing_fits(
    tmp_path: Path, engine: Engine
) -> None:
    assert inject("# Task\n", "gondola") == "# Task\n"
    assert inject("# Task\n", "gondola", engine) == "# Task\n"  # empty
    engine.add(GONDOLA)
    assert (
        inject("# Task\n", "quantum chromodynamics", engine) == "# Task\n"
    )  # below the threshold
    assert inject("# Task\n", "  ", engine) == "# Task\n"
    off = Engine.open(tmp_path, config={**FAKE, "rag.enabled": False})
    assert inject("# Task\n", "gondola", off) == "# Task\n"


def test_a_disabled_engine_remembers_and_loads_nothing(tmp_path: Path) -> None:
    program = (
        "import sys; from ragstone import Engine, inject\n"
        f"e = Engine.open({str(tmp_path)!r}, config={{'rag.enabled': False}})\n"
        "assert e.remember('s', 'user', 'x') == -1 and e.turns('s') == [] and e.recall('s', 'x') == []\n"
        "assert inject('p', 'm', e) == 'p' and e.memory.forget('s') == 0 and e.memory.sessions() == []\n"
        "assert e.retrieve('x').chunks == () and e.graph.routes() == []\n"
        "assert e.record_run('r', 'x').documents == 0\n"
        "print([m for m in ('numpy', 'onnxruntime', 'sqlite3', 'tantivy', 'tree_sitter') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() in ("[]", "['sqlite3']")
    assert not (tmp_path / ".ragstone").exists()


def test_the_context_of_an_empty_index_says_that_nothing_is_indexed(engine: Engine) -> None:
    assert engine.context("anything") == Context(
        "",
        "block",
        1500,
        0,
        notes=("nothing is indexed here yet, so there is nothing to search",),
    )


def test_own_and_retrieved_pieces_share_one_budget(engine: Engine) -> None:
    engine.add(GONDOLA)
    own = [
        Candidate("Tickets for the gondola cost eighty.", "chat"),
        Candidate("Unrelated.", "log", 0.01),
    ]
    context = engine.prompts.select("when does the gondola cross the lagoon", own, 300)
    assert {cited.uri for cited in context.cited} >= {"gondola.md", "chat"}
    assert context.cited[0].uri == "gondola.md"
    assert context.tokens <= 300


@pytest.mark.parametrize("form", ["block", "markdown", "tool", "documents", "json"])
def test_every_format_takes_the_options_of_a_search(
    engine: Engine, form: ContextFormat
) -> None:
    engine.add([GONDOLA, Document("old.md", "The gondola was sold long ago.")])
    short = engine.context(
        "when does the gondola cross",
        format=form,
        compress=True,
        filters={"path": "gondola.md"},
    )
    assert "The gondola crosses the lagoon at nine." in short.text
    assert "black by law" not in short.text
    assert "sold long ago" not in short.text
    assert [cited.span.end for cited in short.cited] == [
        len("The gondola crosses the lagoon at nine.")
    ]
    assert engine.context("gondola", 5000, format=form, window=250).budget == 100


@pytest.mark.parametrize(
    "wrong",
    [
        {"format": "xml"},
        {"session": 5},
        {"session": " "},
        {"count": 5},
        {"window": 0},
        {"colour": 1},
    ],
)
def test_invalid_options_of_a_context_are_refused(
    engine: Engine, wrong: dict[str, Any]
) -> None:
    with pytest.raises(InputError):
        engine.context("gondola", **wrong)
    with pytest.raises(InputError):
        engine.prompts.select("gondola", ["text"])  # type: ignore[list-item]


def test_a_context_has_the_notes_of_its_search(engine: Engine) -> None:
    engine.add(GONDOLA, embed=False)
    assert engine.context("gondola", mode="vectors").notes == (
        "no vectors yet: run `ragstone sync` to make them",
    )
    assert engine.context("gondola", top_k=0).cited == ()


def test_a_budget_too_small_for_one_citation_is_a_note_and_not_an_empty_frame(
    tmp_path: Path,
) -> None:
    text = "The gondola crosses the lagoon at nine with forty passengers and a dog. " * 20
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.add(Document("boats.md", text))
        small = engine.context("gondola lagoon", 95)
        assert (small.text, small.tokens, small.cited) == ("", 0, ())
        (note,) = [note for note in small.notes if "is too small" in note]
        enough = int(note.split("; ")[1].split()[0])
        assert engine.context("gondola lagoon", enough).cited


def test_the_recommended_budget_is_the_same_every_time_and_hardly_more_than_needed(
    tmp_path: Path,
) -> None:
    text = "The gondola crosses the lagoon at nine with forty passengers and a dog. " * 20
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.add(Document("boats.md", text))
        notes = {engine.context("gondola lagoon", 60).notes for _ in range(20)}
        assert len(notes) == 1
        ((note,),) = notes
        enough = int(note.split("; ")[1].split()[0])
        assert all(engine.context("gondola lagoon", enough).cited for _ in range(20))
        assert not engine.context("gondola lagoon", enough - 30).cited
