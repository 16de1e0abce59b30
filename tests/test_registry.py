from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ragstone import registry
from ragstone.errors import ConfigError, MissingExtra


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder on the path that looks like an installed package with embedders of its own."""
    (tmp_path / "quarry.py").write_text("class Own:\n    'An embedder.'\n")
    (tmp_path / "quarry_broken.py").write_text("import no_such_package_at_all\n")
    about = tmp_path / "quarry-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: quarry\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[ragstone.embedder]\nown = quarry:Own\nbroken = quarry_broken:Own\ngone = quarry:Gone\n"
        "thing = quarry:__name__\nminilm = quarry:Own\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_a_built_in_part_is_found_by_name_and_by_alias() -> None:
    assert registry.load("embedder", "fake") is registry.load("embedder", "mock")
    assert registry.find("embedder", "local").name == registry.find("embedder", "minilm").name == "minilm"


@pytest.mark.parametrize("part", registry.BUILT_IN, ids=lambda part: f"{part.group}-{part.name}")
def test_every_built_in_part_can_be_loaded(part: registry.Part) -> None:
    assert callable(registry.load(part.group, part.name))


def test_no_name_is_given_twice_in_a_group() -> None:
    for group in registry.GROUPS:
        given = [name for part in registry.BUILT_IN if part.group == group for name in (part.name, *part.aliases)]
        assert len(given) == len(set(given))


def test_every_part_belongs_to_a_known_group() -> None:
    assert {part.group for part in registry.BUILT_IN} <= set(registry.GROUPS)


def test_an_unknown_name_is_refused_with_the_known_ones_and_the_nearest() -> None:
    with pytest.raises(ConfigError, match="no store called 'sqlit'") as caught:
        registry.load("store", "sqlit")
    assert "did you mean sqlite?" in caught.value.hint
    assert "sqlite, memory" in caught.value.hint


def test_an_unknown_name_far_from_all_others_just_lists_them() -> None:
    with pytest.raises(ConfigError) as caught:
        registry.load("store", "zzzzzz")
    assert caught.value.hint == "known: sqlite, memory"


def test_a_group_without_parts_says_so() -> None:
    with pytest.raises(ConfigError, match="no reranker called 'x'") as caught:
        registry.load("reranker", "x")
    assert "none is installed" in caught.value.hint


@pytest.mark.parametrize("group", ["embeder", "chunker", "codec", "order"])
def test_an_unknown_group_is_refused(group: str) -> None:
    with pytest.raises(ConfigError, match=f"no kind of part called '{group}'"):
        registry.load(group, "fake")


def test_a_plug_in_is_found_by_its_entry_point(plug_in: Path) -> None:
    assert getattr(registry.load("embedder", "own"), "__name__", "") == "Own"
    assert "own" in registry.names("embedder")
    assert registry.find("embedder", "own").package == "quarry"


def test_a_plug_in_cannot_take_a_built_in_name(plug_in: Path) -> None:
    assert registry.find("embedder", "minilm").package == "ragstone"
    assert registry.names("embedder").count("minilm") == 1


def test_two_packages_with_the_same_name_are_refused(
    plug_in: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path_factory.mktemp("other") / "gravel-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: gravel\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text("[ragstone.embedder]\nown = gravel:Own\n")
    monkeypatch.syspath_prepend(str(other.parent))
    with pytest.raises(ConfigError, match="gravel, quarry"):
        registry.load("embedder", "own")


def test_a_missing_package_is_named_with_the_command_that_installs_it(plug_in: Path) -> None:
    with pytest.raises(MissingExtra, match="no_such_package_at_all") as caught:
        registry.load("embedder", "broken")
    assert caught.value.hint == "pip install 'quarry'"


def test_an_entry_point_that_leads_nowhere_is_a_clear_error(plug_in: Path) -> None:
    with pytest.raises(ConfigError, match="'gone'.*cannot be loaded") as caught:
        registry.load("embedder", "gone")
    assert "quarry" in caught.value.hint


def test_an_entry_point_to_something_that_cannot_be_called_is_a_clear_error(plug_in: Path) -> None:
    with pytest.raises(ConfigError, match="neither a class nor a function"):
        registry.load("embedder", "thing")


def test_describing_parts_imports_none_of_them() -> None:
    code = (
        "import sys; from ragstone import registry; [registry.describe(g) for g in registry.GROUPS];"
        "registry.find('embedder', 'minilm'); print([m for m in sys.modules if m.startswith('ragstone.embed')])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
