"""Hints name the subject of a question: its paths are walked whatever the question says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragstone import Engine
from ragstone.types import Hit, Retrieval
from tests.support.invoices import write_invoices

CONTROLLER = "app/Http/Controllers/InvoiceController.php"
MODEL = "app/Models/Invoice.php"
CREATED = "database/migrations/2024_01_01_000000_create_invoices_table.php"
ALTERED = "database/migrations/2024_02_01_000000_add_sent_at_to_invoices.php"
TABLE = "graph:table/invoices"
CHANGE = f"run:run-1/{CONTROLLER}"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = write_invoices(tmp_path_factory.mktemp("invoices"))
    config = {"rag.embedding_provider": "fake", "search.watch": "off"}
    with Engine.open(folder, config=config) as opened:
        opened.sync()
        change = {"path": CONTROLLER, "action": "modified", "summary": "send() sets sent_at"}
        opened.record_run("run-1", "Sending stamps the time.", [change])
        opened.record_run("2026/7", "Texts.", [{"path": "docs/billing.md"}])
        yield opened


def evidence(retrieval: Retrieval) -> dict[str, Hit]:
    """Return the chunks of the graph by document."""
    return {hit.source_doc_id: hit for hit in retrieval.chunks if hit.label == "graph"}


@pytest.mark.parametrize("query", ["explain this", "how does it work", "quokka"])
@pytest.mark.parametrize(
    ("option", "name", "expected"),
    [
        (
            "route_name",
            "billing.invoices.send",
            {"routes/api.php", CONTROLLER, MODEL, TABLE, CREATED, ALTERED, CHANGE},
        ),
        (
            "controller_class",
            "InvoiceController",
            {"routes/api.php", CONTROLLER, MODEL, TABLE, CREATED, ALTERED, CHANGE},
        ),
        ("table_name", "invoices", {TABLE, CREATED, ALTERED, MODEL}),
    ],
)
def test_a_hint_is_walked_to_models_tables_migrations_and_runs(
    engine: Engine, query: str, option: str, name: str, expected: set[str]
) -> None:
    retrieval = engine.retrieve(query, **{option: name})  # type: ignore[arg-type]  # options by name
    assert expected <= evidence(retrieval).keys()
    assert retrieval.debug["strategy"] == "graph+hybrid"


def test_the_trace_of_evidence_names_the_path_that_leads_to_it(engine: Engine) -> None:
    retrieval = engine.retrieve("explain this", route_name="billing.invoices.index")
    steps = evidence(retrieval)[ALTERED].trace.path
    assert [(step.link, step.node) for step in steps] == [
        ("", "route:GET api/billing/invoices"),
        ("HANDLED_BY", "method:App\\Http\\Controllers\\InvoiceController::index"),
        ("USES_MODEL", "class:App\\Models\\Invoice"),
        ("MAPS_TO", "table:invoices"),
        ("ALTERS", "migration:2024_02_01_000000_add_sent_at_to_invoices"),
    ]
    assert steps[1].place == "routes/api.php:6"
    assert [step.place for step in steps][0] == ""


def test_every_hit_of_the_graph_has_a_path_also_without_hints(engine: Engine) -> None:
    for question in (
        "which tables does billing.invoices.send touch",
        "migrations of the table invoices",
        "what did earlier runs change about InvoiceController?",
        "what did run-1 change",
        "which migration added the time at which an invoice is sent?",
    ):
        retrieval = engine.retrieve(question)
        assert evidence(retrieval), question
        assert all(hit.trace.path for hit in evidence(retrieval).values()), question
        assert not any(hit.trace.path for hit in retrieval.chunks if not hit.label)


@pytest.mark.parametrize(
    ("query", "hints"),
    [("quokka", {"table_name": "clients"}), ("columns of the table clients", {})],
)
def test_a_table_without_a_migration_is_answered_by_who_refers_to_it(
    engine: Engine, query: str, hints: dict[str, str]
) -> None:
    retrieval = engine.retrieve(query, **hints)  # type: ignore[arg-type]  # options by name
    assert retrieval.answer is not None and retrieval.answer.negative
    assert retrieval.answer.said.startswith("No migration creates the table clients")
    assert "App\\Models\\Customer uses it (app/Models/Customer.php:8)" in retrieval.answer.said
    assert f"invoices.customer_id refers to it ({CREATED}:9)" in retrieval.answer.said
    assert {"app/Models/Customer.php", CREATED} <= evidence(retrieval).keys()


def test_a_hint_that_names_nothing_still_gives_the_chunks_of_the_search(
    engine: Engine,
) -> None:
    retrieval = engine.retrieve("quokka", table_name="reminders")
    assert retrieval.answer is not None and retrieval.answer.negative
    assert retrieval.debug["unknown"] == ["table reminders"]
    assert "config/billing.php" in [hit.source_doc_id for hit in retrieval.chunks]


@pytest.mark.parametrize("question", ["what did run-1 change", "Which files did run-1 edit?"])
def test_a_run_is_asked_for_by_its_id(engine: Engine, question: str) -> None:
    retrieval = engine.retrieve(question)
    assert retrieval.answer is not None
    assert retrieval.answer.said == (
        f"Run run-1 (“Sending stamps the time.”): it modified {CONTROLLER} (“send() sets sent_at”)."
    )
    assert list(evidence(retrieval)) == [CHANGE, "run:run-1"]


def test_a_run_whose_id_has_a_slash_is_found(engine: Engine) -> None:
    retrieval = engine.retrieve("what was done in run 2026/7?")
    assert retrieval.answer is not None
    assert retrieval.answer.facts["changes"] == ["docs/billing.md"]


def test_changes_are_told_in_a_sentence_with_their_run(engine: Engine) -> None:
    retrieval = engine.retrieve("what did earlier runs change about InvoiceController?")
    assert retrieval.answer is not None
    assert retrieval.answer.said == (
        "App\\Http\\Controllers\\InvoiceController was changed in run run-1"
        " (“send() sets sent_at”)."
    )


@pytest.mark.parametrize(
    ("query", "hints"),
    [
        ("what did earlier runs change about InvoiceController?", {}),
        ("what did run-1 change", {}),
        ("explain this", {"controller_class": "InvoiceController"}),
    ],
)
def test_nothing_of_the_runs_is_told_if_they_are_left_out(
    engine: Engine, query: str, hints: dict[str, str]
) -> None:
    retrieval = engine.retrieve(query, include_run_summaries=False, **hints)  # type: ignore[arg-type]  # by name
    assert not any(hit.source_doc_id.startswith("run:") for hit in retrieval.chunks)
    assert retrieval.answer is None or "sent_at" not in retrieval.answer.said
    if not hints:
        notes = retrieval.debug["notes"]
        assert isinstance(notes, list) and "recorded runs" in " ".join(map(str, notes))


def test_the_path_is_in_the_json_of_a_retrieval(engine: Engine) -> None:
    from ragstone.surfaces.present.graph import retrieval_json

    data = retrieval_json(engine.retrieve("explain", route_name="billing.invoices.send"))
    chunk = next(chunk for chunk in data["chunks"] if chunk["source_doc_id"] == MODEL)
    assert chunk["graph_path"] == [
        {"node": "route:POST api/billing/invoices/{invoice}/send", "link": "", "place": ""},
        {"node": "class:App\\Models\\Invoice", "link": "BINDS", "place": f"{CONTROLLER}:13"},
    ]
