"""`documents.yaml` sets what it names, and a file of that name that is about something else sets nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import config
from ragstone.errors import ConfigError

WHOLE = """\
collection: papers
embed_model: sentence-transformers/all-MiniLM-L6-v2
chunk_size: 1000
chunk_overlap: 200
n_results: 7
description: "What our papers say."
param_query: What to look up.
"""


def load(folder: Path, **environ: str) -> config.Settings:
    return config.load(folder, environ={"XDG_CONFIG_HOME": str(folder / "own"), **environ})


def test_every_name_of_the_design_sets_one_of_ours(tmp_path: Path) -> None:
    (tmp_path / "documents.yaml").write_text(WHOLE)
    settings = load(tmp_path)
    assert settings.rag.vector_store.collection_name == "papers"
    assert settings.rag.embedding_provider == "minilm"
    assert (settings.rag.chunk_size, settings.rag.chunk_overlap, settings.search.top_k) == (
        1000,
        200,
        7,
    )
    assert settings.documents.description == "What our papers say."
    assert settings.documents.param_query == "What to look up."
    assert (
        settings.origin("search.top_k")
        == f"project file {tmp_path / 'documents.yaml'}, n_results"
    )


def test_the_file_is_found_in_the_folder_config_too(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "documents.yaml").write_text("n_results: 7\ncollection: ''\n")
    settings = load(tmp_path)
    assert (settings.search.top_k, settings.rag.vector_store.collection_name) == (7, "default")


def test_ragstone_toml_and_the_environment_win_over_it(tmp_path: Path) -> None:
    own = tmp_path / "own" / "ragstone"
    own.mkdir(parents=True)
    (own / "documents.yaml").write_text("n_results: 2\ncollection: mine\n")
    assert load(tmp_path).search.top_k == 2
    (own / "ragstone.toml").write_text("[search]\ntop_k = 3\n")
    assert load(tmp_path).search.top_k == 3
    (tmp_path / "documents.yaml").write_text("n_results: 4\n")
    assert load(tmp_path).search.top_k == 4
    (tmp_path / "ragstone.toml").write_text("[search]\ntop_k = 5\n")
    assert load(tmp_path).search.top_k == 5
    assert load(tmp_path, RAGSTONE_SEARCH_TOP_K="6").search.top_k == 6
    assert load(tmp_path).rag.vector_store.collection_name == "mine"


def test_a_chroma_folder_chooses_that_index_unless_another_store_is_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "documents.yaml").write_text("collection: papers\nchroma_path: ./chroma\n")
    vector_store = load(tmp_path).rag.vector_store
    assert (vector_store.provider, vector_store.path) == ("chroma", "./chroma")
    vector_store = load(tmp_path, RAGSTONE_RAG_STORE="memory").rag.vector_store
    assert (vector_store.provider, vector_store.path) == ("memory", "./chroma")


@pytest.mark.parametrize("path", ["/elsewhere", "../up", "~/there"])
def test_a_file_that_came_with_a_clone_points_nowhere_outside(
    tmp_path: Path, path: str
) -> None:
    (tmp_path / "documents.yaml").write_text(f"chroma_path: {path}\n")
    with pytest.raises(ConfigError, match="points outside the project folder"):
        load(tmp_path, RAGSTONE_RAG_STORE="chroma")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "n_results: 3\nchunk_sice: 4\n",
            r"Unknown setting 'chunk_sice' in .*, line 2.*did you mean chunk_size\?",
        ),
        (
            "n_results: many\n",
            r"whole number from 1 to 1,000, but .*documents.yaml, n_results \(line 1\) gives 'many'",
        ),
        ("n_results: [3]\n", r"search.top_k must be a whole number"),
        ("chunk_size: 100\nchunk_overlap: 100\n", r"must be smaller than"),
        ("collection: &a papers\n", r"line 1, uses an anchor"),
        ("collection: a\n  - b\n: :\n", r"line \d+ is not valid YAML"),
        ("collection: {a: 1}\n", r"must be a non-empty text, but .* gives a table"),
        ("n_results: 3\n" + "#" * 300_000, r"larger than 256,000 bytes"),
        ("{collection: a}, {}\n", r"not valid YAML"),
    ],
)
def test_mistakes_are_reported_with_their_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "documents.yaml").write_text(text)
    with pytest.raises(ConfigError, match=says):
        load(tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        b"- title: A list of papers\n  collection: x\n",
        b"title: Handbook\ndescription: Not ours\npages: {n_results: 3}\n",
        b"{% for x in y %}\n  broken: [\n",
        b"\xff\xfe\x00binary",
        b"papers:\n" + b"  - x\n" * 100_000,
        b"",
    ],
)
def test_a_file_of_that_name_about_something_else_is_left_alone(
    tmp_path: Path, data: bytes
) -> None:
    (tmp_path / "documents.yaml").write_bytes(data)
    assert {origin for _, _, origin in load(tmp_path).listing()} == {"default"}


def test_a_folder_of_that_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "documents.yaml").mkdir()
    assert load(tmp_path).search.top_k == 5


def test_a_null_means_not_set(tmp_path: Path) -> None:
    (tmp_path / "documents.yaml").write_text("n_results:\ncollection: x\n")
    assert load(tmp_path).search.top_k == 5
