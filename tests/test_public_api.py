from __future__ import annotations

import subprocess
import sys
from inspect import Parameter, getsource, iscoroutinefunction, isfunction, signature
from pathlib import Path

import pytest

import ragstone

EXPECTED = """
__version__ Settings Engine AsyncEngine Workspace Client AsyncClient
AccessError ConfigError Conflict InputError MissingExtra MissingKey NotFound ProviderError QuotaError RagstoneError ReadError
StaleSpace StoreBusy StoreDamaged StoreError StoreTooNew Overloaded SlowRequest TimedOut TooLarge Unauthenticated
Event
Agent AgentPrompt
AddReport Chunk Cited Collection Condition Context Document Explanation Filter Finding Hit Recalled Scope Skip Space
Slice Span Status StoredDocument SyncReport Trace Turn
Attachment attachment extract_text inject Candidate RAGContextSelector TurboQuantizer
"""
VERBS = "open add sync remove search explain retrieve sources is_empty status close remember turns recall record_run"
VERBS += " context inject ask"
FACETS = {
    "memory": "remember turns recall forget restore sessions export load",
    "graph": "update exists node explain related impact history nodes routes tables models unknowns import_listing",
    "agents": "list corpus ensure_index prompt",
    "admin": "collections create_collection drop_collection text refresh embed reembed watcher status check compact "
    "backup export load to_base64 from_base64",
    "prompts": "context select inject ask",
    "external": "add add_page recheck_pages capture",
}


def test_the_public_names_are_exactly_these() -> None:
    assert sorted(ragstone.__all__) == sorted(EXPECTED.split())
    assert dir(ragstone) == sorted(ragstone.__all__)


@pytest.mark.parametrize("name", [name for name in EXPECTED.split() if name != "__version__"])
def test_every_public_name_resolves_and_says_what_it_is(name: str) -> None:
    thing = getattr(ragstone, name)
    assert thing.__name__ == name
    assert (thing.__doc__ or "").strip()


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Enginee'"):
        _ = ragstone.Enginee


def test_star_import_brings_the_public_names() -> None:
    code = "from ragstone import *; print(Engine.__name__, Document.__name__, __version__)"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.split() == ["Engine", "Document", ragstone.__version__]


@pytest.mark.parametrize("verb", VERBS.split())
def test_the_engine_has_the_verbs_of_the_contract(verb: str) -> None:
    assert (getattr(ragstone.Engine, verb).__doc__ or "").strip()


@pytest.mark.parametrize("facet", FACETS)
def test_each_facet_has_its_verbs(facet: str, tmp_path: Path) -> None:
    with ragstone.Engine.open(tmp_path) as engine:
        for verb in FACETS[facet].split():
            assert (getattr(getattr(engine, facet), verb).__doc__ or "").strip()


def test_the_async_engine_has_the_verbs_of_the_engine() -> None:
    for verb in VERBS.split():
        if verb != "is_empty":
            assert iscoroutinefunction(getattr(ragstone.AsyncEngine, verb))


def test_the_engine_is_one_class_in_one_short_file() -> None:
    assert ragstone.Engine.__mro__ == (ragstone.Engine, object)
    assert len(getsource(sys.modules["ragstone.engine.engine"]).splitlines()) <= 250


def test_engine_arguments_are_given_by_name_after_the_third() -> None:
    for name in dir(ragstone.Engine):
        method = getattr(ragstone.Engine, name)
        if name.startswith("_") or not isfunction(method):
            continue
        positional = [
            parameter
            for parameter in signature(method).parameters.values()
            if parameter.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
            and parameter.name != "self"
        ]
        assert len(positional) <= 3, (
            f"Engine.{name} takes {len(positional)} arguments by position"
        )
