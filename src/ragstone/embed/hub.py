"""Models of the hub that fastembed and sentence-transformers download on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from huggingface_hub import HfApi

T = TypeVar("T")

_SECONDS: Final = 5


def load_or_download(load: Callable[[bool], T], repository: str | None) -> T:
    """Return the result of `load(True)`, which reads the disk, else of `load(False)`, which downloads.

    The packages repeat a download for a minute or more, so the hub is asked once before.
    """
    try:
        return load(True)
    except Exception as error:
        if "not supported" in str(error):
            raise
    if repository:
        HfApi().model_info(repository, timeout=_SECONDS)
    return load(False)
