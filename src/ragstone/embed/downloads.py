"""Failures of models that other packages load."""

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
            hint="it is downloaded on first use: check its name and the network, or name a folder with its files",
            retryable=True,
        ) from error


@contextmanager
def embedding(model: str) -> Iterator[None]:
    """Turn any failure of a loaded model into `ProviderError`."""
    try:
        yield
    except Exception as error:
        raise ProviderError(
            f"The model {model!r} cannot embed: {_first_line(error)}",
            hint="check the files of the model, or choose another one",
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200] or type(error).__name__
