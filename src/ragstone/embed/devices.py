"""The device that a model of PyTorch runs on."""

from __future__ import annotations

from importlib import import_module

from ragstone.errors import ConfigError


def choose_device(setting: str) -> str:
    """Return `cuda`, `mps` or `cpu`; for `auto` the first that is there. `ConfigError` if the setting one is not."""
    torch = import_module("torch")
    available = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if setting == "auto":
        return next(name for name, is_there in available.items() if is_there)
    if not available[setting]:
        names = ", ".join(name for name, is_there in available.items() if is_there)
        raise ConfigError(
            f"embed.device is {setting!r}, which this machine does not have.",
            hint=f"it has: {names}",
        )
    return setting
