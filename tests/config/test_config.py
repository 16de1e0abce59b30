"""Settings: layers, files and the environment."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import config
from ragstone.config.settings import setting_keys
from ragstone.errors import ConfigError

USER = "own/ragstone/ragstone.toml"


def environ(tmp_path: Path, **variables: str) -> dict[str, str]:
    """Return an environment whose user file is in the test's folder."""
    return {"XDG_CONFIG_HOME": str(tmp_path / "own"), **variables}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# ── precedence and origin ─────────────────────────────────────────────────────────────────────────


def test_without_files_everything_is_a_default(tmp_path: Path) -> None:
    settings = config.load(tmp_path, environ={})
    assert settings.search.top_k == 5 and settings.rag.embedding_provider == "minilm"
    assert {origin for _, _, origin in settings.listing()} == {"default"}


def test_a_folder_that_is_not_there_has_the_defaults(tmp_path: Path) -> None:
    assert config.load(tmp_path / "nowhere", environ={}).search.top_k == 5


def test_each_layer_overrides_the_one_below_and_the_value_knows_its_origin(
    tmp_path: Path,
) -> None:
    key, variable = "search.top_k", {"RAGSTONE_SEARCH_TOP_K": "8"}
    settings = config.load(tmp_path, environ=environ(tmp_path))
    assert (settings.search.top_k, settings.origin(key)) == (5, "default")
    user = write(tmp_path / USER, "[search]\ntop_k = 6\n")
    settings = config.load(tmp_path, environ=environ(tmp_path))
    assert (settings.search.top_k, settings.origin(key)) == (6, f"user file {user}")
    project = write(tmp_path / "ragstone.toml", "search.top_k = 7\n")
    settings = config.load(tmp_path, environ=environ(tmp_path))
    assert (settings.search.top_k, settings.origin(key)) == (7, f"project file {project}")
    settings = config.load(tmp_path, environ=environ(tmp_path, **variable))
    assert (settings.search.top_k, settings.origin(key)) == (
        8,
        "environment RAGSTONE_SEARCH_TOP_K",
    )
    settings = config.load(tmp_path, {key: 9}, environ=environ(tmp_path, **variable))
    assert (settings.search.top_k, settings.origin(key)) == (9, "argument")


def test_layers_are_merged_key_by_key(tmp_path: Path) -> None:
    write(tmp_path / USER, "[search]\ntop_k = 6\nfusion = 'rrf'\n")
    write(tmp_path / "ragstone.toml", "[search]\ntop_k = 7\n")
    settings = config.load(tmp_path, environ=environ(tmp_path))
    assert (settings.search.top_k, settings.search.fusion) == (7, "rrf")


def test_arguments_may_be_dotted_or_nested_and_none_means_not_set(tmp_path: Path) -> None:
    settings = config.load(
        tmp_path,
        {"search": {"top_k": 3}, "rag.chunk_size": 400, "rag.enabled": None},
        environ={},
    )
    assert (settings.search.top_k, settings.rag.chunk_size, settings.rag.enabled) == (
        3,
        400,
        True,
    )
    assert settings.origin("rag.enabled") == "default"


def test_settings_are_frozen(tmp_path: Path) -> None:
    settings = config.load(tmp_path, environ={})
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.search.top_k = 9  # type: ignore[misc]


def test_home_and_base_are_places_in_the_folder(tmp_path: Path) -> None:
    settings = config.load(tmp_path, {"sources.base": "docs"}, environ={})
    assert (settings.home, settings.base) == (tmp_path / ".ragstone", tmp_path / "docs")


def test_the_environment_may_put_the_home_elsewhere(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    settings = config.load(
        tmp_path / "project", environ={"RAGSTONE_RAG_STORE_PATH": str(elsewhere)}
    )
    assert settings.home == elsewhere


def test_asking_for_a_key_that_is_not_there_is_refused(tmp_path: Path) -> None:
    settings = config.load(tmp_path, environ={})
    for ask in (settings.origin, settings.value):
        with pytest.raises(ConfigError, match="no setting 'search.top'"):
            ask("search.top")


@pytest.mark.skipif(
    sys.platform in ("win32", "darwin"), reason="the user file has another place there"
)
def test_the_user_file_is_in_the_configuration_folder_of_the_platform() -> None:
    assert config.user_file({"HOME": "/h"}) == Path("/h/.config/ragstone/ragstone.toml")
    assert config.user_file({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}) == Path(
        "/x/ragstone/ragstone.toml"
    )
    assert config.user_file({"HOME": "/h", "XDG_CONFIG_HOME": "relative"}) == Path(
        "/h/.config/ragstone/ragstone.toml"
    )
    assert config.user_file({}) is None


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_of_the_first_design_is_read(tmp_path: Path) -> None:
    write(
        tmp_path / "ragstone.toml",
        "[rag]\nenabled = true\nembedding_provider = 'local'\nchunk_size = 800\nchunk_overlap = 80\n"
        "[rag.vector_store]\nprovider = 'sqlite'\ncollection_name = 'notes'\n",
    )
    rag = config.load(tmp_path, environ={}).rag
    assert (rag.embedding_provider, rag.chunk_size, rag.chunk_overlap) == ("local", 800, 80)
    assert rag.vector_store.collection_name == "notes"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "[search]\ntopk = 3\n",
            r"Unknown setting 'search.topk' in project file .*did you mean search.top_k\?",
        ),
        (
            "[serach]\ntop_k = 3\n",
            r"Unknown setting 'serach' in project file .*did you mean search\?",
        ),
        (
            "top_k = 3\n",
            r"Unknown setting 'top_k' in project file .*did you mean search.top_k\?",
        ),
        ("'search.top_k' = 3\n", r"Unknown setting 'search.top_k'"),
        ("zzzz = 3\n", r"Unknown setting 'zzzz' .*ragstone config"),
        ("search = 3\n", r"search in project file .* must be a table"),
        (
            "[search.top_k]\nx = 1\n",
            r"search.top_k must be a whole number from 1 to 1,000, but project file .* a table",
        ),
        (
            "[search]\ntop_k = '3'\n",
            r"search.top_k must be a whole number .* project file .*ragstone.toml gives '3'",
        ),
        ("[search]\ntop_k = true\n", r"search.top_k must be a whole number .* gives true"),
        ("[search]\ntop_k = 0\n", r"from 1 to 1,000, but .* gives 0"),
        ("[search]\ntop_k = 1.5\n", r"gives 1.5"),
        ("[rag]\nenabled = 1\n", r"rag.enabled must be true or false"),
        (
            "[embed]\nstorage = 'int15'\n",
            r'one of "int10", "compact", but .*did you mean int10',
        ),
        ("[sources]\ninclude = 'docs'\n", r"sources.include must be a list"),
        ("[sources]\ninclude = ['docs', 3]\n", r"sources.include must be a list"),
        ('[sources]\nbase = "a\\u0000b"\n', r"must be a non-empty text"),
        (
            "[rag]\nchunk_size = 100\nchunk_overlap = 100\n",
            r"chunk_overlap \(100\) must be smaller than rag.chunk_size",
        ),
        (
            "[rag]\nchunk_size = 100\nchunk_overlap = -1\n",
            r"rag.chunk_overlap must be a whole number of at least 0",
        ),
        ("[search]\ntop_k = = 3\n", r"not valid TOML.*line 2"),
        ("[search\n", r"not valid TOML.*line 1"),
        ("[search]\ntop_k = 3\ntop_k = 4\n", r"not valid TOML"),
        ("x = " + "[" * 100_000, r"nested too deeply|not valid TOML"),
        ("#" * 1_000_001, r"larger than 1,000,000 bytes"),
    ],
)
def test_a_bad_file_is_refused_with_a_clear_sentence(
    tmp_path: Path, text: str, says: str
) -> None:
    write(tmp_path / "ragstone.toml", text)
    with pytest.raises(ConfigError, match=says):
        config.load(tmp_path, environ={})


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ragstone.toml").write_bytes(b"[rag]\nchunker = '\xff'\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        config.load(tmp_path, environ={})


def test_a_byte_order_mark_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "ragstone.toml").write_bytes(b"\xef\xbb\xbf[search]\r\ntop_k = 3\r\n")
    assert config.load(tmp_path, environ={}).search.top_k == 3


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ragstone.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        config.load(tmp_path, environ={})


@given(st.binary(max_size=200))
def test_any_bytes_give_settings_or_a_config_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.getbasetemp() / "any-bytes"
    folder.mkdir(exist_ok=True)
    (folder / "ragstone.toml").write_bytes(data)
    try:
        config.load(folder, environ={})
    except ConfigError as error:
        assert "ragstone.toml" in error.message


def test_an_empty_text_in_a_file_means_not_set(tmp_path: Path) -> None:
    empty = "".join(
        f"{name} = ''\n"
        for name in ("url", "api_key", "mcp_server", "mcp_tool", "collection_name")
    )
    write(tmp_path / "ragstone.toml", f"[rag.vector_store]\n{empty}")
    settings = config.load(tmp_path, environ={})
    assert settings.rag.vector_store.collection_name == "default"
    assert {origin for _, _, origin in settings.listing()} == {"default"}


# ── environment ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("RAGSTONE_RAG_STORE", "memory", "rag.vector_store.provider", "memory"),
        ("RAGSTONE_RAG_STORE_PATH", "there", "store.path", "there"),
        ("RAGSTONE_RAG_CHUNK_SIZE", "900", "rag.chunk_size", 900),
        ("RAGSTONE_RAG_CHUNK_OVERLAP", "90", "rag.chunk_overlap", 90),
        ("RAGSTONE_TOOLS_RAG", "no", "rag.enabled", False),
        ("RAGSTONE_TOOLS_RAG", "TRUE", "rag.enabled", True),
        ("RAGSTONE_DOCS_BASE_DIR", "docs", "sources.base", "docs"),
        (
            "RAGSTONE_SOURCES_INCLUDE",
            "docs, src/**/*.py",
            "sources.include",
            ("docs", "src/**/*.py"),
        ),
        ("RAGSTONE_SOURCES_EXCLUDE", '["a,b", "c"]', "sources.exclude", ("a,b", "c")),
        ("RAGSTONE_SEARCH_FUSION", "rrf", "search.fusion", "rrf"),
    ],
)
def test_an_environment_variable_sets_a_value(
    tmp_path: Path, variable: str, text: str, key: str, value: object
) -> None:
    settings = config.load(tmp_path, environ={variable: text})
    assert (settings.value(key), settings.origin(key)) == (value, f"environment {variable}")


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"RAGSTONE_SEARCH_TOP_K": "many"}, r"whole number .* RAGSTONE_SEARCH_TOP_K is 'many'"),
        ({"RAGSTONE_SEARCH_TOP_K": "0"}, r"from 1 to 1,000"),
        ({"RAGSTONE_SEARCH_TOP_K": "9" * 5000}, r"whole number"),
        ({"RAGSTONE_TOOLS_RAG": "maybe"}, r"true or false"),
        ({"RAGSTONE_SOURCES_INCLUDE": "a,,b"}, r"list of non-empty texts"),
        ({"RAGSTONE_SOURCES_INCLUDE": "[1"}, r"list of non-empty texts"),
        (
            {"RAGSTONE_RAG_STORE": "sqlite", "RAGSTONE_RAG_VECTOR_STORE_PROVIDER": "memory"},
            r"different values",
        ),
    ],
)
def test_a_bad_environment_is_refused(
    tmp_path: Path, variables: dict[str, str], says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        config.load(tmp_path, environ=variables)


def test_two_names_for_the_same_value_may_agree(tmp_path: Path) -> None:
    variables = {"RAGSTONE_RAG_STORE": "memory", "RAGSTONE_RAG_VECTOR_STORE_PROVIDER": "memory"}
    assert config.load(tmp_path, environ=variables).rag.vector_store.provider == "memory"


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    assert config.load(tmp_path, environ={"RAGSTONE_SEARCH_TOP_K": ""}).search.top_k == 5


def test_the_real_environment_is_used_when_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_SEARCH_TOP_K", "11")
    assert config.load(tmp_path).search.top_k == 11
    assert "RAGSTONE_SEARCH_TOP_K" in os.environ


def test_every_environment_variable_belongs_to_one_setting() -> None:
    variables = [
        variable for described in config.describe() for variable in described.variables
    ]
    assert len(variables) == len(set(variables))


# ── the table ─────────────────────────────────────────────────────────────────────────────────────


def test_every_setting_is_described_in_one_line() -> None:
    described = config.describe()
    assert [item.key for item in described] == list(setting_keys())
    assert all(item.doc.endswith(".") and "\n" not in item.doc for item in described)


@pytest.mark.parametrize("key", setting_keys().values(), ids=lambda key: key.name)
def test_every_default_would_itself_be_accepted(tmp_path: Path, key: object) -> None:
    name, default = key.name, key.default  # type: ignore[attr-defined]
    if default is not None:
        assert config.load(tmp_path, {name: default}, environ={}).value(name) == default


def test_it_is_known_whether_the_user_named_the_home_folder(tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "ragstone").mkdir(parents=True)
    assert not config.load(tmp_path, environ={}).home_named
    assert config.load(tmp_path, {"store.path": "x"}, environ={}).home_named
    assert config.load(tmp_path, environ={"RAGSTONE_RAG_STORE_PATH": "x"}).home_named
    (tmp_path / "ragstone.toml").write_text('[store]\npath = "x"\n')
    assert not config.load(tmp_path, environ={}).home_named
    (tmp_path / "ragstone.toml").unlink()
    (own / "ragstone" / "ragstone.toml").write_text('[store]\npath = "x"\n')
    assert config.load(tmp_path, environ={"XDG_CONFIG_HOME": str(own)}).home_named


def test_an_unknown_variable_is_a_warning_that_names_the_nearest_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = config.load(tmp_path, environ={"RAGSTONE_TOP_KK": "3"})
    assert settings.search.top_k == 5
    config.load(tmp_path, environ={"RAGSTONE_TOP_KK": "3"})
    (record,) = caplog.records
    assert "RAGSTONE_TOP_KK is unknown" in record.getMessage()
    assert "did you mean RAGSTONE_SEARCH_TOP_K?" in record.getMessage()
