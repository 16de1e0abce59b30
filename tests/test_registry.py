from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from ragstone import Document, Engine, registry
from ragstone.errors import ConfigError, MissingExtra


def install(folder: Path, package: str, entry_points: str) -> None:
    """Write the metadata of an installed package with entry points."""
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
    )
    (metadata / "entry_points.txt").write_text(entry_points)


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a package with embedders and return its folder."""
    (tmp_path / "quarry.py").write_text("class Own:\n    'An embedder.'\n")
    (tmp_path / "quarry_broken.py").write_text("import no_such_package_at_all\n")
    install(
        tmp_path,
        "quarry",
        "[ragstone.embedder]\nown = quarry:Own\nbroken = quarry_broken:Own\ngone = quarry:Gone\n"
        "thing = quarry:__name__\nminilm = quarry:Own\n",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_a_built_in_part_is_found_by_name_and_by_alias() -> None:
    assert registry.load("embedder", "fake") is registry.load("embedder", "mock")
    assert (
        registry.find("embedder", "local").name
        == registry.find("embedder", "minilm").name
        == "minilm"
    )


@pytest.mark.parametrize(
    "part", registry.BUILT_IN, ids=lambda part: f"{part.group}-{part.name}"
)
def test_every_built_in_part_can_be_loaded(part: registry.RegisteredPart) -> None:
    try:
        assert callable(registry.load(part.group, part.name))
    except MissingExtra as error:
        assert part.extra and error.hint == f"pip install 'ragstone[{part.extra}]'"


def test_every_name_and_alias_is_unique_in_its_group() -> None:
    for group in registry.GROUPS:
        all_names = [
            name for part in registry.BUILT_IN if part.group == group for name in part.all_names
        ]
        assert len(all_names) == len(set(all_names))


def test_every_part_belongs_to_a_known_group() -> None:
    assert {part.group for part in registry.BUILT_IN} <= set(registry.GROUPS)


def test_an_unknown_name_is_refused_with_the_known_ones_and_the_nearest() -> None:
    with pytest.raises(ConfigError, match="no store called 'sqlit'") as caught:
        registry.load("store", "sqlit")
    assert "did you mean sqlite?" in caught.value.hint
    assert "sqlite, memory" in caught.value.hint


def test_an_unknown_name_without_a_similar_one_lists_all_names() -> None:
    with pytest.raises(ConfigError) as caught:
        registry.load("store", "zzzzzz")
    assert caught.value.hint == "known: sqlite, memory, postgres"


def test_a_group_without_parts_has_no_suggestions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "BUILT_IN", ())
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
    other = tmp_path_factory.mktemp("other")
    install(other, "gravel", "[ragstone.embedder]\nown = gravel:Own\n")
    monkeypatch.syspath_prepend(str(other))
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


def test_an_entry_point_to_something_that_cannot_be_called_is_a_clear_error(
    plug_in: Path,
) -> None:
    with pytest.raises(ConfigError, match="neither a class nor a function"):
        registry.load("embedder", "thing")


def test_describing_parts_imports_none_of_them() -> None:
    code = (
        "import sys; from ragstone import registry; [registry.describe(g) for g in registry.GROUPS];"
        "registry.find('embedder', 'minilm'); print([m for m in sys.modules if m.startswith('ragstone.embed')])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"


def test_a_store_plug_in_gets_the_path_and_the_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (
        "from ragstone.store.sqlite import open_store\ncalls = []\ndef opened(settings):\n"
    )
    (tmp_path / "pebbles.py").write_text(
        program + "    calls.append(settings)\n    return open_store(settings)\n"
    )
    install(tmp_path, "pebbles", "[ragstone.store]\npebbles = pebbles:opened\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "folder"
    folder.mkdir()
    config = {
        "rag.vector_store.provider": "pebbles",
        "rag.embedding_provider": "fake",
        "store.cache_mb": 7,
    }
    with Engine.open(folder, config=config) as engine:
        engine.add(Document("a.md", "Granite is hard."))
        assert engine.search("granite")
    (settings,) = importlib.import_module("pebbles").calls
    assert settings.path == folder / ".ragstone" / "ragstone.db"
    assert settings.options["cache_mb"] == 7
    assert (settings.url, settings.api_key) == ("", "")
