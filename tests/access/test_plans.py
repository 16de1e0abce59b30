"""Plans: limits hold inside the transaction, and options that a plan lacks are switched off and named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ragstone import (
    Candidate,
    ConfigError,
    Document,
    Engine,
    QuotaError,
    RAGContextSelector,
    StoreError,
)
from ragstone.access.plans import read_plan
from ragstone.surfaces.present.graph import retrieval_json
from ragstone.surfaces.present.hits import answer_json
from ragstone.types import Limits

CONFIG = {
    "rag.embedding_provider": "fake",
    "search.watch": "off",
    "access.plans": True,
    "events.log": False,
}


def open_engine(folder: Path, **settings: object) -> Engine:
    return Engine.open(folder, config={**CONFIG, **settings})


def note(number: int, text: str = "A note about stones.") -> Document:
    return Document(f"note-{number}", f"{text} Number {number}.")


class NoContext:
    """A selector of a caller that has nothing of its own."""

    def select_context(
        self, task_description: str, project_id: str | None, max_tokens: int
    ) -> list[Candidate | str]:
        return []


def test_a_local_user_has_no_plan(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config={**CONFIG, "access.plans": False}) as engine:
        assert engine.admin.keys.plan() is None
        engine.add([note(number) for number in range(150)], embed=False)


def test_the_plans_of_the_contract_are_the_defaults(tmp_path: Path) -> None:
    expected: dict[str, tuple[Limits, set[str]]] = {
        "free": (Limits(0, 0, 50), set()),
        "starter": (Limits(1, 100, 500), {"hybrid"}),
        "pro": (Limits(10, 10_000, None), {"hybrid", "mmr"}),
        "enterprise": (Limits(), {"hybrid", "mmr", "compress"}),
    }
    with open_engine(tmp_path) as engine:
        for name, (limits, flags) in expected.items():
            engine.admin.keys.set_plan(name)
            plan = engine.admin.keys.plan()
            assert plan is not None
            assert (plan.name, plan.limits, set(plan.flags)) == (name, limits, flags)


def test_an_unknown_plan_is_starter(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        engine.admin.keys.set_plan("pro")
        assert engine.admin.keys.set_plan("gold") == "starter"
        plan = engine.admin.keys.plan()
        assert plan is not None and plan.name == "starter"
        engine.workspace.components.store.keys.set_plan("default", "platinum")
        plan = engine.admin.keys.plan()
        assert plan is not None and plan.name == "starter"


def test_a_plan_can_be_changed_in_the_settings(tmp_path: Path) -> None:
    with open_engine(tmp_path, **{"plans.starter": ["chunks=3", "mmr"]}) as engine:
        plan = engine.admin.keys.plan()
        assert plan is not None
        assert (plan.limits, set(plan.flags)) == (Limits(chunks=3), {"mmr"})


def test_an_entry_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ConfigError, match="chunk=3"):
        read_plan("starter", ["chunk=3"])


def test_a_failing_lookup_is_not_a_plan_without_limits(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        engine.add(note(1))
        engine.workspace.components.store.close()
        with pytest.raises(StoreError):
            engine.add(note(2))


def test_collections_are_limited(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        engine.admin.create_collection("first")
        with pytest.raises(QuotaError, match="1 collections"):
            engine.admin.create_collection("second")
        with pytest.raises(QuotaError):
            engine.add(note(1), collection="third")
        assert [one.name for one in engine.admin.collections()] == ["first"]


def test_chunks_are_limited_and_removing_makes_room(tmp_path: Path) -> None:
    with open_engine(tmp_path, **{"plans.starter": ["chunks=2"]}) as engine:
        engine.add([note(1), note(2)])
        with pytest.raises(QuotaError, match="2 chunks"):
            engine.add(note(3))
        engine.add(note(2, "Another text."))
        engine.remove("note-1")
        engine.add(note(3))
        assert [one.uri for one in engine.sources()] == ["note-2", "note-3"]


def test_turns_are_limited_for_each_session(tmp_path: Path) -> None:
    with open_engine(tmp_path, **{"plans.starter": ["turns=2"]}) as engine:
        for text in ("one", "two"):
            engine.remember("monday", "user", text)
        with pytest.raises(QuotaError, match="2 turns"):
            engine.remember("monday", "user", "three")
        assert engine.remember("tuesday", "user", "one") == 0
        assert [turn.content for turn in engine.turns("monday")] == ["one", "two"]


def test_a_sync_stores_the_files_that_fit_and_lists_the_others(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"{number}.md").write_text(f"Stone {number}.")
    with open_engine(tmp_path, **{"plans.starter": ["chunks=3"]}) as engine:
        report = engine.sync()
        assert (report.indexed, len(report.failed)) == (3, 1)
        assert "may have 3 chunks" in report.failed[0].reason
        engine.admin.keys.set_plan("enterprise")
        assert engine.sync().indexed == 1


def test_options_beyond_the_plan_are_switched_off_and_named(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        engine.add(note(1))
        explanation = engine.explain("stones", mmr=True, compress=True)
        assert explanation.downgraded == ("mmr", "compress")
        assert answer_json(explanation)["downgraded"] == ["mmr", "compress"]
        assert engine.context("stones", mmr=True).downgraded == ("mmr",)
        assert "downgraded" not in answer_json(engine.explain("stones"))
        engine.admin.keys.set_plan("free")
        assert engine.explain("stones").downgraded == ("hybrid",)
        engine.admin.keys.set_plan("enterprise")
        assert engine.explain("stones", mmr=True, compress=True).downgraded == ()


def test_a_retrieval_and_a_selection_obey_the_plan(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        engine.add(note(1))
        engine.admin.keys.set_plan("free")
        retrieval = engine.retrieve("stones")
        assert retrieval.downgraded == ("hybrid",)
        assert retrieval_json(retrieval)["downgraded"] == ["hybrid"]
        lists = [entry.name for hit in retrieval.chunks for entry in hit.trace.lists]
        assert lists == ["fake"]
        assert engine.prompts.select("stones", []).downgraded == ("hybrid",)
        selector = RAGContextSelector(NoContext(), engine)
        assert selector.select_context("stones").downgraded == ("hybrid",)
        engine.admin.keys.set_plan("starter")
        retrieval = engine.retrieve("stones")
        assert retrieval.downgraded == ()
        assert "downgraded" not in retrieval_json(retrieval)


def test_an_answer_says_in_a_sentence_what_the_plan_switched_off(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        engine.add(note(1))
        sentence = "the plan starter does not include mmr, compress: switched off"
        assert sentence in engine.explain("stones", mmr=True, compress=True).notes
        assert sentence in engine.context("stones", mmr=True, compress=True).notes
        engine.admin.keys.set_plan("free")
        sentence = "the plan free does not include hybrid: switched off"
        assert sentence in engine.retrieve("stones").notes


def test_64_racing_writers_do_not_pass_the_limit(tmp_path: Path) -> None:
    with open_engine(tmp_path, **{"plans.starter": ["chunks=100"]}) as engine:
        engine.add([note(number) for number in range(99)], embed=False)
        start = threading.Barrier(64)

        def write(number: int) -> bool:
            start.wait()
            try:
                engine.add(note(number), embed=False)
            except QuotaError:
                return False
            return True

        with ThreadPoolExecutor(64) as pool:
            stored = list(pool.map(write, range(1000, 1064)))
        assert sum(stored) == 1
        assert engine.admin.keys.usage().chunks == 100


KILLED = """
import os, signal, sys
from ragstone import Document, Engine
from ragstone.store import catalog, sqlite
check = catalog.check_growth
def check_then_die(*arguments):
    check(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
sqlite.check_growth = check_then_die
config = {"rag.embedding_provider": "fake", "search.watch": "off", "access.plans": True,
          "plans.starter": ["chunks=3"]}
Engine.open(sys.argv[1], config=config).add(Document("killed", "This is never stored."))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_writer_killed_before_its_commit_takes_no_quota(tmp_path: Path) -> None:
    limits: dict[str, Any] = {"plans.starter": ["chunks=3"]}
    with open_engine(tmp_path, **limits) as engine:
        engine.add([note(1), note(2)])
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], env=dict(os.environ), check=False
    )
    assert killed.returncode == -signal.SIGKILL
    with open_engine(tmp_path, **limits) as engine:
        assert engine.admin.keys.usage().chunks == 2
        engine.add(note(3))
        with pytest.raises(QuotaError):
            engine.add(note(4))
