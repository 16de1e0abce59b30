"""The one noun that is made of numpy: it is imported for whoever asks for it, and for nobody else."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float32]
"""Vectors, one a row."""
