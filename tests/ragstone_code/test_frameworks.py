from __future__ import annotations

from ragstone_code.frameworks import ADAPTERS, frameworks


def test_every_adapter_exists_once_and_has_a_name() -> None:
    adapters = frameworks()
    assert len(adapters) == len(ADAPTERS)
    assert len({adapter.name for adapter in adapters}) == len(adapters)
    assert "laravel" in {adapter.name for adapter in adapters}
    assert frameworks() is adapters
