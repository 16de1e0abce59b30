"""A thousand planted secrets are found, all but a few; in large clean packages next to nothing is."""

from __future__ import annotations

import importlib.util
import sysconfig
from collections import Counter
from pathlib import Path

import pytest

from bench.planted import KINDS, left, planted
from bench.secrets import flagged
from ragstone.sources.secrets.redaction import redact

CLEAN = ("numpy", "rich", "click", "hypothesis", "_pytest")
MOST_FLAGGED = 0.005
LEAST_FOUND = 0.95
MOST_FILES = 120
"""Of each package; `python -m bench secrets` looks at all."""


@pytest.mark.parametrize("seed", [20, 21])
def test_nearly_all_of_a_thousand_planted_secrets_are_found(seed: int) -> None:
    missed: Counter[str] = Counter()
    for suffix, one in planted(1000, seed):
        assert left(one, one.text)
        clean, _ = redact(one.text, uri=f"file{suffix}")
        assert clean.count("\n") == one.text.count("\n")
        missed[one.kind] += left(one, clean)
    assert len(KINDS) >= 60
    assert missed.total() <= 1000 * (1 - LEAST_FOUND), missed
    assert max(missed.values()) <= 5, (
        missed
    )  # and no kind is missed as a whole: each was planted about 13 times


def test_every_planted_secret_is_found_without_its_name() -> None:
    told: dict[str, Counter[str]] = {}
    for suffix, one in planted(1000):
        _, found = redact(one.text, uri=f"file{suffix}")
        told.setdefault(one.kind, Counter()).update(each.kind for each in found)
    kinds = {kind: counted.most_common(1)[0][0] for kind, counted in told.items()}
    assert kinds["github token"] == "github-token"
    assert kinds["aws secret key"] == "aws-secret-key"
    assert kinds["azure storage key"] == "azure-storage-key"
    assert kinds["datadog"] == "datadog-key"
    assert len(set(kinds.values())) >= 55


@pytest.mark.parametrize("name", CLEAN)
def test_clean_packages_are_left_alone(name: str) -> None:
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        pytest.skip(f"{name} is not installed")
    counted = flagged(Path(found.origin).parent, most=MOST_FILES)
    assert counted["chunks"] > 300
    assert counted["flagged"] <= counted["chunks"] * MOST_FLAGGED, counted


def test_the_standard_library_is_left_alone() -> None:
    counted = flagged(Path(sysconfig.get_paths()["stdlib"]), most=MOST_FILES)
    assert counted["chunks"] > 800
    assert counted["flagged"] <= counted["chunks"] * MOST_FLAGGED, counted
