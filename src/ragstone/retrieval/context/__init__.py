"""What the model is shown: hits become cited text inside a token budget."""

from __future__ import annotations

from typing import Final

SURE_ENOUGH: Final = 0.25
"""Below this confidence of the best hit, a question to the user is worth more than a guess."""
