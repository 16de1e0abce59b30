from __future__ import annotations

from ragstone_code.frameworks import ADAPTERS, frameworks


def test_every_adapter_is_there_once_and_has_a_name() -> None:
    found = frameworks()
    assert len(found) == len(ADAPTERS)
    assert len({one.name for one in found}) == len(found)
    assert "laravel" in {one.name for one in found}
    assert frameworks() is found
