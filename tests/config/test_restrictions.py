"""Limits on settings files: secrets, addresses and paths outside the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import config
from ragstone.config.trust import trust_values
from ragstone.errors import ConfigError

USER = "own/ragstone/ragstone.toml"


def environ(tmp_path: Path, **variables: str) -> dict[str, str]:
    """Return an environment whose user file is in the test's folder."""
    return {"XDG_CONFIG_HOME": str(tmp_path / "own"), **variables}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "line",
    [
        "store.path = '../elsewhere'",
        "store.path = '/elsewhere'",
        "store.path = '~/elsewhere'",
        "store.path = 'C:\\elsewhere'",
        "store.path = '\\\\server\\share'",
        "store.path = 'a\\..\\..\\b'",
        "sources.base = '..'",
        "sources.base = 'docs/../..'",
        "sources.include = ['docs', '../secret/*.md']",
        "sources.include = ['/etc']",
        "sources.include = ['link/*.md']",
        "sources.base = 'link'",
        "store.path = 'round/round'",
    ],
)
def test_a_project_file_may_not_point_outside_its_folder(tmp_path: Path, line: str) -> None:
    project = tmp_path / "project"
    write(project / "ragstone.toml", line + "\n")
    (tmp_path / "outside").mkdir()
    (project / "link").symlink_to(tmp_path / "outside")
    (project / "round").symlink_to("round")
    with pytest.raises(ConfigError, match="points outside the project folder") as caught:
        config.load(project, environ={})
    assert "RAGSTONE_" in caught.value.hint and "user file" in caught.value.hint


def test_a_project_file_may_point_inside_its_folder(tmp_path: Path) -> None:
    lines = "store.path = 'var/index'\nsources.base = 'docs'\nsources.include = ['**/*.md', 'notes', './more']\n"
    write(tmp_path / "ragstone.toml", lines)
    settings = config.load(tmp_path, environ={})
    assert settings.home == tmp_path / "var" / "index"
    assert settings.sources.include == ("**/*.md", "notes", "./more")


def test_the_user_file_and_the_environment_may_point_anywhere(tmp_path: Path) -> None:
    write(tmp_path / USER, f"sources.base = '{tmp_path.as_posix()}'\n")
    settings = config.load(
        tmp_path / "p", environ=environ(tmp_path, RAGSTONE_STORE_PATH="../index")
    )
    assert settings.base == tmp_path
    assert settings.home == tmp_path / "p" / ".." / "index"


def test_a_project_file_may_not_name_an_address(tmp_path: Path) -> None:
    write(tmp_path / "ragstone.toml", "[rag.vector_store]\nurl = 'http://x.invalid'\n")
    with pytest.raises(ConfigError, match="not taken from project file"):
        config.load(tmp_path, environ={})


@pytest.mark.parametrize("line", ["mcp_server = 'run-me'", "mcp_tool = 'find'"])
def test_a_project_file_that_names_a_program_must_be_trusted(tmp_path: Path, line: str) -> None:
    project = tmp_path / "project"
    write(project / "ragstone.toml", f"[rag.vector_store]\nprovider = 'mcp'\n{line}\n")
    own = environ(tmp_path)
    with pytest.raises(ConfigError, match="loosens a protection") as caught:
        config.load(project, environ=own)
    assert "ragstone trust" in caught.value.hint
    name, _, value = line.partition(" = ")
    trust_values(project, {f"rag.vector_store.{name}": value.strip("'")}, own)
    settings = config.load(project, environ=own)
    assert getattr(settings.rag.vector_store, name) == value.strip("'")


@pytest.mark.parametrize(
    "line",
    [
        "embed.model = './model'",
        "embed.model = '/models/own'",
        "embed.model = 'C:\\models'",
        "rerank.model = '../model'",
        "embed.provider = 'sentence-transformers:./model@384'",
        "rag.embedding_provider = 'fastembed:~/model'",
    ],
)
def test_a_project_file_that_names_a_folder_of_a_model_must_be_trusted(
    tmp_path: Path, line: str
) -> None:
    write(tmp_path / "ragstone.toml", line + "\n")
    with pytest.raises(ConfigError, match="loosens a protection"):
        config.load(tmp_path, environ=environ(tmp_path))


def test_a_project_file_may_name_a_model_to_download(tmp_path: Path) -> None:
    lines = "[embed]\nprovider = 'openai'\nmodel = 'BAAI/bge-m3:latest'\n"
    write(tmp_path / "ragstone.toml", lines)
    assert config.load(tmp_path, environ=environ(tmp_path)).embed.model == "BAAI/bge-m3:latest"


def test_a_secret_is_not_taken_from_a_project_file(tmp_path: Path) -> None:
    write(tmp_path / "ragstone.toml", "[rag.vector_store]\napi_key = 'sk-abc'\n")
    with pytest.raises(ConfigError, match="is a secret") as caught:
        config.load(tmp_path, environ=environ(tmp_path))
    assert "RAGSTONE_RAG_VECTOR_STORE_API_KEY" in caught.value.hint and "sk-abc" not in str(
        caught.value
    )


def test_a_secret_is_taken_from_the_user_file(tmp_path: Path) -> None:
    write(tmp_path / USER, "[embed]\napi_key = 'sk-abc'\n")
    settings = config.load(tmp_path / "p", environ=environ(tmp_path))
    assert settings.embed.api_key == "sk-abc" and "sk-abc" not in repr(settings)


def test_a_secret_is_not_taken_from_an_argument(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is a secret"):
        config.load(tmp_path, {"embed.api_key": "sk-abc"}, environ={})


def test_both_names_of_the_provider_mean_the_same(tmp_path: Path) -> None:
    write(tmp_path / "ragstone.toml", "[rag]\nembedding_provider = 'gemini'\n")
    settings = config.load(tmp_path, environ={})
    assert settings.embed.provider == "gemini" == settings.rag.embedding_provider
    settings = config.load(tmp_path, environ={"RAGSTONE_EMBED_PROVIDER": "fake"})
    assert settings.rag.embedding_provider == "fake"


def test_two_names_of_the_provider_with_different_values_are_refused(tmp_path: Path) -> None:
    lines = "[rag]\nembedding_provider = 'gemini'\n[embed]\nprovider = 'openai'\n"
    write(tmp_path / "ragstone.toml", lines)
    with pytest.raises(ConfigError, match="set the same thing to different values"):
        config.load(tmp_path, environ={})


def test_the_address_of_a_model_is_not_taken_from_a_project_file(tmp_path: Path) -> None:
    write(tmp_path / "ragstone.toml", "embed.url = 'http://elsewhere.invalid/v1'\n")
    with pytest.raises(ConfigError, match="not taken from project file"):
        config.load(tmp_path, environ={})


def test_a_price_is_a_number(tmp_path: Path) -> None:
    settings = config.load(tmp_path, environ={"RAGSTONE_EMBED_PRICE": "0.5"})
    assert settings.embed.price == 0.5
    for wrong in ("nan", "cheap", "-1"):
        with pytest.raises(ConfigError, match="embed.price must be a number of at least 0"):
            config.load(tmp_path, environ={"RAGSTONE_EMBED_PRICE": wrong})


def test_a_secret_is_never_shown(tmp_path: Path) -> None:
    variables = {"RAGSTONE_RAG_VECTOR_STORE_API_KEY": "sk-abc", "RAGSTONE_RAG_STORE": "chroma"}
    settings = config.load(tmp_path, environ=variables)
    assert settings.rag.vector_store.api_key == "sk-abc"
    assert "sk-abc" not in repr(settings) and "sk-abc" not in repr(settings.listing())


@pytest.mark.parametrize(
    ("variable", "provider"),
    [("URL", "chroma"), ("API_KEY", "chroma"), ("MCP_SERVER", "mcp"), ("MCP_TOOL", "mcp")],
)
def test_a_setting_that_the_store_does_not_use_is_refused_not_ignored(
    tmp_path: Path, variable: str, provider: str
) -> None:
    variables = {f"RAGSTONE_RAG_VECTOR_STORE_{variable}": "x"}
    with pytest.raises(
        ConfigError, match=f"means nothing to the store 'sqlite'; it is for: .*{provider}"
    ):
        config.load(tmp_path, environ=variables)
