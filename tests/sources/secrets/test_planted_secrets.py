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
    for suffix, sample in planted(1000, seed):
        assert left(sample, sample.text)
        clean, _ = redact(sample.text, uri=f"file{suffix}")
        assert clean.count("\n") == sample.text.count("\n")
        missed[sample.kind] += left(sample, clean)
    assert len(KINDS) >= 60
    assert missed.total() <= 1000 * (1 - LEAST_FOUND), missed
    assert max(missed.values()) <= 5, (
        missed
    )  # and no kind is missed as a whole: each was planted about 13 times


def test_every_planted_secret_is_found_without_its_name() -> None:
    counts: dict[str, Counter[str]] = {}
    for suffix, sample in planted(1000):
        _, secrets = redact(sample.text, uri=f"file{suffix}")
        counts.setdefault(sample.kind, Counter()).update(each.kind for each in secrets)
    kinds = {kind: counted.most_common(1)[0][0] for kind, counted in counts.items()}
    assert kinds["github token"] == "github-token"
    assert kinds["aws secret key"] == "aws-secret-key"
    assert kinds["azure storage key"] == "azure-storage-key"
    assert kinds["datadog"] == "datadog-key"
    assert len(set(kinds.values())) >= 55


@pytest.mark.parametrize("name", CLEAN)
def test_clean_packages_are_left_alone(name: str) -> None:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        pytest.skip(f"{name} is not installed")
    counted = flagged(Path(spec.origin).parent, most=MOST_FILES)
    assert counted["chunks"] > 300
    assert counted["flagged"] <= counted["chunks"] * MOST_FLAGGED, counted


def test_the_standard_library_is_left_alone() -> None:
    counted = flagged(Path(sysconfig.get_paths()["stdlib"]), most=MOST_FILES)
    assert counted["chunks"] > 800
    assert counted["flagged"] <= counted["chunks"] * MOST_FLAGGED, counted
