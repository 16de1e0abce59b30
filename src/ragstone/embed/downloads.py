"""Models that other packages download on first use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ragstone.errors import ConfigError, ProviderError, RagstoneError


@contextmanager
def loading(model: str) -> Iterator[None]:
    """Turn any failure to load a model into `ConfigError` (no such model) or `ProviderError` (no network)."""
    try:
        yield
    except RagstoneError:
        raise
    except Exception as error:
        if "not supported" in str(error):
            raise ConfigError(
                f"The model {model!r} cannot be used: {_first_line(error)}",
                hint="check embed.model or rerank.model",
            ) from error
        raise ProviderError(
            f"The model {model!r} cannot be loaded: {_first_line(error)}",
            hint="it is downloaded on first use: check the network",
            retryable=True,
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200] or type(error).__name__
