"""The matrix type. It needs numpy, so this module is imported only on first use."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float32]
"""Vectors, one per row."""
