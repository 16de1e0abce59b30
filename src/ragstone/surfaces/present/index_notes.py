"""Notes about the state of an index that answers carry."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

from ragstone.engine import Engine
from ragstone.errors import ConfigError
from ragstone.protocols import RemoteModel
from ragstone.text.counts import plural

FIRST_INDEXING: Final = "the folder is being indexed for the first time: answers are partial"
SCANNING: Final = "changes in the folder are still being read: answers may be older"
_TEXTS_PER_SECOND: Final = 50
"""About the speed of the background process, which has a low priority and loads the model first."""
_SECONDS_STEP: Final = 5


def describe_home_in_cache(home: Path) -> str:
    """Return the note about a folder that cannot be written, so that its index is elsewhere."""
    return f"this folder can only be read: index and memories are stored in {home}"


def describe_vectors(engine: Engine, *, is_embedding: bool = False) -> str:
    """Return how many texts have a vector, and how the others get one; `is_embedding` if this process makes them."""
    embedded, texts = engine.admin.count_vectors()
    count, others = "no text has a vector yet", "them"
    if embedded:
        count = f"{embedded:,} of {plural(texts, 'text')} have a vector"
        others = "the others"
    status = engine.admin.background_status()
    if is_embedding or status.running:
        if _asks_service(engine):
            return f"{count}; the service is asked for {others} in the background"
        time = background_time(texts - embedded)
        return f"{count}; ask again in {time} for answers by meaning"
    if status.failure:
        return f"{count}; the background process failed: {status.failure}"
    return f"{count}; `ragstone sync` makes {others}"


def background_time(texts: int) -> str:
    """Return how long the background process takes for some texts: `about 10 s`."""
    seconds = texts / _TEXTS_PER_SECOND
    rounded = max(1, math.ceil(seconds / _SECONDS_STEP)) * _SECONDS_STEP
    return f"about {rounded} s"


def _asks_service(engine: Engine) -> bool:
    """Return whether a service makes the vectors: its speed is not known, and it may fail."""
    try:
        return isinstance(engine.workspace.components.embedder(), RemoteModel)
    except ConfigError:
        return False
