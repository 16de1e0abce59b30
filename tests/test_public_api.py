from __future__ import annotations

import subprocess
import sys
from inspect import Parameter, signature

import pytest

import ragstone

EXPECTED = """
__version__ Settings Engine
AccessError ConfigError Conflict InputError MissingExtra NotFound ProviderError QuotaError RagstoneError ReadError
StaleSpace StoreBusy StoreDamaged StoreError StoreTooNew
Event
Agent AgentPrompt
AddReport Chunk Cited Collection Condition Context Document Explanation Filter Finding Hit Recalled Scope Skip Space
Span Status StoredDocument SyncReport Trace Turn
Attachment attachment inject
"""
VERBS = "open add sync remove search sources is_empty status close remember turns recall forget context ask select"
VERBS += " agents agent ensure_index agent_prompt"


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
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["Engine", "Document", ragstone.__version__]


@pytest.mark.parametrize("verb", VERBS.split())
def test_the_engine_has_the_verbs_of_the_contract(verb: str) -> None:
    assert (getattr(ragstone.Engine, verb).__doc__ or "").strip()


def test_engine_arguments_are_named_after_the_second() -> None:
    for name, method in vars(ragstone.Engine).items():
        if name.startswith("_") or not callable(getattr(ragstone.Engine, name)):
            continue
        taken = [
            parameter
            for parameter in signature(getattr(ragstone.Engine, name)).parameters.values()
            if parameter.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
            and parameter.name not in ("self", "cls")
        ]
        assert len(taken) <= 2, f"Engine.{name} takes {len(taken)} arguments by position: {method}"
