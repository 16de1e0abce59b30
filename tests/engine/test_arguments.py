"""What callers hand in is looked at before anything happens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import Engine, inject
from ragstone.chunk import sizes as chunk_sizes
from ragstone.config.sections import ChunkerName
from ragstone.engine import arguments
from ragstone.errors import ConfigError, InputError
from ragstone.types import Document

ANYTHING = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.lists(st.integers())
)


@given(
    ANYTHING,
    ANYTHING,
    st.dictionaries(st.sampled_from(["mode", "mmr", "min_score", "filters", "x"]), ANYTHING),
)
def test_any_arguments_give_a_number_of_hits_or_a_sentence(
    query: object, top_k: object, options: dict[str, object]
) -> None:
    try:
        limit = arguments.check_search(query, top_k, options)
    except InputError as error:
        assert error.hint
    else:
        assert 0 <= limit <= arguments.MAX_TOP_K
        assert isinstance(query, str)


def test_a_single_document_is_accepted_like_a_list() -> None:
    document = Document(uri="a", text="b")
    assert (
        list(arguments.check_documents(document, None, None))
        == list(arguments.check_documents([document], None, None))
        == [document]
    )


@pytest.mark.parametrize("documents", [b"bytes", {"uri": "a"}])
def test_bytes_and_mappings_are_no_documents(documents: object) -> None:
    with pytest.raises(InputError, match="add takes documents"):
        list(arguments.check_documents(documents, None, None))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda engine: engine.sync("docs"),
        lambda engine: engine.sync(Path("docs")),
        lambda engine: engine.sync([5]),
        lambda engine: engine.sync(embed="yes"),
        lambda engine: engine.admin.embed(seconds="a"),
        lambda engine: engine.remove(5),
        lambda engine: engine.remove(ids="docs/a.md"),
        lambda engine: engine.remove(ids=[5]),
        lambda engine: engine.admin.text(5),
        lambda engine: engine.admin.backup(5),
        lambda engine: engine.admin.load(None),
        lambda engine: engine.admin.load("text"),
        lambda engine: engine.admin.create_collection(" "),
        lambda engine: engine.admin.create_collection("x", chunk_size="a"),
        lambda engine: Engine.open(cast(str, 5)),
        lambda engine: Engine.open(engine.folder, config=cast(dict[str, object], [1])),
        lambda engine: engine.search("a", collection=5),
        lambda engine: engine.search("a", collection=[5]),
        lambda engine: engine.search("a", rerank=5),
        lambda engine: engine.add(None),
        lambda engine: engine.add(5),
        lambda engine: engine.add(Document("u", "t", title=cast(str, 5))),
        lambda engine: engine.search(None),
        lambda engine: engine.search("a", "5"),
        lambda engine: engine.search("a", min_score="0.5"),
        lambda engine: engine.search("a", mode="sideways"),
        lambda engine: engine.search("a", nonsense=1),
        lambda engine: engine.search("a", filters="docs"),
        lambda engine: engine.search("a", mmr="yes"),
        lambda engine: engine.add("text"),
        lambda engine: engine.add([("u", "t")]),
        lambda engine: engine.add(Document("u", cast(str, None))),
        lambda engine: engine.add(Document(" ", "text")),
        lambda engine: engine.add(Document("u", "t", metadata={"a": cast(str, object())})),
        lambda engine: engine.add(Document("u", "t", metadata={"a": float("nan")})),
        lambda engine: engine.remove(),
        lambda engine: engine.add(b"text", uri="u"),
        lambda engine: inject(cast(str, None), "question", engine),
        lambda engine: inject("# Task", cast(str, None), engine),
    ],
)
def test_a_wrong_argument_is_refused_in_a_sentence(
    engine: Engine, wrong: Callable[[Engine], object]
) -> None:
    with pytest.raises(InputError):
        wrong(engine)


def test_an_unknown_option_gets_the_nearest_name(engine: Engine) -> None:
    with pytest.raises(InputError, match="a search has no option 'rerankr'") as caught:
        engine.search("a", rerankr="x")  # type: ignore[call-arg]
    assert caught.value.hint == "did you mean rerank?"
    with pytest.raises(InputError, match="a context has no option 'formt'") as caught:
        engine.context("a", formt="block")  # type: ignore[call-arg]
    assert caught.value.hint == "did you mean format?"
    with pytest.raises(InputError, match="source_types is a list of names") as caught:
        engine.retrieve("a", source_types="route")
    assert caught.value.hint == "source_types=['route']"


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"rag.chunker": "charz"}, "did you mean chars?"),
        (
            {"rag.chunker": "chars", "rag.chunk_overlap": 1000},
            "not smaller than the chunk size",
        ),
        ({"rag.chunker": "tokens", "chunk.overlap_tokens": 512}, "not smaller than the chunk"),
    ],
)
def test_settings_that_allow_no_chunk_are_refused_before_the_first_document(
    tmp_path: Path, config: dict[str, object], words: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        Engine.open(tmp_path, config=config)
    assert words in str(caught.value)


def test_the_settings_know_the_chunkers() -> None:
    assert get_args(ChunkerName) == chunk_sizes.NAMES
